"""How long scale and nominal effects and the other families take, beside the plain ordinal model.

Processor time of one core, solver alone: every model has the largest random part. R has no mixed model with
crossed factors for any of them but the sequential one, which glmmTMB fits to the expanded data.
"""

import time
from dataclasses import dataclass

from bench.report import Options, Section, say
from bench.simulate import MAXIMAL, Size, simulate
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Table
from panelist.core.tables.ratings import read_ratings
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


@dataclass(frozen=True)
class FamilyTime:
    """The best time of one model on one design, in milliseconds, over the data sets."""

    ratings: int
    kind: str
    milliseconds: float
    times_plain: float


@dataclass(frozen=True)
class FamilyTimes(Section):
    """Every model on every design."""

    rows: tuple[FamilyTime, ...]

    def title(self) -> str:
        """Return the heading."""
        return "Families"

    def parts(self) -> list[Part]:
        """Return the table."""
        header = ("ratings", "model", "ms", "times plain")
        rows = [(str(r.ratings), r.kind, r.milliseconds, r.times_plain) for r in self.rows]
        formats = {"ratings": TEXT, "model": TEXT, "ms": decimals(1), "times plain": decimals(2)}
        note = "processor time, the best of fifteen, the mean over data sets; plain has the same link"
        return [Table("Families of ordinal models", header, rows, formats, note=note)]


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
    return FamilyTimes(tuple(rows))


def time_fit(size: Size, seed: int, kind: str) -> float:
    """Return the processor time of one fit, in seconds; the first, which may compile, is not counted."""
    family, link, scale, nominal = KINDS[kind]
    formula = add_sides(parse_formula(MAXIMAL), nominal, scale)
    design = build_design(formula, read_ratings(simulate(size, seed)), ordinal=True)
    thresholds = make_thresholds("flexible", design.categories, family)
    solve_clmm(design, link, thresholds)
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        solve_clmm(design, link, thresholds)
        best = min(best, time.process_time() - start)
    return best
