"""Answers written down in advance (examples, practice, checks) are answers that the scales have."""

from collections.abc import Iterator, Sequence

from panelist.core.errors import did_you_mean
from panelist.core.prose import count
from panelist.formats import FORMATS, Stimulus
from panelist.scales.base import BadAnswer, ComparativeScale, RatingScale
from panelist.study.problems import Path, Problem
from panelist.study.rules.base import EVERY_CRITERION, Facts, rule
from panelist.study.sections.briefing import Shown
from panelist.study.sections.criteria import Criterion


@rule("examples", "criteria", "design.type", "design.shown")
def examples_are_answerable(facts: Facts) -> Iterator[Problem]:
    """A worked example shows what a page shows, and its answers are on the scales."""
    for place, example in enumerate(facts.file.examples):
        path: Path = ("examples", place)
        yield from _check_shown(facts, path, example)
        for name, answer in example.answers.items():
            given = (answer,) if isinstance(answer, str) else answer
            yield from _check_answers(
                facts,
                (*path, "answers", name),
                name,
                given,
                _n_shown(example),
                False,
                _n_judged(facts, example),
            )


@rule("practice.items", "criteria", "design.type", "design.shown")
def practice_is_answerable(facts: Facts) -> Iterator[Problem]:
    """A practice item shows what a page shows, and the answers that pass are on the scales."""
    if facts.file.practice is None:
        return
    for place, item in enumerate(facts.file.practice.items):
        path: Path = ("practice", "items", place)
        yield from _check_shown(facts, path, item)
        for name, answers in item.right.items():
            yield from _check_answers(
                facts, (*path, "right", name), name, answers, _n_shown(item), True, _n_judged(facts, item)
            )


@rule("practice")
def pass_mark_can_be_reached(facts: Facts) -> Iterator[Problem]:
    """The pass mark is not above the number of items, and items that are not marked do not count."""
    practice = facts.file.practice
    if practice is None:
        return
    marked = sum(bool(item.right) for item in practice.items)
    if practice.pass_mark > marked:
        unmarked = len(practice.items) - marked
        hint = f" ({count(unmarked, 'item')} without right: cannot count)" if unmarked else ""
        yield facts.problem(
            ("practice", "pass_mark"),
            f"{practice.pass_mark} items must be right, but practice has {marked} that can be{hint}. Set "
            f"pass_mark to {marked} or less, or add items.",
        )


@rule("checks.items", "criteria", "design.type", "design.shown")
def instructed_answers_exist(facts: Facts) -> Iterator[Problem]:
    """What an instructed check asks for can be answered."""
    for place, check in enumerate(facts.file.checks.items if facts.file.checks else ()):
        if check.kind == "instructed":
            for name, answer in check.answers.items():
                path = ("checks", "items", place, "answers", name)
                yield from _check_answers(facts, path, name, (answer,), max(facts.shown, 1), True)


@rule("checks")
def checks_can_be_failed(facts: Facts) -> Iterator[Problem]:
    """The number of checks that a rater may fail is less than the number there are."""
    checks = facts.file.checks
    if checks is None or checks.then == "flag":
        return
    total = sum(1 if check.kind == "instructed" else check.count for check in checks.items)
    if checks.allowed >= total:
        yield facts.note(
            ("checks", "allowed"),
            f"a rater may fail {checks.allowed} of {count(total, 'check')}, so the checks never have an "
            "effect.",
        )


def _may_show_one(facts: Facts) -> bool:
    """Return whether an example or practice item may show one output where the pages of trials show several:
    where nothing is compared, or ratings have pages of their own."""
    if not any(one.scale.comparative for _, one in facts.criteria):
        return not (facts.shows_one or facts.design.compares) and not facts.is_broken(EVERY_CRITERION)
    return _rates_apart(facts)


def _rates_apart(facts: Facts) -> bool:
    """Return whether a rater compares outputs on some pages, and rates them one by one on others."""
    design = facts.file.design
    kinds = {one.scale.comparative for _, one in facts.criteria}
    apart = design.rated == "alone" and design.criteria != "one per rater"
    return apart and not facts.shows_one and len(kinds) == 2


