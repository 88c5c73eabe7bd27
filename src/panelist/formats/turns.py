"""Dialogues: a list of turns, each with the role of who speaks and a text in a format of its own."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from panelist.core.errors import did_you_mean
from panelist.formats.base import (
    FORMATS,
    FormatOptions,
    Say,
    ShownTurn,
    Stimulus,
    StimulusFormat,
    write_canonical,
)
from panelist.formats.players import draw_player

ROLES = ("user", "assistant", "system", "tool")
EXAMPLE = '[{"role": "user", "text": "…"}, {"role": "assistant", "text": "…"}]'


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    """What one side says at a time."""

    role: str
    text: str
    images: tuple[str, ...] = ()
    audio: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The media files of the turn, in the order shown."""
        return (*self.images, *self.audio)


class BadTurns(ValueError):
    """What is wrong with a cell, as the end of a sentence."""


class Turns(StimulusFormat):
    """A dialogue."""

    structured = True
    has_turns = True

    def find_problem(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return what is wrong with the turns; a context need neither have nor end with an answer."""
        try:
            turns = read_turns(cell.text)
        except BadTurns as error:
            return str(error)
        for number, turn in enumerate(turns, start=1):
            if turn.role == "assistant" and not (turn.text.strip() or turn.files):
                return f"turn {number}, the assistant's, is empty. Write what raters shall see."
        if not cell.judged:
            return ""
        if options.turns.rate == "last" and turns[-1].role != "assistant":
            return (
                f"the last turn is the {turns[-1].role}'s, and under rate: last it must be the assistant's: "
                "it is what raters judge."
            )
        if all(turn.role != "assistant" for turn in turns):
            return "no turn is the assistant's, so there is nothing to judge."
        return ""

    def find_note(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return that a dialogue is too long for the format of its turns."""
        inside = FORMATS[options.turns.inside]
        if _find_inside(cell, options) is inside:
            return ""
        return (
            f"over {inside.longest:,} characters in its turns, so they are shown as plain text. "
            "Split it, or declare the turns plain."
        )

    def list_files(self, cell: Stimulus, options: FormatOptions) -> tuple[str, ...]:
        """Return the pictures and sounds of the turns that are shown, in order."""
        return tuple(name for turn in _list_shown(cell, options) for name in turn.files)

    def read_words(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return the words of all turns that are shown, a paragraph each."""
        inside = _find_inside(cell, options)
        words = (inside.read_words(Stimulus(turn.text), options) for turn in _list_shown(cell, options))
        return "\n\n".join(words)

    def read_script(self, cell: Stimulus, options: FormatOptions, say: Say) -> str:
        """Return the turns that are shown, each under the label that raters see."""
        inside, counts, told = _find_inside(cell, options), dict.fromkeys(ROLES, 0), []
        for turn in _list_shown(cell, options):
            counts[turn.role] += 1
            label = say(f"turn_{turn.role}", counts[turn.role])
            told.append(f"{label}:\n{inside.read_words(Stimulus(turn.text), options)}")
        return "\n\n".join(told)

    def list_judged(self, cell: Stimulus, options: FormatOptions) -> tuple[tuple[str, str], ...]:
        """Return what the assistant says, turn by turn, or last: what a person asks is not judged."""
        turns, inside = read_leniently(cell.text), _find_inside(cell, options)
        texts = [turns[place].text for place in _find_judged(turns, options)]
        return tuple((text, inside.read_words(Stimulus(text), options)) for text in texts)

    def show(self, cell: Stimulus, options: FormatOptions, say: Say) -> Markup:
        """Return the dialogue as a list of turns."""
        return list_turns(((turn, turn.html) for turn in self.split(cell, options, say)), say)

    def split(self, cell: Stimulus, options: FormatOptions, say: Say) -> tuple[ShownTurn, ...]:
        """Return the turns that raters see, each with its role in words."""
        inside = _find_inside(cell, options)
        shown: list[ShownTurn] = []
        counts = dict.fromkeys(ROLES, 0)
        place = 1
        for turn in _list_shown(cell, options):
            counts[turn.role] += 1
            said = inside.show(Stimulus(turn.text), options, say) if turn.text.strip() else Markup("")
            html = said + _show_files(turn, place, say)
            place += len(turn.files)
            label = say(f"turn_{turn.role}", counts[turn.role])
            if turn.role == "tool":
                html = Markup('<details class="looked"><summary>{}</summary>{}</details>').format(label, html)
            shown.append(ShownTurn(turn.role, label, html, counts[turn.role], said, turn.files))
        return tuple(shown)

    def count_parts(self, cell: Stimulus, options: FormatOptions) -> int:
        """Return how many turns of the assistant there are, where each is rated."""
        if options.turns.rate != "each":
            return 0
        return sum(turn.role == "assistant" for turn in read_leniently(cell.text))

    def rewrite(self, cell: Stimulus, options: FormatOptions, change: Callable[[str], str]) -> str:
        """Return the dialogue with the turns that are judged changed: the last, or all of the assistant's."""
        turns = read_leniently(cell.text)
        judged, inside = _find_judged(turns, options), _find_inside(cell, options)

        def spoil(text: str) -> str:
            return inside.rewrite(Stimulus(text), options, change)

        written = [
            {
                "role": turn.role,
                "text": spoil(turn.text) if place in judged else turn.text,
                **({"images": list(turn.images)} if turn.images else {}),
                **({"audio": list(turn.audio)} if turn.audio else {}),
            }
            for place, turn in enumerate(turns)
        ]
        return write_canonical(written)


def read_turns(text: str) -> tuple[DialogueTurn, ...]:
    """Return the turns of a cell, or raise BadTurns that says what is wrong.

    >>> read_turns('[{"role": "user", "content": "Hello"}]')
    (DialogueTurn(role='user', text='Hello', images=(), audio=()),)
    """
    try:
        cells = json.loads(text)
    except ValueError as error:
        where = f"{error.msg}, character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        raise BadTurns(f"the cell is not JSON ({where}). A dialogue is a list of turns: {EXAMPLE}.") from None
    except RecursionError:
        raise BadTurns(f"the cell is nested too deeply. A dialogue is a list of turns: {EXAMPLE}.") from None
    if not isinstance(cells, list) or not cells:
        found = "an empty list" if cells == [] else json.dumps(cells, ensure_ascii=False)[:40]
        raise BadTurns(f"found {found}. A dialogue is a list of turns: {EXAMPLE}.")
    return tuple(_read_turn(cell, number) for number, cell in enumerate(cells, start=1))


def read_leniently(text: str) -> tuple[DialogueTurn, ...]:
    """Return the turns of a text to be shown; one that is no dialogue is what an assistant says.

    Texts of the study file, such as the request of an instructed check, need not be written as dialogues.
    """
    return _read_kept(text)


@lru_cache(4096)
def _read_kept(text: str) -> tuple[DialogueTurn, ...]:
    try:
        return read_turns(text)
    except BadTurns:
        return (DialogueTurn("assistant", text),)


def _read_turn(cell: Any, number: int) -> DialogueTurn:
    if not isinstance(cell, dict):
        raise BadTurns(f"turn {number} is {json.dumps(cell)[:40]}, not an object with role and text.")
    role = cell.get("role")
    if role not in ROLES:
        found = "has no role" if role is None else f"has the role {role!r}"
        raise BadTurns(f"turn {number} {found}. {did_you_mean(str(role or ''), ROLES)}")
    images, audio = (_read_names(cell, name, number) for name in ("images", "audio"))
    texts = [name for name in ("text", "content") if cell.get(name) is not None]
    if len(texts) == 2 and cell["text"] != cell["content"]:
        raise BadTurns(f"turn {number} has both text and content; keep one.")
    if not texts and not (images or audio):
        raise BadTurns(f"turn {number} has neither text nor content.")
    text = cell[texts[0]] if texts else ""
    if not isinstance(text, str):
        raise BadTurns(f"turn {number}: {texts[0]} is {json.dumps(text)[:40]}; write one text.")
    return DialogueTurn(role, text, images, audio)


def _read_names(cell: dict[str, Any], key: str, number: int) -> tuple[str, ...]:
    names = cell.get(key)
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadTurns(f"turn {number}: {key} is {json.dumps(names)[:40]}; list the names of files.")
    return tuple(names)


def _list_shown(cell: Stimulus, options: FormatOptions) -> list[DialogueTurn]:
    """Return the turns that raters see: those of the system often name its maker, and are hidden."""
    return [
        turn for turn in read_leniently(cell.text) if turn.role != "system" or "system" in options.turns.show
    ]


def _find_judged(turns: tuple[DialogueTurn, ...], options: FormatOptions) -> list[int]:
    """Return the places of the turns that are judged."""
    judged = [place for place, turn in enumerate(turns) if turn.role == "assistant"]
    return judged[-1:] if options.turns.rate == "last" else judged


def _find_inside(cell: Stimulus, options: FormatOptions) -> StimulusFormat:
    """Return the format of the turns: plain where together they are too long for the one that is declared."""
    inside = FORMATS[options.turns.inside]
    if inside.longest and sum(len(turn.text) for turn in _list_shown(cell, options)) > inside.longest:
        return FORMATS["plain"]
    return inside


def _show_files(turn: DialogueTurn, first: int, say: Say) -> Markup:
    """Return the media of a turn; the page puts blind addresses in place of their numbers."""
    pictures = (
        Markup('<img class="shown" src="media:{}" alt="{}">').format(number, say("image", number))
        for number in range(first, first + len(turn.images))
    )
    start = first + len(turn.images)
    sounds = (draw_player("audio", say, number) for number in range(start, start + len(turn.audio)))
    return Markup("").join((*pictures, *sounds))


def list_turns(turns: Iterable[tuple[ShownTurn, Markup]], say: Say) -> Markup:
    """Return turns, each with its HTML, as a list."""
    rows = (
        Markup('<li class="turn {}"><p class="label">{}</p>{}</li>').format(
            "asked" if turn.role == "user" else "said", turn.label, html
        )
        for turn, html in turns
    )
    label = Markup('<ol class="turns" aria-label="{}">').format(say("turns"))
    return label + Markup("").join(rows) + Markup("</ol>")


def pair_exchanges(turns: tuple[ShownTurn, ...]) -> list[tuple[tuple[ShownTurn, ...], tuple[ShownTurn, ...]]]:
    """Return a dialogue as exchanges: what is asked (and what stands before it), and what is answered to it.

    A person who writes twice before there is an answer asks one thing.
    """
    starts = [
        place
        for place, turn in enumerate(turns)
        if place == 0 or (_asks(turn) and not _asks(turns[place - 1]))
    ]
    exchanges = []
    for start, end in pairwise([*starts, len(turns)]):
        part = turns[start:end]
        asked = next((place for place, turn in enumerate(part) if not _asks(turn)), len(part))
        exchanges.append((part[:asked], part[asked:]))
    return exchanges


def _asks(turn: ShownTurn) -> bool:
    return turn.role in ("user", "system")


FORMATS.register("turns")(Turns())
