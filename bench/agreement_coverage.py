"""How often 95 % intervals of agreement hold the truth: ``python -m bench.agreement_coverage --sets 400``.

Ratings on five points are cut from a latent quality; raters differ in level and in how noisy they are. With
three raters the truth is the coefficient of these raters on very many outputs, with more of them that of very
many raters and outputs: what the default intervals claim. ``--generalizability`` does the same for G and phi.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.special import ndtri

from panelist.agreement.coefficient import COEFFICIENTS, Coefficient, Level, Prepared
from panelist.agreement.coefficient_intervals import ENOUGH_RATERS, find_limits
from panelist.agreement.criterion_table import RatingTable, from_matrix
from panelist.agreement.statistics.components import weigh_errors
from panelist.agreement.statistics.unit_sums import UnitSums
from panelist.agreement.studies.generalizability import study_generalizability
from panelist.numerics.arrays import Floats

SHARES = {"balanced": (0.2, 0.2, 0.2, 0.2, 0.2), "skewed": (0.8, 0.1, 0.05, 0.03, 0.02)}
NAMES: dict[Level, tuple[str, ...]] = {
    "nominal": (
        "percent_agreement",
        "cohen_kappa",
        "scott_pi",
        "fleiss_kappa",
        "krippendorff_alpha_nominal",
        "gwet_ac1",
    ),
    "ordinal": (
        "weighted_kappa_linear",
        "weighted_kappa_quadratic",
        "krippendorff_alpha_ordinal",
        "gwet_ac2",
        "spearman",
        "kendall_tau_b",
        "goodman_kruskal_gamma",
        "kendall_w",
    ),
    "interval": (
        "krippendorff_alpha_interval",
        "pearson",
        "icc_1",
        "icc_a1",
        "icc_c1",
        "icc_k",
        "icc_ak",
        "icc_ck",
        "cronbach_alpha",
    ),
    "ratio": ("krippendorff_alpha_ratio",),
}
OF_GROUPS = ("kendall_w", "icc_k", "icc_ak", "icc_ck", "cronbach_alpha")
"""What is said of a group of raters: its truth is that of groups of the same size."""
LEVEL_SD, NOISE, NOISE_SD = 0.4, 0.7, 0.35  # raters: spread of level, typical noise, spread of its logarithm
SPREAD = np.sqrt(1 + LEVEL_SD**2 + NOISE**2 * np.exp(2 * NOISE_SD**2))
VARIANCES = {
    "system": 0.3,
    "item": 0.3,
    "rater": 0.4,
    "system:item": 0.2,
    "system:rater": 0.15,
    "residual": 1.0,
}


@dataclass(frozen=True)
class Design:
    """So many raters and outputs, each output rated by some of the raters, on categories of some shape."""

    raters: int
    outputs: int
    each: int
    shape: str

    def __str__(self) -> str:
        who = "all" if self.each == self.raters else f"{self.each} of"
        return f"{self.shape}, {who} {self.raters} raters, {self.outputs} outputs"


DESIGNS = [
    Design(raters, outputs, each, shape)
    for shape in SHARES
    for raters, outputs, each in (
        (3, 60, 3),
        (6, 60, 6),
        (12, 60, 12),
        (6, 100, 3),
        (12, 100, 3),
        (24, 100, 3),
        (24, 60, 24),
    )
]


def measure_coverage(design: Design, sets: int, resamples: int, seed: int = 1) -> pd.DataFrame:
    """Return a row for each coefficient: how often its interval held the truth, how often there was none."""
    rng = np.random.default_rng(seed)
    truth = _find_truth(design.shape, design.raters) if design.raters >= ENOUGH_RATERS else {}
    rows = []
    for number in range(sets):
        people = _draw_raters(rng, design.raters)
        ratings = _rate(rng, design.outputs, people, design.shape)
        for i in range(design.outputs):
            ratings[i, rng.permutation(design.raters)[design.each :]] = np.nan
        if design.raters < ENOUGH_RATERS:
            truth = _evaluate(_rate(rng, 2_000, people, design.shape))
        for name, low, high in _limit(_as_table(ratings), resamples, number):
            rows.append((name, low <= truth[name] <= high, np.isnan(low), high - low))
    found = pd.DataFrame(rows, columns=["coefficient", "held", "none", "width"])
    given = found[~found["none"]]
    return pd.DataFrame(
        {
            "none": found.groupby("coefficient")["none"].mean(),
            "coverage": given.groupby("coefficient")["held"].mean(),
            "width": given.groupby("coefficient")["width"].mean(),
        }
    )


def _find_truth(shape: str, raters: int) -> dict[str, float]:
    """Return the coefficients of very many raters and outputs, those of groups at this size."""
    own = _average_groups(shape, raters)
    return _average_groups(shape, 30) | {name: own[name] for name in OF_GROUPS}


@cache
def _average_groups(shape: str, raters: int) -> dict[str, float]:
    """Return the mean over forty groups of raters, each with very many outputs."""
    rng = np.random.default_rng(0)
    many = [_evaluate(_rate(rng, 1_500, _draw_raters(rng, raters), shape)) for _ in range(40)]
    return {name: float(np.mean([one[name] for one in many])) for name in many[0]}


def _limit(table: RatingTable, resamples: int, seed: int) -> Iterator[tuple[str, float, float]]:
    """Return the default interval of every coefficient."""
    for measurement, prepared, chosen in _prepare(table):
        values = {
            one.name: one.estimate(table, measurement, prepared[one.statistics]).value for one in chosen
        }
        found = find_limits(table, chosen, measurement, prepared, values, resamples=resamples, seed=seed)
        for name, ends in found.items():
            yield name, ends.low, ends.high


def _prepare(table: RatingTable) -> Iterator[tuple[Level, dict[type, Prepared], list[Coefficient]]]:
    """Return the coefficients that share statistics; those of pairs of raters are the same at all levels."""
    together: dict[tuple[type, Level], list[Coefficient]] = {}
    for measurement, names in NAMES.items():
        for one in (COEFFICIENTS[name] for name in names):
            kind: Level = measurement if one.statistics is UnitSums else "interval"
            together.setdefault((one.statistics, kind), []).append(one)
    for (statistics, measurement), chosen in together.items():
        yield measurement, {statistics: chosen[0].statistics.prepare(table, measurement)}, chosen


def _draw_raters(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    return LEVEL_SD * rng.normal(size=n), NOISE * np.exp(NOISE_SD * rng.normal(size=n))


def _rate(rng: np.random.Generator, n: int, people: tuple[Floats, Floats], shape: str) -> Floats:
    level, noise = people
    latent = rng.normal(size=(n, 1)) + level + noise * rng.normal(size=(n, len(level)))
    cuts = ndtri(np.cumsum(SHARES[shape])[:-1]) * SPREAD
    return np.asarray(np.searchsorted(cuts, latent) + 1, dtype=np.float64)


def _as_table(ratings: Floats) -> RatingTable:
    return from_matrix(ratings, categories=[1, 2, 3, 4, 5])


def _evaluate(ratings: Floats) -> dict[str, float]:
    table = _as_table(ratings)
    return {
        one.name: one.estimate(table, measurement, prepared[one.statistics]).value
        for measurement, prepared, chosen in _prepare(table)
        for one in chosen
    }


def measure_generalizability(sets: int, seed: int = 5) -> pd.DataFrame:
    """Return a row for each design: the true G and phi, the median estimates, how often intervals hold."""
    rows = []
    for name, systems, items, raters in (
        ("crossed", 5, 15, 6),
        ("crossed", 3, 20, 4),
        ("nested", 5, 10, 5),
        ("nested", 3, 20, 3),
        ("latin", 3, 24, 12),
        ("latin", 6, 24, 12),
    ):
        rng = np.random.default_rng(seed)
        frame = _lay_out(name, systems, items, raters)
        weights = weigh_errors(frame, "system", [effect for effect in VARIANCES if effect != "residual"])
        errors = [sum(by[e] * VARIANCES[e] for e in by) for by in (weights.relative, weights.absolute)]
        g, phi = (VARIANCES["system"] / (VARIANCES["system"] + error) for error in errors)
        found = []
        for _ in range(sets):
            study = study_generalizability(_rate_effects(rng, frame), raters=(), items=())
            now, ends = study.decide(), study.limits
            assert ends is not None
            found.append(
                (now.g, now.phi, ends.g_low <= g <= ends.g_high, ends.phi_low <= phi <= ends.phi_high)
            )
        middle, held = np.median(found, axis=0), np.mean(found, axis=0)
        label = f"{name}, {systems} systems, {items} items, {raters} raters"
        rows.append((label, g, phi, middle[0], middle[1], held[2], held[3]))
    columns = ["design", "G", "phi", "median G", "median phi", "G held", "phi held"]
    return pd.DataFrame(rows, columns=columns)


def _lay_out(name: str, systems: int, items: int, raters: int) -> pd.DataFrame:
    """Return who rates what: everybody everything, raters of their own for each system, or a Latin square."""
    rows = [
        (f"s{s}", f"i{i}", f"r{s}-{r}" if name == "nested" else f"r{r}")
        for s in range(systems)
        for i in range(items)
        for r in range(raters)
        if name != "latin" or (r + i) % systems == s
    ]
    return pd.DataFrame(rows, columns=["system", "item", "rater"])


def _rate_effects(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    rating = np.sqrt(VARIANCES["residual"]) * rng.normal(size=len(frame))
    for effect, variance in VARIANCES.items():
        if effect != "residual":
            code = frame.groupby(effect.split(":")).ngroup().to_numpy()
            rating += np.sqrt(variance) * rng.normal(size=code.max() + 1)[code]
    return frame.assign(rating=rating)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--shape", choices=list(SHARES))
    parser.add_argument("--raters", type=int)
    parser.add_argument("--generalizability", action="store_true")
    asked = parser.parse_args()
    if asked.generalizability:
        print(measure_generalizability(asked.sets).round(3).to_string(index=False))
        return
    for design in DESIGNS:
        if asked.shape not in (None, design.shape) or asked.raters not in (None, design.raters):
            continue
        print(f"\n{design}", flush=True)
        print(measure_coverage(design, asked.sets, asked.resamples).round(3).to_string(), flush=True)


if __name__ == "__main__":
    main()
