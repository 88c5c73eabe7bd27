"""The study as it is sent to Prolific."""

from decimal import Decimal
from typing import Any
from urllib.parse import quote

from panelist.collection.addresses import check_url
from panelist.collection.recruiting.errors import BadRecruiting
from panelist.collection.recruiting.offer import Offer
from panelist.collection.recruiting.outcomes import CODE_TYPES, KINDS
from panelist.study.panels import find_panel, write_link
from panelist.study.sections.collecting import Outcomes
from panelist.study.sections.recruiting import Recruiting
from panelist.study.study import Study


def write_study(
    study: Study, offer: Offer, outcomes: Outcomes, url: str, mark: str, group: str = ""
) -> dict[str, Any]:
    """Return the body of a new study; ``mark`` is put into its internal name to find it again."""
    recruiting = study.file.recruiting or Recruiting()
    name = recruiting.internal_name or study.title
    body: dict[str, Any] = {
        "name": recruiting.name or study.title,
        "internal_name": f"{name} [{mark}]",
        "description": recruiting.description or study.file.description or study.title,
        "external_study_url": write_address(recruiting, url, group),
        "prolific_id_option": "url_parameters",
        "reward": offer.reward,
        "total_available_places": offer.places,
        "estimated_completion_time": offer.minutes,
        "maximum_allowed_time": recruiting.most_minutes or 3 * offer.minutes + 2,
        "device_compatibility": list(study.file.collecting.devices),
        "completion_codes": write_codes(recruiting, outcomes),
        "submissions_config": {"max_submissions_per_participant": 1},
    }
    if recruiting.screen_out is not None:
        body["is_custom_screening"] = True
    if recruiting.project:
        body["project"] = recruiting.project
    if recruiting.filter_set:
        body["filter_set_id"] = recruiting.filter_set
    elif recruiting.filters:
        body["filters"] = [dict(one) for one in recruiting.filters]
    return body


def write_address(recruiting: Recruiting, url: str, group: str = "") -> str:
    """Return the address that Prolific sends people to."""
    address = check_url(url)
    link = write_link(find_panel(recruiting, "prolific"), f"{address}/join")
    return f"{link}&group={quote(group, safe='')}" if group else link


def check_public(url: str) -> None:
    """Raise BadRecruiting for an address that people elsewhere cannot open."""
    if not url.startswith("https://"):
        raise BadRecruiting(
            f"People from a panel cannot safely open {url}. Serve the pages under an https address and give "
            "it here: --url https://rate.example.org."
        )


def write_codes(recruiting: Recruiting, outcomes: Outcomes) -> list[dict[str, Any]]:
    """Return the completion codes, and what Prolific does with each."""
    codes = []
    for kind in KINDS:
        action: dict[str, Any] = {"action": "MANUALLY_REVIEW"}
        if kind == "finished" and recruiting.approve == "at once":
            action = {"action": "AUTOMATICALLY_APPROVE"}
        if kind == "screened_out" and recruiting.screen_out is not None:
            reward = int(
                Decimal(recruiting.screen_out.reward * 100).to_integral_value(rounding="ROUND_CEILING")
            )
            action = {
                "action": "FIXED_SCREEN_OUT_PAYMENT",
                "fixed_screen_out_reward": reward,
                "slots": recruiting.screen_out.places,
            }
        code = getattr(outcomes, kind).code
        codes.append(
            {"code": code, "code_type": CODE_TYPES[kind], "actor": "participant", "actions": [action]}
        )
    return codes
