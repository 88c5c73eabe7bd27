"""How long scale and nominal effects and the other families take, beside the plain ordinal model.

Processor time of one core, solver alone: every model has the largest random part. R has no mixed model with
crossed factors for any of them but the sequential one, which glmmTMB fits to the expanded data; where R has a
smaller one (families.R), our fit of the same stands beside it, formula and tables included.
"""

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.report import SAME, Options, Section, say
from bench.rival_r import Answers, ask_r
from bench.simulate import MAXIMAL, Size, simulate
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Sentence, Table
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.models.fit import fit
from panelist.models.formulas.formula import add_sides, parse_formula
from panelist.models.formulas.matrices import build_design
from panelist.models.likelihoods.thresholds import make_thresholds
from panelist.models.solvers.clmm import solve_clmm

SIZES = (Size(50, 3), Size(100, 3), Size(50, 10))
KINDS = {  # family, link, scale, nominal
    "plain, probit": ("cumulative", "probit", None, None),
    "scale": ("cumulative", "probit", "~ system", None),
    "nominal": ("cumulative", "probit", None, "~ system"),
    "plain, logit": ("cumulative", "logit", None, None),
    "sequential": ("sequential", "logit", None, None),
    "adjacent": ("adjacent", "logit", None, None),
}
REPEATS = 15
SCRIPT = Path(__file__).with_suffix(".R")
DEBIAN = "r-base-core r-cran-ordinal r-cran-vgam r-cran-glmmtmb"
INSTALL = f"install R with ordinal, VGAM and glmmTMB (Debian: {DEBIAN})"
FIXED, ONE = "rating ~ system", "rating ~ system + (1 | rater)"
RIVALS: dict[str, tuple[str, str, dict[str, Any]]] = {  # R's function and model: what ours is, and ours
    "clm, scale": (FIXED, "clm", {"scale": "~ system"}),
    "clm, nominal": (FIXED, "clm", {"nominal": "~ system"}),
    "clmm2, scale": (ONE, "clmm", {"scale": "~ system", "quadrature": 10}),
    "clmm2, nominal": (ONE, "clmm", {"nominal": "~ system"}),
    "vglm, sratio": (FIXED, "clm", {"family": "sequential", "link": "logit"}),
    "vglm, acat": (FIXED, "clm", {"family": "adjacent", "link": "logit"}),
    "glmmTMB, steps": (MAXIMAL, "clmm", {"family": "sequential", "link": "logit"}),
}


@dataclass(frozen=True)
class FamilyTime:
    """The best time of one model on one design, in milliseconds, over the data sets."""

    ratings: int
    kind: str
    milliseconds: float
    times_plain: float


@dataclass(frozen=True)
class RivalTime:
    """One model that R has too, on one design: processor seconds and log-likelihoods of both."""

    ratings: int
    kind: str
    formula: str
    ours: float
    theirs: float
    difference: float  # our log-likelihood less R's

    @property
    def verdict(self) -> str:
        """Whether both reached the same optimum."""
        if abs(self.difference) <= SAME:
            return "same fit"
        return "R ends lower" if self.difference > 0.0 else "ours ends lower"


@dataclass(frozen=True)
class FamilyTimes(Section):
    """Every model on every design."""

    rows: tuple[FamilyTime, ...]
    rivals: tuple[RivalTime, ...] = ()
    note: str = ""  # R's versions, or why it is left out

    def title(self) -> str:
        """Return the heading."""
        return "Families"

    def parts(self) -> list[Part]:
        """Return the table."""
        header = ("ratings", "model", "ms", "times plain")
        rows = [(str(r.ratings), r.kind, r.milliseconds, r.times_plain) for r in self.rows]
        formats = {"ratings": TEXT, "model": TEXT, "ms": decimals(1), "times plain": decimals(2)}
        note = "processor time, the best of fifteen, the mean over data sets; plain has the same link"
        shown: list[Part] = [Table("Families of ordinal models", header, rows, formats, note=note)]
        if self.rivals:
            shown.append(self._list_rivals())
        return [*shown, *([Sentence(self.note)] if self.note else [])]

    def _list_rivals(self) -> Table:
        """Return our fits beside R's of the same model."""
        header = ("ratings", "R's model", "ours", "fit, ms", "R, ms", "R / fit", "log-lik. − R's", "verdict")
        rows = [
            (
                str(r.ratings),
                r.kind,
                r.formula,
                1e3 * r.ours,
                1e3 * r.theirs,
                r.theirs / r.ours,
                r.difference,
                r.verdict,
            )
            for r in self.rivals
        ]
        formats = dict.fromkeys(("ratings", "R's model", "ours", "verdict"), TEXT)
        formats |= {"fit, ms": decimals(1), "R, ms": decimals(0), "R / fit": decimals(0)}
        return Table("The models that R has", header, rows, formats | {"log-lik. − R's": decimals(5)})


