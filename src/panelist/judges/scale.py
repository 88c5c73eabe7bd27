"""Whether a judge answers on people's scale, and what is off it.

On the same scale scores are used as they are, and a value off it is no answer: refused, counted and never
clipped. A judge on another scale (a metric, a probability, 0 to 100) is not an error; it is said, and the
correction uses its midranks (docs/judges.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from panelist.core.display.formats import number
from panelist.core.errors import UnknownName, did_you_mean
from panelist.judges.table import JudgeScores, refuse_off_scale
from panelist.numerics.arrays import Floats
from panelist.scales.base import RatingScale
from panelist.study.study import Study

Ends = tuple[float, float]
Points = Ends | Mapping[str, Ends] | None
"""The ends of people's scale, or of each criterion's; without them the lowest and highest rating given."""
JudgeScale = Literal["auto", "same", "other", "as-is"]
SCALES = ("auto", "same", "other", "as-is")
INSIDE = 0.75  # of a judge's scores must lie on people's scale for it to be the judge's too
COVERED = 0.25  # of people's scale must lie between the judge's 5th and 95th per cent


@dataclass(frozen=True)
class ScaleMatch:
    """What is known about a judge's scale on one criterion."""

    judge: str
    same: bool
    low: float
    high: float
    n_off: int
    note: str = ""


def check_scale(name: str) -> None:
    """Raise UnknownName unless this says how scales are matched."""
    if name not in SCALES:
        raise UnknownName(f"No way to match scales is called {name!r}. {did_you_mean(name, SCALES)}")


def find_ends_of(study: Study) -> dict[str, Ends]:
    """Return the ends of each criterion's scale, where it has both: people need not have used them."""
    found = {}
    for one in study.criteria:
        if (
            isinstance(one.scale, RatingScale)
            and one.scale.lowest is not None
            and one.scale.highest is not None
        ):
            found[one.name] = (float(one.scale.lowest), float(one.scale.highest))
    return found


def match_scales(
    scores: JudgeScores, ratings: Floats, how: str = "auto", points: Ends | None = None
) -> tuple[JudgeScores, dict[str, ScaleMatch]]:
    """Return the scores with what is off the scale refused, and each judge's match.

    ``points`` are the ends of people's scale; without them, the lowest and the highest rating given. "auto"
    takes judges whose scores mostly lie there as answering on it, and metrics never; "same" and "other" say
    it; "as-is" takes every score on people's scale and refuses none.
    """
    check_scale(how)
    low, high = points or (float(np.min(ratings)), float(np.max(ratings)))
    values = scores.frame["score"].to_numpy()
    off = np.zeros(len(values), dtype=bool)
    found = {}
    for judge in scores.judges:
        own = (scores.frame["judge"] == judge).to_numpy()
        said = values[own & np.isfinite(values)]
        same = how in ("same", "as-is") or (
            how == "auto" and not scores.metrics and _looks_same(said, low, high)
        )
        outside = own & ((values < low) | (values > high))
        n_off = int(outside.sum()) if same and how != "as-is" else 0
        if n_off:
            off |= outside
        found[judge] = ScaleMatch(
            judge, same, low, high, n_off, _say(judge, same, n_off, values[outside], said, low, high)
        )
    return (refuse_off_scale(scores, off) if off.any() else scores), found


def _looks_same(said: Floats, low: float, high: float) -> bool:
    if not len(said):
        return True
    inside = float(((said >= low) & (said <= high)).mean())
    ends = np.quantile(said, [0.05, 0.95])
    constant = said.min() == said.max()
    return inside >= INSIDE and (constant or float(ends[1] - ends[0]) >= COVERED * (high - low))


def _say(judge: str, same: bool, n_off: int, outside: Any, said: Floats, low: float, high: float) -> str:
    scale = f"{number(low, 2)} to {number(high, 2)}"
    if n_off:
        worst = ", ".join(f"{value:g}" for value in np.unique(outside)[:4])
        return (
            f"{n_off:,} of {len(said):,} scores of {judge} lie off the scale ({scale}; found {worst}): "
            "refused, "
            "as no answers. If the scale is longer, say so with --scale LOW:HIGH"
        )
    if not same and len(said):
        return (
            f"{judge} scores from {said.min():g} to {said.max():g}, people from {scale}: taken as another "
            "scale. Correlations use the scores as they are, the correction their midranks"
        )
    return ""
