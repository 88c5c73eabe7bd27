"""A pilot study as the truth: its ordinal model is fitted, and ratings are simulated from the estimates."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from panelist.analysis.checks.remedies import Remedy, find_remedy
from panelist.analysis.missing import Missing, attempt
from panelist.analysis.sensitivity.lead import find_faults
from panelist.analysis.systems.separated import find_separated
from panelist.core.errors import BadRatings
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.models.random_part import RandomPart, choose_random
from panelist.numerics.arrays import Floats
from panelist.power.truth.base import Truth, TruthUncertainty
from panelist.power.truth.cuts import FixedCuts
from panelist.power.truth.pair_moments import estimate_components
from panelist.power.truth.spread import Spread

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit


_ALPHA = 0.05  # of the test of spreads of raters

NEAR_UNANIMOUS = (
    "The pilot's raters are so nearly unanimous that its ordinal model cannot be trusted. Thresholds, "
    "effects and spreads are taken from how often pairs of its ratings agree, with one spread for all "
    "systems."
)


def fit_pilot(data: Any, criterion: str | None = None, uncertain: bool = False) -> Truth:
    """Return the truth that a pilot's ratings suggest.

    An ordered probit model is fitted with the largest random part that the pilot supports. Effects,
    thresholds and spreads are its estimates; a residual spread or thresholds for each system are among them
    where the pilot shows that they differ, and so is how much raters differ in spread. With ``uncertain``
    each simulated data set draws its own around them, without these. Where that model cannot be trusted,
    because raters are nearly unanimous, they come from how often pairs of ratings agree: pair_moments.py. A
    note says so.
    """
    ratings = _choose_criterion(read_ratings(data), criterion)
    ratings.require("rater", "item", "system", "rating")
    frame = ratings.frame.dropna(subset=["rater", "item", "system", "rating"])
    for name, least in (("system", 2), ("rater", 2), ("item", 2)):
        if (found := frame[name].nunique()) < least:
            raise BadRatings(
                f"A pilot needs at least {least} {name}s to simulate from, and this one has {found}. Collect "
                f"ratings of another {name}, or start from a preset."
            )
    from panelist.models.fit import fit

    part = choose_random(frame)
    fitted = fit(part.formula(), ratings, model="clmm" if part.shapes else "clm", link="probit")
    systems = _read_systems(fitted)
    _refuse_separated(fitted)
    if find_faults(fitted, "system"):
        if uncertain:
            raise BadRatings(
                "The pilot's raters are so nearly unanimous that its model does not say how uncertain the "
                "estimates are. Leave --uncertain out, or collect ratings on which raters differ."
            )
        return _use_pairs(fitted, ratings)
    remedy = None if uncertain else _find_sides(fitted, ratings)
    if remedy is not None:
        fitted = remedy.fits[remedy.choice]
    spread = None if uncertain else _find_spread_of_raters(fitted, ratings)
    said: tuple[str, ...] = ()
    if spread is not None:
        fitted = spread
        said = (
            f"On the pilot, raters differ in spread: log spreads have an SD of {fitted.solution.omega:.2f} "
            "over raters. Ratings are simulated with such raters.",
        )
    covariances = {group: _find_covariance(fitted, part, group, len(systems)) for group in ("rater", "item")}
    uncertainty = _find_uncertainty(fitted, frame) if uncertain else None
    how = (covariances, uncertainty)
    if remedy is not None and remedy.choice == "nominal":
        cuts = _order_cells(fitted, systems)
        effects = (cuts[0] - cuts).mean(axis=1)  # of a system, over its thresholds
        said = (f"{remedy.sentence()} Ratings are simulated with each system's own thresholds.", *said)
        truth = _make_truth(systems, cuts[0], effects[1:], *how, said)
        gains = cuts[0] - cuts - effects[:, None]
        truth = replace(truth, system_gains=tuple(tuple(float(gain) for gain in row) for row in gains))
        return replace(truth, rater_scale=fitted.solution.omega)
    effects = fitted.beta[: len(systems) - 1]  # systems come first; a wave may follow
    ratios: tuple[float, ...] = ()
    if remedy is not None:
        said = (f"{remedy.sentence()} Ratings are simulated with these spreads.", *said)
        ratios = (1.0, *fitted.scale["ratio"].tolist())
    truth = _make_truth(systems, fitted.threshold_values, effects, *how, said)
    return replace(truth, system_scale=ratios, rater_scale=fitted.solution.omega)


def _find_sides(fitted: "Fit", ratings: Ratings) -> Remedy | None:
    """Return the tests of spreads and of thresholds by system, where the pilot shows that either differ.

    Thresholds count only where every system has used every category: what one never used cannot be simulated.
    """
    if len(fitted.threshold_values) < 2:
        return None
    seen = pd.crosstab(fitted.design.fixed.data["system"], np.asarray(fitted.design.codes))
    allowed = ("scale", "nominal") if (seen > 0).all(axis=None) else ("scale",)
    found = attempt(lambda: find_remedy(ratings, fitted, "the pilot", "system", allowed=allowed))
    return None if isinstance(found, Missing) or found.choice == "location" else found


def _find_spread_of_raters(fitted: "Fit", ratings: Ratings) -> "Fit | None":
    """Return the model with a random spread for each rater, where the pilot shows that they differ."""
    if fitted.model != "clmm" or len(fitted.design.categories) < 3:
        return None
    from panelist.models.fit import fit
    from panelist.models.inference.likelihood_ratio import compare_fits

    side, nominal = fitted.design.scale, fitted.design.nominal
    scale = "~ (1 | rater)" if side is None else f"~ {side.text} + (1 | rater)"
    own = None if nominal is None else f"~ {nominal.text}"
    found = attempt(
        lambda: fit(fitted.formula, ratings, "clmm", "probit", test="z", scale=scale, nominal=own)
    )
    if isinstance(found, Missing) or not found.converged:
        return None
    p = compare_fits(fitted, found).p_boundary
    return found if p is not None and p < _ALPHA else None


def _order_cells(fitted: "Fit", systems: tuple[str, ...]) -> Floats:
    """Return the thresholds of each system, in the order of the systems."""
    cells: Floats = fitted.cell_thresholds.loc[[f"system {name}" for name in systems]].to_numpy()
    return cells


def _make_truth(
    systems: tuple[str, ...],
    cuts: Floats,
    effects: Floats,
    covariances: dict[str, Floats],
    uncertainty: TruthUncertainty | None = None,
    notes: tuple[str, ...] = (),
) -> Truth:
    """Return the truth of estimates; ``effects`` are those of all systems but the first."""
    return Truth(
        name="pilot",
        raters=_make_spread(covariances["rater"]),
        items=_make_spread(covariances["item"]),
        cuts=FixedCuts(tuple(float(cut) for cut in cuts)),
        unit=float(np.diff(cuts).mean()) if len(cuts) > 1 else 1.0,
        effects=(0.0, *(float(effect) for effect in effects)),
        uncertainty=uncertainty,
        systems=systems,
        notes=notes,
    )


def _use_pairs(fitted: "Fit", ratings: Ratings) -> Truth:
    """Return the truth that pairs of ratings suggest: one spread for all systems, and one correlation."""
    from panelist.models.fit import fit

    margins = fit("rating ~ system", ratings, model="clm", link="probit")
    table = ratings.frame.iloc[np.asarray(fitted.design.rows)][["rater", "item", "system"]]
    levels = _read_systems(fitted)
    table = table.assign(
        system=[levels.index(name) for name in table["system"].astype(str)], code=fitted.design.codes
    )
    found = estimate_components(table, margins.threshold_values, np.array([0.0, *margins.beta]))
    k = len(levels)
    covariances = {
        "rater": found.rater * np.ones((k, k)) + found.rater_system * np.eye(k),
        "item": found.item * np.ones((k, k)) + found.item_system * np.eye(k),
    }
    return _make_truth(levels, found.cuts, found.effects[1:], covariances, notes=(NEAR_UNANIMOUS,))


def _refuse_separated(fitted: "Fit") -> None:
    ends = find_separated(fitted, "system")
    if ends:
        named = ", ".join(f"{name} ({'highest' if end > 0 else 'lowest'})" for name, end in ends.items())
        raise BadRatings(
            f"In the pilot all ratings of a system are at one end of the scale: {named}. That does not say "
            "how far it lies from the others. Collect more ratings of it, leave it out of the pilot, or "
            "start from a preset."
        )


def _choose_criterion(ratings: Ratings, criterion: str | None) -> Ratings:
    if criterion is not None:
        return ratings.only(criterion)
    if len(ratings.criteria) > 1:
        raise BadRatings(
            f"The pilot has ratings on {', '.join(ratings.criteria)}. Choose the one to plan for with "
            "--criterion."
        )
    return ratings


def _read_systems(fitted: "Fit") -> tuple[str, ...]:
    return fitted.design.fixed.levels["system"]


def _find_covariance(fitted: "Fit", part: RandomPart, group: str, n_systems: int) -> Floats:
    """Return the covariance of a rater's (an item's) effects on each system, from the terms fitted."""
    shape = part.shapes.get(group)
    if shape is None:
        return np.zeros((n_systems, n_systems))
    found = fitted.variance_components
    if shape == "slopes":
        A = np.eye(n_systems)
        A[:, 0] = 1.0
        turned: Floats = A @ found[group] @ A.T
        return turned
    whole = np.full((n_systems, n_systems), float(found[group][0, 0]))
    if shape == "cells":
        crossed = next(name for name in found if set(name.split(":")) == {group, "system"})
        whole = whole + float(found[crossed][0, 0]) * np.eye(n_systems)
    return whole


def _make_spread(covariance: Floats) -> Spread:
    """Return the spread of an estimated covariance, with the two numbers that describe it."""
    first = float(np.sqrt(max(covariance[0, 0], 0.0)))
    gap = float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    matrix = tuple(tuple(float(value) for value in row) for row in covariance)
    return Spread(first, float(np.sqrt(max(gap, 0.0))), 0.0, matrix)


def _find_uncertainty(fitted: "Fit", frame: Any) -> TruthUncertainty:
    joint = fitted.cov_params
    if not np.isfinite(joint).all():
        raise BadRatings(
            "The pilot does not say how uncertain its estimates are (no finite standard errors). Leave "
            "--uncertain out, or collect more ratings."
        )
    known = len(fitted.threshold_values) + len(_read_systems(fitted)) - 1
    return TruthUncertainty(
        tuple(float(value) for value in (*fitted.threshold_values, *fitted.beta)[:known]),
        tuple(tuple(float(value) for value in row[:known]) for row in joint[:known]),
        int(frame["rater"].nunique()),
        int(frame["item"].nunique()),
    )
