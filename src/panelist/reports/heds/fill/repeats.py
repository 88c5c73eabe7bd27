"""Section 4.3.12: whether raters agree with themselves, by a second sitting or by pages shown again."""

from panelist.analysis.words import count
from panelist.reports.heds.fill.base import write
from panelist.reports.heds.fill.facts import Facts
from panelist.reports.heds.sheet import Answer
from panelist.study.checks import RepeatCheck
from panelist.study.criteria import Criterion

METHOD, VALUE = "4.3.12.1", "4.3.12.2"
KEYS = ["rater", "item", "system"]
NOT_ASSESSED = "IntraAA not assessed"


def tell_repeats(criterion: Criterion, facts: Facts) -> dict[str, Answer]:
    """Return how raters repeat themselves; not assessed where nothing is shown twice."""
    file = facts.study.file
    checks = [one for one in file.checks.items if isinstance(one, RepeatCheck)] if file.checks else []
    again = file.design.occasions > 1
    if criterion.scale.comparative or criterion.scale.level == "text" or not (again or checks):
        if again or checks:
            return {}
        none = write(NOT_ASSESSED, "design.occasions and checks")
        return {METHOD: none, VALUE: none}
    if again:
        apart = f"at least {count(file.design.days_between, 'day')} apart"
        method = f"Test and retest: {file.design.occasions} sittings, {apart}"
        found = facts.stability.get(criterion.name)
        text = found.sentence().replace("raters", "evaluators") if found else ""
        source = "design.occasions"
    else:
        method = f"{count(sum(one.count for one in checks), 'page')} of each evaluator shown again"
        text, source = _measure_repeats(criterion, facts), "repeat checks"
    answers = {METHOD: write(method, source)}
    if facts.cleaned is None:
        answers[VALUE] = write("planned", "no ratings yet")
    elif text:
        answers[VALUE] = write(text, "the ratings")
    return answers


def _measure_repeats(criterion: Criterion, facts: Facts) -> str:
    """Return how often a repeated page was answered as before, empty where the ratings hold none."""
    if facts.everything is None:
        return ""
    frame = facts.everything.ratings.frame
    if not {*KEYS, "criterion", "rating"} <= set(frame):
        return ""
    rows = frame.assign(check=facts.everything.check)
    rows = rows[(rows["criterion"] == criterion.name) & rows["rating"].notna()]
    first = rows[rows["check"] == ""].drop_duplicates(KEYS)
    second = rows[rows["check"].astype(str).str.startswith("repeat")]
    both = second.merge(first, on=KEYS, suffixes=("", "_before"))
    if both.empty:
        return ""
    gap = (both["rating"] - both["rating_before"]).abs()
    evaluators = count(both["rater"].nunique(), "evaluator")
    return (
        f"{(gap == 0).mean():.0%} of {count(len(both), 'repeated answer')} by {evaluators} are the same as "
        f"before, the mean difference is {gap.mean():.2f} points"
    )
