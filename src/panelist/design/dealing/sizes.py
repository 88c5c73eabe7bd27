"""How many raters, and how many trials each: what was given, what follows from it, and what is impossible."""

from dataclasses import dataclass

from panelist.core.errors import BadDesign
from panelist.core.prose import count
from panelist.design.base import Design, Kinds
from panelist.study.study import Study


@dataclass(frozen=True)
class Stratum:
    """Raters who are planned for separately: those of one group, or who judge one criterion, or both."""

    group: str
    criteria: tuple[int, ...]
    weight: int


@dataclass(frozen=True)
class Sizes:
    """The strata, which of them each place belongs to, and the number of trials per rater."""

    strata: tuple[Stratum, ...]
    places: tuple[int, ...]
    trials: int
    notes: tuple[str, ...]


def find_sizes(
    study: Study, design: Design, kinds: Kinds, raters: int | None, trials: int | None = None
) -> Sizes:
    """Return the sizes of a plan for ``raters`` raters, or for the number that the study states or needs.

    ``trials`` fixes the trials per rater to a number found before, when a plan grows.
    """
    if raters is not None and raters < 1:
        raise BadDesign(f"A plan needs 1 rater or more; got {raters}.")
    total = raters if raters is not None else _find_total(study)
    n_turns = len(study.criteria) if study.file.design.criteria == "one per rater" else 1
    n_strata = max(1, len(study.file.raters.groups)) * n_turns
    if total is not None and total < n_strata:
        raise BadDesign(
            f"{count(total, 'rater')} cannot fill {n_strata} parts that are planned separately (groups × "
            f"criteria, one per rater). Ask for {n_strata} raters or more, or for fewer groups."
        )
    fewest = _find_fewest(study, total, n_strata, raters is None)
    k = _find_trials(study, design, kinds, fewest, trials, forced=raters is not None)
    strata = _make_strata(study, kinds, k)
    total = total if total is not None else sum(stratum.weight for stratum in strata)
    places = _fill_places(strata, total)
    notes = _check_ratings(study, design, kinds, k, strata, places, forced=raters is not None)
    return Sizes(strata, places, k, tuple(notes))


def _find_total(study: Study) -> int | None:
    """Return the raters the study asks for in all, None where it leaves that open."""
    people = study.file.raters
    sized = [group.raters for group in people.groups]
    if people.count is None:
        known = [size for size in sized if size is not None]
        return sum(known) if known and len(known) == len(sized) else None
    if sized and all(size is not None for size in sized):
        together = sum(size or 0 for size in sized)
        if together != people.count:
            raise BadDesign(
                f"raters.count is {people.count}, and the groups ask for "
                f"{' + '.join(map(str, sized))} = {together}. Make them equal, or leave count out."
            )
    return people.count


