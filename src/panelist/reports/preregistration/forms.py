"""The forms of a preregistration, as forms.toml lists them: headings, and which topic answers each.

- AsPredicted (https://aspredicted.org): eight questions, and the name, the type and the source of the data.
- OSF Preregistration (Bowman et al. 2020, https://doi.org/10.31222/osf.io/epgjd).
- Replication Recipe: Brandt, M. J. et al. (2014). The Replication Recipe: What makes for a convincing
  replication? Journal of Experimental Social Psychology 50, 217–224. https://doi.org/10.1016/j.jesp.2013.10.005
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from panelist.core.errors import UnknownName, did_you_mean


@dataclass(frozen=True)
class Heading:
    """A heading of a form, and the topic that answers it."""

    section: str
    words: str
    topic: str
    optional: bool = False


@dataclass(frozen=True)
class Form:
    """A form: its name, where it comes from, and its headings in order."""

    name: str
    title: str
    source: str
    headings: tuple[Heading, ...]


def _read_forms() -> dict[str, Form]:
    listed = tomllib.loads(
        (files("panelist.reports.preregistration") / "forms.toml").read_text(encoding="utf-8")
    )
    forms = {}
    for name, form in listed.items():
        headings = tuple(
            Heading(section, words.removesuffix("?"), topic, words.endswith("?"))
            for section, pairs in form["sections"].items()
            for words, topic in pairs.items()
        )
        forms[name] = Form(name, form["title"], form["source"], headings)
    return forms


FORMS = _read_forms()


def find_form(name: str) -> Form:
    """Return the form of this name."""
    if name not in FORMS:
        raise UnknownName(f"No form is called {name!r}. {did_you_mean(name, FORMS)}")
    return FORMS[name]
