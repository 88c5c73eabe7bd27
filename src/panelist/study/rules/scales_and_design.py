"""Scales and design: what a page shows must be what its questions are about."""

from collections.abc import Iterator

from panelist.core.errors import did_you_mean
from panelist.core.prose import listing, quoted
from panelist.scales.base import ComparativeScale, Scale
from panelist.study.problems import Problem
from panelist.study.rules.base import EVERY_CRITERION, Facts, name_scale, rule
from panelist.study.sections.design_choice import DESIGNS, say_wants_all


@rule("design.type")
def scales_fit_the_design(facts: Facts) -> Iterator[Problem]:
    """Comparisons need several outputs on a page; a design that is made for comparisons needs one."""
    design = facts.file.design.type
    compares = any(one.scale.comparative for _, one in facts.criteria)
    for place, criterion in facts.criteria:
        path, kind = ("criteria", place, "scale"), name_scale(criterion)
        if criterion.scale.comparative and facts.shows_one:
            pairwise = isinstance(criterion.scale, ComparativeScale) and criterion.scale.pairwise
            fitting = "pairs" if pairwise else kind if kind in DESIGNS else "pages"
            yield facts.problem(
                path,
                f"a {kind} scale compares outputs, but design {design} shows one at a time. Set design.type "
                f"to {fitting}, or choose a scale that rates one output.",
            )
        elif not compares and facts.design.compares:
            yield facts.problem(
                path,
                f"a {kind} scale rates one output, but design {design} shows several to be compared. Set "
                f"design.type to pages or lists, or scale.type to {design}; or add a criterion that does.",
            )
        elif _wants_pairs(facts, criterion.scale):
            yield facts.problem(path, f"a {kind} scale needs design.type pairs; found {design}.")


def _wants_pairs(facts: Facts, scale: Scale) -> bool:
    """Return whether a scale compares two outputs and no more, and the design does not show pairs."""
    return isinstance(scale, ComparativeScale) and scale.pairwise and facts.design.unit != "pair"


@rule("outputs", "design", "systems")
def differences_are_between_two_plain_outputs(facts: Facts) -> Iterator[Problem]:
    """Words that differ can be underlined where a page shows two outputs in plain text."""
    chosen = facts.file.outputs
    if chosen.differences == "hidden":
        return
    path = ("outputs", "differences")
    if chosen.formats.output != "plain":
        yield facts.problem(path, f"is for plain outputs; these are {chosen.formats.output}. Leave it out.")
    elif facts.shown != 2:
        yield facts.problem(path, "is for pages that show two outputs, as design pairs does. Leave it out.")


@rule("design.type", "design.shown", "outputs", "systems")
def enough_outputs_are_shown(facts: Facts) -> Iterator[Problem]:
    """A comparison has as many outputs as its scale can compare, and as there are systems."""
    design = facts.file.design
    if facts.n_systems < facts.design.least_systems:
        yield facts.problem(
            ("design", "type"),
            f"design {design.type} needs two systems or more, but there is only one ({facts.systems[0]!r}). "
            "Use design lists.",
        )
        return
    if (fault := facts.design.find_fault(facts.n_systems, design)) is not None:
        yield facts.problem(("design", fault[0]), fault[1])
        return
    if facts.shows_one:
        return
    for place, criterion in facts.criteria:
        scale, kind = criterion.scale, name_scale(criterion)
        if not isinstance(scale, ComparativeScale) or _wants_pairs(facts, scale):
            continue  # scales_fit_the_design reports what is wrong there
        least, most = scale.least_shown, scale.most_shown
        if facts.shown < least or (most is not None and facts.shown > most):
            bounds = f"at least {least}" + (f" and at most {most}" if most is not None else "")
            yield facts.problem(
                ("criteria", place, "scale"),
                f"a {kind} scale compares {bounds} outputs, but design {design.type} shows {facts.shown} on "
                "a page.",
            )


