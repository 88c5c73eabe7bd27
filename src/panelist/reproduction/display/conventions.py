"""What every number of a reproduction report rests on, in sentences that can be quoted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from panelist.reproduction.measures.common_scale import CommonScale

if TYPE_CHECKING:
    from panelist.reproduction.reproduction import CriterionReproduction


def state_conventions(criteria: Sequence[CriterionReproduction], confidence: float) -> dict[str, str]:
    """Return the conventions by name."""
    n = " and ".join(sorted({str(len(one.studies)) for one in criteria}))
    scales = {one.scale.sentence() for one in criteria}
    ways = {one.aggregation for one in criteria}
    found = {
        "CV*": "(1 + 1/(4n)) · 100 · s*/m with s* = s/c4 (2022: Belz, Popović & Mille); QRA3 leaves out 1 + "
        "1/(4n) "
        f"(Belz & Thomson 2026); n = {n} studies",
        "scale shift": scales.pop() if len(scales) == 1 else _list(criteria, "scale"),
        "scores": ways.pop() if len(ways) == 1 else _list(criteria, "aggregation"),
        "intervals": f"{confidence * 100:g} %; of CV: exact, by noncentral t; of s*: Belz's, s* ± t(n−1) · "
        "SE(s*), whose lower end may be below 0",
        "correlations": "means over pairs of studies, mid-ranks for ties; Kendall's W without correction for "
        "ties, as "
        "QRA3's, and corrected beside it where they differ",
        "orders": "P counts all pairs of systems and of studies whose order is the same, a tie being a "
        "separate "
        "order (QRA3)",
    }
    if any(one.tested for row in criteria for one in row.findings):
        found |= _state_verdicts(confidence)
    if any(one.labels is not None for one in criteria):
        found["labels"] = "; ".join({one.labels.unit for one in criteria if one.labels is not None})
    return found


def _state_verdicts(confidence: float) -> dict[str, str]:
    """Return how a tested finding is judged, and where a repeat is expected."""
    return {
        "verdict": f"a > b is upheld where the repeat finds the difference (p below {1 - confidence:.2g}); "
        "not upheld where it finds the opposite or, after an original that found it, shows that it is "
        "smaller than the margin; else undecided. a = b is upheld where two one-sided tests (TOST) show that "
        "the difference lies within the margin; not upheld where the repeat finds a difference that they do "
        "not; else undecided",
        "margin": "declared, or the difference that the original had a power of one third to find (small "
        "telescopes, Simonsohn 2015)",
        "inside": "the repeat's difference lies within the original's ± t · √(SE² + SE² of the repeat)",
    }


def warn_of_scale(criterion: str, scale: CommonScale, scores: Sequence[Sequence[float]]) -> list[str]:
    """Return a warning where the start of the scale was assumed from printed scores alone."""
    if not scale.assumed or scale.from_ratings:
        return [f"On {criterion}: {scale.doubt}"] if scale.doubt else []
    values = [score for row in scores for score in row]
    hint = ""
    if min(values) >= 1 and max(values) <= 10:
        hint = " These look like ratings from 1 up: then CV* is too small without --scale-min 1."
    return [
        f"Nothing says where the scale of {criterion} begins: 0 was taken, as for percentages and counts. "
        f"Say it with --scale-min.{hint}"
    ]


def _list(criteria: Sequence[CriterionReproduction], name: str) -> str:
    words = (
        (one.criterion, one.scale.sentence() if name == "scale" else one.aggregation) for one in criteria
    )
    return "; ".join(f"{criterion}: {said}" for criterion, said in words)
