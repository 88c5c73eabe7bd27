"""How many attention checks each rater failed, graded from the ratings table as the pages grade them.

An instructed check asks for an answer; a repeated trial should be answered much as before; a degraded output
should be rated lower than the intact one, on average over the criteria, or not be chosen where outputs are
only compared. The other outputs on the page of a degraded one are ignored.
"""

from collections import Counter, defaultdict
from typing import Any

import pandas as pd

from panelist.core.errors import BadRatings
from panelist.core.tables.cells import label
from panelist.scales.base import BadAnswer, ComparativeScale, RatingScale, Scale
from panelist.study.sections.checks import Check, DegradedCheck, InstructedCheck, RepeatCheck, choose_spoilt
from panelist.study.study import Study

_KEYS = ["rater", "item", "system", "criterion", "beside", "turn"]
Said = float | str
"""A rating, a rank or a grade; for a comparison, what it says about an output, or the answer as sent."""


def count_failed(rows: pd.DataFrame, study: Study) -> dict[str, int]:
    """Return for each rater who met a check how many were failed.

    ``rows`` has the columns rater, item, system, criterion and ``check`` (empty for trials), with rating, or
    choice, grade and answer where outputs are compared. Checks about which the table says nothing count as
    passed.
    """
    checks = name_checks(study)
    rows = rows.assign(said=_find_said(rows), beside=_find_beside(rows, study))
    rows["turn"] = rows["turn"].astype(object).fillna("").astype(str) if "turn" in rows else ""
    met = rows[rows["check"].isin(list(checks))]
    if met.empty:
        raise BadRatings(
            "The ratings hold no answers to the study's checks (column check). Export them with the rest: "
            "panelist export leaves nothing out."
        )
    trials = _list_said(rows[rows["check"] == ""])
    failed: Counter[str] = Counter(dict.fromkeys(met["rater"].dropna().astype(str), 0))
    occasion = [name for name in ("occasion",) if name in met]
    for (rater, name, *_), page in met.groupby(["rater", "check", *occasion], observed=True, dropna=False):
        if not _passes(page, checks[str(name)], trials, study):
            failed[str(rater)] += 1
    return dict(failed)


def _find_said(rows: pd.DataFrame) -> list[Said]:
    """Return what each row says: a rating, a rank or a grade, or the words of a comparison."""
    empty = [float("nan")] * len(rows)
    names = ("rating", "grade", "answer", "choice")
    columns = [rows[name].tolist() if name in rows else empty for name in names]
    said: list[Said] = []
    for rating, grade, answer, choice in zip(*columns, strict=True):
        number = grade if pd.isna(rating) else rating
        said.append((_write(answer) or _write(choice)) if pd.isna(number) else float(number))
    return said


def _write(cell: Any) -> str:
    return "" if pd.isna(cell) else label(cell) or ""


def _find_beside(rows: pd.DataFrame, study: Study) -> list[str] | str:
    """Return which systems each output was compared with: it may be on several pages of a rater."""
    repeated = any(isinstance(check, RepeatCheck) for check in name_checks(study).values())
    if not repeated or "trial" not in rows or not any(one.scale.comparative for one in study.criteria):
        return ""
    names = ("rater", "trial", "criterion", "system")
    raters, trials, criteria, systems = ([_write(cell) for cell in rows[name].tolist()] for name in names)
    pages = list(zip(raters, trials, criteria, strict=True))
    shown: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for page, system in zip(pages, systems, strict=True):
        shown[page].append(system)
    return ["|".join(sorted(shown[page])) if page[1] else "" for page in pages]


def _list_said(rows: pd.DataFrame) -> dict[tuple[object, ...], Said]:
    """Return what was said first about each output on each page of its kind."""
    first = rows[rows["said"].ne("") | (rows["beside"] != "")].drop_duplicates(_KEYS)
    keys = first[_KEYS].itertuples(index=False, name=None)
    return dict(zip(keys, first["said"].tolist(), strict=True))


def name_checks(study: Study) -> dict[str, Check]:
    """Return each check under the name that plans and ratings give it: ``repeat-1``, ``instructed-1``."""
    named: dict[str, Check] = {}
    counts: Counter[str] = Counter()
    for check in study.file.checks.items if study.file.checks else ():
        for _ in range(1 if isinstance(check, InstructedCheck) else check.count):
            counts[check.kind] += 1
            named[f"{check.kind}-{counts[check.kind]}"] = check
    return named


def _passes(page: pd.DataFrame, check: Check, trials: dict[tuple[object, ...], Said], study: Study) -> bool:
    scales = {criterion.name: criterion.scale for criterion in study.criteria}
    if isinstance(check, DegradedCheck):
        page = _take_spoilt(page, study)
    twice: list[tuple[Scale, Said, Said]] = []
    chosen = False
    for key, said in zip(page[_KEYS].itertuples(index=False, name=None), page["said"], strict=True):
        criterion = str(key[3])
        scale = scales.get(criterion)
        rated = isinstance(scale, RatingScale)
        if scale is None or scale.measurement == "text" or (rated and not isinstance(said, float)):
            continue
        if isinstance(check, InstructedCheck):
            wanted = check.answers.get(criterion)
            if wanted is not None and not _follows(scale, said, wanted):
                return False
            continue
        chosen = chosen or (isinstance(scale, ComparativeScale) and scale.is_first(said))
        if key in trials:
            twice.append((scale, trials[key], said))
    if isinstance(check, InstructedCheck):
        return True
    if isinstance(check, RepeatCheck):
        return all(_is_near(scale, one, other, check.tolerance) for scale, one, other in twice)
    gaps = [float(one) - float(other) for scale, one, other in twice if not scale.comparative]
    lower = sum(gaps) / len(gaps) if gaps else 0.0
    return lower > 0 and lower >= check.margin if gaps else not chosen


def _is_near(scale: Scale, one: Said, other: Said, tolerance: float) -> bool:
    if isinstance(one, str) or isinstance(other, str) or scale.measurement == "nominal":
        return one == other
    return abs(one - other) <= tolerance


def _take_spoilt(page: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the rows about the output that was degraded."""
    outputs = list(zip(page["item"].astype(str), page["system"].astype(str), strict=True))
    spoilt = choose_spoilt(study.file.design.seed, list(dict.fromkeys(outputs)))
    return page[[output == spoilt for output in outputs]]


def _follows(scale: Scale, said: Said, wanted: str) -> bool:
    if isinstance(scale, ComparativeScale):
        # The page shows a sentence in place of outputs: its row has the answer as it was sent, or nothing.
        return said == "" or "".join(str(said).split()) == "".join(wanted.split())
    assert isinstance(scale, RatingScale), "a scale rates or compares"
    try:
        value = scale.recognise(wanted)
    except BadAnswer:
        return True  # the study asks for what its scale does not have: no rater is at fault
    if isinstance(value, str) or isinstance(said, str):
        return str(value) == str(said)
    return abs(float(value) - said) <= scale.slack
