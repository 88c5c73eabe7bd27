"""Labels across studies (type III results): alpha, kappa, and the share of labels that changed.

A unit is an output with one label per study, made from its raters' answers by the same rule everywhere: the
majority for yes and no and for choices, the (lower) median for ordered points. With ``unit="slot"`` it is a
single rating: item, system and rater, or the place of the rating where no raters are shared. The studies are
the raters of Krippendorff's alpha and Fleiss' kappa. The difference rate is that of Li et al. (2023): the
percentage of units whose label differs between two studies, averaged over pairs of studies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from panelist.agreement.coefficients.fleiss import fleiss_kappa
from panelist.agreement.coefficients.krippendorff import (
    krippendorff_alpha_nominal,
    krippendorff_alpha_ordinal,
)
from panelist.agreement.criterion_table import make_table
from panelist.analysis.choices.trials import DECIDED, read_trials
from panelist.core.errors import BadReproduction
from panelist.reproduction.aggregate import find_answers, usable_rows
from panelist.reproduction.sources import Given

if TYPE_CHECKING:
    import pandas as pd

MOST_POINTS = 11  # more values than this are measurements, not labels
UNITS = ("output", "slot")
SHARED = 0.5  # share of names that must recur to count as the same raters or texts


@dataclass(frozen=True)
class SystemRate:
    """The percentage of one system's labels that differ, over pairs of studies, and how many units it has."""

    system: str
    rate: float
    n: int


@dataclass(frozen=True)
class LabelAgreement:
    """Agreement of studies on the labels of the same units; nan where it is undefined."""

    unit: str
    measurement: str
    n_units: int
    n_studies: int
    alpha: float
    kappa: float
    difference_rate: float
    systems: tuple[SystemRate, ...]
    notes: tuple[str, ...] = ()


def compare_labels(givens: Sequence[Given], unit: str = "output") -> LabelAgreement:
    """Return how the studies agree on labels, or raise BadReproduction that says why they cannot be
    compared."""
    if unit not in UNITS:
        raise BadReproduction(f"A unit of labels is {' or '.join(UNITS)}. Got {unit!r}.")
    kind = find_answers(givens[0])
    notes: list[str] = []
    if any(given.rows is None for given in givens):
        raise BadReproduction("labels are compared answer by answer, and one study has only scores")
    if kind == "choices":
        words, measurement = "the same outputs compared on one item, with the majority's choice", "nominal"
        tables = [_label_trials(given, notes) for given in givens]
    else:
        frames = [_prepare(given, kind, notes) for given in givens]
        measurement = "nominal" if kind == "binary" else "ordinal"
        keys = _find_keys(frames)
        if unit == "slot":
            frames, keys, words = _number_slots(frames, keys)
        else:
            how = "majority" if kind == "binary" else "lower median"
            words = f"an output ({' and '.join(keys)}), with the {how} of its ratings"
        tables = [_label_outputs(frame, keys, kind) for frame in frames]
    return _measure(tables, words, measurement, notes)


def difference_rate(first: Sequence[object], second: Sequence[object]) -> float:
    """Return the percentage of labels that differ.

    >>> difference_rate([1, 0, 1, 1], [1, 1, 1, 0])
    50.0
    """
    if len(first) != len(second) or not first:
        raise BadReproduction(
            "A difference rate compares two lists of labels of the same length, one at least."
        )
    return 100 * sum(a != b for a, b in zip(first, second, strict=True)) / len(first)


def _prepare(given: Given, kind: str, notes: list[str]) -> pd.DataFrame:
    frame, lost = usable_rows(given)
    notes += lost
    if "item" not in frame:
        raise BadReproduction("there is no column item, so nothing says which outputs are the same")
    if kind == "binary":
        return frame[frame["rating"].isin([0, 1])]
    values = frame["rating"].unique()
    if len(values) > MOST_POINTS or not (values == np.round(values)).all():
        raise BadReproduction("the ratings are measurements and not labels; correlation and CV* compare them")
    return frame


def _find_keys(frames: Sequence[pd.DataFrame]) -> list[str]:
    """Return what names an output in all studies: item and system, and the text where it is the same one."""
    keys = ["item", "system"]
    if all("text" in frame for frame in frames) and _recur(frames, "text"):
        keys.append("text")
    return keys


def _recur(frames: Sequence[pd.DataFrame], column: str) -> bool:
    names = [set(frame[column].dropna().astype(str)) for frame in frames]
    common = set.intersection(*names)
    return bool(common) and len(common) >= SHARED * min(map(len, names))


