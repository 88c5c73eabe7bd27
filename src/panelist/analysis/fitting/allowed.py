"""Systems compared where they may have a spread, or thresholds, of their own: ``compare --allow``.

Tests decide (checks/remedies.py). With a spread of its own a system is compared as before, in residual
standard deviations of the first. With thresholds of its own there is no one latent difference: systems are
compared by their expected ratings, with delta-method standard errors, widened and tested on degrees of
freedom as the differences in location are.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from panelist.analysis.checks.remedies import Remedy, find_remedy
from panelist.analysis.missing import Missing, attempt
from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.comparison import CriterionComparison, list_pairs
from panelist.analysis.systems.equivalence import differentiate
from panelist.analysis.systems.marginal import estimate_marginal, find_term, list_params, make_grid
from panelist.analysis.systems.pairwise import adjust_pairs
from panelist.analysis.systems.ranks import rank_intervals
from panelist.core.errors import BadModel
from panelist.models.inference.adjust import two_sided_quantile
from panelist.models.inference.contrasts import MeasuredPairs, PairContrasts, row_variances, tabulate_pairs
from panelist.models.inference.single_step import find_directions
from panelist.models.predictions.predict import category_points
from panelist.numerics.arrays import Longs

if TYPE_CHECKING:
    from panelist.core.tables.ratings import Ratings
    from panelist.models.results.fitted import Fit


def allow_sides(
    main: CriterionComparison,
    table: "Ratings",
    spec: AnalysisSpec,
    compare_by_spread: Callable[[str], CriterionComparison],
) -> CriterionComparison:
    """Return the comparison by the model that the tests ask for, as far as ``spec`` allows it.

    ``main`` has one shift for each system; ``compare_by_spread`` compares with a spread for each level of a
    term as well.
    """
    fit: Fit | None = main.fit
    if not spec.allow or fit is None:
        return main
    if not fit.ordinal:
        said = "Spreads and thresholds by system were allowed, and not looked for: the linear model has none."
        return replace(main, notes=(*main.notes, said))
    term = find_term(main)
    found = attempt(lambda: find_remedy(table, fit, main.criterion, term, spec.confidence, spec.allow))
    if isinstance(found, Missing):
        return replace(main, notes=(*main.notes, f"Nothing more was allowed for: {found.reason}"))
    if found.choice == "scale":
        other = compare_by_spread(term)
        units = f"residual SDs of {found.reference}"
        changed = replace(other, units=f"latent scale ({other.link} link; {units})", effect_units=units)
        return replace(changed, remedy=found, notes=(*main.notes, *_new(other, main)))
    if found.choice == "nominal":
        own = attempt(lambda: compare_in_points(main, found, spec, table.notes))
        if not isinstance(own, Missing):
            return own
        main = replace(main, notes=(*main.notes, f"Not compared by thresholds of their own: {own.reason}"))
    return replace(main, remedy=found)


def compare_in_points(
    main: CriterionComparison, remedy: Remedy, spec: AnalysisSpec, known: tuple[str, ...] = ()
) -> CriterionComparison:
    """Return the systems compared by expected ratings, from a fit with thresholds for each.

    ``known`` are notes on the table, which the whole comparison has.
    """
    fit, plain = remedy.fits["nominal"], main.fit
    points = category_points(fit)
    if points is None:
        raise BadModel("the ratings are words without numbers, which have no expected rating.")
    term = find_term(main)
    grid, beside = make_grid(fit, term), make_grid(plain, term)
    psi, vcov = list_params(fit)
    expected = estimate_marginal(fit, grid) @ points
    slopes = differentiate(fit, grid, points, psi)
    L = beside.average(beside.X)

    def measure(first: Longs, second: Longs) -> MeasuredPairs:
        D, rows = slopes[first] - slopes[second], L[first] - L[second]
        se = np.sqrt(row_variances(D, vcov)) * np.asarray(plain.widen(rows))
        df = np.asarray(plain.degrees(rows), dtype=float)
        return MeasuredPairs(expected[first] - expected[second], se, df, find_directions(D, vcov))

    def contrast(adjust: str, reference: str | None) -> PairContrasts:
        return tabulate_pairs(term, grid.systems, measure, adjust, spec.confidence, reference)

    every, shown = adjust_pairs(contrast, spec.adjust, spec.reference)
    whole = np.column_stack([np.ones(len(L)), L])
    se = np.sqrt(row_variances(slopes, vcov)) * np.asarray(plain.widen(whole))
    reach = two_sided_quantile(spec.confidence, np.asarray(plain.degrees(whole), dtype=float)) * se
    groups = {one.system: one.group for one in main.systems}
    best, worst = rank_intervals(every, main.better, [groups[name] for name in grid.systems])
    place = {name: at for at, name in enumerate(grid.systems)}
    systems = [
        replace(
            one,
            estimate=float(expected[place[one.system]]),
            se=float(se[place[one.system]]),
            low=float(expected[place[one.system]] - reach[place[one.system]]),
            high=float(expected[place[one.system]] + reach[place[one.system]]),
            rank_low=int(best[place[one.system]]),
            rank_high=int(worst[place[one.system]]),
        )
        for one in main.systems
    ]
    sign = -1 if main.better == "higher" else 1
    reasons = {(pair.a, pair.b): pair.reason for pair in main.pairs if pair.reason}
    return replace(
        main,
        adjust=shown.adjust,
        units="points of the scale: the rating expected of a new rater and item",
        effect_units="points of the scale",
        systems=tuple(sorted(systems, key=lambda one: (one.group, sign * one.estimate, one.system))),
        pairs=list_pairs(shown, shown.estimate, reasons),
        notes=tuple(dict.fromkeys((*main.notes, *(one for one in fit.notes if one not in known)))),
        remedy=remedy,
        fit=fit,
    )


def _new(other: CriterionComparison, main: CriterionComparison) -> list[str]:
    return [note for note in other.notes if note not in main.notes]
