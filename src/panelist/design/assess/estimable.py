"""What a plan can estimate, known before any rating: the largest model of ratings, or who can be compared.

Ratings: is the maximal model, in which systems may differ from rater to rater and from item to item,
identified by who judges what (models/identify.py), and is there enough for it (models/random_part.py)? The
answer is the model from which the analysis starts. Comparisons: the worths of Bradley & Terry (1952,
https://doi.org/10.2307/2334029) are estimable only if every system is linked to every other by comparisons
(Ford 1957, https://doi.org/10.2307/2308513).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from panelist.core.display.result import Part, Result, Sentence
from panelist.core.notes import has_note
from panelist.core.prose import listing
from panelist.design.assess.evenness import write_range
from panelist.design.assess.showings import number
from panelist.study.sections.criteria import Criterion

if TYPE_CHECKING:
    from panelist.models.identify import Meetings

MAXIMAL = "rating ~ system + (system | rater) + (system | item)"


@dataclass(frozen=True)
class Estimable:
    """What the trials of some criteria can estimate.

    ``identified`` says whether the maximal model is (for comparisons: whether all systems are linked);
    ``formula`` is the largest model that the plan supports, empty for comparisons.
    """

    criteria: tuple[str, ...]
    kind: Literal["ratings", "comparisons"]
    identified: bool
    formula: str
    reasons: tuple[str, ...]

    @property
    def maximal(self) -> bool:
        """Whether the maximal model is the one to start from."""
        return self.identified and self.formula.startswith(MAXIMAL)

    def sentence(self) -> str:
        """Return the verdict in words."""
        why = " ".join(self.reasons)
        if self.kind == "comparisons":
            yes = "every system can be placed against every other (Bradley-Terry)"
            return f"{yes}: {why}" if self.identified else f"not all systems can be compared: {why}"
        if self.maximal:
            return f"the maximal model is identifiable: {self.formula}."
        if self.identified:
            return (
                "the maximal model is identifiable; nevertheless the analysis starts from a smaller one: "
                f"{self.formula}. {why}"
            )
        return f"the maximal model is not identifiable. {why} The largest that is: {self.formula}."

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as names and values."""
        return {
            "criteria": self.criteria,
            "kind": self.kind,
            "identified": self.identified,
            "maximal": self.maximal if self.kind == "ratings" else None,
            "formula": self.formula or None,
            "sentence": self.sentence(),
        }


@dataclass(frozen=True)
class Estimability(Result):
    """What a plan can estimate, for all its criteria."""

    found: tuple[Estimable, ...]

    def title(self) -> str:
        """Return the heading."""
        return "What it can estimate"

    def parts(self) -> list[Part]:
        """Return a sentence for each verdict, with the criteria that it is about."""
        told: dict[str, list[str]] = {}
        for one in self.found:
            told.setdefault(one.sentence(), []).extend(one.criteria)
        if not told:
            return [Sentence("Nothing: only free text is asked for.")]
        return [Sentence(f"{listing(names, None)}: {sentence}") for sentence, names in told.items()]

    def to_dict(self) -> dict[str, Any]:
        """Return the verdicts."""
        return {"estimable": [one.to_dict() for one in self.found]}


def find_estimable(
    table: pd.DataFrame, criteria: Iterable[Criterion], systems: Sequence[str], turns: bool = False
) -> tuple[Estimable, ...]:
    """Return what the trials of a plan's table can estimate, for each set of criteria with the same trials.

    Of several sittings the first counts: a second judgement of the same output by the same rater says how
    consistent raters are, and nothing more about systems. Free text is left out. ``turns`` says that each
    turn of the outputs is rated.
    """
    trials = table[(table["phase"] == "trial").to_numpy()]
    trials = trials[(trials["occasion"] == trials["occasion"].min()).to_numpy()]
    found = []
    for names, rows, comparative in _gather(trials, criteria):
        if turns and not comparative:
            rows = pd.concat([rows.assign(turn=turn) for turn in ("1", "2")], ignore_index=True)
        judge = _judge_comparisons if comparative else _judge_ratings
        found.append(judge(rows, names, systems))
    return tuple(found)


def _gather(
    trials: pd.DataFrame, criteria: Iterable[Criterion]
) -> Iterator[tuple[tuple[str, ...], pd.DataFrame, bool]]:
    """Return the criteria that share their trials, with these trials."""
    parts: list[tuple[list[str], pd.DataFrame, bool]] = []
    columns = ["rater", "item", "system"]
    for criterion in criteria:
        rows = trials[(trials["criterion"] == criterion.name).to_numpy()]
        if criterion.scale.measurement == "text" or rows.empty:
            continue
        for names, known, comparative in parts:
            same = comparative == criterion.scale.comparative and len(known) == len(rows)
            if same and all(np.array_equal(known[name], rows[name]) for name in columns):
                names.append(criterion.name)
                break
        else:
            parts.append(([criterion.name], rows, criterion.scale.comparative))
    for names, rows, comparative in parts:
        yield tuple(names), rows, comparative


