"""Which items people rated, and with what probability: ``sample.csv``, written by the plan, never guessed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.errors import BadPlan, BadRatings, list_shortly
from panelist.core.tables.cells import read_identifiers
from panelist.core.tables.frames import read_frame
from panelist.core.tables.readers import read_table
from panelist.design.update import find_plan
from panelist.numerics.arrays import Floats
from panelist.study.file_names import PLAN_RECORD, SAMPLE_FILE
from panelist.study.study import Study

FEWEST_STRATA, MOST_STRATA = 2, 5
SAME = 1e-9  # probabilities that differ by less are equal


@dataclass(frozen=True, eq=False)
class ItemSample:
    """The items that could be drawn: each with its stratum (empty: none) and its probability."""

    source: str
    items: tuple[str, ...]
    stratum: tuple[str, ...]
    probability: Any

    @property
    def equal(self) -> bool:
        """Whether every item had the same probability."""
        return bool(np.ptp(self.probability) < SAME)

    @property
    def strata(self) -> tuple[str, ...]:
        """The strata, sorted, if items were drawn in 2 to 5 of them with one probability in each."""
        names = sorted(set(self.stratum))
        if not FEWEST_STRATA <= len(names) <= MOST_STRATA:
            return ()
        own = np.array(self.stratum, dtype=object)
        spread = [float(np.ptp(self.probability[own == name])) for name in names]
        return tuple(names) if max(spread) < SAME else ()


def part_by_probability(probability: Floats) -> list[str]:
    """Return each item's part by its probability: one for each value, or thirds where there are many.

    Within a part chances are (nearly) equal, so that part × system in a model does what weights would.
    """
    values = np.unique(np.round(probability / SAME) * SAME)
    if len(values) <= MOST_STRATA:
        own = np.searchsorted(values, probability - SAME)
    else:
        own = np.searchsorted(np.quantile(probability, [1 / 3, 2 / 3]), probability, side="right")
    return [f"part {at + 1}" for at in own]


def find_sample(study: Study) -> ItemSample | None:
    """Return the sample that a study's people rated, None where they rated all items.

    BadPlan where it is not the sample that the plan was made for, or sample.csv was changed.
    """
    draw = study.draw
    if draw is None:
        return None
    plan = find_plan(study, stale=True)
    if plan is not None and plan.sample != draw.hash:
        raise BadPlan(
            f"The sample of the study is another than the one in {study.folder / PLAN_RECORD}: sample, "
            "design.seed, the outputs or the scores behind its strata have changed since. Restore them, or "
            "name the sample that people rated: --sample FILE."
        )
    path = study.folder / SAMPLE_FILE
    if study.path is not None and path.is_file() and path.read_bytes() != draw.text.encode():
        raise BadPlan(f"{path} was changed after it was written. Make it again: panelist plan STUDY")
    return ItemSample(SAMPLE_FILE, draw.items, draw.stratum, draw.probability)


def read_sample(source: Any) -> ItemSample:
    """Return the sample in a file or frame: ``item, probability[, stratum]``."""
    if isinstance(source, ItemSample):
        return source
    raw, origin = (
        (read_table(Path(source)), str(source)) if isinstance(source, str | Path) else read_frame(source)
    )
    frame = raw.frame
    if lacking := [name for name in ("item", "probability") if name not in frame]:
        raise BadRatings(
            f"{origin} has no column {' and no column '.join(map(repr, lacking))}; its columns are "
            f"{list_shortly(frame.columns)}. A sample has item, probability, and stratum where there are "
            "some."
        )
    items = read_identifiers(frame["item"])
    probability = pd.to_numeric(frame["probability"], errors="coerce").to_numpy(dtype=np.float64)
    if bad := int((~((probability > 0) & (probability <= 1))).sum()):
        raise BadRatings(
            f"{origin} has {bad:,} probabilities that are not above 0 and at most 1. An item that could not "
            "be drawn is not part of the sample: leave its row out."
        )
    if items.duplicated().any():
        raise BadRatings(f"{origin} names the item {items[items.duplicated()].iloc[0]!r} twice.")
    stratum = (
        read_identifiers(frame["stratum"]).fillna("") if "stratum" in frame else pd.Series([""] * len(frame))
    )
    return ItemSample(origin, tuple(map(str, items)), tuple(map(str, stratum)), probability)
