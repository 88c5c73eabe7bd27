"""How even a plan is: one function per line of the balance table."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from panelist.design.assess.showings import Showings
from panelist.numerics.arrays import Longs
from panelist.study.sections.design_choice import DesignChoice
from panelist.study.sections.sampling import ItemDraw

DENSE = 50_000_000  # counts that easily fit into one array
CHANCE = 3.0  # standard errors that a random order may be off


@dataclass(frozen=True)
class Line:
    """One line of the balance table. ``met`` is None where chance decides and nothing was promised."""

    name: str
    wanted: str
    found: str
    verdict: str
    met: bool | None
    low: float
    high: float


def measure_evenness(
    shows: Showings,
    choice: DesignChoice,
    comparative: bool,
    rated: bool | None = None,
    there: NDArray[np.bool_] | None = None,
    times: Longs | None = None,
) -> list[Line]:
    """Return the lines that apply to one part of a plan.

    ``comparative`` says whether its outputs are compared, ``rated`` whether each of them is rated: without
    it, where they are not compared. ``there`` says which outputs exist (items × systems), where some do not;
    ``times`` how often each pair of systems is to be shown, where they are not to be shown equally often.
    """
    several = bool((shows.shown > 1).any())
    lines = [count_trials(shows, choice), spread_systems(shows, there is not None)]
    if comparative:
        lines.append(count_sets(shows, choice.ratings_per_output, there))
    if rated or not comparative:
        paired = choice.facts.count_showings(shows.n_systems) != 1
        lines.append(count_raters(shows, _find_target(shows, choice, there), there, paired))
    lines.append(pair_within_raters(shows))
    if several:
        lines.append(pair_on_pages(shows, there is not None, times))
        lines.append(place_on_pages(shows, choice, there is not None or times is not None))
        lines.append(place_by_rater(shows, choice, there is not None))
        if (shows.shown == 2).all():
            lines.append(compare_sides(shows, choice))
    if (shows.shown < shows.n_systems).any():
        lines.append(place_in_sequence(shows, choice))
    if not several:
        lines.append(follow_systems(shows, choice))
    lines += [connect_raters(shows), return_items(shows, choice)]
    return lines


def count_trials(shows: Showings, choice: DesignChoice) -> Line:
    """Return how many pages of trials raters get."""
    pages = np.bincount(shows.rater[shows.first], minlength=shows.n_raters)
    apart = choice.criteria in ("in turn", "in blocks") or choice.rated == "alone"
    if choice.trials_per_rater is None or apart:
        return _judge("trials per rater", "equal", pages)
    return _judge("trials per rater", f"{choice.trials_per_rater} each", pages, choice.trials_per_rater)


def count_existing(there: NDArray[np.bool_]) -> list[Line]:
    """Return how many outputs exist: of each system, and of each item."""
    missing = f"{int((~there).sum()):,} of {there.size:,} outputs missing"
    lines = []
    for name, axis, wanted in (
        ("outputs per system", 0, len(there)),
        ("outputs per item", 1, there.shape[1]),
    ):
        counts = there.sum(axis=axis)
        lines.append(Line(name, f"all {wanted:,}", write_range(counts), missing, None, *_ends(counts)))
    return lines


def count_labelled(draw: ItemDraw) -> Line:
    """Return how many items people rate of those that could be drawn."""
    n, of = draw.n, len(draw.items)
    found = f"labelled {n:,} of {of:,}"
    return Line("sample of items", "drawn at random", found, draw.say_probability(), None, n, n)


def _find_target(shows: Showings, choice: DesignChoice, there: NDArray[np.bool_] | None = None) -> int | None:
    """Return how many raters should rate each output: where outputs are paired, in all its pairs."""
    target = choice.ratings_per_output
    showings = choice.facts.count_showings(shows.n_systems)
    if there is not None and showings is not None and showings > 1:  # an output is in fewer pairs than others
        return None
    return None if target is None or showings is None else target * showings


def spread_systems(shows: Showings, relative: bool = False) -> Line:
    """Return how often raters see each system: within a rater, the counts should be equal.

    With ``relative``, where outputs are missing: as often as the whole plan shows it, for its size.
    """
    counts = _cross(shows.rater, shows.system, shows.n_raters, shows.n_systems)
    if relative:
        wanted = counts.sum(axis=1, keepdims=True) * (counts.sum(axis=0) / max(1, counts.sum()))
        off = float(np.abs(counts - wanted).max(initial=0.0))
        name, how = "each system, per rater", "for what exists"
        verdict = _near(write_range(counts)) if off < 1 else f"up to {off:.1f} off for one rater"
        return Line(
            name,
            f"equally often {how}",
            write_range(counts),
            verdict,
            True if off < 2 else None,
            *_ends(counts),
        )
    spread = int((counts.max(axis=1) - counts.min(axis=1)).max(initial=0))
    found = write_range(counts)
    verdict = (
        "exact" if spread == 0 else _near(found) if spread == 1 else f"up to {spread} apart for one rater"
    )
    return Line("each system, per rater", "equally often", found, verdict, spread <= 1, *_ends(counts))


def count_raters(
    shows: Showings, target: int | None, there: NDArray[np.bool_] | None = None, paired: bool = False
) -> Line:
    """Return how many raters judge each output, outputs that nobody sees included."""
    counts = _cross(shows.item, shows.system, shows.n_items, shows.n_systems).ravel()
    if there is not None:
        counts = counts[there.ravel()]
        if paired and target is None:  # an output with more others beside it is on more pages
            return Line(
                "raters per output", "not promised", write_range(counts), "as pages ask", None, *_ends(counts)
            )
    return _reach("raters per output", "output", counts, target)


def count_sets(shows: Showings, target: int | None, there: NDArray[np.bool_] | None = None) -> Line:
    """Return how many raters judge each set of outputs that is shown side by side."""
    sets = _number_sets(shows)
    counts = np.bincount(sets)
    if (shows.shown == 2).all():
        own = np.full(shows.n_items, shows.n_systems) if there is None else there.sum(axis=1)
        every = int((own * (own - 1) // 2).sum())
        counts = np.concatenate([counts, np.zeros(max(every - len(counts), 0), np.int64)])
        return _reach("raters per pair of outputs", "pair", counts, target)
    return _reach("raters per set of outputs", "set", counts, target)


def pair_within_raters(shows: Showings) -> Line:
    """Return how many raters see both systems of a pair: differences within raters are the most precise."""
    seen = (_cross(shows.rater, shows.system, shows.n_raters, shows.n_systems) > 0).astype(np.int64)
    counts = _above_diagonal(seen.T @ seen)
    name, wanted = "raters who see both of a pair", f"all {shows.n_raters:,}"
    return _judge(name, wanted, counts, shows.n_raters)


def pair_on_pages(shows: Showings, missing: bool = False, times: Longs | None = None) -> Line:
    """Return how many pages show both systems of a pair; equally many, unless outputs are missing.

    With ``times`` as many as a pair is to be shown: that of 2 twice as often as that of 1.
    """
    import scipy.sparse as sp

    ones = np.ones(len(shows), np.int64)
    pages = sp.csr_array((ones, (shows.page, shows.system)), shape=(shows.n_pages, shows.n_systems))
    counts = _above_diagonal((pages.T @ pages).toarray())
    name = "pages that show both of a pair"
    if missing:
        found = write_range(counts)
        verdict = "as outputs exist" if counts.all() else f"{int((counts == 0).sum()):,} pairs never meet"
        return Line(name, "not promised", found, verdict, None, *_ends(counts))
    if times is not None:
        off = float(np.abs(counts - times * (counts.sum() / times.sum())).max(initial=0.0))
        found = write_range(counts)
        verdict = "as declared" if off < 1e-9 else _near(found) if off < 2 else f"up to {off:.1f} off"
        return Line(name, "as declared", found, verdict, off < 2, *_ends(counts))
    return _judge(name, "equal", counts)


def place_on_pages(shows: Showings, choice: DesignChoice, missing: bool = False) -> Line:
    """Return how often each system is in each place on a page."""
    counts = _cross(shows.system, shows.position - 1, shows.n_systems, int(shows.position.max()))
    name = "each system in each place"
    if choice.positions == "balanced" and missing:
        return _judge_places(name, counts, shows, shows.system, shows.n_systems)
    if choice.positions == "balanced":
        return _judge(name, "equally often", counts)
    return Line(name, "not promised", write_range(counts), _not_balanced(choice), None, *_ends(counts))


def place_by_rater(shows: Showings, choice: DesignChoice, missing: bool = False) -> Line:
    """Return how often a rater sees each system in each place: for one system, the places should be even."""
    places, k = int(shows.position.max()), shows.n_systems
    counts = _cross(shows.rater * k + shows.system, shows.position - 1, shows.n_raters * k, places)
    found, ends = write_range(counts), _ends(counts)
    name = "each system in each place, per rater"
    if choice.positions != "balanced":
        return Line(name, "not promised", found, _not_balanced(choice), None, *ends)
    if missing:
        return _judge_places(name, counts, shows, shows.rater * k + shows.system, shows.n_raters * k)
    spread = counts.max(axis=1) - counts.min(axis=1)
    if int(spread.max()) <= 1:
        return Line(name, "equally often", found, "exact" if not spread.any() else _near(found), True, *ends)
    off = f"{int((spread > 1).sum()):,} of {len(spread):,} rater × system more than 1 apart"
    return Line(name, "equally often", found, off, False, *ends)


def _judge_places(name: str, counts: Longs, shows: Showings, group: Longs, n_groups: int) -> Line:
    """Return the line of places on pages of different sizes: each of a places is expected 1 / a times."""
    size = shows.shown[shows.page]
    wanted = np.stack(
        [
            np.bincount(group, np.where(place < size, 1 / size, 0.0), n_groups)
            for place in range(counts.shape[1])
        ],
        axis=1,
    )
    off = float(np.abs(counts - wanted).max(initial=0.0))
    found, even = write_range(counts), "equally often for what is shown"
    verdict = _near(found) if off < 1 else f"up to {off:.1f} off"
    return Line(name, even, found, verdict, True if off < 2 else None, *_ends(counts))


def compare_sides(shows: Showings, choice: DesignChoice) -> Line:
    """Return by how much, for each pair of systems, one is on the left more often than on the right."""
    left, right = shows.system[shows.first], shows.system[shows.first + 1]
    counts = _cross(left, right, shows.n_systems, shows.n_systems)
    gaps = np.abs(_above_diagonal(counts) - _above_diagonal(counts.T))
    total = _above_diagonal(counts + counts.T)
    name = "each pair, left minus right"
    low, high = _ends(gaps)
    if choice.positions != "balanced":
        return Line(name, "not promised", write_range(gaps), _not_balanced(choice), None, low, high)
    least = np.array_equal(gaps, total % 2)
    verdict = "exact" if high == 0 else _near(write_range(gaps)) if least else f"uneven: {write_range(gaps)}"
    return Line(name, "0", write_range(gaps), verdict, bool(least), low, high)


def place_in_sequence(shows: Showings, choice: DesignChoice) -> Line:
    """Return where in the sitting systems come on average."""
    pages = np.bincount(shows.rater[shows.first], minlength=shows.n_raters)[shows.rater]
    counts = np.bincount(shows.system, minlength=shows.n_systems)
    there = counts > 0
    mean, middle, variance = (
        np.bincount(shows.system, weights, shows.n_systems)[there] / counts[there]
        for weights in (shows.place, (pages + 1) / 2, (pages**2 - 1) / 12)
    )
    low, high = float(mean.min(initial=np.inf)), float(mean.max(initial=-np.inf))
    found = f"{low:.1f} to {high:.1f}" if f"{low:.1f}" != f"{high:.1f}" else f"{low:.1f}"
    name, wanted = "mean place in the sequence", f"about {float(np.mean((pages + 1) / 2)):.1f}"
    if choice.order == "as listed":
        return Line(name, "as listed", found, "as listed", None, low, high)
    off = np.abs(mean - middle) / np.sqrt(np.maximum(variance, 1e-12) / counts[there])
    worst = float(off.max(initial=0.0))
    if np.allclose(mean, middle, atol=1e-9):
        return Line(name, wanted, found, "exact", True, low, high)
    said = f"{worst:.1f} standard errors off" if worst > CHANCE else "within chance"
    return Line(name, wanted, found, said, worst <= CHANCE, low, high)


def follow_systems(shows: Showings, choice: DesignChoice) -> Line:
    """Return how often each system comes next after each other one (checks and practice left out)."""
    same_rater = shows.rater[1:] == shows.rater[:-1]
    counts = _cross(
        shows.system[:-1][same_rater], shows.system[1:][same_rater], shows.n_systems, shows.n_systems
    )
    others = counts[~np.eye(shows.n_systems, dtype=bool)]
    name = "each system after each other"
    if choice.facts.carries_over:
        return _judge(name, "equally often", others)
    low, high = _ends(others)
    verdict = "exact" if low == high else "as listed" if choice.order == "as listed" else "left to chance"
    return Line(name, "not promised", write_range(others), verdict, None, low, high)


def connect_raters(shows: Showings) -> Line:
    """Return the number of parts of raters and items that share nothing."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    size = shows.n_raters + shows.n_items
    edges = sp.coo_array(
        (np.ones(len(shows), np.int8), (shows.rater, shows.n_raters + shows.item)), (size, size)
    )
    _, label = connected_components(edges.tocsr(), directed=False)
    parts = len(np.unique(label[: shows.n_raters]))
    verdict = (
        "connected"
        if parts == 1
        else "raters of different parts share no item: their levels cannot be compared"
    )
    return Line("parts that share no item", "1", f"{parts:,}", verdict, parts == 1, parts, parts)