def _find_fewest(study: Study, total: int | None, n_strata: int, as_written: bool) -> int | None:
    """Return the raters in the smallest part, None where their number is open."""
    groups = study.file.raters.groups
    sizes = [group.raters for group in groups if group.raters is not None]
    if total is not None and as_written and groups and len(sizes) == len(groups):
        return max(1, min(sizes) * len(groups) // n_strata)
    return None if total is None else total // n_strata


def _find_trials(
    study: Study, design: Design, kinds: Kinds, each: int | None, fixed: int | None, forced: bool
) -> int:
    """Return how many trials a rater gets, given the number of raters in each part, if known.

    Where raters are too few for the ratings wanted, that is an error, unless their number is ``forced``.
    """
    choice, n = study.file.design, len(study.items)
    most = design.find_most_trials(n, kinds, choice.items_may_return)
    wanted = fixed or choice.trials_per_rater
    ratings = choice.ratings_per_output
    if wanted is None and each is not None and ratings is not None and not design.whole:
        need = kinds.count_units(n) * ratings
        wanted = -(-need // each)
        if wanted > most and forced:
            wanted = most
        if wanted > most:
            reached = each * most // kinds.count_units(n)
            raise BadDesign(
                f"{count(each, 'rater')} cannot give each of {kinds.count_units(n):,} {design.unit}s "
                f"{count(ratings, 'rating')}: that makes {wanted:,} trials per rater, and {most:,} are the "
                f"most. What would work: {-(-need // most):,} raters"
                + (f", or {count(reached, 'rating')} per {design.unit}." if reached else ".")
            )
    k = wanted if wanted is not None else design.find_trials(n, kinds)
    if k > most:
        hint = (
            f" With items_may_return it can be up to {kinds.count_units(n):,}."
            if not choice.items_may_return and kinds.pages_per_item > 1 and not design.whole
            else ""
        )
        lack = "" if kinds.there is None else ", some of which lack outputs,"
        raise BadDesign(
            f"trials_per_rater is {k:,}, and {n:,} items{lack} allow {most:,} trials per rater in design "
            f"{choice.type}. Set it to {most:,} or less.{hint}"
        )
    usual = design.find_trials(n, kinds)
    if usual > n and k != usual:
        raise BadDesign(
            f"trials_per_rater is {k:,}, and design {choice.type} shows every rater all {usual:,} outputs. "
            "Leave trials_per_rater out, or set design.type to lists."
        )
    return k


def _make_strata(study: Study, kinds: Kinds, k: int) -> tuple[Stratum, ...]:
    """Return the parts that are planned separately, each weighted by the raters it asks for or needs."""
    choice = study.file.design
    need = -(-kinds.count_units(len(study.items)) * (choice.ratings_per_output or 1) // k)
    every = tuple(range(len(study.criteria)))
    turns = [(code,) for code in every] if choice.criteria == "one per rater" else [every]
    strata = []
    for name, size in _size_groups(study):
        for place, turn in enumerate(turns):
            share = (
                need if size is None else (size * (place + 1)) // len(turns) - (size * place) // len(turns)
            )
            strata.append(Stratum(name, turn, max(1, share)))
    return tuple(strata)


def _size_groups(study: Study) -> list[tuple[str, int | None]]:
    """Return the groups with their sizes: those without a size share what the others leave of the count."""
    people = study.file.raters
    still = sum(group.raters is None for group in people.groups)
    left = None if people.count is None else people.count - sum(group.raters or 0 for group in people.groups)
    sizes: list[tuple[str, int | None]] = []
    for group in people.groups:
        size = group.raters
        if size is None and left is not None:
            if left < still:
                raise BadDesign(
                    f"raters.count is {people.count}, and the groups that name a number leave {max(left, 0)} "
                    f"for {still} more. Raise count, or lower the others."
                )
            size = -(-left // still)
            left, still = left - size, still - 1
        sizes.append((group.name, size))
    return sizes or [("", None)]


def _fill_places(strata: tuple[Stratum, ...], total: int) -> tuple[int, ...]:
    """Return the stratum of each place: always the one that is furthest behind its weight (Webster's rule).

    The sequence does not depend on the total, so a plan can grow at its end.
    """
    filled = [0] * len(strata)
    places = []
    for _ in range(total):
        best = 0
        for other in range(1, len(strata)):
            if (2 * filled[other] + 1) * strata[best].weight < (2 * filled[best] + 1) * strata[other].weight:
                best = other
        filled[best] += 1
        places.append(best)
    return tuple(places)


def _check_ratings(
    study: Study,
    design: Design,
    kinds: Kinds,
    k: int,
    strata: tuple[Stratum, ...],
    places: tuple[int, ...],
    forced: bool,
) -> list[str]:
    """Return the notes on ratings per output, or raise BadDesign where they cannot be reached."""
    wanted = study.file.design.ratings_per_output
    units = kinds.count_units(len(study.items))
    notes = []
    for number, stratum in enumerate(strata):
        n_raters = places.count(number)
        low, more = divmod(n_raters * k, units)
        whose = _name(study, stratum, len(strata))
        if wanted is not None and low < wanted and not forced:
            raise BadDesign(
                f"{whose}{n_raters:,} raters × {k:,} trials = {n_raters * k:,}, and {units:,} {design.unit}s "
                f"× {wanted:,} ratings = {units * wanted:,}. What would work: "
                f"{-(-units * wanted // k):,} raters"
                + (f", or {low:,} ratings per {design.unit}." if low else ".")
            )
        if wanted is not None and (low != wanted or more):
            notes.append(
                f"{whose}{count(wanted, 'rating')} per {design.unit} asked for; {n_raters:,} raters × {k:,} "
                f"trials = {n_raters * k:,} over {units:,} {design.unit}s: {_spread_words(low, more, units)}."
            )
        elif wanted is None and more:
            notes.append(
                f"{whose}{n_raters:,} raters × {k:,} trials = {n_raters * k:,} over {units:,} "
                f"{design.unit}s: {_spread_words(low, more, units)}."
            )
    return notes


def _spread_words(low: int, more: int, units: int) -> str:
    if not more:
        return f"all get {low:,}"
    return f"{more:,} get {low + 1:,}, {units - more:,} get {low:,}"


def _name(study: Study, stratum: Stratum, n_strata: int) -> str:
    """Return the words that say which part is meant; none where there is only one."""
    if n_strata == 1:
        return ""
    words = [f"group {stratum.group}"] if stratum.group else []
    if len(stratum.criteria) < len(study.criteria):
        words.append(f"criterion {study.criteria[stratum.criteria[0]].name}")
    return f"{', '.join(words)}: " if words else ""
