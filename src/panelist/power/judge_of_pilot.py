"""A judge as a pilot shows it, to plan with: its correlation with people on differences, and its interval."""

from math import isfinite
from typing import Any

from panelist.core.display.formats import number
from panelist.core.errors import BadModel
from panelist.core.prose import count, quoted
from panelist.core.tables.ratings import Ratings
from panelist.judges.match import check_raters, match_criterion
from panelist.judges.table import read_judges
from panelist.judges.worth.replaced import measure_replaced
from panelist.power.judged import PlannedJudge

ENOUGH = 30  # complete items, from which on a pilot says how much a judge saves


def measure_planned(
    ratings: Ratings, judges: Any, criterion: str | None = None, items: int | None = None
) -> tuple[PlannedJudge, str]:
    """Return the judge that a pilot's ratings and its scores of the same outputs show, and what to say of it.

    ``judges`` is a judges table with one judge; ``items`` is how many items it will score: by default those
    that it scored. A judge that orders against people counts turned round, as in the correction.
    """
    scores = read_judges(judges)
    check_raters(ratings, scores.judges)
    if len(scores.judges) > 1:
        raise BadModel(
            f"{scores.source} holds {quoted(scores.judges)}: one judge is planned for. Keep the rows of one."
        )
    known = ratings.criteria
    if criterion is None and len(known) > 1:
        raise BadModel(f"The pilot has several criteria: {quoted(known)}. Name one with --criterion.")
    name = criterion or (known[0] if known else (scores.criteria or ("rating",))[0])
    beside = match_criterion(ratings.only(name) if known else ratings, scores, name)
    found = measure_replaced(beside, scores.judges[0])
    if not isfinite(found.r_true):
        raise BadModel(
            "From this pilot the judge's correlation with people cannot be told: "
            f"{found.why or 'too little is known'}. State it: --judge-r R."
        )
    sign = -1.0 if found.r_true < 0 else 1.0
    r, low, high = sign * found.r_true, *sorted((sign * found.r_low, sign * found.r_high))
    least = max(low, 0.0) if isfinite(low) else 0.0
    n = int(beside.labelled.sum())
    said = (
        f"r of {beside.judges[0]} with what very many people would say, from {count(n, 'item')} of the "
        f"pilot: {number(r, 2)} ({number(low, 2)} to {number(high, 2)})"
        + (", turned round: it orders against people" if sign < 0 else "")
        + (f". From {ENOUGH} complete items on it is worth relying on" if n < ENOUGH else "")
    )
    return PlannedJudge(items or len(beside.items), (min(r, 1.0), min(least, r, 1.0))), said
