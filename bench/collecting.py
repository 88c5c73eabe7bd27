"""How many answers a second the rating pages take, and how soon each is kept: on two cores, all included.

``python -m bench.collecting`` runs the long texts alone, in pairs: what Markdown costs besides plain text.
"""

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Coroutine
from csv import writer
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

from bench import collecting_potato as potato
from bench.clock import n_cores, on_cores
from bench.collecting_servers import find_command, find_port, read_cpu_seconds, run_server
from bench.report import Options, Section, say, word
from panelist.collection.robots.browser import read_address
from panelist.collection.robots.fleet import Fleet, allow_connections, run_in_loop, visit
from panelist.collection.robots.record import Record
from panelist.collection.robots.robot import Habits
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Sentence, Table
from panelist.study.reading.load import load_study
from panelist.study.study import Study

CORES = 2
MANY, FLAT = 1000, 200  # raters who think, and raters who do not
THINK = (4.0, 8.0)
TARGET_MS, TARGET_RATIO, TARGET_RENDERED = 250.0, 25.0, 1.2
TRIALS, FLAT_TRIALS = 12, 100
THINK_LIMIT, FLAT_LIMIT, RIVAL_LIMIT = 240.0, 40.0, 60.0  # seconds, after which a run is stopped
LOOK_SECONDS, SETTLE_SECONDS = 0.1, 1.0
LONG_TRIALS = 40  # pages of each rater with long texts
FORMATS = ("plain", "markdown")
STUDY = """\
title: Load
criteria:
  - name: fluency
    question: How fluent is it?
    scale: {{type: likert, points: 5}}
design: {{type: lists, trials_per_rater: {trials}}}
raters: {{count: {raters}}}
instructions: Please read each text and say how fluent it is.
outputs: {{file: outputs.csv, formats: {{output: {format}}}}}
"""
ANSWER = """\
## How to get there, {n}

Take the **{n}th** train at noon; it *arrives* before the rain does. {filler}

1. Buy a ticket at `counter {n}`.
2. Walk to the platform, which takes $t_{{{n}}} = \\frac{{d}}{{v}}$ minutes.

| station | leaves | waits |
|:--------|-------:|------:|
| one     | 12:{n} |     3 |
| two     | 13:{n} |     4 |

```python
def wait(minutes):
    return [minute for minute in range(minutes) if minute % {n}]  # all but some
```

> {filler}

{filler} {filler}
"""
FILLER = "The carriage at the front is the quiet one, and the seats face the way that the train goes. " * 4


@dataclass(frozen=True)
class Run:
    """One run: what came through, how long an answer took (from sending it to being told that it is kept)."""

    name: str
    raters: int
    seconds: float
    answers: int
    errors: int
    per_second: float
    median_ms: float
    late_ms: float
    """The 99th percentile."""
    server_ms: float
    """Processor time of the server for an answer, the pages around it included."""
    generator_ms: float
    """Processor time of the generator for a request."""


@dataclass(frozen=True)
class Collecting(Section):
    """The runs, and how the two tools compare."""

    thinking: Run
    flat: Run
    long: tuple[Run, Run]
    """Texts of 400 words: plain, and as Markdown."""
    rendering: float
    """Processor seconds that the server took to render the Markdown beforehand."""
    rival: Run | None
    """Potato, sent the least that an answer needs."""
    whole_rival: Run | None
    """Potato, sent what its page sends in a browser."""
    cores: int

    def title(self) -> str:
        """Return the heading."""
        return "Collecting"

    def ratio(self, rival: Run) -> float:
        """Return how many times as many answers a second as the rival's."""
        return self.flat.per_second / rival.per_second

    def parts(self) -> list[Part]:
        """Return the table and the verdicts."""
        header = (
            *("run", "raters", "seconds", "answers", "errors", "answers/s", "median, ms", "99 %, ms"),
            *("server ms/answer", "generator ms/request"),
        )
        every = (self.thinking, self.flat, *self.long, self.rival, self.whole_rival)
        runs = [run for run in every if run is not None]
        rows = [
            (
                *(run.name, run.raters, run.seconds, run.answers, run.errors, run.per_second),
                *(run.median_ms, run.late_ms, run.server_ms, run.generator_ms),
            )
            for run in runs
        ]
        places = (0, 1, 0, 0, 1, 1, 1, 2, 2)
        formats = {"run": TEXT} | {
            name: decimals(digits) for name, digits in zip(header[1:], places, strict=True)
        }
        calm = self.thinking.errors == 0 and self.thinking.late_ms < TARGET_MS
        said = (
            f"{self.thinking.raters:,} raters who think {THINK[0]:.0f}–{THINK[1]:.0f} s: "
            f"{self.thinking.errors} errors, 99 % of answers kept within {self.thinking.late_ms:.0f} ms "
            f"(target {TARGET_MS:.0f}): {word(calm)}."
        )
        plain, rendered = self.long
        dearer = rendered.server_ms / plain.server_ms
        said += (
            f" Texts of 400 words as Markdown: {dearer:.2f} times the processor time an answer of plain text "
            f"(target {TARGET_RENDERED:.1f}): {word(dearer <= TARGET_RENDERED)}; {self.rendering:.1f} s were "
            f"spent on {3 * LONG_TRIALS} outputs beforehand."
        )
        if self.rival is not None and self.whole_rival is not None:
            said += (
                f" Flat out: {self.ratio(self.rival):.0f} times the answers a second of Potato "
                f"(target {TARGET_RATIO:.0f}): {word(self.ratio(self.rival) >= TARGET_RATIO)}; "
                f"{self.ratio(self.whole_rival):.0f} times where Potato gets all that its page sends."
            )
        return [
            Table(f"Load on SQLite, {self.cores} cores, generator included", header, rows, formats),
            Sentence(said),
        ]


