"""Raters, their groups, and the questions that put them there."""

from collections.abc import Iterator

from panelist.core.errors import did_you_mean
from panelist.core.prose import count, quoted
from panelist.study.problems import Problem
from panelist.study.rules.base import Facts, rule
from panelist.study.sections.people import Question


@rule("background", "raters.groups")
def answers_lead_to_groups(facts: Facts) -> Iterator[Problem]:
    """Background questions offer answers to choose from, and their groups exist."""
    groups = [group.name for group in facts.file.raters.groups]
    for place, question in enumerate(facts.file.background):
        yield from _check_options(facts, place, question)
        for answer, group in question.groups.items():
            path = ("background", place, "groups", answer)
            if group not in groups:
                hint = did_you_mean(group, groups) if groups else "Add it under raters.groups."
                yield facts.problem(path, f"no group is called {group!r}. {hint}")
            if question.type == "choice" and answer not in question.options:
                yield facts.problem(
                    path, f"{answer!r} is not among the options. {did_you_mean(answer, question.options)}"
                )


def _check_options(facts: Facts, place: int, question: Question) -> Iterator[Problem]:
    path = ("background", place)
    if question.type == "choice" and len(question.options) < 2:
        yield facts.problem(
            (*path, "options"),
            f"a question of type choice needs two options or more; found {len(question.options)}. "
            "Use type text or number where raters write the answer.",
        )
    if question.type != "choice" and question.options:
        yield facts.problem((*path, "options"), f"a question of type {question.type} has no options.")
    if question.type != "choice" and question.groups:
        yield facts.problem(
            (*path, "groups"), "only the answers of a question of type choice lead to groups."
        )
    if twice := sorted({option for option in question.options if question.options.count(option) > 1}):
        yield facts.problem((*path, "options"), f"{quoted(twice)} is listed more than once.")


@rule("background", "raters.groups")
def one_question_makes_the_groups(facts: Facts) -> Iterator[Problem]:
    """One question assigns raters to groups, and every group can be reached."""
    asking = [place for place, question in enumerate(facts.file.background) if question.groups]
    for place in asking[1:]:
        first = facts.file.background[asking[0]].name
        yield facts.problem(
            ("background", place, "groups"),
            f"the question {first!r} puts raters into groups already; keep one.",
        )
    groups = facts.file.raters.groups
    reached = {group for place in asking for group in facts.file.background[place].groups.values()}
    unreached = [group.name for group in groups if group.name not in reached]
    if groups and not asking:
        yield facts.note(
            ("raters", "groups"),
            "no background question puts raters into these groups; each needs its own link.",
        )
    elif unreached:
        yield facts.note(("raters", "groups"), f"no answer puts a rater into {quoted(unreached)}.")


@rule("raters.count", "raters.groups")
def group_sizes_add_up(facts: Facts) -> Iterator[Problem]:
    """The raters of the groups are the raters of the study."""
    raters = facts.file.raters
    sizes = [group.raters for group in raters.groups]
    known = sum(size for size in sizes if size is not None)
    if raters.count is None or not sizes:
        return
    if None in sizes:
        open_groups = sizes.count(None)
        if known and raters.count < known + open_groups:
            yield facts.problem(
                ("raters", "count"),
                f"{count(raters.count, 'rater')} in all, but the groups that say how many need {known} and "
                f"{count(open_groups, 'more group is', 'more groups are')} to be filled.",
            )
    elif known != raters.count:
        each = " + ".join(str(size) for size in sizes)
        yield facts.problem(
            ("raters", "count"),
            f"{count(raters.count, 'rater')} in all, but the groups have {each} = {known}. Set count to "
            f"{known}, or leave it out.",
        )
