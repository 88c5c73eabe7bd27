"""One scale for all studies of a criterion: where it begins, and how scores on another one are converted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from panelist.core.errors import BadReproduction
from panelist.reproduction.aggregate import Aggregation, usable_rows
from panelist.reproduction.sources import Given

MOST_POINTS = 11  # whole numbers up to this are taken as points of a scale
UNLIKE = 2.0  # how many times longer a scale may look before a mapping is asked for
_NUMBER = r"([-−]?\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"\s*{_NUMBER}\s*(?:-|–|\.\.|to)\s*{_NUMBER}\s*")

Ends = tuple[float, float]


@dataclass(frozen=True)
class ScaleMap:
    """The original's scale and the repeats', for one criterion (None: for all)."""

    criterion: str | None
    original: Ends
    repeat: Ends

    def carry(self, value: float) -> float:
        """Return a value of the repeats' scale on the original's, mapped linearly."""
        (low, high), (start, end) = self.original, self.repeat
        return low + (value - start) * (high - low) / (end - start)

    def sentence(self) -> str:
        """Return what was done."""
        if self.original == self.repeat:
            return f"the studies are said to share the scale {_say(self.original)}"
        return (
            f"the repeats' scale {_say(self.repeat)} was mapped linearly to the original's, "
            f"{_say(self.original)}"
        )


@dataclass(frozen=True)
class CommonScale:
    """Where the scale begins (``low``), who said so, and how other scales were converted."""

    low: float
    high: float | None
    why: str
    mapped: str = ""
    assumed: bool = False
    doubt: str = ""
    from_ratings: bool = False  # whether what was assumed comes from ratings, not from printed scores

    def sentence(self) -> str:
        """Return the start of the scale and its reason."""
        words = f"scale from {self.low:g} ({self.why})"
        return f"{words}; {self.mapped}" if self.mapped else words


def parse_scale_maps(texts: Sequence[str]) -> tuple[ScaleMap, ...]:
    """Return the mappings that ``fluency=1-5:0-100`` stands for: ORIGINAL:REPEAT; without a name, for all.

    >>> parse_scale_maps(["fluency=1-5:0-100"])
    (ScaleMap(criterion='fluency', original=(1.0, 5.0), repeat=(0.0, 100.0)),)
    """
    found = []
    for text in texts:
        name, sign, rest = text.rpartition("=")
        parts = rest.split(":")
        ends = [_RANGE.fullmatch(part) for part in parts]
        if len(parts) != 2 or not all(ends) or (sign and not name.strip()):
            raise BadReproduction(
                "--scale-map takes CRITERION=ORIGINAL:REPEAT, two ranges, as fluency=1-5:0-100. Got "
                f"{text!r}."
            )
        original, repeat = (_read_ends(end) for end in ends if end)
        if original[0] >= original[1] or repeat[0] >= repeat[1]:
            raise BadReproduction(f"A range goes from its lowest to its highest value, as 1-5. Got {text!r}.")
        found.append(ScaleMap(name.strip() if sign else None, original, repeat))
    return tuple(found)


def parse_scale_min(texts: Sequence[str]) -> float | dict[str, float] | None:
    """Return one number, or a number for each criterion, from ``1`` or ``fluency=1``."""
    single: float | None = None
    named: dict[str, float] = {}
    for text in texts:
        name, sign, rest = text.rpartition("=")
        try:
            value = float(rest.replace("−", "-"))
        except ValueError:
            value = float("nan")
        if not np.isfinite(value) or (sign and not name.strip()):
            raise BadReproduction(
                "--scale-min takes a number, or CRITERION=NUMBER: 0 for percentages and counts, 1 for "
                f"ratings from 1 to 5, -100 for best-worst scores. Got {text!r}."
            )
        if sign:
            named[name.strip()] = value
        else:
            single = value
    if named and single is not None:
        return {**named, "": single}
    return named or single


def find_map(maps: Sequence[ScaleMap], criterion: str) -> ScaleMap | None:
    """Return the mapping of a criterion: its own, else the one for all."""
    own = [one for one in maps if one.criterion == criterion]
    return next(iter([*own, *(one for one in maps if one.criterion is None)]), None)


def carry_over(given: Given, mapping: ScaleMap) -> Given:
    """Return a repeat's data on the original's scale; what is declared to be on it already stays."""
    low, high = mapping.original
    if mapping.original == mapping.repeat or (given.low, given.high) == mapping.original:
        return replace(given, low=low, high=high)
    if given.rows is None:
        scores = {name: mapping.carry(score) for name, score in given.scores.items()}
        return replace(given, scores=scores, low=low, high=high)
    if given.choices:
        return given
    frame, _ = usable_rows(given)
    frame = frame.assign(rating=[mapping.carry(float(value)) for value in frame["rating"]])
    return replace(given, rows=replace(given.rows, frame=frame.reset_index(drop=True)), low=low, high=high)


def settle_scale(
    givens: Sequence[Given],
    labels: Sequence[str],
    rule: Aggregation,
    scale_min: float | Mapping[str, float] | None,
    mapping: ScaleMap | None,
) -> CommonScale:
    """Return the common scale, or raise where the studies' scales differ and no mapping was given."""
    name = givens[0].name
    mapped = mapping.sentence() if mapping else ""
    asked = scale_min if not isinstance(scale_min, Mapping) else scale_min.get(name, scale_min.get(""))
    if mapping is None:
        _refuse_unlike(givens, labels, rule)
    if asked is not None:
        return CommonScale(float(asked), None, "as --scale-min says", mapped)
    if mapping is not None:
        return CommonScale(*mapping.original, "as --scale-map says", mapped)
    if rule.low is not None and any(given.rows is not None for given in givens):
        return CommonScale(rule.low, rule.high, f"as scores of {rule.name} do", mapped)
    for given, label in zip(givens, labels, strict=True):
        if given.low is not None:
            return CommonScale(given.low, given.high, f"as the study file of {label} says", mapped)
    return _guess(givens, mapped)