def measure(options: Options) -> Collecting:
    """Return the runs; ``options`` has nothing that applies here."""
    allow_connections(2 * MANY)
    with on_cores(CORES), tempfile.TemporaryDirectory(prefix="panelist-bench-") as folder:
        root = Path(folder)
        say(f"  {MANY} raters who think …")
        thinking = _rate(root / "thinking", MANY, TRIALS, Habits(think=THINK), THINK[1], THINK_LIMIT)
        say(f"  {FLAT} raters flat out …")
        flat = _rate(root / "flat", FLAT, FLAT_TRIALS, Habits(), 0.0, FLAT_LIMIT)
        both, spent = collect_long(root)
        program = potato.find_potato()
        rivals: dict[bool, Run] = {}
        if program is not None:
            for whole in (False, True):
                say(f"  {FLAT} raters flat out at Potato{', all that its page sends' * whole} …")
                rivals[whole] = _rate_potato(root / f"potato-{whole:d}", program, whole)
        return Collecting(
            thinking, flat, both, spent, rivals.get(False), rivals.get(True), min(CORES, n_cores())
        )


def collect_long(root: Path) -> tuple[tuple[Run, Run], float]:
    """Return the runs with long texts, plain and as Markdown, and what rendering took beforehand."""
    runs, spent = [], 0.0
    for shape in FORMATS:
        say(f"  {FLAT} raters flat out, texts of 400 words, {shape} …")
        place = root / f"long-{shape}"
        write_study(place, FLAT, LONG_TRIALS, shape)
        run, spent = _collect(place, FLAT, f", 400 words, {shape}", Habits(), 0.0, FLAT_LIMIT)
        runs.append(run)
    return (runs[0], runs[1]), spent


def write_study(folder: Path, raters: int, trials: int, shape: str = "") -> Study:
    """Return a study of texts by three systems, one question; the texts are long where a format is named."""
    folder.mkdir(parents=True)
    texts = [ANSWER.format(n=n, filler=FILLER) for n in range(1, trials + 1)] if shape else make_texts(trials)
    with (folder / "outputs.csv").open("w", encoding="utf-8", newline="") as file:
        rows = writer(file)
        rows.writerow(("item", "system", "output"))
        for n, text in enumerate(texts):
            rows.writerows((f"i{n}", system, f"{text} Version {system}.") for system in "abc")
    filled = STUDY.format(raters=raters, trials=trials, format=shape or "plain")
    (folder / "study.yaml").write_text(filled, encoding="utf-8")
    return load_study(folder)


def make_texts(count: int) -> list[str]:
    """Return short texts that differ."""
    return [f"The {n}th train leaves at noon and arrives before the rain does." for n in range(1, count + 1)]


def _rate(folder: Path, raters: int, trials: int, habits: Habits, ramp: float, limit: float) -> Run:
    write_study(folder, raters, trials)
    name = f" thinking {THINK[0]:.0f}–{THINK[1]:.0f} s" if habits.think else ", flat out"
    return _collect(folder, raters, name, habits, ramp, limit)[0]


