"""Pages of the dashboard to HTML: templates compiled once, everything escaped, no script or style inside."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment

from panelist.collection.links import open_link
from panelist.collection.monitor.agreement_so_far import AgreementSoFar
from panelist.collection.monitor.overview import Overview, PlaceRow
from panelist.core.display.templates import make_environment
from panelist.core.prose import count, spell
from panelist.study.study import Study
from panelist.web.config import WebConfig
from panelist.web.dashboard import charts
from panelist.web.dashboard import formatting as words
from panelist.web.rendering import TEMPLATES, find_static

SOME_RATERS = 10
PARTS = ("state", "figures", "places", "pay", "agreement", "raters", "next")
FLAGS = (
    ("", "All"),
    ("checks", "Checks missed"),
    ("same", "Same answer"),
    ("fast", "Too fast"),
    ("pay", "Pay under floor"),
    ("quiet", "Quiet"),
    ("agreement", "Agrees little"),
    ("judge", "Follows a judge"),
)


@dataclass(frozen=True)
class Drawing:
    """Draws the parts of the dashboard that are sent again when they change."""

    study: Study
    config: WebConfig

    def __call__(self, overview: Overview, agreement: AgreementSoFar | None) -> dict[str, str]:
        """Return the parts as HTML, by name."""
        collecting = self.study.file.collecting
        context = {
            "overview": overview,
            "agreement": agreement,
            "headings": name_criteria(self.study),
            "answers": name_answers(self.study),
            "results_shown": lambda state: are_results_shown(self.study, state),
            "some": SOME_RATERS,
            "join_link": open_link(self.config.url),
            "hold_minutes": collecting.hold_minutes,
            "recruits": self.study.file.recruiting is not None,
        }
        templates = load_templates()
        return {
            name: templates.get_template(f"dashboard/parts/{name}.html").render(context) for name in PARTS
        }


def are_results_shown(study: Study, state: str) -> bool:
    """Return whether the dashboard may say how the systems compare."""
    return state == "closed" or study.file.collecting.results == "shown"


def name_criteria(study: Study) -> dict[str, str]:
    """Return the heading of each criterion, by its name."""
    return {criterion.name: criterion.heading for criterion in study.criteria}


def name_answers(study: Study) -> str:
    """Return what is counted: ratings, or answers where some of them compare outputs."""
    return "Answers" if any(criterion.scale.comparative for criterion in study.criteria) else "Ratings"


def render(name: str, context: Mapping[str, Any]) -> str:
    """Return a page of the dashboard."""
    frame: dict[str, Any] = {"static": find_static(), "csrf": "", "who": "", "said": "", "here": ""}
    frame |= {"recruits": False}
    return load_templates().get_template(f"dashboard/{name}.html").render(frame | dict(context))


@cache
def load_templates() -> Environment:
    """Return the templates of the dashboard, with the functions that format numbers and draw charts."""
    environment = make_environment(TEMPLATES)
    environment.globals.update(
        clock=words.write_clock,
        minutes=words.write_minutes,
        moment=words.write_moment,
        stamp=words.write_stamp,
        span=words.write_span,
        estimate=words.write_estimate,
        number=spell,
        count=count,
        detail=words.write_detail,
        list_name=words.write_list_name,
        amount=charts.write_amount,
        lay_out_pay=charts.lay_out_pay,
        lay_out_places=charts.lay_out_places,
        lay_out_interval=charts.lay_out_interval,
    )
    environment.filters["place_count"] = PlaceRow.count
    environment.globals["icons"] = environment.get_template("icons.html").module
    macros: Any = environment.get_template("dashboard/macros.html").module
    for name in ("squares", "flag_tags", "rater_table"):
        environment.globals[name] = getattr(macros, name)
    return environment
