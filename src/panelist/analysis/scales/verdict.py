"""The verdict on two scales, in words. The bounds are ours, stated here and in docs/comparisons.md."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, isfinite

from panelist.analysis.scales.scale_comparison import Property, ScaleMeasure
from panelist.core.prose import capitalise

CLOSE, BROAD = 0.9, 0.7  # Pearson's r of system means: Belz & Kow (2011) call values above .9 extremely high
LEAST = 3  # this few systems may agree by chance


def judge_scales(
    criterion: str, labels: tuple[str, str], n: int, properties: Sequence[Property]
) -> tuple[str, ...]:
    """Return the verdict on ``n`` systems: interchangeable or not first, then where the scales differ."""
    found = {one.measure: one for one in properties}
    said = [_judge_interchange(criterion, labels, found["Pearson's r"].both, n)]
    w = found["Kendall's W, systems"]
    said.append(_judge_difference(w, labels, "raters order the systems more alike on", "Kendall's W"))
    if "Pearson's r, retest" in found:
        said.append(
            _judge_difference(
                found["Pearson's r, retest"], labels, "raters repeat themselves better on", "test-retest r"
            )
        )
    said.append(_judge_sensitivity(found["pairs that differ"], labels, n))
    said += [_judge_factors(label, side, found) for label, side in zip(labels, ("a", "b"), strict=True)]
    outside = next((one for one in properties if one.name == "validity"), None)
    if outside is not None:
        said.append(
            _judge_difference(outside, labels, "the outside measure agrees better with", outside.measure)
        )
    return tuple(sentence for sentence in said if sentence)


def _judge_interchange(criterion: str, labels: tuple[str, str], r: ScaleMeasure, n: int) -> str:
    pair = f"{labels[0]} and {labels[1]}"
    if not isfinite(r.value):
        return f"Whether {pair} can replace each other on {criterion} cannot be said from these data."
    ends = f", {r.low:.2f} to {r.high:.2f}" if isfinite(r.low) else ""
    value = f"r = {r.value:.2f}{ends}"
    if r.value <= -BROAD:
        return (
            f"On {criterion}, system means on {pair} run against each other ({value}): check that a high "
            "value means good on both scales."
        )
    if r.value >= CLOSE and (r.low >= CLOSE or (r.value == 1 and n > LEAST)):  # a perfect r has no interval
        return (
            f"On {criterion}, system means on {pair} agree closely ({value}): for comparing systems the "
            "scales can replace each other."
        )
    if r.value >= CLOSE:
        return (
            f"On {criterion}, system means on {pair} agree closely here ({value}), but {n} systems are too "
            f"few to rule out less than {CLOSE}: take care before one scale replaces the other."
        )
    if r.value >= BROAD:
        return (
            f"On {criterion}, system means on {pair} agree broadly, not closely ({value}): the scales cannot "
            "simply replace each other."
        )
    return (
        f"On {criterion}, system means on {pair} do not agree ({value}): the scales are not interchangeable."
    )


def _judge_difference(one: Property, labels: tuple[str, str], more: str, what: str) -> str:
    """Return which scale has more of it, if the interval of the difference says so."""
    a, b, gap = one.a.value, one.b.value, one.difference
    if not (isfinite(a) and isfinite(b)):
        return ""
    values = f"{what} {a:.2f} on {labels[0]}, {b:.2f} on {labels[1]}"
    if not isfinite(gap.low):
        return f"{_capital(what)} is {a:.2f} on {labels[0]} and {b:.2f} on {labels[1]}, without an interval."
    if gap.low <= 0 <= gap.high:
        return (
            f"No difference in {what} is shown: {a:.2f} on {labels[0]}, {b:.2f} on {labels[1]} (difference "
            f"{gap.low:.2f} to {gap.high:.2f})."
        )
    return f"{_capital(more)} {labels[0] if gap.value > 0 else labels[1]} ({values})."


def _judge_sensitivity(one: Property, labels: tuple[str, str], n: int) -> str:
    if not (isfinite(one.a.value) and isfinite(one.b.value)):
        return ""
    a, b = int(one.a.value), int(one.b.value)
    pairs = comb(n, 2)
    if a == b:
        return f"Both scales tell {a} of {pairs} pairs of systems apart."
    more, less = (labels, (a, b)) if a > b else (labels[::-1], (b, a))
    return f"{more[0]} tells {less[0]} of {pairs} pairs of systems apart, {more[1]} {less[1]}."


def _judge_factors(label: str, side: str, found: dict[str, Property]) -> str:
    """Return whether the system or who rates makes more of the difference; F-ratios alone have other df."""
    system, rater = (getattr(found[f"F-ratio of {name}"], side).share for name in ("system", "rater"))
    if not (isfinite(system) and isfinite(rater)):
        return ""
    of_system, of_rater = f"{100 * system:.0f} %", f"{100 * rater:.0f} %"
    if of_system == of_rater:
        return f"On {label} the system matters about as much as who rates ({of_system} of the variance each)."
    if rater > system:
        shares = f"{of_rater} of the variance against {of_system}"
        return f"On {label} who rates matters more than which system is rated ({shares})."
    return (
        f"On {label} the system matters more than who rates ({of_system} of the variance against {of_rater})."
    )


def _capital(text: str) -> str:
    return capitalise(text)
