"""Binary judgements (plausible or not) summarised as a percentage for each system, by named rules.

- ``majority``: an output passes if more than half of its raters said yes; the percentage that pass.
- ``five-step``: the procedure by which Li et al. (2023, Same trends, different answers, HumEval, section 4)
  got the percentages of Chakrabarty et al. (2022): (1) vote on every output, (2) count the outputs that pass,
  (3) divide by the number of outputs that the system has for an item, (4) **round up** to a whole number,
  (5) divide by the number of items. With one output per item it is ``majority``; with more it is too high by
  up to one item, which is why it is named here and never used unless asked for. - ``votes``: the percentage
  of yes among all single judgements.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.core.display.formats import TEXT, Cell, decimals, interval
from panelist.core.display.result import NamedValues, Part, Result, Table
from panelist.core.errors import BadRatings, UnknownName, did_you_mean
from panelist.core.prose import listing
from panelist.core.tables.ratings import Ratings, read_ratings

if TYPE_CHECKING:
    import pandas as pd

RULES = ("majority", "five-step", "votes")


@dataclass(frozen=True)
class BinaryShare:
    """One system: outputs, how many pass the vote, and the percentages of each rule (nan where it has none).

    ``low`` and ``high`` are Wilson's interval of the majority percentage, with outputs as the sample.
    """

    system: str
    outputs: int
    items: int
    passed: int
    majority: float
    low: float
    high: float
    five_step: float
    votes: float
    judgements: int

    def percent(self, rule: str) -> float:
        """Return the percentage by this rule."""
        if rule not in RULES:
            raise UnknownName(f"No rule is called {rule!r}. {did_you_mean(rule, RULES)}")
        return float(getattr(self, rule.replace("-", "_")))


@dataclass(frozen=True, kw_only=True)
class BinarySummary(Result):
    """The percentage of outputs judged yes, for each system, by every rule."""

    criterion: str
    systems: tuple[BinaryShare, ...]
    confidence: float = 0.95
    notes: tuple[str, ...] = ()

    def __getitem__(self, system: str) -> BinaryShare:
        found = {one.system: one for one in self.systems}
        if system not in found:
            raise UnknownName(f"No system is called {system!r}. {did_you_mean(system, found)}")
        return found[system]

    def title(self) -> str:
        """Return the heading."""
        return f"Judgements of {self.criterion}, summarised"

    def parts(self) -> list[Part]:
        """Return the table of systems and the notes."""
        header = ("system", "outputs", "pass", "majority %", f"{self.confidence * 100:g} % interval")
        rows: list[tuple[Cell, ...]] = [
            (s.system, s.outputs, s.passed, s.majority, interval(s.low, s.high, 1), s.five_step, s.votes)
            for s in self.systems
        ]
        ones = {"majority %": decimals(1), "five-step %": decimals(1), "votes %": decimals(1)}
        table = Table(
            f"Percent {self.criterion}",
            (*header, "five-step %", "votes %"),
            rows,
            {"system": TEXT, **ones},
            note="Majority: more than half of the raters said yes. Five-step: Li et al. (2023), the count of "
            "an item rounded up. Votes: all judgements count equally.",
        )
        return [table, *([NamedValues([("note", note) for note in self.notes])] if self.notes else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name."""
        systems = [asdict(one) for one in self.systems]
        return {"criterion": self.criterion, "systems": systems, "notes": list(self.notes)}


def vote_majority(
    ratings: Any, *, positive: Collection[float] = (1,), negative: Collection[float] = (0,)
) -> pd.DataFrame:
    """Return one row per output: system, item, (text,) yes, n, passed; half of the votes is not a majority.

    An output is item and system together, and the column ``text`` where there is one. Values that are neither
    ``positive`` nor ``negative`` are left out.
    """
    return _vote(read_ratings(ratings), positive, negative)[0]


def summarise_binary(
    ratings: Any,
    criterion: str | None = None,
    *,
    positive: Collection[float] = (1,),
    negative: Collection[float] = (0,),
    confidence: float = 0.95,
) -> BinarySummary:
    """Return the percentage of yes for each system by the rules majority, five-step and votes."""
    table = read_ratings(ratings)
    if criterion is not None:
        table = table.only(criterion)
    elif len(table.criteria) > 1:
        raise BadRatings(f"There are several criteria ({', '.join(table.criteria)}): name one.")
    votes, notes = _vote(table, positive, negative)
    systems = [
        _share(str(name), part, confidence)
        for name, part in votes.groupby("system", sort=True, observed=True)
    ]
    even = int((2 * votes["yes"] == votes["n"]).sum())
    if even:
        notes.append(f"{even:,} of {len(votes):,} outputs have as many yes as no: they do not pass.")
    for one in systems:
        if np.isnan(one.five_step):
            notes.append(
                f"{one.system} does not have the same number of outputs for every item: no five-step figure."
            )
    name = criterion or next(iter(table.criteria), "yes")
    return BinarySummary(criterion=name, systems=tuple(systems), confidence=confidence, notes=tuple(notes))


def _vote(
    table: Ratings, positive: Collection[float], negative: Collection[float]
) -> tuple[pd.DataFrame, list[str]]:
    import pandas as pd

    table.require("rating", "system", "item")
    frame, notes = table.frame, list[str]()
    given = pd.to_numeric(frame["rating"], errors="coerce")
    yes, no = given.isin(list(positive)).to_numpy(), given.isin(list(negative)).to_numpy()
    if not (yes | no).any():
        ones, noughts = (
            listing((f"{value:g}" for value in side), None, "or") for side in (positive, negative)
        )
        raise BadRatings(
            f"No rating is {ones} (yes) or {noughts} (no). Say which values mean yes and "
            "no: positive=(…), negative=(…)."
        )
    if lost := int((~(yes | no)).sum()):
        seen = sorted({str(value) for value in frame["rating"][~(yes | no)].dropna()})
        words = f" ({', '.join(seen[:4])})" if seen else ""
        notes.append(f"{lost:,} of {len(frame):,} ratings are neither yes nor no{words}: left out.")
    keys = [name for name in ("system", "item", "text") if name in frame]
    kept = frame.assign(yes=yes.astype(int), n=1)[yes | no]
    votes = kept.groupby(keys, observed=True, sort=True)[["yes", "n"]].sum().reset_index()
    votes["passed"] = 2 * votes["yes"] > votes["n"]
    return votes, notes


def _share(system: str, votes: pd.DataFrame, confidence: float) -> BinaryShare:
    from scipy.stats import binomtest

    outputs, items, passed = len(votes), int(votes["item"].nunique()), int(votes["passed"].sum())
    sizes = votes.groupby("item", observed=True).size().to_numpy()
    even = bool((sizes == sizes[0]).all())
    rounded_up = -(-passed * items // outputs)  # passed / (outputs per item), without going through fractions
    low, high = binomtest(passed, outputs).proportion_ci(confidence, method="wilson")
    return BinaryShare(
        system=system,
        outputs=outputs,
        items=items,
        passed=passed,
        majority=100 * passed / outputs,
        low=100 * float(low),
        high=100 * float(high),
        five_step=100 * rounded_up / items if even else float("nan"),
        votes=100 * float(votes["yes"].sum()) / float(votes["n"].sum()),
        judgements=int(votes["n"].sum()),
    )
