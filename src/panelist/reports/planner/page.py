"""The planner's page as HTML: the frame of the dashboard, a form, and the parts that are sent again."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader

from panelist.collection.web import dashboard_view
from panelist.collection.web.render import TEMPLATES, find_static
from panelist.reports.planner import wish as form
from panelist.reports.planner import words
from panelist.reports.planner.extension import HOME, STATIC
from panelist.reports.planner.picture import draw
from panelist.reports.planner.question import list_items, list_ratings
from panelist.reports.planner.runs import SIMS, Standing
from panelist.reports.planner.setting import Setting
from panelist.reports.planner.wish import Wish

FOLDER = Path(__file__).parent
PARTS = ("result", "numbers", "sizes", "progress", "pay")


def render_parts(setting: Setting, wish: Wish, standing: Standing) -> dict[str, str]:
    """Return the parts of the page that change while it is simulated, by name."""
    context = {
        "wish": wish,
        "standing": standing,
        "picture": draw(wish, standing),
        "items": list_items(wish.items),
        "ratings": list_ratings(wish.ratings_per_item),
        "finding": words.write_finding(wish, standing.own),
        "precision": words.write_precision(wish, standing),
        "lesson": words.write_lesson(setting, wish, standing),
        "progress": words.write_progress(standing),
        "pay": words.write_pay(setting, wish),
        "cost": lambda layout: words.write_cost(setting, setting.find_cost(wish, layout)),
        "commands": words.write_command(setting, wish),
        "home": HOME,
    }
    templates = load_templates()
    return {name: templates.get_template(f"planner/{name}.html").render(context) for name in PARTS}


def render_page(
    setting: Setting, wish: Wish, standing: Standing, problems: Mapping[str, str], frame: Mapping[str, Any]
) -> str:
    """Return the whole page; ``problems`` has a sentence for each field that could not be taken."""
    context = {
        "static": find_static(),
        "own_static": find_static(STATIC, HOME),
        "home": HOME,
        "wish": wish,
        "problems": problems,
        "choices": setting.choices(wish.criterion),
        "form": form,
        "sims": SIMS,
        "sign": setting.sign,
        "pay_rule": setting.tariff is not None,
        "compared": not setting.cuts,
        "parts": render_parts(setting, wish, standing),
    }
    return load_templates().get_template("planner/page.html").render({**frame, **context})


@cache
def load_templates() -> Environment:
    """Return the dashboard's templates, and the planner's."""
    folders = [FileSystemLoader(FOLDER / "templates"), FileSystemLoader(TEMPLATES)]
    return dashboard_view.load_templates().overlay(loader=ChoiceLoader(folders))