def return_items(shows: Showings, choice: DesignChoice) -> Line:
    """Return how many times a rater meets an item on a second page of the same sitting."""
    first = shows.first
    counts = _count_pairs(shows.rater[first], shows.item[first], shows.n_raters, shows.n_items)
    again = int((counts - 1).sum())
    name, found = "items a rater meets again", f"{again:,}"
    if again == 0:
        return Line(name, "0", found, "exact", True, 0, 0)
    if choice.items_may_return or choice.facts.everything or choice.rated == "alone":
        return Line(name, "allowed", found, "as the design has it", None, again, again)
    return Line(
        name, "0", found, f"broken for {int((counts > 1).sum()):,} raters × items", False, again, again
    )


def write_range(counts: Longs) -> str:
    """Return the least and the most in words.

    >>> write_range(np.array([3, 3])), write_range(np.array([2, 3])), write_range(np.array([2, 7]))
    ('3', '2 or 3', '2 to 7')
    """
    low, high = (int(end) for end in _ends(counts))
    return f"{low:,}" if low == high else f"{low:,} {'or' if high == low + 1 else 'to'} {high:,}"


def _judge(name: str, wanted: str, counts: Longs, target: int | None = None) -> Line:
    """Return the line of counts that should be equal, and equal to the target if there is one."""
    low, high = _ends(counts)
    found = write_range(counts)
    if low == high and target in (None, low):
        return Line(name, wanted, found, "exact", True, low, high)
    if high - low <= 1 and (target is None or low <= target <= high):
        return Line(name, wanted, found, _near(found), True, low, high)
    if high - low <= 1:
        return Line(name, wanted, found, f"equal, but not {target:,}", False, low, high)
    return Line(name, wanted, found, f"uneven: {found}", False, low, high)


