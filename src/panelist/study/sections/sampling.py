"""The sample section of a study file: which items people rate, where judges have scored all of them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, PositiveFloat, PositiveInt, model_validator

from panelist.core.errors import BadFile, BadRatings, BadStudy, did_you_mean
from panelist.core.prose import count, list_words, listing, quoted
from panelist.core.schema import StudyPart
from panelist.core.seeds import stream
from panelist.core.tables.cells import read_identifiers
from panelist.core.tables.readers import read_table
from panelist.study.outputs import Outputs

FEWEST_PARTS, MOST_PARTS = 2, 5
STEEPEST = 3.0  # how often more than another a stratum may be drawn
FEWEST_A_STRATUM = 8  # items drawn of each, where strata are drawn at different rates
FEW = 20  # drawn items from which on a judge is worth something
OF_JUDGES = ("disagreement", "doubt")
CHOSEN_BY_HAND = list_words("hardest easiest worst best top first ids names list chosen by_hand")


class SampleStrata(StudyPart):
    """Parts of the items, each of which gets its share of the sample."""

    column: str = ""
    """A column of the outputs file: up to five words, or numbers to be cut into parts."""
    judges: str = ""
    """Or a file of judges' scores of all outputs, beside the study file (item, system, rating)."""
    judge: str = ""
    """The judge, where the file has several."""
    criterion: str = ""
    """The criterion, where the file has several."""
    measure: Literal["spread", "mean", "disagreement", "doubt"] | None = None
    """What is cut into parts: the highest less the lowest number of an item's outputs, or their mean; how far
    several judges disagree on its outputs; or a judge's doubt, by its column confidence or the spread of its
    samples. By default the spread of a judge's scores, and the mean of a column."""
    parts: Annotated[int, Field(ge=FEWEST_PARTS, le=MOST_PARTS)] = 3
    """Into how many parts numbers are cut, of about equally many items."""
    rates: tuple[PositiveFloat, ...] = ()
    """How often items of each part are drawn, relative to each other: lowest part first, or words in
    alphabetical order. By default equally often. At most 3 to 1, with 8 items of each part or more."""

    @model_validator(mode="after")
    def _check(self) -> "SampleStrata":
        if bool(self.column) == bool(self.judges):
            raise ValueError(
                "strata are made by a column of the outputs file, or by judges: say one of the two."
            )
        if self.column and (self.judge or self.criterion):
            raise ValueError("judge and criterion go with judges, not with a column.")
        if self.column and self.measure in OF_JUDGES:
            raise ValueError(f"the measure {self.measure} goes with judges, not with a column.")
        if self.judge and self.measure == "disagreement":
            raise ValueError("disagreement is that of several judges: leave judge out.")
        if self.rates and max(self.rates) / min(self.rates) > STEEPEST + 1e-9:
            raise ValueError(
                f"rates are {max(self.rates) / min(self.rates):.2g} to 1; at most {STEEPEST:g} to 1 is "
                "allowed. People's noise is common to all strata and levels them: steeper rates lose "
                "precision."
            )
        return self


class Sample(StudyPart):
    """Which items people rate: drawn at random, all systems of an item together."""

    items: PositiveInt | None = None
    """How many items are drawn."""
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    """Or which share of the items."""
    strata: SampleStrata | None = None
    """Parts of the items that are drawn separately; by default one simple random sample."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_chosen(cls, written: Any) -> Any:
        """Refuse items that somebody chose: they answer another question."""
        if isinstance(written, Mapping):
            by_hand = [str(key) for key in written if str(key) in CHOSEN_BY_HAND]
            if by_hand or isinstance(written.get("items"), list | tuple):
                raise ValueError(
                    f"{listing(by_hand) or 'a list of items'}: items that were chosen are no sample. What is "
                    "found on the hardest items is about hard items alone, and judges cannot correct it. "
                    "Draw at random (items: 40), in strata if you like; or put only those items "
                    "into the outputs file, and say so."
                )
        return written

    @model_validator(mode="after")
    def _check(self) -> "Sample":
        if (self.items is None) == (self.share is None):
            raise ValueError(
                "a sample says how many items (items: 40) or which share (share: 0.2): one of the two."
            )
        return self


def _read_all(written: Any) -> Any:
    return None if written == "all" else written


SampleOrAll = Annotated[
    Sample | None, BeforeValidator(_read_all, json_schema_input_type=Sample | Literal["all"] | None)
]
"""A sample; the word ``all`` is that of a study without one."""


@dataclass(frozen=True, eq=False)
class ItemDraw:
    """The items that could be drawn, in the order of the outputs file, and those that were."""

    items: tuple[str, ...]
    stratum: tuple[str, ...]
    """The stratum of each item; empty where there are none."""
    probability: NDArray[np.float64] = field(repr=False)
    drawn: NDArray[np.bool_] = field(repr=False)

    @property
    def n(self) -> int:
        """How many items were drawn."""
        return int(self.drawn.sum())

    @property
    def equal(self) -> bool:
        """Whether every item had the same probability."""
        return bool(np.ptp(self.probability) < 1e-9)

    @cached_property
    def chosen(self) -> tuple[str, ...]:
        """The drawn items, in the order of the outputs file."""
        return tuple(item for item, here in zip(self.items, self.drawn, strict=True) if here)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The table of sample.csv: item, probability, stratum, drawn."""
        return pd.DataFrame(
            {
                "item": self.items,
                "probability": [repr(float(one)) for one in self.probability],
                "stratum": self.stratum,
                "drawn": np.where(self.drawn, "yes", "no"),
            }
        )

    @cached_property
    def text(self) -> str:
        """What sample.csv holds."""
        return str(self.table.to_csv(index=False, lineterminator="\n"))

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of sample.csv."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def say_probability(self) -> str:
        """Return with what probability items were drawn: of all, or of each stratum.

        >>> ItemDraw(("a", "b"), ("", ""), np.array([0.5, 0.5]), np.array([True, False])).say_probability()
        'each with probability 0.5'
        """
        if self.equal:
            return f"each with probability {self.probability[0]:.3g}"
        each = dict(zip(self.stratum, self.probability, strict=True))
        return f"with probability {listing(f'{each[name]:.3g} in {name}' for name in sorted(each))}"

    def sentence(self) -> str:
        """Return the draw in a sentence."""
        strata = len(set(self.stratum))
        how = f" in {count(strata, 'stratum', 'strata')}" if strata > 1 else ""
        return (
            f"People rate {self.n:,} of {count(len(self.items), 'item')}, drawn at random{how}, "
            f"{self.say_probability()}, with all outputs of an item together."
        )


