"""How many attention checks each rater failed, graded from the ratings table as the pages grade them.

An instructed check asks for an answer; a repeated trial should be answered much as before; a spoilt output
should be rated lower than the whole one, on average over the criteria.
"""

from collections import Counter

import pandas as pd

from panelist.core.errors import BadRatings
from panelist.scales.base import BadAnswer, RatingScale
from panelist.scales.line import LineScale
from panelist.study.checks import Check, DegradedCheck, InstructedCheck
from panelist.study.study import Study

_KEYS = ["rater", "item", "system", "criterion"]


def count_failed(rows: pd.DataFrame, study: Study) -> dict[str, int]:
    """Return for each rater who met a check how many were failed.

    ``rows`` has the columns rater, item, system, criterion, rating and ``check`` (empty for trials). Checks
    about which the table says nothing (comparisons, empty answers) count as passed.
    """
    checks = name_checks(study)
    met = rows[rows["check"].isin(list(checks))]
    if met.empty:
        raise BadRatings(
            "The ratings hold no answers to the study's checks (column check). Export them with the rest: "
            "panelist export leaves nothing out."
        )
    first = rows[(rows["check"] == "") & rows["rating"].notna()].drop_duplicates(_KEYS)
    keys = first[_KEYS].itertuples(index=False, name=None)
    trials: dict[tuple[object, ...], float] = dict(zip(keys, first["rating"], strict=True))
    failed: Counter[str] = Counter(dict.fromkeys(met["rater"].dropna().astype(str), 0))
    occasion = [name for name in ("occasion",) if name in met]
    for (rater, name, *_), page in met.groupby(["rater", "check", *occasion], observed=True, dropna=False):
        if not _passes(page, checks[str(name)], trials, study):
            failed[str(rater)] += 1
    return dict(failed)


def name_checks(study: Study) -> dict[str, Check]:
    """Return each check under the name that plans and ratings give it: ``repeat-1``, ``instructed-1``."""
    named: dict[str, Check] = {}
    counts: Counter[str] = Counter()
    for check in study.file.checks.items if study.file.checks else ():
        for _ in range(1 if isinstance(check, InstructedCheck) else check.count):
            counts[check.kind] += 1
            named[f"{check.kind}-{counts[check.kind]}"] = check
    return named


def _passes(page: pd.DataFrame, check: Check, trials: dict[tuple[object, ...], float], study: Study) -> bool:
    scales = {criterion.name: criterion.scale for criterion in study.criteria}
    gaps: list[float] = []
    for key, rating in zip(page[_KEYS].itertuples(index=False, name=None), page["rating"], strict=True):
        criterion = str(key[-1])
        scale = scales.get(criterion)
        if not isinstance(scale, RatingScale) or scale.level == "text" or pd.isna(rating):
            continue
        if isinstance(check, InstructedCheck):
            wanted = check.answers.get(criterion)
            if wanted is not None and not _follows(scale, rating, wanted):
                return False
        elif key in trials:
            gaps.append(trials[key] - float(rating))
    if isinstance(check, InstructedCheck) or not gaps:
        return True
    if isinstance(check, DegradedCheck):
        lower = sum(gaps) / len(gaps)
        return lower > 0 and lower >= check.margin
    return all(abs(gap) <= check.tolerance for gap in gaps)


def _follows(scale: RatingScale, rating: object, wanted: str) -> bool:
    try:
        value = scale.recognise(wanted)
    except BadAnswer:
        return True  # the study asks for what its scale has not: nobody can be blamed
    if isinstance(value, str) or isinstance(rating, str):
        return str(value) == str(rating)
    slack = 0.0
    if isinstance(scale, LineScale):
        from panelist.collection.grading import NEAR_ON_LINE  # late: it brings the pages and the designs

        slack = NEAR_ON_LINE
    return abs(float(value) - float(rating)) <= slack  # type: ignore[arg-type]
