"""The planner's page as HTML: the frame of the dashboard, a form, and the parts that are sent again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from panelist.power.cells import CellResult
from panelist.web.dashboard.view import load_templates
from panelist.web.planner import query as form
from panelist.web.planner import wording as words
from panelist.web.planner.entry import HOME, STATIC
from panelist.web.planner.query import PlannerQuery
from panelist.web.planner.question import list_items, list_ratings
from panelist.web.planner.runs import SIMS, RunState
from panelist.web.planner.setting import Setting
from panelist.web.rendering import find_static

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
class CurveLine:
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
    lines: tuple[CurveLine, ...]
    own: Dot | None


def draw(query: PlannerQuery, state: RunState) -> Picture:
    """Return the picture of what is known so far."""
    items = list_items(query.items)
    widest = items[-1] * ROOM

    def place(result: CellResult) -> Dot:
        return Dot(
            round(100 * result.items / widest, 2), *map(_height, (result.power, result.low, result.high))
        )

    lines = []
    for each in list_ratings(query.ratings_per_item):
        found = [state.results.get((n, each)) for n in items]
        lines.append(CurveLine(each, tuple(place(result) for result in found if result is not None)))
    own = state.own
    return Picture(
        grid=tuple((_height(step / 5), f"{step / 5:.1f}") for step in range(6)),
        ticks=tuple(_thin((round(100 * n / widest, 2), n) for n in items)),
        target=_height(query.power),
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


PARTS = ("result", "numbers", "sizes", "progress", "pay")


def render_parts(setting: Setting, query: PlannerQuery, state: RunState) -> dict[str, str]:
    """Return the parts of the page that change while it is simulated, by name."""
    context = {
        "query": query,
        "state": state,
        "picture": draw(query, state),
        "items": list_items(query.items),
        "ratings": list_ratings(query.ratings_per_item),
        "finding": words.write_finding(query, state.own),
        "precision": words.write_precision(query, state),
        "lesson": words.write_lesson(setting, query, state),
        "progress": words.write_progress(state),
        "pay": words.write_pay(setting, query),
        "cost": lambda layout: words.write_cost(setting, setting.find_cost(query, layout)),
        "commands": words.write_command(setting, query),
        "home": HOME,
    }
    templates = load_templates()
    return {name: templates.get_template(f"planner/{name}.html").render(context) for name in PARTS}


def render_page(
    setting: Setting,
    query: PlannerQuery,
    state: RunState,
    problems: Mapping[str, str],
    frame: Mapping[str, Any],
) -> str:
    """Return the whole page; ``problems`` has a sentence for each field that could not be used."""
    context = {
        "static": find_static(),
        "own_static": find_static(STATIC, HOME),
        "home": HOME,
        "query": query,
        "problems": problems,
        "choices": setting.choices(query.criterion),
        "form": form,
        "sims": SIMS,
        "sign": setting.sign,
        "pay_rule": setting.tariff is not None,
        "compared": not setting.cuts,
        "parts": render_parts(setting, query, state),
    }
    return load_templates().get_template("planner/page.html").render({**frame, **context})