def _n_shown(shown: Shown) -> int:
    return len(shown.outputs) or 1


def _n_judged(facts: Facts, shown: Shown) -> int:
    """Return how many answers a rating of an example has: one for each output, and for each turn of it."""
    options = facts.file.outputs
    kind = FORMATS[options.formats.output]
    texts = shown.outputs or (shown.output,)
    return sum(max(kind.count_parts(Stimulus(text), options), 1) for text in texts)


def _check_shown(facts: Facts, path: Path, shown: Shown) -> Iterator[Problem]:
    """Yield what is wrong with the texts of an example or practice item."""
    design = facts.file.design.type
    if shown.output and shown.outputs:
        yield facts.problem(path, "output and outputs are both given; keep one of them.")
    elif facts.shows_one:
        if shown.outputs:
            yield facts.problem(
                (*path, "outputs"), f"design {design} shows one output at a time; give output, a single text."
            )
        elif not shown.output:
            yield facts.problem((*path, "output"), "the key 'output' is missing: the text to judge.")
    elif shown.output and _may_show_one(facts):
        return
    elif not shown.outputs:
        yield facts.problem(
            (*path, "outputs"),
            f"design {design} shows several outputs on a page; give outputs, a list of texts.",
        )
    elif not facts.design.compares:
        if len(shown.outputs) < 2:
            yield facts.problem((*path, "outputs"), "a page shows at least 2 outputs; found 1.")
    elif facts.outputs is not None and len(shown.outputs) != facts.shown:
        yield facts.problem(
            (*path, "outputs"),
            f"design {design} shows {facts.shown} outputs on a page; found {len(shown.outputs)}.",
        )


def _check_answers(
    facts: Facts,
    path: Path,
    name: str,
    answers: Sequence[str],
    n_shown: int,
    alternatives: bool,
    n_judged: int = 1,
) -> Iterator[Problem]:
    """Yield what is wrong with the answers to a criterion; with alternatives, any one is right."""
    criterion = facts.criterion(name)
    if criterion is None:
        if name not in facts.criterion_names:
            hint = did_you_mean(name, facts.criterion_names)
            yield facts.problem(path, f"no criterion is called {name!r}. {hint}")
        return
    if path[0] != "checks" and _rates_apart(facts):
        comparative, practice = criterion.scale.comparative, path[0] == "practice"
        if comparative and n_shown == 1:
            yield facts.problem(
                path, f"{name!r} compares outputs, and this shows one. Leave it out, or give outputs, a list."
            )
            return
        if practice and not comparative and n_shown > 1:
            yield facts.problem(
                path,
                f"design.rated is alone, so {name!r} is asked about one output. Give a separate item for it, "
                "with output, a single text.",
            )
            return
    one_each = isinstance(criterion.scale, RatingScale) and n_judged > 1 and path[0] != "checks"
    wanted = n_judged if one_each else 1
    if (one_each or not alternatives) and len(answers) != wanted:
        each = "output shown" if n_judged == n_shown else "turn that is rated, output by output"
        what = f"one answer for each {each}" if one_each else "one answer"
        yield facts.problem(path, f"{what} is needed, {wanted} in all; found {len(answers)}.")
    if not answers:
        yield facts.problem(path, "no answer is given; leave the criterion out if it is not to be marked.")
    for place, answer in enumerate(answers):
        where = (*path, place) if (*path, place) in facts.text.lines else path
        if refused := _refuse(criterion, answer, n_shown):
            yield facts.problem(where, refused)


def _refuse(criterion: Criterion, answer: str, n_shown: int) -> str:
    """Return why an answer is not on the scale; nothing if it is."""
    scale = criterion.scale
    try:
        if isinstance(scale, ComparativeScale):
            least, most = scale.least_shown, scale.most_shown
            if n_shown >= least and (most is None or n_shown <= most):  # else another rule has reported it
                scale.parse(answer, n_shown)
        elif isinstance(scale, RatingScale):
            scale.recognise(answer)
    except BadAnswer as error:
        return str(error)
    return ""