def _judge_ratings(rows: pd.DataFrame, names: tuple[str, ...], systems: Sequence[str]) -> Estimable:
    from panelist.models.identify import count_meetings
    from panelist.models.random_part import choose_random

    meetings = count_meetings(rows)
    unseen = [name for name in systems if name not in meetings.systems]
    part = choose_random(rows, meetings)
    known = meetings.known
    identified = not unseen and bool(known["rater"].all() and known["item"].all())
    if identified and part.formula().startswith(MAXIMAL):
        return Estimable(names, "ratings", True, part.formula(), ())
    reasons = [f"Nobody judges {listing(unseen, most=3)}."] if unseen else []
    reasons += _say_apart(rows, [name for name in systems if name not in unseen])
    reasons += (
        [note for note in part.notes if not has_note([note], "slopes")]
        if identified
        else [*_say_unmet(meetings, "rater"), *_say_unmet(meetings, "item")]
    )
    return Estimable(names, "ratings", identified, part.formula(), tuple(reasons))


def _say_apart(rows: pd.DataFrame, systems: Sequence[str]) -> list[str]:
    """Return which sets of systems share no item, not even through others, and what that means."""
    sets = [listing(one, most=4) for one in _group_by_items(rows["item"], rows["system"], systems)]
    if len(sets) < 2:
        return []
    return [
        f"The systems fall into {len(sets)} sets that share no item ({'; '.join(sets[:4])}): between the "
        "sets, a better system cannot be told from easier items."
    ]


def _group_by_items(
    item: "pd.Series[Any]", system: "pd.Series[Any]", systems: Sequence[str]
) -> list[list[str]]:
    """Return the sets of systems that items link: two are in one set if an item has both, or a chain does."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    met = number(system, systems)
    code, items = pd.factorize(item)
    shape = (len(items), len(systems))
    shown = sp.csr_array((np.ones(len(met), np.int64), (code, met)), shape=shape)
    parts, label = connected_components(shown.T @ shown, directed=False)
    return [[name for name, part in zip(systems, label, strict=True) if part == at] for at in range(parts)]


_ALONE = {
    "rater": "is judged twice by one rater, so a rater's preferences cannot be separated from noise",
    "item": "is judged by two raters, so the effect of an item on a system cannot be separated from noise",
}


def _say_unmet(meetings: "Meetings", group: str) -> list[str]:
    """Return what is missing to estimate how systems vary over raters, or over items."""
    known, systems = meetings.known[group], meetings.systems
    lonely = [name for name, met in zip(systems, np.diag(known), strict=True) if not met]
    rows, columns = np.triu_indices(len(systems), k=1)
    unmet = np.flatnonzero(~known[rows, columns])
    said = []
    if lonely:
        which = "No system" if group == "rater" else "No output"
        of = "" if len(lonely) == len(systems) else f" of {listing(lonely, most=3)}"
        said.append(f"{which}{of} {_ALONE[group]}.")
    if len(unmet) == len(rows):
        said.append(f"No {group} meets two systems, so systems are compared across {group}s only.")
    elif len(unmet):
        a, b = (systems[index[unmet[0]]] for index in (rows, columns))
        never = f"{len(unmet):,} of {len(rows):,} pairs of systems never meet within one {group}"
        said.append(f"{never}, such as {a} and {b}.")
    return said


def _judge_comparisons(rows: pd.DataFrame, names: tuple[str, ...], systems: Sequence[str]) -> Estimable:
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    system = number(rows["system"], systems)
    rater, order = pd.factorize(rows["rater"])[0], rows["order"].to_numpy(np.int64)
    page = pd.factorize(rater * (int(order.max()) + 1) + order)[0]
    shape = (int(page.max()) + 1, len(systems))
    shown = sp.csr_array((np.ones(len(page), np.int64), (page, system)), shape=shape)
    together = (shown.T @ shown).toarray()
    parts, label = connected_components(sp.csr_array(together), directed=False)
    pairs = together[np.triu_indices(len(systems), k=1)]
    if parts > 1:
        sets = [
            [name for name, part in zip(systems, label, strict=True) if part == at] for at in range(parts)
        ]
        listed = "; ".join(listing(one, most=4) for one in sets[:4])
        why = f"they fall into {parts} sets that are never shown together ({listed})."
        return Estimable(names, "comparisons", False, "", (why,))
    direct = f"each pair is compared directly, on {write_range(pairs)} pages."
    if not pairs.all():
        direct = (
            f"{int((pairs == 0).sum()):,} of {len(pairs):,} pairs are compared only through other systems."
        )
    return Estimable(names, "comparisons", True, "", (direct,))