def _reach(name: str, one: str, counts: Longs, target: int | None) -> Line:
    """Return the line of counts that should reach a target, or be equal if there is none."""
    if target is None:
        return _judge(name, "equal", counts)
    low, high = _ends(counts)
    found, wanted = write_range(counts), f"{target:,} each"
    if low == high == target:
        return Line(name, wanted, found, "exact", True, low, high)
    if low >= target:
        spare = f"reached, {int(counts.sum() - target * len(counts)):,} to spare"
        return Line(name, wanted, found, spare, True, low, high)
    short = int((counts < target).sum())
    return Line(name, wanted, found, f"short for {short:,} of {len(counts):,} {one}s", False, low, high)


def _not_balanced(choice: DesignChoice) -> str:
    return "as listed" if choice.positions == "as listed" else "left to chance"


def _near(found: str) -> str:
    return f"as near as possible: {found}"


def _ends(counts: NDArray[np.generic]) -> tuple[float, float]:
    return (float(counts.min()), float(counts.max())) if counts.size else (0.0, 0.0)


def _cross(a: Longs, b: Longs, n_a: int, n_b: int) -> Longs:
    """Return how often each a goes with each b."""
    return np.bincount(a * n_b + b, minlength=n_a * n_b).reshape(n_a, n_b)


def _count_pairs(a: Longs, b: Longs, n_a: int, n_b: int) -> Longs:
    """Return how often each pair occurs, for pairs that occur at all."""
    key = a * n_b + b
    if n_a * n_b <= DENSE:
        counts = np.bincount(key)
        return counts[counts > 0]
    _, counts = np.unique(key, return_counts=True)
    return np.asarray(counts, dtype=np.int64)


def _above_diagonal(counts: Longs) -> Longs:
    above: Longs = counts[np.triu_indices(len(counts), k=1)]
    return above


def _number_sets(shows: Showings) -> Longs:
    """Return for each page a number for the set of outputs on it, whatever their places."""
    import pandas as pd

    by = np.lexsort((shows.system, shows.page))
    page, system = shows.page[by], shows.system[by]
    place = np.arange(len(page)) - shows.first[page]
    code = shows.item[shows.first]
    for at in range(int(shows.shown.max(initial=0))):
        column = np.full(shows.n_pages, shows.n_systems)  # a page that shows fewer
        column[page[place == at]] = system[place == at]
        code = pd.factorize(code * (shows.n_systems + 1) + column)[0].astype(np.int64)
    return code
