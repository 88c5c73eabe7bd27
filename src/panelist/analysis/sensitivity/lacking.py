"""Outputs that do not exist: who lacks them, what the comparison then means, and if missing were the worst.

A system that gives no output where items are hard is not the better for it. The model has effects of items,
so that each output is compared with others of the same item; being drawn towards 0, they take away part of
the gain (docs/formats.md has the simulation). Plain means are given on the items that all systems have, which
take away all of it for these items. Neither says anything about the outputs that are not there: so the
comparison is made again with each of them at the worst value of the scale (of comparisons, losing to every
other output of its item), by as many of the item's raters as usually judge an output.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import cycle, islice
from typing import Any

import numpy as np
import pandas as pd

from panelist.analysis.choices.trials import holds_choices
from panelist.analysis.missing import Missing, attempt
from panelist.analysis.sensitivity.conclusions import Disagreement, find_disagreements, set_beside
from panelist.analysis.systems.common_items import SystemItems, find_common_items
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.errors import BadRatings
from panelist.core.prose import count
from panelist.core.tables.ratings import Ratings
from panelist.study.lacking import say_lacking
from panelist.study.sections.criteria import Criterion
from panelist.study.study import Study

TITLE = "Outputs that are missing"
MEANING = (
    "The model has effects of items, so that each output is compared with others of the same item: where "
    "hard items are missing, that takes away part of what a system gains by it, and plain means on common "
    "items take away all, for those items alone. The comparison is of the outputs that exist; it does not "
    "say how often a system gives one."
)
Again = Callable[[Ratings, str], CriterionComparison]
"""Compares the systems on these ratings of a criterion, as planned."""


@dataclass(frozen=True)
class WorstCase:
    """A criterion compared as it was judged, and with every missing output at its worst."""

    criterion: str
    judged: CriterionComparison
    worst: CriterionComparison
    value: str
    """What the missing outputs were given, in words."""
    disagreements: tuple[Disagreement, ...]

    def sentence(self) -> str:
        """Return whether a conclusion changes."""
        how = f"with {self.value}"
        if not self.disagreements:
            return f"On {self.criterion}, {how}, every conclusion stays."
        said = " ".join(one.sentence("As judged,", f"{how},") for one in self.disagreements)
        pairs = count(len(self.disagreements), "pair")
        return f"On {self.criterion}, {how}, the conclusion about {pairs} changes: {said}"

    def table(self) -> Table:
        """Return one row per pair: as judged, and with missing outputs at their worst."""
        columns = ("as judged", self.judged), ("missing at worst", self.worst)
        return set_beside(f"{self.criterion} with {self.value}", *columns, "")


@dataclass(frozen=True)
class LackingOutputs(Result):
    """What a study lacks, and what that does to its comparison."""

    lacks: tuple[str, ...]
    n_items: int
    n_common: int
    means: Mapping[str, tuple[SystemItems, ...]]
    worst: Mapping[str, WorstCase | Missing]

    def title(self) -> str:
        """Return the heading."""
        return TITLE

    def opening(self) -> str:
        """Return which system lacks how much."""
        return f"{'; '.join(f'system {one}' for one in self.lacks)}.".replace("system", "System", 1)

    def sentences(self) -> list[str]:
        """Return what is missing, what the comparison means, and whether it depends on what is missing."""
        common = f"{count(self.n_common, 'item has', 'items have')} outputs of every system."
        return [self.opening(), f"{MEANING} {common}", *self.sensitivity()]

    def sensitivity(self) -> list[str]:
        """Return for each criterion whether conclusions change if missing outputs are the worst."""
        return [
            f"On {name}, missing outputs could not be set to the worst: {one.reason}"
            if isinstance(one, Missing)
            else one.sentence()
            for name, one in self.worst.items()
        ]

    def parts(self) -> list[Part]:
        """Return the sentences, the means on common items, and the pairs with missing outputs at worst."""
        tables: list[Part] = [self._show_means(name) for name, rows in self.means.items() if rows]
        tables += [one.table() for one in self.worst.values() if not isinstance(one, Missing)]
        return [*(Sentence(text) for text in self.sentences()), *tables]

    def to_dict(self) -> dict[str, Any]:
        """Return what is missing, means on common items, and what changes."""
        return {
            "lacks": list(self.lacks),
            "n_items": self.n_items,
            "n_common": self.n_common,
            "means": {name: [asdict(one) for one in rows] for name, rows in self.means.items()},
            "worst": {
                name: one.to_dict()
                if isinstance(one, Missing)
                else {
                    "sentence": one.sentence(),
                    "comparison": one.worst.to_dict(),
                    "disagreements": [asdict(pair) for pair in one.disagreements],
                }
                for name, one in self.worst.items()
            },
        }

    def _show_means(self, name: str) -> Table:
        header = ("system", "items", "mean", "mean on common items")
        rows = [(one.system, one.items, one.mean, one.common_mean) for one in self.means[name]]
        formats = {"system": TEXT, "mean": decimals(2), "mean on common items": decimals(2)}
        note = f"{count(self.n_common, 'item')} in common; means over different items are not comparable"
        return Table(f"Plain means of {name}", header, rows, formats, note=note)


def examine_lacking(
    study: Study | None,
    rows: Mapping[str, Ratings],
    compared: Mapping[str, CriterionComparison | Missing],
    again: Again,
) -> LackingOutputs | None:
    """Return what a study lacks and what depends on it; None where nothing is missing.

    ``rows`` are the ratings of each criterion, ``compared`` how its systems came out.
    """
    if study is None or not study.outputs.lacking:
        return None
    criteria = {one.name: one for one in study.criteria}
    worst: dict[str, WorstCase | Missing] = {}
    means: dict[str, tuple[SystemItems, ...]] = {}
    for name, made in compared.items():
        if isinstance(made, Missing) or study.there is None:
            continue
        if not holds_choices(rows[name].frame):
            means[name] = find_common_items(rows[name].frame)[1]
        assume = partial(_assume_worst, study, rows[name], made, criteria.get(name), again)
        worst[name] = attempt(assume)
    common = len(study.items) if study.there is None else int(study.there.all(axis=1).sum())
    lacks = say_lacking(study.outputs.lacking, study.n_items, study.systems)
    return LackingOutputs(tuple(lacks), study.n_items, common, means, worst)


def _assume_worst(
    study: Study, rows: Ratings, made: CriterionComparison, criterion: Criterion | None, again: Again
) -> WorstCase:
    """Return the comparison with missing outputs at the worst, beside the one that was made."""
    if holds_choices(rows.frame):
        filled, value = _add_defeats(rows.frame, study), "missing outputs losing every comparison"
    else:
        lower = made.better == "lower"
        end = None
        if criterion is not None:
            end = criterion.scale.highest if lower else criterion.scale.lowest
        given = rows.frame["rating"]
        bad = float((given.max() if lower else given.min()) if end is None else end)
        filled = _add_ratings(rows.frame, study, bad)
        value = f"missing outputs at the {'highest' if lower else 'lowest'} value ({bad:g})"
    worst = again(replace(rows, frame=filled), made.criterion)
    return WorstCase(made.criterion, made, worst, value, find_disagreements(made, worst))


def _add_ratings(frame: pd.DataFrame, study: Study, value: float) -> pd.DataFrame:
    """Return the ratings, and such a value for every missing output by raters of its item."""
    usual = _usual_times(frame.groupby(["item", "system"], observed=True).size())
    by_item = _list_by_item(frame)
    places, systems = [], []
    for item, system, _ in study.outputs.lacking:
        own = list(islice(by_item.get(item, ()), usual))
        places += own
        systems += [system] * len(own)
    added = _copy_rows(frame, places).assign(system=systems, rating=value)
    added["rating"] = added["rating"].astype(frame["rating"].dtype)
    return _join(frame, added)


def _add_defeats(frame: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the trials, and for every missing output pairs in which each other output of its item wins."""
    if "trial" not in frame:
        raise BadRatings("the answers have no column trial.")
    ranked = "choice" not in frame or not frame["choice"].fillna("").astype(str).ne("").any()
    per_pair = frame.groupby(["item", "system"], observed=True).size()
    usual = _usual_times(per_pair / max(1, len(study.systems) - 1))
    by_item = _list_by_item(frame)
    there = set(zip(study.outputs.frame["item"], study.outputs.frame["system"], strict=True))
    places: list[int] = []
    systems: list[str] = []
    for item, system, _ in study.outputs.lacking:
        if not by_item.get(item):
            continue
        for other in (name for name in study.systems if (item, name) in there):
            for place in islice(cycle(by_item[item]), usual):
                places += [place, place]
                systems += [other, system]
    added = _copy_rows(frame, places).assign(system=systems)
    n = len(added) // 2
    added["trial"] = [f"missing-{number}" for number in range(n) for _ in range(2)]
    if ranked:
        added["rating"] = np.tile([1.0, 2.0], n).astype("float64")
        added["rating"] = added["rating"].astype(frame["rating"].dtype)
    else:
        added["choice"] = ["best", "worst"] * n
    for name, blank in (("answer", ""), ("grade", None), ("position", None)):
        if name in added:
            added[name] = pd.Series([blank] * len(added), index=added.index, dtype=object)
    return _join(frame, added)


def _usual_times(counts: "pd.Series[Any]") -> int:
    return max(1, round(float(counts.median()))) if len(counts) else 1


def _list_by_item(frame: pd.DataFrame) -> dict[str, list[int]]:
    """Return for each item a row of each rater who judged it, in the order of the table."""
    first = ~frame.duplicated(["item", "rater"]) if "rater" in frame else ~frame.duplicated(["item"])
    found: dict[str, list[int]] = {}
    for place in np.flatnonzero(first.to_numpy()).tolist():
        found.setdefault(str(frame["item"].iloc[place]), []).append(place)
    return found


def _copy_rows(frame: pd.DataFrame, places: list[int]) -> pd.DataFrame:
    if not places:
        raise BadRatings("nobody judged the items that lack an output.")
    return frame.iloc[places].reset_index(drop=True)


def _join(frame: pd.DataFrame, added: pd.DataFrame) -> pd.DataFrame:
    """Return both tables as one; categories become words, as new ones may come."""
    for name in frame.columns:
        kind = frame[name].dtype
        if isinstance(kind, pd.CategoricalDtype) and not kind.ordered:
            frame = frame.assign(**{name: frame[name].astype(object)})
    return pd.concat([frame, added], ignore_index=True)
