"""Linear mixed models beside the Rust package ``glmm`` (PyPI), on the models that it can fit.

glmm is under the GPL and no dependency of ours: it is installed into a temporary folder where it is not there
already, and runs in a process of its own, ``python -m bench.rust FILE …``, which only calls it.
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.clock import on_cores, time_call
from bench.designs import fit_whole
from bench.report import SAME, Options, Section, say, word
from bench.rival_r import Measured
from bench.simulate import INTERCEPTS, MAXIMAL, Size, simulate
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Sentence, Table
from panelist.core.tables.ratings import read_ratings

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, VERSION = "glmm", "0.6.2"
FACTOR = 3.0  # we want to be within this factor of it
FORMULAS = {"intercepts": INTERCEPTS, "maximal": MAXIMAL}


@dataclass(frozen=True)
class Row:
    """One design and model: our whole call, and glmm's given a pandas frame and given plain arrays."""

    size: Size
    random: str
    ours: Measured
    theirs: Measured
    arrays: Measured

    @property
    def verdict(self) -> str:
        """Whether we are within the factor, with a log-likelihood that is no lower."""
        higher = self.ours.loglik - self.theirs.loglik
        if higher < -SAME:
            return "not met: lower log-likelihood"
        verdict = word(self.ours.seconds <= FACTOR * self.theirs.seconds)
        return verdict + ("; glmm ends lower" if higher > SAME else "")


@dataclass(frozen=True)
class Rust(Section):
    """Linear mixed models by us and by glmm."""

    rows: tuple[Row, ...]
    release: str = ""
    trouble: str = ""

    def title(self) -> str:
        """Return the heading."""
        return "Linear mixed model, ML, with Satterthwaite's df, one core: panelist and the Rust package glmm"

    def parts(self) -> list[Part]:
        """Return the table, or why there is none."""
        if self.trouble:
            return [Sentence(self.trouble)]
        times = ("panelist, ms", "glmm, ms", "glmm from arrays, ms", "panelist / glmm", "log-lik. − glmm's")
        header = ("ratings", "random effects", *times, "target", "verdict")
        rows = [
            (
                row.size.n_rows,
                row.random,
                1e3 * row.ours.seconds,
                1e3 * row.theirs.seconds,
                1e3 * row.arrays.seconds,
                row.ours.seconds / row.theirs.seconds,
                row.ours.loglik - row.theirs.loglik,
                f"≤ {FACTOR:g}",
                row.verdict,
            )
            for row in self.rows
        ]
        formats = dict(zip(times, map(decimals, (1, 1, 1, 2, 5)), strict=True)) | {"random effects": TEXT}
        note = (
            f"Whole calls, panelist.fit on a ratings table and glmm.fit (version {self.release}) on a pandas "
            "frame, which the ratio compares, and on a dict of arrays with the labels coded beforehand; "
            "best of 3 to 25 runs after a first one, which is not counted."
        )
        return [Table("Linear mixed model: panelist and glmm", header, rows, formats, note)]


def measure(options: Options) -> Rust:
    """Return our times and glmm's for both models at every size."""
    with on_cores(1), tempfile.TemporaryDirectory() as folder:
        path, trouble = _find_package(Path(folder) / "packages")
        if trouble:
            return Rust((), trouble=trouble)
        rows, release = [], ""
        for size in options.sizes:
            frame = simulate(size, options.seeds[0])
            file = Path(folder) / f"{size.items}-{size.ratings}.csv"
            frame.to_csv(file, index=False)
            theirs, release, trouble = _ask_package(file, path)
            if trouble:
                return Rust((), trouble=trouble)
            ratings = read_ratings(frame)
            for random, formula in FORMULAS.items():
                call = fit_whole(ratings, "lmm", formula)
                call()
                timing, fitted = time_call(call)
                ours = Measured(timing.best, fitted.loglik)
                rows.append(Row(size, random, ours, *theirs[random]))
                say(f"  {random}, {size.n_rows} ratings: {1e3 * timing.best:.1f} ms")
    return Rust(tuple(rows), release)


def _find_package(target: Path) -> tuple[str, str]:
    """Return the folder to put on the path (none if glmm is there already), and what went wrong."""
    if find_spec(PACKAGE) is not None:
        return "", ""
    say(f"  installing {PACKAGE} {VERSION} into a temporary folder")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--target", str(target), f"{PACKAGE}=={VERSION}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return (
            "",
            f"The Rust package glmm is not compared: pip install {PACKAGE}=={VERSION} did not work here.",
        )
    return str(target), ""


def _ask_package(file: Path, path: str) -> tuple[dict[str, list[Measured]], str, str]:
    """Return glmm's time and log-likelihood of each model on one file, its version, and what went wrong."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in (path, str(ROOT)) if p)}
    command = [sys.executable, "-m", "bench.rust", str(file)]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=1800
    )
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        return {}, "", f"The Rust package glmm is not compared: it stopped with {last}"
    found = json.loads(done.stdout)
    return {name: [Measured(*one) for one in found[name]] for name in FORMULAS}, found["version"], ""


def run_package(file: str) -> dict[str, Any]:
    """Return glmm's version, and its best seconds and log-likelihood by model and kind of input."""
    import glmm
    import pandas as pd

    frame = pd.read_csv(file)
    frame["rating"] = frame["rating"].astype(float)
    coded = {name: pd.Categorical(frame[name]) for name in ("rater", "item", "system")}
    arrays = {"rating": frame["rating"].to_numpy(), **coded}
    found: dict[str, Any] = {"version": version(PACKAGE)}
    for name, formula in FORMULAS.items():
        found[name] = []
        for data in (frame, arrays):
            call = partial(glmm.fit, data, formula, reml=False)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a fit is singular is no news here
                call()
                timing, fitted = time_call(call)
            assert fitted.df_method == "satterthwaite", fitted.df_method
            found[name].append((timing.best, float(fitted.loglik)))
    return found


if __name__ == "__main__":
    print(json.dumps(run_package(sys.argv[1])))
