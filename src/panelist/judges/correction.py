"""How judges correct a comparison: what was asked for, and the way that the sample of items allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.errors import BadModel, UnknownName, did_you_mean
from panelist.core.prose import count, listing, quoted
from panelist.core.tables.ratings import Ratings
from panelist.judges.correct.variants import read_variants
from panelist.judges.match import JudgedRatings
from panelist.judges.sample import ItemSample, part_by_probability, read_sample
from panelist.judges.scale import Points, check_scale
from panelist.judges.table import JudgeScores, read_judges
from panelist.numerics.arrays import Floats
from panelist.study.file_names import SAMPLE_FILE

METHODS = ("auto", "regression", "weights")


@dataclass(frozen=True)
class Correction:
    """How judges correct a comparison: their scores, the sample of items, and the way."""

    scores: JudgeScores
    sample: ItemSample | None = None
    scale: str = "auto"
    method: str = "auto"
    points: Points = None
    variants: frozenset[str] = frozenset()
    carried: tuple[float, ...] = ()
    """The probabilities that the ratings themselves carry, where no sample was given."""


def read_correction(
    table: Ratings,
    judge: Any,
    columns: Sequence[str],
    sample: Any,
    scale: str,
    method: str,
    points: Points = None,
    variants: Sequence[str] = (),
) -> Correction:
    """Return how judges correct a comparison, once every word in it is checked."""
    check_scale(scale)
    if method not in METHODS:
        raise UnknownName(f"No way to correct is called {method!r}. {did_you_mean(method, METHODS)}")
    chosen = read_variants(variants)
    if chosen and method == "weights":
        raise BadModel(f"{listing(sorted(chosen))} goes with regression: leave out the method weights.")
    scores = read_judges(judge, table, columns)
    if sample is None:
        return Correction(scores, None, scale, method, points, chosen, find_probabilities(table))
    return Correction(scores, read_sample(sample), scale, method, points, chosen)


def find_probabilities(table: Ratings) -> tuple[float, ...]:
    """Return the probabilities in the column ``probability``, as exports have it; none where it is not one.

    It is one where all values lie above 0 and up to 1, and do not differ within an item.
    """
    frame = table.frame
    if not {"probability", "item"} <= set(frame):
        return ()
    known = frame[["item", "probability"]].dropna().drop_duplicates()
    values = pd.to_numeric(known["probability"], errors="coerce").to_numpy(dtype=np.float64)
    if known["item"].duplicated().any() or not ((values > 0) & (values <= 1)).all():
        return ()
    return tuple(np.unique(np.round(values, 9)).tolist())


def choose_way(
    beside: JudgedRatings, correction: Correction
) -> tuple[str, list[str] | None, Floats | None, list[str]]:
    """Return the way to correct, the stratum and the probability of each item, and what to say about it."""
    sample, n, N = correction.sample, int(beside.labelled.sum()), len(beside.items)
    if sample is None:
        if correction.method == "weights":
            raise BadModel("Weights need the probabilities of the items: give the sample (--sample FILE).")
        if len(correction.carried) > 1:
            raise BadModel(
                f"The ratings say that items were drawn with {len(correction.carried)} probabilities (column "
                "probability), and the correction needs that of every item, rated or not: give the sample "
                f"that the plan wrote (--sample {SAMPLE_FILE})."
            )
        if n == N:
            return "regression", None, None, ["Every judged item was rated by people as well."]
        if correction.carried:
            one = correction.carried[0]
            return (
                "regression",
                None,
                None,
                [f"{n:,} of {N:,} judged items were rated by people, each drawn with probability {one:.3g}."],
            )
        return (
            "regression",
            None,
            None,
            [
                f"{n:,} of {N:,} judged items were rated by people. No sample table says how they were "
                "drawn: if not at random, this is a convenience sample, and all rests on the model."
            ],
        )
    known = {item: at for at, item in enumerate(sample.items)}
    if lost := [item for item in beside.items if item not in known]:
        raise BadModel(
            f"{sample.source} has no probability for {count(len(lost), 'judged item')}, such as "
            f"{quoted(lost[:3])}."
        )
    at = np.array([known[item] for item in beside.items])
    probability = np.asarray(sample.probability)[at]
    drawn = float(probability.sum())
    said = [
        f"{n:,} of {N:,} judged items were rated by people; {drawn:.1f} were to be expected by "
        f"{sample.source}."
    ]
    if correction.method == "weights":
        return "weights", None, probability, [*said, "Items had unequal probabilities: weights 1/π."]
    if not sample.equal and (sample.strata or correction.method == "auto"):
        stratum = [sample.stratum[place] for place in at]
        if not sample.strata:
            stratum = part_by_probability(probability)
        rated = {name for name, here in zip(stratum, beside.labelled, strict=True) if here}
        if missing := sorted(set(stratum) - rated):
            if not sample.strata:
                return "weights", None, probability, [*said, "Items had unequal probabilities: weights 1/π."]
            raise BadModel(f"No item of {quoted(missing)} was rated: nothing is known about that stratum.")
        number = count(len(set(stratum)), "stratum", "strata")
        drawn_in = (
            f"Items were drawn in {number}: the model has stratum × system."
            if sample.strata
            else f"Items had unequal probabilities: the model has {number} of items by probability × system. "
            "--judge-method weights uses 1/π itself."
        )
        return "regression", stratum, probability, [*said, drawn_in]
    if not sample.equal:
        said.append(
            "Probabilities differ and the regression ignores them: compare with --judge-method weights."
        )
    return "regression", None, probability, said