@rule("design.type", "outputs")
def the_design_can_do_without(facts: Facts) -> Iterator[Problem]:
    """A design that wants every output has every output."""
    outputs = facts.outputs
    if outputs is None or facts.design.does_without:
        return
    items = set(outputs.items)
    if missing := sum(item in items for item, _, _ in outputs.lacking):
        of = len(items) * len(outputs.systems)
        yield facts.problem(("design", "type"), say_wants_all(facts.file.design, missing, of))


@rule("design", "outputs", "systems")
def outputs_are_rated_once(facts: Facts) -> Iterator[Problem]:
    """A rater who meets an item in a second pair or tuple would rate an output a second time."""
    design = facts.file.design
    rating = [one.name for _, one in facts.criteria if not one.scale.comparative]
    if design.items_may_return and rating and not facts.shows_one and facts.pages_per_item > 1:
        yield facts.problem(
            ("design", "items_may_return"),
            f"{quoted(rating)} would be rated again for outputs that come back in another "
            f"{facts.design.unit}. Set items_may_return to false, or use only criteria that compare.",
        )


@rule("design.often", "systems")
def pairs_shown_often_are_pairs_of_systems(facts: Facts) -> Iterator[Problem]:
    """Pairs that are shown more often name two systems, each pair once, and only comparisons allow it."""
    often, seen = facts.file.design.often or (), set[frozenset[str]]()
    for place, one in enumerate(often):
        path = ("design", "often", place, "pair")
        pair = frozenset(one.pair)
        if unknown := [name for name in one.pair if name not in facts.systems]:
            yield facts.problem(
                path, f"no system is called {unknown[0]!r}. {did_you_mean(unknown[0], facts.systems)}"
            )
        elif len(pair) < 2:
            yield facts.problem(path, f"should name two systems; found {one.pair[0]!r} twice.")
        elif pair in seen:
            yield facts.problem(path, f"the pair {listing(map(repr, one.pair))} is named above already.")
        seen.add(pair)
    if often and any(not one.scale.comparative for _, one in facts.criteria):
        yield facts.problem(
            ("design", "often"),
            "outputs of some systems would be rated more often than others; leave it out, or have only "
            "criteria that compare.",
        )


@rule("design")
def nothing_is_set_in_vain(facts: Facts) -> Iterator[Problem]:
    """Numbers that the chosen design does not use are reported."""
    design = facts.file.design
    for name in sorted({key for _, one in DESIGNS.items() for key in one.keys}):
        if name not in facts.design.keys and getattr(design, name) is not None:
            yield facts.note(("design", name), f"has no effect with design {design.type}.")
    if design.rated == "alone" and (
        facts.shows_one or not any(not one.scale.comparative for _, one in facts.criteria)
    ):
        yield facts.note(
            ("design", "rated"), "has no effect: it is for ratings in designs that show several outputs."
        )
    if design.days_between and design.occasions == 1:
        yield facts.note(("design", "days_between"), "has no effect with one occasion; set occasions to 2.")


@rule("checks.items", EVERY_CRITERION)
def degraded_copies_can_be_told(facts: Facts) -> Iterator[Problem]:
    """A degraded copy is detected by a lower rating, which needs a scale with a lower and a higher end."""
    if facts.file.checks is None:
        return
    usable = [
        one.name
        for _, one in facts.criteria
        if not one.scale.comparative and one.scale.measurement in ("ordinal", "interval", "ratio")
    ]
    unusable = [one.name for _, one in facts.criteria if one.name not in usable]
    for place, check in enumerate(facts.file.checks.items):
        path = ("checks", "items", place, "kind")
        if check.kind == "degraded" and unusable and not usable:
            kinds = sorted({name_scale(one) for _, one in facts.criteria})
            yield facts.problem(
                path,
                "a degraded copy should be rated lower, which needs a criterion with an ordered rating scale "
                f"(verbal, likert, vas, graphic or magnitude); found only {listing(kinds)}. Use an "
                "instructed or repeat check.",
            )
        elif check.kind == "degraded" and unusable:
            yield facts.note(path, f"the copy is judged by {quoted(usable)} only; the others cannot tell.")
        if check.kind == "repeat" and all(one.scale.measurement == "text" for _, one in facts.criteria):
            yield facts.problem(
                path, "free texts cannot be compared with each other; use an instructed check."
            )