def draw_items(sample: Sample, seed: int, outputs: Outputs) -> ItemDraw:
    """Return the draw of a sample, or raise BadStudy that says why there is none.

    Each stratum is put into a random order once, and its first items are drawn: a larger sample of the same
    items and strata contains the smaller. How many of each, by Webster's divisors: proportional to its size
    (times its rate), to the nearest whole number, and never fewer in a larger sample.
    """
    items, N = outputs.items, len(outputs.items)
    n = sample.items if sample.items is not None else max(1, round((sample.share or 0.0) * N))
    if n > N:
        raise BadStudy(f"{n:,} items cannot be drawn: the outputs file has {N:,}.")
    strata = sample.strata
    stratum = _find_strata(strata, outputs) if strata is not None else [""] * N
    names, own = np.unique(np.array(stratum, dtype=str), return_inverse=True)
    rates = np.array(strata.rates if strata is not None and strata.rates else [1.0] * len(names))
    if len(rates) != len(names):
        raise BadStudy(
            f"strata.rates has {count(len(rates), 'number')}, and there are "
            f"{count(len(names), 'stratum', 'strata')}: {quoted(names)}."
        )
    size = np.bincount(own, minlength=len(names))
    key, rank = np.empty(N), np.empty(N, dtype=np.int64)
    for place, name in enumerate(names):
        here = np.flatnonzero(own == place)
        rank[stream(seed, "sample", str(name)).permutation(here)] = np.arange(len(here))
        key[here] = (rank[here] + 0.5) / (size[place] * rates[place])
    drawn = np.zeros(N, dtype=bool)
    drawn[np.lexsort((own, key))[:n]] = True
    taken = np.bincount(own[drawn], minlength=len(names))
    _check_taken(names, taken, uneven=bool(np.ptp(rates)))
    return ItemDraw(items, tuple(stratum), (taken / size)[own], drawn)


def _check_taken(names: NDArray[Any], taken: NDArray[Any], uneven: bool) -> None:
    """Raise BadStudy where a stratum has too few items."""
    least = FEWEST_A_STRATUM if uneven else 1
    if few := [f"{name} has {got}" for name, got in zip(names, taken, strict=True) if got < least]:
        why = " where rates differ" if uneven else ""
        raise BadStudy(
            f"Every stratum needs {count(least, 'drawn item')} or more{why}; {listing(few)}. Draw more "
            "items, or make fewer parts."
        )


def _find_strata(strata: SampleStrata, outputs: Outputs) -> list[str]:
    """Return the stratum of every item."""
    if strata.judges:
        scores, measure = _read_scores(strata, outputs), strata.measure or "spread"
        if measure in OF_JUDGES:
            scores, measure = _find_doubt(scores, measure, strata.judges), "mean"
        value = _measure(scores, measure, outputs, strata.judges)
        return _cut(value, strata.parts, f"the {strata.measure or measure} of scores")
    frame = outputs.frame
    if strata.column not in frame:
        raise BadStudy(f"The outputs have no column {strata.column!r}.")
    numbers = pd.to_numeric(frame[strata.column].where(frame[strata.column] != ""), errors="coerce")
    if numbers.notna().all() and numbers.nunique() > strata.parts:
        table = frame[["item", "system"]].assign(value=numbers.to_numpy())
        measured = _measure(table, strata.measure or "mean", outputs, outputs.options.file)
        return _cut(measured, strata.parts, f"column {strata.column!r}")
    words = frame.groupby("item", sort=False, observed=True)[strata.column]
    mixed = words.transform("first") != frame[strata.column]
    if mixed.any():
        raise BadStudy(
            f"Column {strata.column!r} differs between outputs of item {frame['item'][mixed].iloc[0]!r}: "
            "words that make strata are those of an item."
        )
    found = words.first().reindex(list(outputs.items)).tolist()
    names = sorted(set(found))
    if "" in names or not FEWEST_PARTS <= len(names) <= MOST_PARTS:
        empty = "an empty cell" if "" in names else f"{len(names)} words"
        raise BadStudy(
            f"Column {strata.column!r} has {empty} ({quoted(names, 6)}); strata are {FEWEST_PARTS} to "
            f"{MOST_PARTS} words, or numbers."
        )
    return list(map(str, found))


