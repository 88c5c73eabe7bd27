"""Panels that raters come from: one file each, and those that a study declares itself."""

from functools import cache
from importlib.resources import files

import yaml

from panelist.core.errors import UnknownName, did_you_mean
from panelist.study.sections.recruiting import Panel, Recruiting


@cache
def list_panels() -> dict[str, Panel]:
    """Return the panels that need no declaration, by name."""
    folder = files("panelist.study") / "panels"
    texts = [one.read_text(encoding="utf-8") for one in folder.iterdir() if one.name.endswith(".yaml")]
    made = [Panel.model_validate(yaml.safe_load(text)) for text in texts]
    return {panel.name: panel for panel in sorted(made, key=lambda panel: panel.name)}


def find_panel(recruiting: Recruiting, name: str = "") -> Panel:
    """Return the panel of a study, or another by its name; one that the study declares takes precedence."""
    known = list_panels() | {panel.name: panel for panel in recruiting.panels}
    wanted = name or recruiting.panel
    if wanted not in known:
        raise UnknownName(f"No panel is called {wanted!r}. {did_you_mean(wanted, known)}")
    return known[wanted]


def write_link(panel: Panel, join: str, key: str = "KEY") -> str:
    """Return the link to give to a panel; ``join`` is the address of the open link, ``key`` the study's.

    >>> write_link(Panel(name="ours", id="who"), "https://rate.example.org/join")
    'https://rate.example.org/join?who=ID'
    """
    link = panel.link or f"{{join}}?{panel.id}=ID" + ("&key={key}" if panel.ids == "keyed" else "")
    return link.replace("{join}", join).replace("{key}", key)
