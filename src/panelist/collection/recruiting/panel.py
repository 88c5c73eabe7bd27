"""The panel of a study: whether it is Prolific, and what to tell any other."""

from dataclasses import replace

from panelist.collection.links import open_link
from panelist.collection.recruiting.badges import make_panel_key
from panelist.collection.recruiting.errors import BadRecruiting
from panelist.collection.recruiting.outcomes import NOT_YET, fill_outcomes
from panelist.study.panels import find_panel, write_link
from panelist.study.sections.recruiting import Recruiting
from panelist.study.study import Study

PANEL = "prolific"


def check_panel(study: Study) -> None:
    """Raise BadRecruiting where the study does not recruit on Prolific."""
    recruiting = study.file.recruiting
    if recruiting is None:
        raise BadRecruiting(
            "The study file has no recruiting section. Add recruiting: {panel: prolific}, or another panel."
        )
    if recruiting.panel != PANEL:
        raise BadRecruiting(
            f"The study recruits on {recruiting.panel}, which has no API here: hand out its link (panelist "
            "recruit STUDY link), and settle people on its own pages."
        )


def choose_panel(study: Study, name: str) -> Study:
    """Return the study as if its file named this panel."""
    recruiting = study.file.recruiting or Recruiting()
    chosen = recruiting.model_copy(update={"panel": find_panel(recruiting, name).name})
    return replace(study, file=study.file.model_copy(update={"recruiting": chosen}))


def find_id_parameters(study: Study, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parameters of the open link that may hold a person's id: that of the panel comes first."""
    if study.file.recruiting is None:
        return otherwise
    return tuple(dict.fromkeys((find_panel(study.file.recruiting).id, *otherwise)))


def describe_panel(study: Study, url: str, secret: str, name: str = "") -> list[str]:
    """Return what to tell a panel: the link, the codes, and what else to do."""
    recruiting = study.file.recruiting or Recruiting(panel=name or PANEL)
    panel = find_panel(recruiting, name)
    outcomes = fill_outcomes(choose_panel(study, panel.name), secret)
    lines = []
    if study.file.recruiting is None or study.file.recruiting.panel != panel.name:
        lines += [f"First, in the study file: recruiting: {{panel: {panel.name}}}", ""]
    key = make_panel_key(secret, panel.name) if secret != NOT_YET else "(drawn when the server first starts)"
    link = write_link(panel, open_link(url), key)
    lines += [f"Panel      {panel.name}", f"Link       {link}"]
    if panel.redirect:
        lines.append(f"Then to    {panel.redirect}")
    if panel.personal:
        lines.append("Codes      everybody who finishes gets an individual one")
    else:
        for kind in type(outcomes).model_fields:
            lines.append(f"Code       {getattr(outcomes, kind).code}  {kind.replace('_', ' ')}")
    return [*lines, *(["", *panel.notes.strip().splitlines()] if panel.notes else [])]
