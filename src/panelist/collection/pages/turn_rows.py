"""Dialogues in rows of turns, so that what several systems answer to one question stands level."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from panelist.collection.pages.renderings import place_media
from panelist.formats import Stimulus
from panelist.formats.base import ShownTurn
from panelist.formats.sanitise import name_regions
from panelist.formats.turns import pair_exchanges

if TYPE_CHECKING:
    from panelist.collection.pages.booklet import Booklet


@dataclass(frozen=True, slots=True)
class TurnReply:
    """What one of the outputs says to the same question."""

    label: str
    place: int
    """The place of the output on the page, from 1."""
    turns: tuple[ShownTurn, ...]
    judged: bool = False
    """Whether it is what is judged, where earlier turns are not."""
    letter: str = ""
    """The last part of the label, where several outputs are told apart."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """Turns of dialogues that stand level: said once for all outputs, then by each of them."""

    number: int
    shared: tuple[ShownTurn, ...]
    replies: tuple[TurnReply, ...] = ()
    compared: tuple[int, ...] = ()
    """The turns that are compared after the row."""


def make_rows(booklet: "Booklet", cells: Sequence[Stimulus], where: str) -> tuple[TurnRow, ...]:
    """Return dialogues in rows of turns, so that answers to one question stand level; none without turns.

    What all outputs have alike stands there once. Where earlier turns are context, so do their answers.
    ``where``, with the place of an output, is what its media are found under.
    """
    dialogues = [pair_exchanges(booklet.split(cell)) for cell in cells]
    if not all(dialogues):
        return ()
    rate = booklet.study.outputs.options.turns.rate
    fewest = min(sum(turn.role == "assistant" for _, said in one for turn in said) for one in dialogues)
    rows: list[TurnRow] = []
    for number, exchange in enumerate(zip_longest(*dialogues, fillvalue=((), ())), start=1):
        asked = [one for one, _ in exchange]
        said = [one for _, one in exchange]
        ends = [number == len(one) for one in dialogues]
        shared: tuple[ShownTurn, ...] = ()
        if all(_reads_alike(one, asked[0]) for one in asked):
            shared, asked = asked[0], [()] * len(asked)
        judged = rate == "each" or (rate == "last" and any(ends))
        if not any(asked) and not judged and all(_reads_alike(one, said[0]) for one in said):
            rows.append(TurnRow(number, _place((*shared, *said[0]), f"{where}1")))
            continue
        replies = tuple(
            _make_reply(
                booklet,
                _place(
                    (*before, *after), f"{where}{place}", booklet.name_output(place) if len(cells) > 1 else ""
                ),
                place,
                len(cells),
                number,
                rate == "last" and ends[place - 1],
            )
            for place, (before, after) in enumerate(zip(asked, said, strict=True), start=1)
        )
        compared = [turn.number for turn in said[0] if turn.role == "assistant" and turn.number <= fewest]
        before = _place(shared, f"{where}1")
        rows.append(TurnRow(number, before, replies, tuple(compared) if rate == "each" else ()))
    return tuple(rows)


def _make_reply(
    booklet: "Booklet", turns: tuple[ShownTurn, ...], place: int, shown: int, number: int, judged: bool
) -> TurnReply:
    say = booklet.words.say
    if shown == 1:
        return TurnReply(say("turn_assistant", number), place, turns, judged)
    name = booklet.name_output(place)
    return TurnReply(say("turn_of", number, name=name), place, turns, judged, name.split()[-1])


def _place(turns: tuple[ShownTurn, ...], where: str, name: str = "") -> tuple[ShownTurn, ...]:
    """Return turns whose media have their addresses, and whose regions bear the name of turn and output."""
    return tuple(
        replace(turn, html=name_regions(place_media(turn.html, where), f"{name}, {turn.label}".lstrip(", ")))
        for turn in turns
    )


def _reads_alike(one: tuple[ShownTurn, ...], other: tuple[ShownTurn, ...]) -> bool:
    """Return whether turns say and show the same, whatever numbers their media have."""
    return [(turn.role, turn.said, turn.files) for turn in one] == [
        (turn.role, turn.said, turn.files) for turn in other
    ]
