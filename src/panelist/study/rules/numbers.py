"""Numbers of the design that contradict each other: which two conflict, and what would work."""

from collections.abc import Iterator
from math import ceil

from panelist.core.prose import count
from panelist.study.problems import Path, Problem
from panelist.study.rules.base import Facts, rule


@rule("design", "outputs", "systems")
def trials_can_be_had(facts: Facts) -> Iterator[Problem]:
    """A rater does not get more pages than can be made of the items."""
    design = facts.file.design
    trials = design.trials_per_rater
    if trials is None or not facts.pages_per_item:  # one system makes no pair, which another rule reports
        return
    if facts.outputs is not None and facts.outputs.lacking:  # which pages exist is known when it is planned
        return
    path = ("design", "trials_per_rater")
    everything = facts.n_items * facts.pages_per_item
    made = f"{count(facts.n_items, 'item')} make {count(everything, facts.design.unit)}"
    if facts.design.everything and facts.n_systems > 1 and trials != everything:
        yield facts.problem(
            path,
            f"{trials:,} trials per rater, but design {design.type} shows every rater all {everything:,} "
            "outputs. Leave trials_per_rater out, or set design.type to lists.",
        )
    elif trials > everything:
        yield facts.problem(
            path, f"{trials:,} trials per rater, but {made}. Set trials_per_rater to {everything:,} or less."
        )
    elif not facts.design.everything and trials > facts.n_items and not design.items_may_return:
        yield facts.problem(
            path,
            f"{trials:,} trials per rater, but {count(facts.n_items, 'item')}, and items_may_return is "
            f"false. Set trials_per_rater to {facts.n_items:,} or less, or items_may_return to true (then up "
            f"to {everything:,}).",
        )


@rule("design", "raters.count", "raters.groups", "outputs", "systems", "criteria")
def ratings_can_be_reached(facts: Facts) -> Iterator[Problem]:
    """The raters can give the ratings wanted: enough of them, with enough trials each.

    Groups, and criteria of which each rater judges one, are planned separately: every such part needs its
    ratings.
    """
    if not facts.criteria or not facts.pages_per_item or (facts.outputs and facts.outputs.lacking):
        return
    turns = len(facts.criterion_names) if facts.file.design.criteria == "one per rater" else 1
    for path, raters, groups in _find_places(facts):
        parts = turns * groups
        least = facts.file.design.ratings_per_output or 1
        if raters < least * parts:
            yield facts.problem(path, _say_too_few(facts, raters, turns, groups))
        elif facts.file.design.ratings_per_output:
            yield from _check_total(facts, path, raters, parts)


def _say_too_few(facts: Facts, raters: int, turns: int, groups: int) -> str:
    """Return the sentence about fewer raters than one output needs."""
    wanted = facts.file.design.ratings_per_output
    factors = [f"{wanted:,} ratings per {facts.design.unit}"] if wanted else []
    factors += [f"{groups} groups"] * (groups > 1) + [f"{turns} criteria (one per rater)"] * (turns > 1)
    need = (wanted or 1) * turns * groups
    product = f" = {need:,} raters" if len(factors) > 1 else ""
    why = f": nobody rates one {facts.design.unit} twice" if wanted else ""
    lower = raters // (turns * groups)
    other = f", or ratings_per_output to {lower:,}" if wanted and lower else ""
    clash = f"{count(raters, 'rater')}, but {' × '.join(factors)}{product}{why}"
    return f"{clash}. Set it to {need:,} or more{other}."


def _check_total(facts: Facts, path: Path, raters: int, parts: int) -> Iterator[Problem]:
    """Yield the conflict of raters × trials with outputs × ratings; more than needed is only a note."""
    wanted, fixed = facts.file.design.ratings_per_output or 1, _find_trials(facts)
    trials = fixed or _most_trials(facts)
    units = facts.n_items * facts.pages_per_item
    each = raters // parts
    have, need = each * trials, units * wanted
    if have == need or (fixed is None and have > need):
        return
    split = f"{raters:,} raters in {parts} parts: " if parts > 1 else ""
    words = (
        f"{split}{each:,} raters × {trials:,} trials{' at most' * (fixed is None)} = {have:,} ratings, and "
    )
    words += f"{count(units, facts.design.unit)} × {wanted:,} ratings = {need:,}. "
    fits = [f"{ceil(need / trials) * parts:,} raters"]
    if facts.file.design.trials_per_rater is not None and ceil(need / each) <= _most_trials(facts):
        fits.append(f"{ceil(need / each):,} trials per rater")
    if have >= units:
        fits.append(f"{have // units:,} ratings per {facts.design.unit}")
    if have < need:
        yield facts.problem(path, f"{words}That cannot be reached; what would work: {' or '.join(fits)}.")
    else:
        yield facts.note(path, f"{words}Some will get more ratings than that; enough: {' or '.join(fits)}.")


def _find_places(facts: Facts) -> Iterator[tuple[Path, int, int]]:
    """Yield the numbers of raters that are known, each with its path and the groups it must fill."""
    raters = facts.file.raters
    sized = [(place, group.raters) for place, group in enumerate(raters.groups) if group.raters is not None]
    for place, size in sized:
        yield ("raters", "groups", place, "raters"), size, 1
    left = (raters.count or 0) - sum(size for _, size in sized)
    if left > 0 and len(sized) < max(1, len(raters.groups)):
        yield ("raters", "count"), left, max(1, len(raters.groups) - len(sized))


def _find_trials(facts: Facts) -> int | None:
    """Return how many pages a rater gets, None where that follows from the other numbers."""
    design = facts.design
    if facts.file.design.trials_per_rater is not None or not design.whole:
        return facts.file.design.trials_per_rater
    return facts.n_items * facts.pages_per_item if design.everything else facts.n_items


def _most_trials(facts: Facts) -> int:
    everything = facts.n_items * facts.pages_per_item
    return everything if facts.design.everything or facts.file.design.items_may_return else facts.n_items
