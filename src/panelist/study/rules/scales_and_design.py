"""Scales and design: what a page shows must be what its questions are about."""

from collections.abc import Iterator

from panelist.scales.base import ComparativeScale
from panelist.study.problems import Problem, list_some
from panelist.study.rules.base import EVERY_CRITERION, SINGLE, UNITS, Facts, name_scale, rule

SEVERAL = ("pairs", "best-worst", "pages")


@rule("design.type")
def scales_fit_the_design(facts: Facts) -> Iterator[Problem]:
    """Comparisons need several outputs on a page; a design that is made for comparisons needs one."""
    design = facts.file.design.type
    compares = any(one.scale.comparative for _, one in facts.criteria)
    for place, criterion in facts.criteria:
        path, kind = ("criteria", place, "scale"), name_scale(criterion)
        if criterion.scale.comparative and design in SINGLE:
            fitting = {"pairs": "pairs", "best-worst": "best-worst"}.get(kind, "pages")
            yield facts.problem(
                path,
                f"a {kind} scale compares outputs, but design {design} shows one at a time. Set design.type "
                f"to {fitting}, or choose a scale that rates one output.",
            )
        elif not compares and design in ("pairs", "best-worst"):
            yield facts.problem(
                path,
                f"a {kind} scale rates one output, but design {design} shows several to be compared. Set "
                f"design.type to pages or lists, or scale.type to {design}; or add a criterion that does.",
            )
        elif kind == "pairs" and design != "pairs":
            yield facts.problem(path, f"a pairs scale needs design.type pairs; found {design}.")


@rule("design.type", "design.shown", "outputs", "systems")
def enough_outputs_are_shown(facts: Facts) -> Iterator[Problem]:
    """A comparison has as many outputs as its scale can compare, and as there are systems."""
    design = facts.file.design
    if design.type in ("pairs", "best-worst", "williams") and facts.n_systems < 2:
        yield facts.problem(
            ("design", "type"),
            f"design {design.type} needs two systems or more, but there is only one ({facts.systems[0]!r}). "
            "Use design lists.",
        )
        return
    if design.type == "best-worst" and (facts.shown < 3 or facts.shown > facts.n_systems):
        wanted = "a best-worst page shows at least 3 outputs and at most one of each system"
        mend = (
            f"Set it to 3{f' … {facts.n_systems}' if facts.n_systems > 3 else ''}."
            if facts.n_systems >= 3
            else "With 2 systems use design pairs."
        )
        yield facts.problem(
            ("design", "shown"), f"{wanted}; found shown {facts.shown} and {facts.n_systems} systems. {mend}"
        )
        return
    if design.type not in SEVERAL:
        return
    for place, criterion in facts.criteria:
        scale, kind = criterion.scale, name_scale(criterion)
        if not isinstance(scale, ComparativeScale) or (kind == "pairs" and design.type != "pairs"):
            continue  # what is wrong there, scales_fit_the_design says
        least, most = scale.least_shown, scale.most_shown
        if facts.shown < least or (most is not None and facts.shown > most):
            bounds = f"at least {least}" + (f" and at most {most}" if most is not None else "")
            yield facts.problem(
                ("criteria", place, "scale"),
                f"a {kind} scale compares {bounds} outputs, but design {design.type} shows {facts.shown} on "
                "a page.",
            )


@rule("design", "outputs", "systems")
def outputs_are_rated_once(facts: Facts) -> Iterator[Problem]:
    """A rater who meets an item in a second pair or tuple would rate an output a second time."""
    design = facts.file.design
    rating = [one.name for _, one in facts.criteria if not one.scale.comparative]
    if design.items_may_return and rating and design.type not in SINGLE and facts.pages_per_item > 1:
        yield facts.problem(
            ("design", "items_may_return"),
            f"{list_some(map(repr, rating))} would be rated again for outputs that come back in another "
            f"{UNITS[design.type]}. Set items_may_return to false, or let criteria compare only.",
        )


@rule("design")
def nothing_is_set_in_vain(facts: Facts) -> Iterator[Problem]:
    """Numbers that the chosen design does not use are pointed out."""
    design = facts.file.design
    if design.type != "best-worst":
        for name in ("shown", "tuples_per_item"):
            if getattr(design, name) is not None:
                yield facts.note(("design", name), f"has no effect with design {design.type}.")
    if design.rated == "alone" and (
        design.type in SINGLE or not any(not one.scale.comparative for _, one in facts.criteria)
    ):
        yield facts.note(
            ("design", "rated"), "has no effect: it is for ratings in designs that show several outputs."
        )
    if design.days_between and design.occasions == 1:
        yield facts.note(("design", "days_between"), "has no effect with one occasion; set occasions to 2.")


@rule("checks.items", EVERY_CRITERION)
def degraded_copies_can_be_told(facts: Facts) -> Iterator[Problem]:
    """A spoilt copy is found out by a lower rating, which needs a scale with a lower and a higher end."""
    if facts.file.checks is None:
        return
    usable = [
        one.name
        for _, one in facts.criteria
        if not one.scale.comparative and one.scale.level in ("ordinal", "interval", "ratio")
    ]
    unusable = [one.name for _, one in facts.criteria if one.name not in usable]
    for place, check in enumerate(facts.file.checks.items):
        path = ("checks", "items", place, "kind")
        if check.kind == "degraded" and unusable and not usable:
            kinds = sorted({name_scale(one) for _, one in facts.criteria})
            yield facts.problem(
                path,
                "a degraded copy should be rated lower, which needs a criterion with an ordered rating scale "
                f"(verbal, likert, vas, graphic or magnitude); found only {list_some(kinds)}. Use an "
                "instructed or repeat check.",
            )
        elif check.kind == "degraded" and unusable:
            yield facts.note(
                path,
                f"the copy is judged by {list_some(map(repr, usable))} only; the others cannot tell.",
            )
        if check.kind == "repeat" and all(one.scale.level == "text" for _, one in facts.criteria):
            yield facts.problem(
                path, "free texts cannot be held against each other; use an instructed check."
            )