def _collect(
    folder: Path, raters: int, name: str, habits: Habits, ramp: float, limit: float
) -> tuple[Run, float]:
    """Return a run, and the processor seconds that the server took before anybody came."""
    study = load_study(folder)
    port, record = find_port(), Record()
    with run_server(find_command(folder / "study.yaml", port), port, folder) as process:
        spent = _settle(process)
        address = read_address(f"http://127.0.0.1:{port}")
        fleet = Fleet(raters=raters, habits=habits, ramp=ramp)
        work = visit(study, address, fleet, record=record)
        return _watch(f"{raters:,} raters{name}", raters, process, record, work, limit), spent


def _settle(process: int) -> float:
    """Return the processor seconds that a server has used once it does nothing more by itself."""
    began = before = read_cpu_seconds(process)
    while True:
        sleep(SETTLE_SECONDS)
        now = read_cpu_seconds(process)
        if not now - before > SETTLE_SECONDS / 10:
            return now - began
        before = now


def _rate_potato(folder: Path, program: Path, whole: bool) -> Run:
    folder.mkdir()
    config = potato.write_task(folder, make_texts(FLAT_TRIALS), FLAT_TRIALS)
    port, record = find_port(), Record()
    name = f"{FLAT} raters, flat out, Potato, {'all' if whole else 'the least'} that its page sends"
    with run_server(potato.find_command(program, config, port), port, folder) as process:
        address = read_address(f"http://127.0.0.1:{port}")
        work = potato.annotate(address, FLAT, FLAT_TRIALS, record, whole)
        return _watch(name, FLAT, process, record, work, RIVAL_LIMIT)


def _watch(
    name: str, raters: int, process: int, record: Record, work: Coroutine[Any, Any, Any], limit: float
) -> Run:
    """Return what came through while ``work`` ran, at most so long; counted from when all had come in."""
    seen: list[tuple[float, int]] = []

    async def look() -> None:
        while True:
            if len(record.times["join"]) >= raters:
                seen.append((perf_counter(), len(record.times["answer"])))
            await asyncio.sleep(LOOK_SECONDS)

    async def run() -> None:
        looking = asyncio.create_task(look())
        working = asyncio.create_task(work)
        await asyncio.wait([working], timeout=limit)
        looking.cancel()
        if not working.done():
            working.cancel()
        await asyncio.gather(looking, working, return_exceptions=True)
        if not working.cancelled() and working.exception() is not None:
            raise working.exception()  # type: ignore[misc]

    begun, used, own = perf_counter(), read_cpu_seconds(process), process_time()
    run_in_loop(run())
    answers = len(record.times["answer"])
    (start, before), (end, after) = (seen[0], seen[-1]) if seen else ((begun, 0), (perf_counter(), answers))
    lost = sum(stay.end.startswith("lost") for stay in record.stays)
    return Run(
        name,
        raters,
        perf_counter() - begun,
        answers,
        record.faults.total() + record.retries + len(record.refused) + lost,
        (after - before) / max(end - start, 1e-9),
        1000 * record.quantile("answer", 0.5),
        1000 * record.quantile("answer", 0.99),
        1000 * (read_cpu_seconds(process) - used) / max(answers, 1),
        1000 * (process_time() - own) / max(record.requests, 1),
    )


def main() -> None:
    """Print what an answer costs the server with long texts, in pairs of runs that follow each other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3, help="how many pairs of runs (half a minute each)")
    allow_connections(2 * MANY)
    ratios = []
    for _ in range(parser.parse_args().pairs):
        with on_cores(CORES), tempfile.TemporaryDirectory(prefix="panelist-bench-") as folder:
            (plain, rendered), spent = collect_long(Path(folder))
        ratios.append(rendered.server_ms / plain.server_ms)
        print(
            f"plain {plain.server_ms:.2f} ms an answer ({plain.answers:,} answers, {plain.errors} errors), "
            f"Markdown {rendered.server_ms:.2f} ms ({rendered.answers:,}, {rendered.errors}): "
            f"{ratios[-1]:.2f} times; {spent:.1f} s beforehand",
            flush=True,
        )
    middle = statistics.median(ratios)
    print(f"median {middle:.2f} (target {TARGET_RENDERED:.1f}): {word(middle <= TARGET_RENDERED)}")


if __name__ == "__main__":
    main()
