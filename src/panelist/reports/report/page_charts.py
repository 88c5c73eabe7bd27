"""Charts of the page, as SVG in per cent and pixels: lines stretch with the page, text does not.

Every chart has an accessible name with its numbers, or the numbers beside it. No colour is used without a
shape or a word. No ``style`` attribute, no script.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, isfinite, log10

from panelist.analysis.checks.predicted_shares import PointShare
from panelist.analysis.describe import Description
from panelist.analysis.level_effects import LevelEffects
from panelist.core.display.formats import number
from panelist.reports.report.typography import typeset

MOST_SYSTEMS = 40
SHAPES = (
    '<circle r="5.5"/>',
    '<path d="M-5-5h10v10h-10z"/>',
    '<path d="M0-6.2L6 4.6H-6z"/>',
    '<path d="M0-6.8L6.8 0 0 6.8-6.8 0z"/>',
    '<path d="M0 6.2L6-4.6H-6z"/>',
    '<path d="M-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z"/>',
    '<path d="M0-6.2L5.9-1.9 3.6 5H-3.6L-5.9-1.9z"/>',
    '<path d="M-3-5.4H3L6.2 0 3 5.4H-3L-6.2 0z"/>',
)
LEVELS = {1: (4,), 2: (2, 6), 3: (1, 4, 7), 4: (1, 3, 5, 7), 5: (1, 2, 4, 6, 7), 6: (1, 2, 3, 5, 6, 7)}


@dataclass(frozen=True)
class Mark:
    """One row of a chart: a system, its estimate and its interval."""

    system: str
    estimate: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        """Whether there is an estimate with an interval to draw."""
        return all(map(isfinite, (self.estimate, self.low, self.high)))


@dataclass(frozen=True)
class Axis:
    """Where an axis begins and ends, and its round numbers."""

    start: float
    end: float
    ticks: tuple[float, ...]

    def clip(self, value: float) -> float:
        """Return the value, or the end of the axis that it lies beyond."""
        return min(max(value, self.start), self.end)


@dataclass(frozen=True)
class Look:
    """The colour and the shape of a system, from its place in the study; beyond eight all look the same."""

    css: str
    shape: str


def find_look(system: str, systems: Sequence[str]) -> Look:
    """Return the look of a system."""
    if len(systems) > len(SHAPES) or system not in systems:
        return Look("sys-8", SHAPES[0])
    place = systems.index(system)
    return Look(f"sys-{place + 1}", SHAPES[place])


def draw_estimates(
    marks: Sequence[Mark], systems: Sequence[str], label: str, axis: Axis | None, confidence: float
) -> str:
    """Return a row for each system: name and numbers in words, estimate and interval as a mark."""
    if axis is None or not any(one.known for one in marks):
        return '<p class="muted">No estimate has an interval.</p>'
    start, end, ticks = axis.start, axis.end, axis.ticks
    grid = "".join(
        f'<line class="grid" x1="{x}%" x2="{x}%" y1="0" y2="52"/>'
        for x in (_place(t, start, end) for t in ticks)
    )
    rows = []
    for one in marks[:MOST_SYSTEMS]:
        look = find_look(one.system, systems)
        numbers = f"{number(one.estimate, 2)} ({number(one.low, 2)} to {number(one.high, 2)})"
        rows.append(f'<p class="small">{_key(look)} <strong>{escape(one.system)}</strong><br>')
        rows.append(f'<span class="muted">{_minus(numbers)}</span></p>')
        if not one.known:
            rows.append("<span></span>")
            continue
        x, low, high = (_place(axis.clip(value), start, end) for value in (one.estimate, one.low, one.high))
        name = f"{one.system}: {number(one.estimate, 2)}, {confidence * 100:g} per cent interval "
        name = typeset(f"{name}{number(one.low, 2)} to {number(one.high, 2)}")
        rows.append(
            f'<svg height="52" role="img" aria-label="{escape(name)}">{grid}<g class="mark {look.css}">'
            f'<line x1="{low}%" x2="{high}%" y1="26" y2="26"/>'
            f'<svg x="{x}%" y="26" overflow="visible">{look.shape}</svg></g></svg>'
        )
    texts = "".join(
        f'<text x="{_place(t, start, end)}%" y="16" text-anchor="middle">{_minus(_tick(t, ticks))}</text>'
        for t in ticks
    )
    words = f'<text x="50%" y="36" text-anchor="middle">{escape(typeset(label))}</text>'
    rows.append(f'<span class="wide-only"></span><svg height="40" aria-hidden="true">{texts}{words}</svg>')
    return f'<div class="lines flat">{"".join(rows)}</div>{_left_out(len(marks), "systems")}'


def draw_shares(description: Description, systems: Sequence[str]) -> str:
    """Return a bar for each system, divided by how often each point was given, and the key to the points."""
    levels = find_levels(len(description.points))
    rows = []
    for one in description.systems[:MOST_SYSTEMS]:
        key = _key(find_look(one.system, systems))
        rows.append(f'<p class="small">{key} <strong>{escape(one.system)}</strong></p>')
        said = [
            f"{100 * share:.0f} per cent {point}"
            for point, share in zip(description.points, one.shares, strict=True)
        ]
        bars, texts, left = [], [], 0.0
        for share, tone in zip(one.shares, levels, strict=True):
            if share > 0:
                width, place = round(100 * share, 2), round(100 * left, 2)
                bars.append(f'<rect class="level-{tone}" x="{place}%" width="{width}%" height="34"/>')
            if share >= 0.055:
                ink, middle = "high" if tone > 4 else "low", round(100 * (left + share / 2), 2)
                texts.append(
                    f'<text class="{ink}" x="{middle}%" y="22" text-anchor="middle">{100 * share:.0f}</text>'
                )
            left += share
        name = escape(f"{one.system}: {', '.join(said)}")
        rows.append(f'<svg height="34" role="img" aria-label="{name}">{"".join(bars)}{"".join(texts)}</svg>')
    words = description.labels or ("",) * len(description.points)
    keys = " ".join(
        '<span><svg class="key" viewBox="0 0 16 16" aria-hidden="true">'
        f'<rect class="level-{tone}" width="16" height="16" rx="3"/></svg> '
        f"{escape(f'{point} {word}'.strip())}</span>"
        for point, word, tone in zip(description.points, words, levels, strict=True)
    )
    more = _left_out(len(description.systems), "systems")
    return f'<div class="lines">{"".join(rows)}</div>{more}<p class="row small">{keys}</p>'


def find_most(shares: Sequence[PointShare]) -> float:
    """Return the largest share, observed or predicted: the height that the panels of all systems have."""
    found = [share for one in shares for share in (one.observed, one.ordinal, one.interval)]
    return max((share for share in found if isfinite(share)), default=0.0) or 1.0


def draw_predicted(shares: Sequence[PointShare], most: float) -> str:
    """Return the observed shares of one system as bars, with what both models predict as marks."""
    n = len(shares)
    step, base = 100 / n, 110
    bars, marks, texts = [], [], []
    for place, one in enumerate(shares):
        middle, top = round(step * (place + 0.5), 2), _height(one.observed, most)
        left, width = round(step * (place + 0.15), 2), round(0.7 * step, 2)
        bars.append(f'<rect class="bar-mark" x="{left}%" width="{width}%" y="{base - top}" height="{top}"/>')
        marks.append(_mark(middle, base - _height(one.ordinal, most), "sys-1", SHAPES[0]))
        if isfinite(one.interval):
            marks.append(_mark(middle, base - _height(one.interval, most), "sys-2", SHAPES[3]))
        texts.append(
            f'<text x="{middle}%" y="{base + 17}" text-anchor="middle">{escape(_short(one.point, n))}</text>'
        )
    said = [
        f"{one.point}: observed {100 * one.observed:.0f}, ordinal model {100 * one.ordinal:.0f}"
        + (f", interval model {100 * one.interval:.0f} per cent" if isfinite(one.interval) else " per cent")
        for one in shares
    ]
    name = escape(f"{shares[0].system}. {'; '.join(said)}")
    return (
        f'<svg class="bars" height="{base + 24}" role="img" aria-label="{name}">{"".join(bars)}'
        f'<line class="grid" x1="0" x2="100%" y1="{base}" y2="{base}"/>{"".join(marks)}{"".join(texts)}</svg>'
    )


def share_ticks(groups: Sequence[LevelEffects]) -> list[float]:
    """Return round numbers for the effects of raters and items that are drawn beside each other."""
    shown = [one for group in groups for one in group.levels]
    return find_ticks(min(one.low for one in shown), max(one.high for one in shown), fewest=3)


def draw_levels(effects: LevelEffects, ticks: Sequence[float]) -> str:
    """Return raters or items from the lowest effect up, each with its interval, in one small picture."""
    shown = effects.levels
    step = 100 / len(shown)
    height = 150

    def y(value: float) -> float:
        return round(height - (value - ticks[0]) / (ticks[-1] - ticks[0]) * height, 1)

    lines = [f'<line class="grid" x1="0" x2="100%" y1="{y(t)}" y2="{y(t)}"/>' for t in ticks]
    texts = [f'<text x="-8" y="{y(t) + 4}" text-anchor="end">{_minus(_tick(t, ticks))}</text>' for t in ticks]
    for place, one in enumerate(shown):
        x = round(step * (place + 0.5), 2)
        css = "sys-1" if one.stands_out else "quiet"
        lines.append(
            f'<g class="mark {css}"><line x1="{x}%" x2="{x}%" y1="{y(one.low)}" y2="{y(one.high)}"/>'
            f'<svg x="{x}%" y="{y(one.effect)}" overflow="visible"><circle r="3"/></svg></g>'
        )
    name = escape(
        typeset(
            f"Effects of {len(shown)} {effects.group}s from {number(shown[0].effect, 2)} ({shown[0].name}) "
            f"to {number(shown[-1].effect, 2)} ({shown[-1].name})"
        )
    )
    return (
        f'<div class="plot"><svg height="{height + 6}" role="img" aria-label="{name}">'
        f"{''.join(lines)}{''.join(texts)}</svg></div>"
    )


def find_ticks(low: float, high: float, fewest: int = 2) -> list[float]:
    """Return round numbers that reach from at most ``low`` to at least ``high``, five or so.

    >>> find_ticks(3.2, 4.9)
    [3.0, 3.5, 4.0, 4.5, 5.0]
    """
    span = max(high - low, 1e-6)
    power = 10.0 ** floor(log10(span))
    steps = [size * power for size in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)]
    step = min(steps, key=lambda size: abs(ceil(high / size) - floor(low / size) - 4))
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    last = max(last, first + fewest - 1)
    return [round(k * step, 10) for k in range(first, last + 1)]


def find_axis(low: float, high: float, ends: tuple[float, float]) -> Axis:
    """Return an axis from ``low`` to ``high`` that does not leave a scale with these ends.

    >>> find_axis(0.35, 1.08, (0.0, 1.0))
    Axis(start=0.2, end=1.0, ticks=(0.2, 0.4, 0.6, 0.8, 1.0))
    """
    ticks = find_ticks(max(low, ends[0]), min(high, ends[1]))
    start, end = max(ticks[0], ends[0]), min(ticks[-1], ends[1])
    return Axis(start, end, tuple(tick for tick in ticks if start <= tick <= end))


def find_levels(points: int) -> tuple[int, ...]:
    """Return a tone from 1 to 7 for each point, low to high.

    >>> find_levels(5), find_levels(7)
    ((1, 2, 4, 6, 7), (1, 2, 3, 4, 5, 6, 7))
    """
    if points in LEVELS:
        return LEVELS[points]
    return tuple(1 + round(6 * place / max(points - 1, 1)) for place in range(points))


def _key(look: Look) -> str:
    return (
        f'<svg class="key mark {look.css}" viewBox="-8 -8 16 16" aria-hidden="true" stroke-width="0">'
        f"{look.shape}</svg>"
    )


def _mark(x: float, y: float, css: str, shape: str) -> str:
    return f'<g class="mark {css}"><svg x="{x}%" y="{y}" overflow="visible">{shape}</svg></g>'


def _place(value: float, start: float, end: float) -> float:
    """Return where a value lies, in per cent; the ends keep clear of the edge."""
    return round(4 + 92 * (value - start) / (end - start), 2)


def _height(share: float, most: float) -> float:
    return round(100 * share / most, 1)


def _tick(value: float, ticks: Sequence[float]) -> str:
    step = ticks[1] - ticks[0]
    return f"{value:.{max(0, -floor(log10(step) + 1e-9))}f}"


def _minus(text: str) -> str:
    return escape(text).replace("-", "\N{MINUS SIGN}")


def _short(point: str, n: int) -> str:
    most = max(3, 60 // n)
    return point if len(point) <= most else f"{point[: most - 1]}…"


def _left_out(n: int, what: str) -> str:
    if n <= MOST_SYSTEMS:
        return ""
    return (
        f'<p class="small muted">The first {MOST_SYSTEMS} of {n:,} {what}; the files beside this page have '
        "them all.</p>"
    )