def _read_scores(strata: SampleStrata, outputs: Outputs) -> pd.DataFrame:
    """Return a judge's scores of outputs: item, system, value; of all judges where they are to disagree."""
    path = outputs.folder / strata.judges
    try:
        frame = read_table(Path(path)).frame
    except (BadFile, BadRatings) as error:
        raise BadStudy(f"strata.judges: {error}") from None
    frame = frame.rename(
        columns={old: new for old, new in (("value", "rating"), ("metric", "judge")) if new not in frame}
    )
    if lacking := [name for name in ("item", "system", "rating") if name not in frame]:
        raise BadStudy(
            f"{strata.judges} has no column {' and no column '.join(map(repr, lacking))}; its columns are "
            f"{quoted(frame.columns, 8)}. Strata are made from scores: item, system, rating."
        )
    for name in ("judge", "criterion"):
        if name not in frame:
            continue
        known, wanted = sorted(map(str, frame[name].dropna().unique())), getattr(strata, name)
        if wanted and wanted not in known:
            raise BadStudy(f"{strata.judges} has no {name} {wanted!r}. {did_you_mean(wanted, known)}")
        if not wanted and len(known) > 1 and (name, strata.measure) != ("judge", "disagreement"):
            raise BadStudy(f"{strata.judges} has several: {quoted(known)}. Name one with strata.{name}.")
        frame = frame[(frame[name].astype(str) == wanted).to_numpy()] if wanted else frame
    return pd.DataFrame(
        {
            "item": read_identifiers(frame["item"]).astype(str).to_numpy(),
            "system": read_identifiers(frame["system"]).astype(str).to_numpy(),
            "value": pd.to_numeric(frame["rating"], errors="coerce").to_numpy(),
            "judge": frame["judge"].astype(str).to_numpy() if "judge" in frame else "",
            "confidence": pd.to_numeric(frame["confidence"], errors="coerce").to_numpy()
            if "confidence" in frame
            else np.nan,
        }
    )


def _find_doubt(scores: pd.DataFrame, measure: str, source: str) -> pd.DataFrame:
    """Return how much judges disagree on each output, or how much a judge doubts its own scores.

    Disagreement is the standard deviation of the judges' ranks, each among its own scores, so that their
    scales do not matter; an output that one of them did not score has none.
    """
    output = ["item", "system"]
    if measure == "disagreement":
        own = scores.pivot_table("value", output, "judge", aggfunc="mean", observed=True)
        if own.shape[1] < 2:
            raise BadStudy(f"{source} has one judge, and disagreement is that of several.")
        found = own.rank(pct=True).std(axis=1, ddof=0).where(own.notna().all(axis=1))
    elif scores["confidence"].notna().any():
        found = -scores.groupby(output, observed=True)["confidence"].mean()
    else:
        found = scores.groupby(output, observed=True)["value"].std(ddof=1)
        if not found.notna().any():
            raise BadStudy(
                f"{source} has neither a column confidence nor several samples of an output: how sure the "
                "judge was is not known."
            )
    return found.rename("value").reset_index()


def _measure(table: pd.DataFrame, measure: str, outputs: Outputs, source: str) -> NDArray[np.float64]:
    """Return the spread or the mean of each item's outputs; several scores of an output count as one."""
    outputs_of = (
        table.groupby(["item", "system"], observed=True)["value"].mean().groupby("item", observed=True)
    )
    found = outputs_of.mean() if measure == "mean" else outputs_of.max() - outputs_of.min()
    values = found.reindex(list(outputs.items))
    if (silent := values.isna()).any():
        raise BadStudy(
            f"{source} has no score for {count(int(silent.sum()), 'item')}, such as "
            f"{quoted(values.index[silent][:3])}: judge all outputs first, or leave strata out."
        )
    return values.to_numpy(dtype=np.float64)


def _cut(values: NDArray[np.float64], parts: int, what: str) -> list[str]:
    """Return the part of each value, 1 being the lowest; equal values stay together."""
    edges = np.quantile(values, np.arange(1, parts) / parts, method="inverted_cdf")
    place = np.searchsorted(np.unique(edges), values, side="left")
    codes = np.unique(place, return_inverse=True)[1]
    if codes.max() == 0:
        raise BadStudy(f"By {what} all items are in one part: there is nothing to make strata of.")
    return [str(code + 1) for code in codes]