def measure(options: Options) -> FamilyTimes:
    """Return the times of every model."""
    rows = []
    for size in SIZES:
        say(f"  {size.n_rows} ratings …")
        found = {
            kind: sum(time_fit(size, seed, kind) for seed in options.seeds) / len(options.seeds)
            for kind in KINDS
        }
        for kind, took in found.items():
            plain = found[f"plain, {KINDS[kind][1]}"]
            rows.append(FamilyTime(size.n_rows, kind, 1000.0 * took, took / plain))
    return FamilyTimes(tuple(rows), *measure_rivals(options))


def measure_rivals(options: Options) -> tuple[tuple[RivalTime, ...], str]:
    """Return our times beside R's on the first data set of each design, and a line on R."""
    if not options.use_r:
        return (), "R was left out (--no-r)."
    with tempfile.TemporaryDirectory() as folder:
        files = {size: Path(folder) / f"{size.n_rows}-ratings.csv" for size in SIZES}
        for size, file in files.items():
            simulate(size, options.seeds[0]).to_csv(file, index=False)
        answers = ask_r([(file, kind) for file in files.values() for kind in RIVALS], SCRIPT, INSTALL)
    if answers.trouble:
        return (), answers.trouble
    return set_beside(answers, files, options.seeds[0]), (
        f"{answers.versions}. Processor time of whole calls, formula and standard errors included, the best "
        "of up to fifteen and five. clmm2 with a scale takes ten points of quadrature, as its Laplace is "
        "wrong there (docs/method.md); glmmTMB has the ratings already expanded into steps."
    )


def set_beside(answers: Answers, files: Mapping[Size, Path], seed: int) -> tuple[RivalTime, ...]:
    """Return a row for each fit by R."""
    found = []
    for size, file in files.items():
        ratings = read_ratings(simulate(size, seed))
        for kind, (formula, model, how) in RIVALS.items():
            theirs = answers.times[file, kind]

            call = fit_whole(ratings, formula, model, how)
            difference = call() - theirs.loglik  # the first call, which may compile, is not timed
            found.append(RivalTime(size.n_rows, kind, formula, time_best(call), theirs.seconds, difference))
    return tuple(found)


def fit_whole(ratings: Ratings, formula: str, model: str, how: dict[str, Any]) -> Callable[[], float]:
    """Return the call that a user makes: the fit with its tables; it gives the log-likelihood."""

    def call() -> float:
        fitted = fit(formula, ratings, model=model, **how)
        assert len(fitted.coefficients) + len(fitted.nominal)
        return fitted.loglik

    return call


def time_fit(size: Size, seed: int, kind: str) -> float:
    """Return the processor time of one fit, in seconds; the first, which may compile, is not counted."""
    family, link, scale, nominal = KINDS[kind]
    formula = add_sides(parse_formula(MAXIMAL), nominal, scale)
    design = build_design(formula, read_ratings(simulate(size, seed)), ordinal=True)
    thresholds = make_thresholds("flexible", design.categories, family)
    solve_clmm(design, link, thresholds)
    return time_best(lambda: solve_clmm(design, link, thresholds))


def time_best(call: Callable[[], Any]) -> float:
    """Return the least processor time of a call, in seconds."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best
