"""How long others wait while long texts are rendered: ``python -m bench.rendering``.

One client asks for the first page again and again, from the start of a server on: while it renders the
outputs of its study beforehand, and with short plain texts, of which nothing is rendered beforehand, for
comparison. The first requests, which load the templates, are not counted. Runs alternate, so that whatever
else the machine does falls upon all of them.
"""

import argparse
import json
import tempfile
from pathlib import Path
from time import monotonic, perf_counter, sleep

import httpx
import numpy as np

from bench.collecting import ANSWER, FILLER, STUDY
from bench.collecting_servers import find_command, find_port, read_cpu_seconds, run_server

ITEMS = 100
FIRST, PAUSE = 5, 0.003
SHORT, LONG, LONGEST = 400, 49_000, 1_000_000
RUNS = (("plain", SHORT), ("markdown", LONG), ("markdown", LONGEST), ("plain", LONGEST))


def measure(shape: str, size: int, seconds: float) -> tuple[list[float], float]:
    """Return how long each request took in ms, and the processor seconds of the server."""
    with tempfile.TemporaryDirectory(prefix="panelist-bench-") as folder:
        place, port = Path(folder), find_port()
        write_study(place, shape, size)
        with run_server(find_command(place / "study.yaml", port), port, place) as process:
            used, took, until = read_cpu_seconds(process), [], monotonic() + seconds
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                while monotonic() < until:
                    began = perf_counter()
                    client.get("/join").raise_for_status()
                    took.append(1000 * (perf_counter() - began))
                    sleep(PAUSE)
            return took[FIRST:], read_cpu_seconds(process) - used


def write_study(folder: Path, shape: str, size: int) -> None:
    """Write a study of texts of this size by three systems; of a megabyte fewer of them."""
    items = ITEMS if size < LONGEST else ITEMS // 10
    texts = "".join(ANSWER.format(n=n, filler=FILLER) for n in range(1, size // 1500 + 2))[:size]
    rows = [
        {"item": f"i{n}", "system": system, "output": f"{n} {system} {texts}"}
        for n in range(items)
        for system in "abc"
    ]
    (folder / "outputs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    study = STUDY.format(raters=20, trials=5, format=shape).replace("outputs.csv", "outputs.jsonl")
    (folder / "study.yaml").write_text(study, encoding="utf-8")


def main() -> None:
    """Print a line for each kind of text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each run asks for pages")
    parser.add_argument("--rounds", type=int, default=3, help="how often each run is repeated")
    asked = parser.parse_args()
    took: dict[tuple[str, int], list[float]] = {run: [] for run in RUNS}
    used = dict.fromkeys(RUNS, 0.0)
    for _ in range(asked.rounds):
        for run in RUNS:
            times, spent = measure(*run, asked.seconds)
            took[run] += times
            used[run] += spent
    header = ("requests", "median, ms", "99 %, ms", "longest, ms", "server CPU, s")
    print(f"{'texts':26} {' '.join(f'{name:>13}' for name in header)}")
    for run, times in took.items():
        name = f"{run[0]}, {run[1]:,} characters"
        median, late = np.quantile(times, (0.5, 0.99))
        cells = (f"{len(times):,}", *(f"{value:.1f}" for value in (median, late, max(times), used[run])))
        print(f"{name:26} {' '.join(f'{cell:>13}' for cell in cells)}")


if __name__ == "__main__":
    main()
