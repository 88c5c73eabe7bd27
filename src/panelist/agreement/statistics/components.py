"""Components of variance from the design as it is: their estimates, and what they do to an object's mean.

An object's mean is y_o = Σ_l w_ol u_l over the levels l of every effect, w_ol being the share of the object's
ratings at that level. So an effect with variance σ² adds σ² Σ_l w_ol² to the error of the mean (absolute) and
half of σ² Σ_l (w_ol − w_pl)² to that of a difference between two objects (relative). Averaged over objects
and over pairs of objects, these multipliers are those of the textbook where facets are crossed with the
object. They are right as well where raters are nested in systems, or where every output has some of many
raters: what two objects do not share does not cancel.

Brennan, R. L. (2001). Generalizability Theory. Springer, chapters 3 and 4.
Putka, D. J., Le, H., McCloy, R. A. & Diaz, T. (2008). Ill-structured measurement designs in organizational
research. Journal of Applied Psychology 93, 959-981.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.core.errors import BadModel
from panelist.core.seeds import stream
from panelist.numerics.arrays import Floats, Longs

if TYPE_CHECKING:
    import pandas as pd

RESIDUAL = "residual"
DRAWS = 20_000
LEAST_DF = 1.0  # below, an estimated variance cannot be treated as a multiple of a chi-square


@dataclass(frozen=True, eq=False)
class VarianceComponents:
    """The variance of each effect and of the residual, their covariance, and what the fit has to say.

    ``covariance`` is that of the REML estimates, in the order of ``variances``; None where it is not known.
    """

    variances: dict[str, float]
    covariance: Floats | None = field(repr=False)
    formula: str
    singular: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Multipliers:
    """How much of each effect's variance is in the error of a difference of means, and of a mean."""

    relative: dict[str, float]
    absolute: dict[str, float]


@dataclass(frozen=True)
class ReliabilityLimits:
    """Intervals of G and phi in the observed design."""

    g_low: float
    g_high: float
    phi_low: float
    phi_high: float
    confidence: float


def fit_components(frame: "pd.DataFrame", effects: Sequence[str]) -> VarianceComponents:
    """Return the REML estimates of the variance of every effect."""
    from panelist.models.fit import fit
    from panelist.models.inference.kenward_roger import kenward_roger

    formula = "rating ~ 1 + " + " + ".join(f"(1 | {effect})" for effect in effects)
    found = fit(formula, frame, model="lmm", method="REML")
    sds = {str(group): float(sd) for group, sd in zip(found.random["group"], found.random["sd"], strict=True)}
    variances = {effect: sds.get(effect, 0.0) ** 2 for effect in effects} | {RESIDUAL: found.sigma**2}
    zero = [effect for effect in effects if variances[effect] < 1e-8 * max(variances.values())]
    notes = [f"the variance of {', '.join(zero)} is estimated as zero"] if zero else []
    if not found.converged:
        notes.append("the model did not converge: take these components as rough")
    factors = found.design.factors
    covariance = None
    try:
        spreads = [found.variance_components[factor.name] for factor in factors]
        W = kenward_roger(found.design.X, factors, spreads, found.sigma).W
        names = [*(factor.name for factor in factors), RESIDUAL]
        order = [names.index(name) for name in variances]
        covariance = W[np.ix_(order, order)]
    except BadModel:
        notes.append("too many levels to say how precise these components are")
    return VarianceComponents(variances, covariance, formula, found.singular, tuple(notes))


def weigh_errors(frame: "pd.DataFrame", target: str, effects: Sequence[str]) -> Multipliers:
    """Return what the incidence of these rows makes of each effect, and of the residual.

    Two systems, each with two raters of its own: half the raters' variance is in the error of each mean, and
    of their difference.

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"system": list("aabb"), "rater": list("wxyz")})
    >>> weigh_errors(rows, "system", ["system", "rater"]).relative
    {'rater': 0.5, 'residual': 0.5}
    """
    objects = code_levels(frame, target)
    relative, absolute = {}, {}
    for effect in (*effects, RESIDUAL):
        if effect == target:
            continue
        levels = np.arange(len(frame)) if effect == RESIDUAL else code_levels(frame, effect)
        relative[effect], absolute[effect] = _multiply(objects, levels)
    return Multipliers(relative, absolute)


