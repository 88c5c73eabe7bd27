"""Outputs as examples in the report, chosen by a rule that looks at ratings alone, never by hand.

On each criterion: of every system the output with the highest mean and the one with the lowest, and the
output about which raters differed most. Ties go to the first in the file. Where that would be too many,
systems share one highest and one lowest.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.display.formats import number
from panelist.core.prose import count
from panelist.study.outputs import Outputs

MOST_EXAMPLES = 24
FEWEST_RATINGS = 2
"""The ratings that an output needs to be an example; where none has so many, one is enough."""
FEWEST_DIFFERENT = 3
"""The ratings from which on it is said that raters differ about an output."""
EXTREMES = ("highest", "lowest")
MOST_DIFFERENT = "differed"


@dataclass(frozen=True)
class Reason:
    """Why an output is an example: its place on one criterion."""

    criterion: str
    why: str
    """highest, lowest or differed."""
    of_system: bool
    """Whether it is so among the outputs of its system; else among all."""
    mean: float
    sd: float
    n: int

    def sentence(self, system: str) -> str:
        """Return the reason in words.

        >>> Reason("fluency", "lowest", True, 1.5, 0.58, 4).sentence("rules")
        'fluency: lowest mean of rules, 1.50 (4 ratings)'
        """
        rated = count(self.n, "rating")
        if self.why == MOST_DIFFERENT:
            words = f"raters differed most, SD {number(self.sd, 2)}, mean {number(self.mean, 2)}"
        else:
            words = f"{self.why} mean of {system if self.of_system else 'all'}, {number(self.mean, 2)}"
        return f"{self.criterion}: {words} ({rated})"


@dataclass(frozen=True)
class OutputExample:
    """An output that the report shows, and why."""

    item: str
    system: str
    reasons: tuple[Reason, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return item, system and reasons by name."""
        return asdict(self)


def choose_examples(
    outputs: Outputs, ratings: pd.DataFrame, systems: Sequence[str]
) -> tuple[OutputExample, ...]:
    """Return the examples by system; none where outputs were compared, not rated, or the study hides them."""
    if outputs.options.examples == "hidden" or not {"item", "system", "rating"} <= set(ratings):
        return ()
    if not pd.api.types.is_numeric_dtype(ratings["rating"]):
        return ()
    rated = ratings[ratings["rating"].notna() & ratings["system"].isin(list(systems))]
    named = rated if "criterion" in rated else rated.assign(criterion="rating")
    places = {
        pair: place
        for place, pair in enumerate(zip(outputs.frame["item"], outputs.frame["system"], strict=True))
    }
    criteria = list(dict.fromkeys(named["criterion"].astype(str)))
    apart = (2 * len(systems) + 1) * len(criteria) <= MOST_EXAMPLES
    chosen: dict[tuple[str, str], list[Reason]] = {}
    for criterion in criteria:
        facts = _summarise(named[named["criterion"].astype(str) == criterion], places)
        for pair, reason in _choose(criterion, facts, systems if apart else ()):
            chosen.setdefault(pair, []).append(reason)
    kept = list(chosen.items())[:MOST_EXAMPLES]
    kept.sort(key=lambda one: (list(systems).index(one[0][1]), places[one[0]]))
    return tuple(OutputExample(*pair, tuple(reasons)) for pair, reasons in kept)


def _summarise(rated: pd.DataFrame, places: dict[tuple[str, str], int]) -> pd.DataFrame:
    """Return mean, SD and number of ratings of each output, in the order of the file."""
    facts = (
        rated.groupby(["item", "system"], sort=False, observed=True)["rating"]
        .agg(["mean", "std", "size"])
        .reset_index()
    )
    facts["item"], facts["system"] = facts["item"].astype(str), facts["system"].astype(str)
    facts["place"] = [places.get(pair, -1) for pair in zip(facts["item"], facts["system"], strict=True)]
    facts = facts[facts["place"] >= 0].sort_values("place")
    enough = facts["size"] >= FEWEST_RATINGS
    return facts[enough] if enough.any() else facts


def _choose(
    criterion: str, facts: pd.DataFrame, systems: Sequence[str]
) -> list[tuple[tuple[str, str], Reason]]:
    """Return the outputs chosen on one criterion; by system, or over all where none is named."""
    found = []
    parts = [facts[facts["system"] == name] for name in systems] if systems else [facts]
    for part in parts:
        means = part["mean"].to_numpy(dtype=float)
        if len(part) < 2 or np.ptp(means) == 0:  # then neither is higher than the other
            continue
        for why, row in zip(EXTREMES, (np.argmax(means), np.argmin(means)), strict=True):
            found.append(_name(part.iloc[int(row)], criterion, why, bool(systems)))
    doubtful = facts[(facts["size"] >= FEWEST_DIFFERENT) & (facts["std"] > 0)]
    if len(doubtful):
        widest = int(np.argmax(doubtful["std"].to_numpy(dtype=float)))
        found.append(_name(doubtful.iloc[widest], criterion, MOST_DIFFERENT, False))
    return found


def _name(row: "pd.Series[Any]", criterion: str, why: str, of_system: bool) -> tuple[tuple[str, str], Reason]:
    reason = Reason(criterion, why, of_system, float(row["mean"]), float(row["std"]), int(row["size"]))
    return (str(row["item"]), str(row["system"])), reason