def _number_slots(
    frames: Sequence[pd.DataFrame], keys: list[str]
) -> tuple[list[pd.DataFrame], list[str], str]:
    if all("rater" in frame for frame in frames) and _recur(frames, "rater"):
        return list(frames), [*keys, "rater"], f"one rating ({', '.join(keys)} and rater)"
    numbered = [frame.assign(slot=frame.groupby(keys, observed=True).cumcount()) for frame in frames]
    words = f"one rating ({', '.join(keys)} and its place among the ratings of the output)"
    return numbered, [*keys, "slot"], words


def _label_outputs(frame: pd.DataFrame, keys: list[str], kind: str) -> pd.DataFrame:
    grouped = frame.groupby(keys, observed=True)["rating"]
    if kind == "binary":
        labels = (grouped.mean() > 0.5).astype(float)
    else:
        labels = grouped.quantile(0.5, interpolation="lower")
    found = labels.rename("label").reset_index()
    found["unit"] = found[keys].astype(str).agg(" | ".join, axis=1)
    return found[["unit", "system", "label"]]


def _label_trials(given: Given, notes: list[str]) -> pd.DataFrame:
    """Return the label of each set of outputs shown together: who was chosen by most."""
    import pandas as pd

    assert given.rows is not None
    trials = read_trials(given.rows, given.name)
    votes: dict[str, dict[str, int]] = {}
    systems = np.array(trials.systems, dtype=object)
    starts = np.concatenate([[0], np.cumsum(trials.sizes)])
    for trial, outcome in enumerate(trials.outcome):
        options = slice(starts[trial], starts[trial + 1])
        shown = systems[trials.system[options]]
        item = trials.items[trials.item[trial]] if trials.item[trial] >= 0 else f"trial {trial}"
        if outcome == DECIDED:
            label = str(shown[int(np.argmin(trials.place[options]))])
        elif outcome == "tie":
            label = "tie"
        else:
            continue
        box = votes.setdefault(f"{item} | {' or '.join(sorted(shown))}", {})
        box[label] = box.get(label, 0) + 1
    rows, even = [], 0
    for unit, box in votes.items():
        most = [label for label, n in box.items() if n == max(box.values())]
        if len(most) > 1:
            even += 1
        else:
            rows.append((unit, unit.split(" | ")[-1], most[0]))
    if even:
        notes.append(f"{even:,} of {len(votes):,} sets of outputs have no majority in one study: left out.")
    return pd.DataFrame(rows, columns=["unit", "system", "label"])


def _measure(
    tables: Sequence[pd.DataFrame], words: str, measurement: str, notes: list[str]
) -> LabelAgreement:
    import pandas as pd

    whole = pd.concat([table.assign(study=place) for place, table in enumerate(tables)], ignore_index=True)
    wide = whole.pivot_table(
        index=["system", "unit"], columns="study", values="label", aggfunc="first", observed=True
    )
    shared = wide[wide.notna().sum(axis=1) >= 2]
    if shared.empty:
        raise BadReproduction("no output was judged in two studies, by the names of items and systems")
    lost = len(wide) - len(shared)
    if lost:
        notes.append(f"{lost:,} of {len(wide):,} units were judged in one study only: left out.")
    codes = {label: place for place, label in enumerate(sorted({str(cell) for cell in whole["label"]}))}
    cells = shared.to_numpy(dtype=object)
    row, study = np.nonzero(shared.notna().to_numpy())
    values = [
        float(codes[str(cell)] if measurement == "nominal" else str(cell)) for cell in cells[row, study]
    ]
    table = make_table(row, study, values, measurement=measurement)
    alpha = krippendorff_alpha_ordinal if measurement == "ordinal" else krippendorff_alpha_nominal
    rates, systems = _rates(shared)
    return LabelAgreement(
        unit=words,
        measurement=measurement,
        n_units=len(shared),
        n_studies=len(tables),
        alpha=alpha(table),
        kappa=fleiss_kappa(table),
        difference_rate=float(np.mean(rates)) if rates else nan,
        systems=systems,
        notes=tuple(dict.fromkeys(notes)),
    )


def _rates(wide: pd.DataFrame) -> tuple[list[float], tuple[SystemRate, ...]]:
    """Return the difference rate of each pair of studies, and that of each system over all pairs."""
    rates: list[float] = []
    per_system: dict[str, list[float]] = {}
    for a, b in combinations(wide.columns, 2):
        both = wide[wide[a].notna() & wide[b].notna()]
        if both.empty:
            continue
        differ = (both[a] != both[b]).astype(float)
        rates.append(100 * float(differ.mean()))
        for system, share in differ.groupby(level="system", observed=True).mean().items():
            per_system.setdefault(str(system), []).append(100 * float(share))
    sizes = wide.groupby(level="system", observed=True).size()
    return rates, tuple(
        SystemRate(name, float(np.mean(found)), int(sizes[name])) for name, found in per_system.items()
    )