def find_nested(frame: "pd.DataFrame", target: str, effects: Sequence[str]) -> tuple[str, ...]:
    """Return the effects whose levels each belong to one object: they differ only where the objects do."""
    objects = code_levels(frame, target)
    nested = []
    for effect in effects:
        if target not in effect.split(":"):
            levels = code_levels(frame, effect)
            if len(np.unique(levels * (objects.max() + 1) + objects)) == levels.max() + 1:
                nested.append(effect)
    return tuple(nested)


def limit_reliability(
    components: VarianceComponents,
    target: str,
    weights: Multipliers,
    n_objects: int,
    confidence: float,
    seed: int = 0,
) -> ReliabilityLimits | None:
    """Return generalized confidence intervals of G and phi; None where the estimates have no covariance.

    The spread of the objects' means, σ²_o + δ, is distributed as a chi-square on one less than the objects,
    the relative error δ as one on Satterthwaite's degrees of freedom, 2δ² / var(δ), and so does what the
    absolute error adds. For G this is the F interval of Feldt (1965); for phi see Burdick, Borror &
    Montgomery (2005), Design and Analysis of Gauge R&R Studies, chapter 3.
    """
    if components.covariance is None or n_objects < 2:
        return None
    names = list(components.variances)
    sizes = np.array([components.variances[name] for name in names])
    relative = np.array([weights.relative.get(name, 0.0) for name in names])
    added = np.array([weights.absolute.get(name, 0.0) for name in names]) - relative
    rng = stream(seed, "generalizability")
    error, rest = float(relative @ sizes), float(added @ sizes)
    truth = components.variances[target]
    drawn_error = _draw(rng, error, float(relative @ components.covariance @ relative))
    drawn_rest = _draw(rng, rest, float(added @ components.covariance @ added))
    df = n_objects - 1
    drawn_truth = np.maximum((truth + error) * df / rng.chisquare(df, DRAWS) - drawn_error, 0.0)
    whole = drawn_truth + drawn_error
    if not (whole > 0).all():
        return None
    tails = [0.5 - confidence / 2, 0.5 + confidence / 2]
    g = np.quantile(drawn_truth / whole, tails)
    phi = np.quantile(drawn_truth / (whole + np.maximum(drawn_rest, 0.0)), tails)
    now = (truth / (truth + error), truth / (truth + error + max(rest, 0.0)))
    ends = [
        (min(float(low), at), max(float(high), at)) for (low, high), at in zip((g, phi), now, strict=True)
    ]
    return ReliabilityLimits(*ends[0], *ends[1], confidence)


def _draw(rng: np.random.Generator, estimate: float, variance: float) -> Floats:
    """Return draws of an estimated variance: scaled inverse chi-square, near zero truncated normal."""
    if not variance > 0:
        return np.full(DRAWS, max(estimate, 0.0))
    df = 2 * estimate**2 / variance
    if df < LEAST_DF:
        return np.maximum(estimate + sqrt(variance) * rng.standard_normal(DRAWS), 0.0)
    return estimate * df / rng.chisquare(df, DRAWS)


def _multiply(objects: Longs, levels: Longs) -> tuple[float, float]:
    """Return the multipliers of one effect: half the mean Σ (w_ol − w_pl)² over pairs, the mean Σ w_ol²."""
    n = int(objects.max()) + 1
    cells, cell = np.unique(levels * np.int64(n) + objects, return_inverse=True)
    share = np.bincount(cell) / np.bincount(objects, minlength=n)[cells % n]
    squares = float(share @ share)
    if n < 2:
        return float("nan"), squares
    sums = np.bincount(np.unique(cells // n, return_inverse=True)[1], share)
    return (n * squares - float(sums @ sums)) / (n * (n - 1)), squares / n


def code_levels(frame: "pd.DataFrame", effect: str) -> Any:
    """Return each row's level of an effect, numbered as they first appear."""
    codes = frame.groupby(effect.split(":"), sort=False, observed=True).ngroup().to_numpy()
    return codes.astype(np.int64)
