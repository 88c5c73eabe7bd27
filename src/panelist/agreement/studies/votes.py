"""Labels put to the vote: the majority of each item, ties reported, and how far its raters are split."""

from dataclasses import dataclass, field
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.agreement.criterion_table import RatingTable
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Result, Sentence, Table, json_object

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 20


@dataclass(frozen=True, eq=False)
class Votes(Result):
    """The vote on each unit. ``table`` has one row per unit: unit, n, winner, votes, share, tied, entropy.

    ``winner`` is missing where the most frequent labels tie; ``tied`` then names them. ``entropy`` is in
    bits: 0 where all raters gave one label, log2(k) where k labels are equally frequent.
    """

    criterion: str
    labels: tuple[str, ...]
    table: "pd.DataFrame" = field(repr=False)

    @property
    def n_ties(self) -> int:
        """How many units have no majority."""
        return int(self.table["winner"].isna().sum())

    @property
    def n_unanimous(self) -> int:
        """How many units with two ratings or more got one label only."""
        return int(((self.table["votes"] == self.table["n"]) & (self.table["n"] > 1)).sum())

    def title(self) -> str:
        """Return the heading."""
        return f"Votes on {self.criterion}"

    def sentence(self) -> str:
        """Return how the votes fell."""
        n = len(self.table)
        won = self.table["winner"].value_counts()
        counts = ", ".join(f"{name} {int(won.get(name, 0))}" for name in self.labels)
        return (
            f"Of {n} units {self.n_unanimous} are unanimous and {self.n_ties} tied; majorities: {counts}. "
            f"The mean entropy is {self.table['entropy'].mean():.2f} bits "
            f"(at most {log2(max(len(self.labels), 1)):.2f})."
        )

    def parts(self) -> list[Part]:
        """Return the sentence, the ties, and the units on which raters are most split."""
        split = self.table.sort_values("entropy", ascending=False, kind="stable")
        shown = split[split["entropy"] > 0].head(MOST_ROWS)
        columns = ["unit", "n", "winner", "votes", "share", "tied", "entropy"]
        n = int((split["entropy"] > 0).sum())
        note = f"The {len(shown)} most split of the {n} units on which raters differ."
        formats = {"unit": TEXT, "winner": TEXT, "tied": TEXT, "share": decimals(2), "entropy": decimals(2)}
        table = Table.from_frame("Where raters are split", shown[columns], formats, note)
        return [Sentence(self.sentence()), *([table] if len(shown) else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the table."""
        whole = {"criterion": self.criterion, "labels": self.labels, "n_ties": self.n_ties}
        return json_object(whole | {"n_unanimous": self.n_unanimous, "units": self.table})


def vote(table: RatingTable, criterion: str = "rating") -> Votes:
    """Return the majority label of each unit, with its ties and its entropy.

    Ties are not broken: two labels that are equally frequent leave the unit without a winner.
    """
    import pandas as pd

    values, code = np.unique(table.value, return_inverse=True)
    names = [table.label(value) for value in values]
    counts = np.zeros((len(table.units), len(values)), dtype=np.int64)
    np.add.at(counts, (table.unit, code), 1)
    n = counts.sum(axis=1)
    judged = n > 0
    top = counts.max(axis=1, initial=0)
    at_top = counts == top[:, None]
    n_top = at_top.sum(axis=1)
    first = at_top.argmax(axis=1) if len(values) else np.zeros(len(n), dtype=np.int64)
    winner = [names[k] if ties == 1 else None for k, ties in zip(first, n_top, strict=True)]
    tied = [
        ", ".join(name for name, on in zip(names, row, strict=True) if on) if ties > 1 else ""
        for row, ties in zip(at_top, n_top, strict=True)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = counts / n[:, None]
        entropy = -np.where(counts > 0, share * np.log2(share), 0.0).sum(axis=1)
    frame = pd.DataFrame(
        {
            "unit": list(table.units),
            "n": n,
            "winner": pd.Series(winner, dtype=object),
            "votes": top,
            "share": np.where(judged, top / np.maximum(n, 1), np.nan),
            "tied": tied,
            "entropy": entropy + 0.0,  # never minus zero
        }
    )
    return Votes(criterion, tuple(names), frame[judged].reset_index(drop=True))
