"""What every format can do: find what is wrong with a cell, name its files, give its words, and show it."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from markupsafe import Markup
from pydantic import AfterValidator, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from panelist.core.errors import UnknownName
from panelist.core.registry import Registry
from panelist.core.schema import StudyPart

FORMATS = Registry["StimulusFormat"]("format")

Say = Callable[..., str]
"""Gives a text of the pages by its key, in the language of the study: ``say("picture_of", 2, total=3)``."""


@dataclass(frozen=True, slots=True)
class Stimulus:
    """A cell of the outputs file, with what other columns of its row say about it."""

    text: str
    language: str = ""
    """The programming language of code."""
    alt: str = ""
    """What a picture shows, in words."""
    transcript: str = ""
    """What is said in sound or film."""
    captions: str = ""
    """The file of captions beside sound or film."""
    judged: bool = True
    """Whether it is an output; what stands beside outputs is not judged."""


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn of a dialogue as raters see it."""

    role: str
    label: str
    """Who speaks, in words."""
    html: Markup
    number: int
    """Which turn of this role it is, from 1."""
    said: Markup
    """The words alone, and ``files`` the media: turns are alike where both are. ``html`` has both."""
    files: tuple[str, ...] = ()


class _NamesOfFormats:
    """Lists the formats in the JSON Schema, looked up when it is written."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string", "enum": list(FORMATS)}


def _find_format(name: str) -> str:
    try:
        FORMATS[name]
    except UnknownName as error:
        known = ", ".join(f"{one!r}" for one in FORMATS)
        raise PydanticCustomError(
            "literal_error", "{words}", {"words": str(error), "expected": known}
        ) from error
    return name


FormatName = Annotated[str, AfterValidator(_find_format), _NamesOfFormats()]


class TurnOptions(StudyPart):
    """How dialogues are shown and rated."""

    inside: FormatName = "plain"
    """The format of the text of a turn."""
    rate: Literal["last", "each", "whole"] = "whole"
    """What is rated: the last turn, each turn of the assistant, or the dialogue as a whole."""
    show: tuple[Literal["system"], ...] = ()
    """Turns that are hidden unless they are named here."""


class CodeOptions(StudyPart):
    """Which programming language code is written in."""

    language: str = ""
    """The language of all code, such as ``python``."""
    column: str = ""
    """The column that names the language of each output."""


class FormatOptions(StudyPart):
    """What the study file says about formats, besides which column has which."""

    turns: TurnOptions = TurnOptions()
    code: CodeOptions = CodeOptions()
    formulas: bool = True
    """Whether ``$…$``, ``$$…$$``, ``\\(…\\)`` and ``\\[…\\]`` in Markdown are formulas."""
    highlight: bool = True
    """Whether keywords and comments of code are set off, quietly and without colours."""
    flatten: bool = False
    """Whether Markdown is shown as plain text, so that its form tells systems apart no longer."""


class StimulusFormat(ABC):
    """How a column is written and shown.

    ``show`` returns HTML that is safe wherever it stands: nothing in it acts, and nothing is fetched but
    ``src="media:N"``, which the page replaces by a blind address of the N-th file (from 1) of ``list_files``.
    """

    blocks: ClassVar[bool] = True
    """Whether a cell is shown as blocks, which cannot stand within a line or a legend."""
    structured: ClassVar[bool] = False
    """Whether a cell is JSON: a table of text holds it written down, JSON lines hold it itself."""
    kinds: ClassVar[frozenset[str]] = frozenset()
    """What a cell names files of (picture, sound, film); nothing where it is text."""
    longest: ClassVar[int] = 0
    """The characters up to which a text is read in this format, and as plain text beyond; 0 where all are."""
    has_turns: ClassVar[bool] = False
    """Whether a cell is a dialogue, which ``split`` gives turn by turn."""

    def find_problem(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return what is wrong with a cell, as the end of a sentence; empty where nothing is."""
        return ""

    def find_note(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return what is worth knowing about a cell, as the end of a sentence; empty where nothing is."""
        return ""

    def list_files(self, cell: Stimulus, options: FormatOptions) -> tuple[str, ...]:
        """Return the media files that a cell names, in the order shown."""
        return ()

    @abstractmethod
    def read_words(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return the words of a cell as plain text: for reading time and length."""

    def read_script(self, cell: Stimulus, options: FormatOptions, say: Say) -> str:
        """Return what raters read as plain text, for prompts of judges: the words, and who says them."""
        return self.read_words(cell, options)

    def list_judged(self, cell: Stimulus, options: FormatOptions) -> tuple[tuple[str, str], ...]:
        """Return what is judged, part by part: as it is written, and its words."""
        return ((cell.text, self.read_words(cell, options)),)

    @abstractmethod
    def show(self, cell: Stimulus, options: FormatOptions, say: Say) -> Markup:
        """Return the HTML that raters see."""

    def split(self, cell: Stimulus, options: FormatOptions, say: Say) -> tuple[ShownTurn, ...]:
        """Return the turns of a dialogue; none where the format has no turns."""
        return ()

    def count_parts(self, cell: Stimulus, options: FormatOptions) -> int:
        """Return how many parts of a cell are judged separately; 0 where the cell is judged as a whole."""
        return 0

    def rewrite(self, cell: Stimulus, options: FormatOptions, change: Callable[[str], str]) -> str:
        """Return the cell with the words that are judged changed."""
        return change(cell.text)


def write_canonical(value: object) -> str:
    """Return a structured cell as JSON in one way, however it was written; text that is no JSON stays.

    >>> write_canonical([{"text": "b", "role": "user"}]), write_canonical(' [ {"role":"user" ,"text":"b"}]')
    ('[{"role":"user","text":"b"}]', '[{"role":"user","text":"b"}]')
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return str(value)
        if not isinstance(value, list | dict):
            return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
