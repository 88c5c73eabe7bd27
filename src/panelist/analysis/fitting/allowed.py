"""Systems compared where they may have a spread, or thresholds, of their own: ``compare --allow``.

Tests decide (checks/remedies.py). With a spread of its own a system is compared as before, in residual
standard deviations of the first. With thresholds of its own there is no one latent difference: systems are
compared by their expected ratings, with delta-method standard errors, widened and tested on degrees of
freedom as the differences in location are.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from panelist.analysis.checks.remedies import Remedy, find_remedy
from panelist.analysis.missing import Missing, attempt
from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.comparison import CriterionComparison, list_pairs
from panelist.analysis.systems.in_points import contrast_in_points
from panelist.analysis.systems.marginal import find_term
from panelist.analysis.systems.pairwise import UNITS
from panelist.analysis.systems.ranks import rank_intervals

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
        if fit.has_latent_differences:
            units = f"residual SDs of {found.reference}"
            other = replace(other, units=f"latent scale ({other.link} link; {units})", effect_units=units)
        return replace(other, remedy=found, notes=(*main.notes, *_new(other, main)))
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
    means, every, shown = contrast_in_points(fit, plain, find_term(main), spec)
    groups = {one.system: one.group for one in main.systems}
    best, worst = rank_intervals(every, main.better, [groups[name] for name in means.levels])
    place = {name: at for at, name in enumerate(means.levels)}
    systems = [
        replace(
            one,
            estimate=float(means.estimate[place[one.system]]),
            se=float(means.se[place[one.system]]),
            low=float(means.low[place[one.system]]),
            high=float(means.high[place[one.system]]),
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
        units=UNITS,
        effect_units="points of the scale",
        systems=tuple(sorted(systems, key=lambda one: (one.group, sign * one.estimate, one.system))),
        pairs=list_pairs(shown, shown.estimate, reasons),
        notes=tuple(dict.fromkeys((*main.notes, *(one for one in fit.notes if one not in known)))),
        remedy=remedy,
        fit=fit,
    )


def _new(other: CriterionComparison, main: CriterionComparison) -> list[str]:
    return [note for note in other.notes if note not in main.notes]
