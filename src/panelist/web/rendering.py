"""Pages to HTML: templates compiled once per language, everything escaped that is not known to be HTML."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, FunctionLoader
from markupsafe import Markup

from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.models import Asked, Page, PageQuestion, RatingPage
from panelist.collection.pages.translations import Words
from panelist.core.display.templates import make_environment
from panelist.formats.plain import render_text
from panelist.scales.base import SCALES

FOLDER = Path(__file__).parent
TEMPLATES = FOLDER / "templates"
STATIC = FOLDER / "static"
DRAWINGS_KEPT = 5000


@cache
def find_version(folder: Path = STATIC) -> str:
    """Return a short hash of the static files of a folder: in their address, it lets browsers keep them."""
    digest = sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file():
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def find_static(folder: Path = STATIC, under: str = "") -> str:
    """Return the address under which the static files of a folder are served."""
    return f"{under}/static/{find_version(folder)}"


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around a page: the study, the link of the visit, and a key for what is sent."""

    title: str
    home: str = ""
    """The path of the visit's link, such as ``/r/TOKEN``; forms go to addresses under it."""
    contact: str = ""
    theme: str = "auto"
    static: str = field(default_factory=find_static)
    key: str = field(default_factory=lambda: secrets.token_hex(8))
    """Random letters: the key of each field begins with them, so that a form sent twice is known again."""
    messages: tuple[str, ...] = ()
    """What the research team wrote to this rater."""
    action: str = ""
    """Where the form goes, if not to the visit."""
    fields: tuple[tuple[str, str], ...] = ()
    """What the form sends besides what the rater answers."""

    @property
    def contact_link(self) -> str:
        """The contact as an address to follow; empty where it is none."""
        if self.contact.startswith(("https://", "http://")):
            return self.contact
        return f"mailto:{self.contact}" if "@" in self.contact and " " not in self.contact else ""


def make_frame(booklet: Booklet, home: str) -> Frame:
    """Return the frame for the pages of one visit."""
    file = booklet.study.file
    return Frame(file.title, home, file.information.contact, file.collecting.theme)


@dataclass(frozen=True, slots=True)
class PagePosition:
    """How far a rater is: in words, and as the numbers of the bar."""

    text: str
    done: str
    total: str


def render_page(page: Page, words: Words, frame: Frame, where: PagePosition | None = None) -> str:
    """Return the HTML of a page; ``where`` is said of a page of the plan, if not what is found."""
    template = load_templates(words).get_template(f"rater/{page.template}.html")
    if where is None and isinstance(page, RatingPage):
        where = find_where(page, words)
    return address_media(template.render(page=page, frame=frame, where=where), frame.home)


_MEDIA = re.compile(r'(<(?:img|audio|video|source|track)(?:\s[^<>]*)?\ssrc=")media:(?=[\w-]+")')


def address_media(html: str, home: str) -> str:
    """Return the HTML of a page whose media have the addresses of a visit: numbers under its own link."""
    return _MEDIA.sub(rf"\g<1>{home}/media/", str(html)) if 'src="media:' in html else html


def find_where(page: RatingPage, words: Words) -> PagePosition:
    """Return how far a rater is who sees a page of the plan."""
    n, total = page.n, page.total
    if page.practice:
        text = words.say("practice_where", n, total=total)
    elif page.mixed or page.layout == "several":
        text = words.say("where_page", n, total=total)
    elif page.layout == "one":
        text = words.say("where_one", n, noun=page.noun, total=total)
    else:
        text = words.say("where_pair" if len(page.outputs) == 2 else "where_set", n, total=total)
    return PagePosition(text, str(n - 1), str(total))


@cache
def load_templates(words: Words) -> Environment:
    """Return the templates with the words of a language; they are compiled when first used, and kept."""
    environment = make_environment(TEMPLATES)
    environment.loader = ChoiceLoader([FileSystemLoader(TEMPLATES), FunctionLoader(_find_markup)])
    environment.globals.update(words=words, say=words.say)
    environment.filters.update(lead=_lead, paragraphs=render_text)
    # Modules of macros are globals: importing them anew for every page took a quarter of its time.
    for name, path in (("icons", "icons"), ("parts", "rater/parts"), ("shared", "rater/widgets/shared")):
        environment.globals[name] = environment.get_template(f"{path}.html").module
    widgets = _Widgets(environment)
    environment.globals.update(widgets=widgets, draw=_Drawing(widgets, environment.globals["shared"]))
    return environment


def compile_templates(words: Words) -> None:
    """Compile the templates of raters' pages, so that the first rater does not wait for it."""
    environment = load_templates(words)
    for path in sorted((TEMPLATES / "rater").rglob("*.html")):
        environment.get_template(path.relative_to(TEMPLATES).as_posix())


def _find_markup(path: str) -> str | None:
    """Return the template that a scale brings along for its widget, None where it is not one of those."""
    own = {f"rater/widgets/{scale.widget}.html": scale.markup for _, scale in SCALES.items() if scale.markup}
    return own.get(path)


class _Widgets(dict[str, Any]):
    """The macros of each widget, made from its template when they are first wanted."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def __missing__(self, name: str) -> Any:
        module = self[name] = self._environment.get_template(f"rater/widgets/{name}.html").module
        return module


class _Drawing:
    """Draws the answers to a question: the same on page after page, so each is drawn once and kept."""

    def __init__(self, widgets: Mapping[str, Any], shared: Any) -> None:
        self._widgets = widgets
        self._shared = shared
        self._kept: dict[tuple[object, ...], tuple[PageQuestion, Markup]] = {}

    def __call__(self, asked: Asked, forced: bool, title: str) -> Markup:
        """Return the controls of a question; below its heading, or its words as a ``title``, where wanted."""
        key = (id(asked.question), asked.name, asked.value, asked.problem, forced, title)
        kept = self._kept.get(key)
        if kept is not None:
            return kept[1]
        controls = self._widgets[asked.question.widget].controls(asked, forced)
        html = Markup(self._shared.legend(asked, title == "title") + controls) if title else Markup(controls)
        if len(self._kept) >= DRAWINGS_KEPT:
            self._kept.clear()
        self._kept[key] = (asked.question, html)  # the question is kept too, so that no other gets its id
        return html


def _lead(paragraphs: Markup, words: str) -> Markup:
    """Return paragraphs of which the first begins with some words in bold."""
    bold = Markup("<strong>{}</strong> ").format(words)
    if paragraphs.startswith("<p>"):
        return Markup("<p>") + bold + Markup(paragraphs.removeprefix("<p>"))
    return bold + paragraphs
