"""Agreement: a million ratings, and beside the PyPI packages ``krippendorff`` and ``irrCAC``.

Both packages are under the GPL and no dependencies of ours: they are installed into a virtual environment in
a temporary folder and run there in a process of their own (agreement_rivals.py), which only calls them.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import venv
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from bench.clock import on_cores, time_call
from bench.report import Options, Section, say, word
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Sentence, Table

ROOT = Path(__file__).resolve().parents[1]
RIVALS = ("krippendorff==0.9.0", "irrCAC==0.4.4")
ITEMS, RATERS = 10_000, 20
FACTOR = 20.0  # how many times faster we want to be
SAME = 6e-6  # irrCAC rounds to five digits
SECONDS = {"all coefficients that apply": 5.0, "1,000 resamples of alpha": 20.0}
GIGABYTES = 2.0


@dataclass(frozen=True)
class Rival:
    """One coefficient by us and by a package: best seconds from its own input, and from a long table."""

    points: int
    name: str
    package: str
    ours: float
    ours_long: float
    theirs: float
    theirs_long: float
    difference: float

    @property
    def verdict(self) -> str:
        """Whether the value is the same and we are fast enough."""
        if not self.difference <= SAME:
            return "not met: another value"
        return word(self.theirs >= FACTOR * self.ours)


@dataclass(frozen=True)
class Million:
    """A step on a million ratings: what, seconds, the most memory the process ever held."""

    step: str
    seconds: float
    peak_gigabytes: float

    @property
    def verdict(self) -> str:
        """Whether time and memory are within the targets."""
        if self.step not in SECONDS:
            return ""
        return word(self.seconds <= SECONDS[self.step] and self.peak_gigabytes <= GIGABYTES)


@dataclass(frozen=True)
class Agreement(Section):
    """How fast coefficients and their intervals are."""

    million: tuple[Million, ...]
    rivals: tuple[Rival, ...]
    trouble: str = ""

    def title(self) -> str:
        """Return the heading."""
        return "Agreement, one core"

    def parts(self) -> list[Part]:
        """Return both tables."""
        rows = [
            (
                one.step,
                one.seconds,
                one.peak_gigabytes,
                f"{SECONDS[one.step]:.0f} s, {GIGABYTES:.0f} GB" if one.step in SECONDS else "",
                one.verdict,
            )
            for one in self.million
        ]
        formats = {"seconds": decimals(1), "memory, GB": decimals(1), "step": TEXT}
        caption = "A million ratings: 100,000 outputs, each by 10 of 1,000 raters, 5 points"
        table = Table(caption, ("step", "seconds", "memory, GB", "target", "verdict"), rows, formats)
        return [table, Sentence(self.trouble) if self.trouble else self._rivals()]

    def _rivals(self) -> Table:
        times = ("panelist, ms", "package, ms", "times", "panelist from long, ms", "package from long, ms")
        header = ("points", "coefficient", "package", *times, "difference", "target", "verdict")
        rows = [
            (
                one.points,
                one.name,
                one.package,
                1e3 * one.ours,
                1e3 * one.theirs,
                one.theirs / one.ours,
                1e3 * one.ours_long,
                1e3 * one.theirs_long,
                f"{one.difference:.0e}",
                f"≥ {FACTOR:g} times",
                one.verdict,
            )
            for one in self.rivals
        ]
        formats = dict.fromkeys(times, decimals(1)) | {"points": decimals(0), "times": decimals(0)}
        note = (
            "Each on its own input, our rating table and the package's matrix or CAC object, which the ratio "
            "compares; from long: the whole way from a pandas frame with one row per rating: for us to read "
            "and check it, for the packages to pivot it. Best of 3 to 25 runs, one of what takes seconds; "
            "irrCAC rounds to five digits."
        )
        return Table(f"{ITEMS:,} items × {RATERS} raters, beside other packages", header, rows, formats, note)


def measure(options: Options) -> Agreement:
    """Return the million and the comparison with the packages."""
    with on_cores(1):
        say("  a million ratings")
        done = subprocess.run(
            [sys.executable, "-m", "bench.agreement"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
        )
        million = tuple(Million(**row) for row in json.loads(done.stdout))
        with tempfile.TemporaryDirectory() as folder:
            theirs, trouble = _ask_packages(Path(folder))
        rivals = () if trouble else _compare(theirs)
    return Agreement(million, rivals, trouble)


def simulate_crowd(items: int, raters: int, each: int, points: int, seed: int = 1) -> pd.DataFrame:
    """Return a long table: every item rated by some of the raters, raters differing in level."""
    rng = np.random.default_rng(seed)
    steps = (
        rng.integers(1, raters // each + 1, size=(items, each)) if each < raters else np.ones((items, each))
    )
    rater = (rng.integers(0, raters, (items, 1)) + np.cumsum(steps, axis=1).astype(int)) % raters
    latent = (
        rng.normal(size=(items, 1)) + 0.5 * rng.normal(size=raters)[rater] + rng.normal(size=(items, each))
    )
    middle = (points + 1) / 2
    rating = np.clip(np.round(middle + points / 6 * latent), 1, points)
    names = np.array([f"r{i:04}" for i in range(raters)], dtype=object)
    texts = np.array([f"i{i:06}" for i in range(items)], dtype=object)
    return pd.DataFrame(
        {"item": np.repeat(texts, each), "rater": names[rater.ravel()], "rating": rating.ravel()}
    )


def measure_million() -> list[Million]:
    """Return the steps of a million ratings, measured in this process."""
    from panelist.agreement.cleaning import make_tables
    from panelist.agreement.coefficient import COEFFICIENTS
    from panelist.agreement.measure import measure_agreement
    from panelist.agreement.statistics.resample import resample
    from panelist.core.tables.ratings import read_ratings

    small = simulate_crowd(200, 30, 10, 5)
    measure_agreement(small, coefficients="all", resamples=2)  # compiling is the business of another section
    frame = simulate_crowd(100_000, 1_000, 10, 5)
    marks = [("", perf_counter())]
    ratings = read_ratings(frame)
    marks.append(("reading the table", perf_counter()))
    measure_agreement(ratings, coefficients="all", interval="none")
    marks.append(("all coefficients that apply", perf_counter()))
    [one] = make_tables(ratings)
    start = ("", perf_counter())
    resample(one.table, [COEFFICIENTS["krippendorff_alpha_ordinal"]], "ordinal", resamples=1000)
    ends = [*pairwise(marks), (start, ("1,000 resamples of alpha", perf_counter()))]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return [Million(name, end - begin, peak / 2**30) for (_, begin), (name, end) in ends]


def _ask_packages(folder: Path) -> tuple[dict[str, Any], str]:
    """Return the packages' seconds and values, or why there are none."""
    say(f"  installing {' and '.join(RIVALS)} into a temporary folder")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *RIVALS]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return {}, f"Other packages are not compared: pip install {' '.join(RIVALS)} did not work here."
    for points in (5, 100):
        simulate_crowd(ITEMS, RATERS, RATERS, points).to_csv(folder / f"{points}.csv", index=False)
    script = ROOT / "bench" / "agreement_rivals.py"
    done = subprocess.run(
        [str(python), str(script), str(folder)], capture_output=True, text=True, check=False, timeout=1800
    )
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        return {}, f"Other packages are not compared: they stopped with {last}"
    return dict(json.loads(done.stdout)), ""


def _compare(theirs: dict[str, Any]) -> tuple[Rival, ...]:
    from panelist.agreement.cleaning import make_tables
    from panelist.agreement.coefficient import COEFFICIENTS

    rows = []
    for points in (5, 100):
        frame = simulate_crowd(ITEMS, RATERS, RATERS, points)
        [one] = make_tables(frame)
        for key, (package, value, seconds, long_seconds) in theirs[str(points)].items():
            coefficient = COEFFICIENTS[key]
            coefficient(one.table, "ordinal")
            timing, ours = time_call(lambda: coefficient(one.table, "ordinal"))  # noqa: B023
            whole, _ = time_call(lambda: coefficient(make_tables(frame)[0].table, "ordinal"))  # noqa: B023
            gap = abs(ours - value)
            rows.append(Rival(points, key, package, timing.best, whole.best, seconds, long_seconds, gap))
            say(f"  {points} points, {key}: {seconds / timing.best:.0f} times {package}")
    return tuple(rows)


if __name__ == "__main__":
    print(json.dumps([asdict(row) for row in measure_million()]))
