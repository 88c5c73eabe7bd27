"""Rules about recruiting: panels that exist, redirects that are safe, questions that can be answered."""

from collections.abc import Iterator

from panelist.core.errors import did_you_mean
from panelist.core.prose import count
from panelist.study.panels import list_panels
from panelist.study.problems import Problem
from panelist.study.rules.base import Facts, rule
from panelist.study.rules.sections import refuse_address
from panelist.study.sections.recruiting import Comprehension

SHORTEST_MESSAGE = 100  # characters that Prolific requires of a rejection


@rule("recruiting")
def panels_are_known(facts: Facts) -> Iterator[Problem]:
    """The panel is one that is known or declared, and sends people back to safe addresses."""
    recruiting = facts.file.recruiting
    if recruiting is None:
        return
    declared = [panel.name for panel in recruiting.panels]
    known = {*list_panels(), *declared}
    if recruiting.panel not in known:
        yield facts.problem(
            ("recruiting", "panel"),
            f"no panel is called {recruiting.panel!r}. {did_you_mean(recruiting.panel, known)}",
        )
    for place, panel in enumerate(recruiting.panels):
        path = ("recruiting", "panels", place)
        if declared.index(panel.name) != place:
            yield facts.problem((*path, "name"), f"{panel.name!r} is there more than once.")
        if panel.redirect and (wrong := refuse_address(panel.redirect)):
            yield facts.problem((*path, "redirect"), wrong)
        if panel.link and "{join}" not in panel.link:
            yield facts.problem((*path, "link"), "should hold {join}, the address of the open link.")


@rule("recruiting", "checks")
def rejections_have_grounds(facts: Facts) -> Iterator[Problem]:
    """A rejection tells the person enough, and is based on something that the study measures."""
    recruiting = facts.file.recruiting
    for place, rejection in enumerate(recruiting.rejections if recruiting else ()):
        path = ("recruiting", "rejections", place)
        if rejection.message and len(rejection.message) < SHORTEST_MESSAGE:
            yield facts.problem(
                (*path, "message"),
                f"Prolific asks for {SHORTEST_MESSAGE} characters at least; found {len(rejection.message)}. "
                "Say what was seen, and what was asked for.",
            )
        if rejection.when == "failed checks" and facts.file.checks is None:
            yield facts.problem((*path, "when"), "the study has no checks that could be failed.")


@rule("recruiting", "pay", "raters.paid")
def panel_can_be_paid(facts: Facts) -> Iterator[Problem]:
    """Prolific pays in money, by the pay rule."""
    recruiting = facts.file.recruiting
    if recruiting is not None and recruiting.panel == "prolific" and facts.file.raters.paid != "money":
        yield facts.problem(
            ("recruiting", "panel"),
            f"raters on prolific are paid in money, but raters.paid is {facts.file.raters.paid!r}.",
        )
    if recruiting is not None and recruiting.filters and recruiting.filter_set:
        yield facts.problem(("recruiting", "filter_set"), "give filters or filter_set, not both.")


@rule("comprehension")
def comprehension_can_be_passed(facts: Facts) -> Iterator[Problem]:
    """The right answers are among the options, and the pass mark can be reached."""
    comprehension = facts.file.comprehension
    if comprehension is None:
        return
    for place, question in enumerate(comprehension.questions):
        path = ("comprehension", "questions", place)
        for answer in question.right:
            if answer not in question.options:
                yield facts.problem(
                    (*path, "right"),
                    f"{answer!r} is not among the options. {did_you_mean(answer, question.options)}",
                )
        if len(set(question.options)) < len(question.options):
            yield facts.problem((*path, "options"), "an option is listed more than once.")
    yield from _check_pass_mark(facts, comprehension)


def _check_pass_mark(facts: Facts, comprehension: Comprehension) -> Iterator[Problem]:
    asked = len(comprehension.questions)
    if comprehension.pass_mark is not None and comprehension.pass_mark > asked:
        yield facts.problem(
            ("comprehension", "pass_mark"),
            f"{comprehension.pass_mark} answers cannot be right out of {count(asked, 'question')}.",
        )
