"""The curve as numbers for SVG: x in per cent, y in pixels, as in the design."""

from collections.abc import Iterable
from dataclasses import dataclass

from panelist.power.cells import CellResult
from panelist.reports.planner.question import list_items, list_ratings
from panelist.reports.planner.runs import Standing
from panelist.reports.planner.wish import Wish

BASE, TALL = 300.0, 288.0
ROOM = 1.05  # beyond the largest number of items
CLOSE = 6.5  # per cent of the width below which two labels would touch


@dataclass(frozen=True)
class Dot:
    """A point with its interval."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """The curve of one number of ratings per item."""

    ratings: int
    dots: tuple[Dot, ...]

    @property
    def steps(self) -> list[tuple[Dot, Dot]]:
        """Neighbouring points."""
        return list(zip(self.dots, self.dots[1:], strict=False))


@dataclass(frozen=True)
class Picture:
    """Everything that is drawn; ``own`` is the design that was asked for."""

    grid: tuple[tuple[float, str], ...]
    ticks: tuple[tuple[float, int], ...]
    target: float
    lines: tuple[Line, ...]
    own: Dot | None


def draw(wish: Wish, standing: Standing) -> Picture:
    """Return the picture of what is known so far."""
    items = list_items(wish.items)
    widest = items[-1] * ROOM

    def place(result: CellResult) -> Dot:
        return Dot(
            round(100 * result.items / widest, 2), *map(_height, (result.power, result.low, result.high))
        )

    lines = []
    for each in list_ratings(wish.ratings_per_item):
        found = [standing.results.get((n, each)) for n in items]
        lines.append(Line(each, tuple(place(result) for result in found if result is not None)))
    own = standing.own
    return Picture(
        grid=tuple((_height(step / 5), f"{step / 5:.1f}") for step in range(6)),
        ticks=tuple(_thin((round(100 * n / widest, 2), n) for n in items)),
        target=_height(wish.power),
        lines=tuple(lines),
        own=place(own) if own is not None else None,
    )


def _thin(ticks: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return the ticks whose labels do not touch."""
    kept: list[tuple[float, int]] = []
    for x, label in ticks:
        if not kept or x - kept[-1][0] >= CLOSE:
            kept.append((x, label))
    return kept


def _height(power: float) -> float:
    return round(BASE - TALL * power, 2)
