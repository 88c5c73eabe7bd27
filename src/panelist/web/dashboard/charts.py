"""Charts of the dashboard as numbers for SVG: x in per cent, y in pixels, as in the design."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor, isfinite, log10

from panelist.collection.monitor.overview import FINISHED, INVITED, RATING, PlaceRow
from panelist.collection.monitor.real_pay import PaySoFar

MOST_SQUARES, ACROSS = 60, 12
SQUARE = 17
BINS, TALLEST = 18, 10
A_LABEL = 45  # per cent of a narrow chart that a label may take
BASE, STEP = 142, 13


@dataclass(frozen=True)
class Dots:
    """Hourly pay: dots or, for many raters, bars; ticks; and the two lines with their labels."""

    dots: tuple[tuple[float, float], ...]
    bars: tuple[tuple[float, float, float, float], ...]
    """x and width in per cent, y and height in pixels."""
    ticks: tuple[tuple[float, str], ...]
    rules: tuple[tuple[float, str, str, int], ...]
    """x, label, anchor and height of the label."""


def lay_out_pay(pay: PaySoFar) -> Dots | None:
    """Return the chart of hourly pay; None where there is nothing to draw."""
    if not pay.hourly or pay.median is None:
        return None
    lines = [("Median", pay.median)]
    if pay.floor is not None:
        promised = pay.promised == pay.floor and pay.promised is not None
        lines.insert(0, ("Promised" if promised else "Floor", float(pay.floor)))
    shown = [*pay.hourly, *(value for _, value in lines)]
    # A rater who rushed would squeeze all others together: outliers are drawn at the edge.
    top = min(max(shown), 3 * pay.median)
    low, high, each = _find_range(min(shown), top)
    width = (high - low) / BINS
    stacks: dict[int, int] = {}
    for value in pay.hourly:
        place = min(BINS - 1, max(0, int((value - low) / width)))
        stacks[place] = stacks.get(place, 0) + 1
    tallest = max(stacks.values())
    dots: list[tuple[float, float]] = []
    bars: list[tuple[float, float, float, float]] = []
    for place, count in sorted(stacks.items()):
        centre = 100 * (place + 0.5) / BINS
        if tallest <= TALLEST:
            dots += [(round(centre, 2), BASE - STEP * n) for n in range(count)]
        else:
            height = round((STEP * TALLEST - 6) * count / tallest, 1)
            bars.append((round(centre - 45 / BINS, 2), round(90 / BINS, 2), 150 - height, height))
    count = round((high - low) / each)
    ticks = tuple((round(100 * n / count, 2), f"{pay.sign}{low + n * each:,g}") for n in range(count + 1))
    return Dots(tuple(dots), tuple(bars), ticks, _place_rules(lines, low, high, pay.sign))


def _place_rules(
    lines: Sequence[tuple[str, float]], low: float, high: float, sign: str
) -> tuple[tuple[float, str, str, int], ...]:
    """Return the lines with their labels turned away from each other and from the edges."""
    places = [100 * (value - low) / (high - low) for _, value in lines]
    first = places.index(min(places)) if len(places) > 1 else -1
    anchors = [
        "end" if place > A_LABEL and (n == first or place > 100 - A_LABEL) else "start"
        for n, place in enumerate(places)
    ]
    # Labels that run towards each other need twice the space; those that run apart need none.
    ways = [anchors[first], *(anchor for n, anchor in enumerate(anchors) if n != first)]
    room = {("end", "start"): 0, ("start", "end"): 2 * A_LABEL}.get((ways[0], ways[-1]), A_LABEL)
    near = len(places) > 1 and max(places) - min(places) < room
    rules = []
    for n, ((name, value), place) in enumerate(zip(lines, places, strict=True)):
        height = 28 if near and n != first else 12
        rules.append((round(place, 2), f"{name} {sign}{write_amount(value)}", anchors[n], height))
    return tuple(rules)


def _find_range(low: float, high: float) -> tuple[float, float, float]:
    """Return round ends of an axis that hold both values, and the distance of its ticks."""
    span = max(high - low, 1.0, 0.2 * high)
    rough = span / 4
    power = 10.0 ** floor(log10(rough))
    each = next(power * step for step in (1, 2, 5, 10) if power * step >= rough * 0.999)
    begin = each * floor(low / each)
    return max(0.0, begin), max(each * ceil(high / each - 1e-9), begin + each), each


def write_amount(value: float | Decimal) -> str:
    """Return an amount: with two decimals unless it is round.

    >>> write_amount(9.0), write_amount(12.6)
    ('9', '12.60')
    """
    return f"{value:,.2f}".removesuffix(".00")


@dataclass(frozen=True)
class Squares:
    """The places of a list as squares, or as three bars where they are too many."""

    width: int
    height: int
    squares: tuple[tuple[int, int, str], ...]
    """x, y and state."""
    bars: tuple[tuple[float, float, str], ...]
    """x, width and state."""


def lay_out_places(row: PlaceRow) -> Squares:
    """Return the drawing of one row of places."""
    if len(row.states) <= MOST_SQUARES:
        squares = tuple(
            (1 + SQUARE * (n % ACROSS), 1 + SQUARE * (n // ACROSS), state)
            for n, state in enumerate(row.states)
        )
        lines = ceil(len(row.states) / ACROSS)
        return Squares(SQUARE * min(ACROSS, len(row.states)), SQUARE * lines - 1, squares, ())
    width, x, bars = ACROSS * SQUARE, 1.0, []
    for state in (FINISHED, RATING, INVITED, "open"):
        part = (width - 2) * row.count(state) / len(row.states)
        if part:
            bars.append((round(x, 1), round(part, 1), state))
        x += part
    return Squares(width, SQUARE - 1, (), tuple(bars))


@dataclass(frozen=True)
class Interval:
    """An estimate on an axis: places in per cent, held to the axis."""

    mark: float
    low: float | None
    high: float | None


def lay_out_interval(
    value: float, low: float, high: float, axis: tuple[float, float] = (0.0, 1.0)
) -> Interval:
    """Return where an estimate and its interval are on an axis."""

    def place(number: float) -> float:
        return round(min(100.0, max(0.0, 100 * (number - axis[0]) / (axis[1] - axis[0]))), 1)

    known = isfinite(low) and isfinite(high)
    return Interval(place(value), place(low) if known else None, place(high) if known else None)


def find_axis(
    values: Sequence[float], bounds: tuple[float, float] | None = None
) -> tuple[float, float, tuple[tuple[float, str], ...]]:
    """Return the ends of an axis for these values, and its ticks as place and label.

    No axis goes beyond the bounds of its scale: a share ends at 1, whatever an interval says.
    """
    finite = [value for value in values if isfinite(value)]
    low, high, each = _find_range(min(finite, default=0.0), max(finite, default=1.0))
    marks = [low + n * each for n in range(round((high - low) / each) + 1)]
    if bounds is not None:
        high = min(high, bounds[1])
        low = max(min(low, high - each), bounds[0])
        marks = sorted({low, high, *(mark for mark in marks if low < mark < high)})
    return low, high, tuple((round(100 * (mark - low) / (high - low), 2), f"{mark:g}") for mark in marks)