def _guess(givens: Sequence[Given], mapped: str) -> CommonScale:
    """Return the start of the scale that the values suggest, marked as assumed."""
    raw = [value for given in givens for value in _ratings(given)]
    if raw:
        values = np.array(raw)
        whole = bool((values == np.round(values)).all()) and values.max() <= MOST_POINTS
        if values.min() < 0:
            raise BadReproduction(
                f"Ratings of {givens[0].name!r} go down to {values.min():g}, and nothing says where the "
                "scale begins. Say it with --scale-min."
            )
        start = 1.0 if whole and values.min() >= 1 else 0.0
        kind = "whole numbers " if whole else ""
        why = f"assumed: ratings are {kind}from {values.min():g} to {values.max():g}"
        ends = [end for given in givens if (end := _ratings(given))]
        tops = sorted({max(end) for end in ends})
        doubt = ""
        if whole and len(tops) > 1:
            doubt = (
                f"The highest rating is {tops[0]:g} in one study and {tops[-1]:g} in another: one scale is "
                "assumed. If there are two, say how they map with --scale-map."
            )
        return CommonScale(start, None, why, mapped, assumed=True, doubt=doubt, from_ratings=True)
    return CommonScale(0.0, None, "assumed: nothing says where the scale begins", mapped, assumed=True)


def _refuse_unlike(givens: Sequence[Given], labels: Sequence[str], rule: Aggregation) -> None:
    """Raise where two studies have different scales, by declaration or clearly by their values."""
    name, first = givens[0].name, givens[0]
    for given, label in zip(givens[1:], labels[1:], strict=True):
        a, b = _ends(first, rule), _ends(given, rule)
        if a is None or b is None:
            continue
        if _differ(a, b, first, given, rule):
            raise BadReproduction(
                f"On {name!r} the scales differ: {labels[0]} {_describe(first, a)}, {label} "
                f"{_describe(given, b)}. Give a linear mapping: --scale-map "
                f"{name}={_suggest(a)}:{_suggest(b)} (the original's scale, then the repeat's, each from its "
                "lowest to its highest point). If it is one scale, give it twice."
            )


def _differ(a: Ends, b: Ends, first: Given, second: Given, rule: Aggregation) -> bool:
    if first.low is not None and second.low is not None:
        return (first.low, first.high) != (second.low, second.high)
    both_scores = first.rows is None and second.rows is None
    if both_scores:  # counts may differ in size; shares and percentages may not
        return (a[1] <= 1 < 1.5 < b[1] and a[0] >= 0) or (b[1] <= 1 < 1.5 < a[1] and b[0] >= 0)
    if first.rows is not None and second.rows is not None:
        if rule.low is not None:
            return False
        if _are_points(first) and _are_points(second):
            return abs(a[1] - b[1]) >= 2 or (min(a[0], 1) != min(b[0], 1) and a[1] != b[1])
        lengths = [max(end[1] - min(end[0], 1.0), 1e-9) for end in (a, b)]
        return max(lengths) > UNLIKE * min(lengths)
    known, scores = (a, b) if first.rows is not None else (b, a)
    low, high = (rule.low, rule.high) if rule.low is not None else known
    assert low is not None
    assert high is not None
    outside = scores[0] < min(low, 1.0) - 1e-9 or scores[1] > high + 1e-9
    return outside or (scores[1] <= 1 and high >= 50 and scores[0] >= 0)


def _ends(given: Given, rule: Aggregation) -> Ends | None:
    """Return the declared ends of a study's scale, else those of its values."""
    if given.low is not None and given.high is not None:
        return given.low, given.high
    if given.rows is None:
        values = list(given.scores.values())
    elif given.choices:
        return (float(rule.low), float(rule.high)) if rule.low is not None and rule.high is not None else None
    else:
        values = _ratings(given)
    return (float(min(values)), float(max(values))) if values else None


def _ratings(given: Given) -> list[float]:
    if given.rows is None or given.choices or "rating" not in given.rows.frame:
        return []
    numbers = pd.to_numeric(given.rows.frame["rating"].astype(object), errors="coerce").dropna()
    return [float(value) for value in numbers.unique()]


def _describe(given: Given, ends: Ends) -> str:
    if given.low is not None:
        return f"has the scale {_say(ends)}"
    return f"has {'scores' if given.rows is None else 'ratings'} from {ends[0]:g} to {ends[1]:g}"


def _are_points(given: Given) -> bool:
    values = np.array(_ratings(given) or [0.5])
    return bool((values == np.round(values)).all()) and values.max() <= MOST_POINTS and values.min() >= 0


def _suggest(ends: Ends) -> str:
    """Return the range that such values may come from, as --scale-map writes it."""
    low, high = ends
    if low < 0:
        return f"{low:g}..{high:g}"
    if high <= 1:
        return "0-1"
    start = "1" if low >= 1 and high <= MOST_POINTS else "0"
    return f"{start}-100" if MOST_POINTS < high <= 100 else f"{start}-{high:g}"


def _read_ends(match: re.Match[str]) -> Ends:
    return float(match[1].replace("−", "-")), float(match[2].replace("−", "-"))


def _say(ends: Ends) -> str:
    return f"{ends[0]:g} to {ends[1]:g}"
