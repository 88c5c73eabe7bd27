"""What R takes for the same fits: ``ordinal::clmm`` and ``lmerTest::lmer`` in one R process."""

import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.report import say

SCRIPT = Path(__file__).with_suffix(".R")
INSTALL = "install R with ordinal and lmerTest (Debian: r-base-core r-cran-ordinal r-cran-lmertest)"


@dataclass(frozen=True)
class Measured:
    """One fit by another program: its seconds, and the log-likelihood that it reached."""

    seconds: float
    loglik: float


@dataclass(frozen=True)
class Answers:
    """R's times by file and model, its versions, and what kept it from answering, if anything did."""

    times: Mapping[tuple[Path, str], Measured] = field(default_factory=dict)
    versions: str = ""
    trouble: str = ""


def ask_r(jobs: Sequence[tuple[Path, str]], script: Path = SCRIPT, install: str = INSTALL) -> Answers:
    """Return what R takes for each job: a file of ratings and a model that the script knows.

    ``script`` fits ``clmm`` and ``lmer`` unless another is given; ``install`` says what it needs.
    """
    program = shutil.which("Rscript")
    if program is None:
        return Answers(trouble=f"R was not found: {install}.")
    words = [word for path, model in jobs for word in (str(path), model)]
    process = subprocess.Popen(
        [program, "--vanilla", str(script), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        answers = read_answers(process.stdout, install)
        complaint = process.stderr.read().strip()
    if process.returncode:
        last = complaint.splitlines()[-1] if complaint else f"exit code {process.returncode}"
        return Answers(answers.times, answers.versions, f"R stopped early: {last}")
    return answers


def read_answers(lines: Iterable[str], install: str = INSTALL) -> Answers:
    """Return R's lines as answers, telling each as it comes."""
    times: dict[tuple[Path, str], Measured] = {}
    versions = trouble = ""
    for line in lines:
        first, *rest = line.rstrip("\n").split("\t")
        if first == "missing":
            trouble = f"R lacks {rest[0]}: {install}."
        elif first == "versions":
            versions = rest[0]
        else:
            model, seconds, loglik = rest
            times[Path(first), model] = Measured(float(seconds), float(loglik))
            say(f"  R {model}, {Path(first).stem}: {float(seconds):.2f} s")
    return Answers(times, versions, trouble)
