"""Pictures: one file, or several in a grid of equal cells of which each opens to full width in place."""

import json
from typing import ClassVar

from markupsafe import Markup

from panelist.formats.base import FORMATS, FormatOptions, Say, Stimulus, StimulusFormat
from panelist.formats.media_types import refuse_name

MOST_PICTURES = 24
_CELL = Markup('<label><input type="checkbox" class="hidden"><img src="media:{}" alt="{}"></label>')


class OnePicture(StimulusFormat):
    """A picture: the cell names its file."""

    kinds: ClassVar[frozenset[str]] = frozenset({"picture"})

    def find_problem(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return what is wrong with the name of the file."""
        return refuse_name(cell.text.strip(), self.kinds)

    def list_files(self, cell: Stimulus, options: FormatOptions) -> tuple[str, ...]:
        """Return the file."""
        return (cell.text.strip(),) if cell.text.strip() else ()

    def read_words(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return what the picture shows, in words."""
        return cell.alt

    def show(self, cell: Stimulus, options: FormatOptions, say: Say) -> Markup:
        """Return the picture."""
        return Markup('<img class="shown" src="media:1" alt="{}">').format(cell.alt or say("image", 1))


class SeveralPictures(StimulusFormat):
    """Several pictures: the cell is a JSON list of files, each a name or one with ``file`` and ``alt``."""

    structured = True
    kinds: ClassVar[frozenset[str]] = frozenset({"picture"})

    def find_problem(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return what is wrong with the list or with one of its files."""
        try:
            found = json.loads(cell.text)
        except (ValueError, RecursionError):
            return f'should be a JSON list of files such as ["a.png", "b.png"]; found {cell.text[:60]!r}.'
        if not isinstance(found, list) or not 1 <= len(found) <= MOST_PICTURES:
            return f"should be a JSON list of 1 to {MOST_PICTURES} files; found {cell.text[:60]!r}."
        for one in found:
            if not isinstance(one, str) and not (isinstance(one, dict) and isinstance(one.get("file"), str)):
                return f'has {json.dumps(one)[:60]}; each picture is a name, or {{"file": …, "alt": …}}.'
        return next(filter(None, (refuse_name(name, self.kinds) for name, _ in _read(cell))), "")

    def list_files(self, cell: Stimulus, options: FormatOptions) -> tuple[str, ...]:
        """Return the files, in the order shown."""
        return tuple(name for name, _ in _read(cell))

    def read_words(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return what the pictures show, in words."""
        return "\n".join(alt for _, alt in _read(cell) if alt)

    def show(self, cell: Stimulus, options: FormatOptions, say: Say) -> Markup:
        """Return the pictures in a grid."""
        found = _read(cell)
        cells = (
            Markup(
                '<label><input type="checkbox" class="hidden"><img src="media:{}" alt="{}"></label>'
            ).format(n, alt or say("picture_of", n, total=len(found)))
            for n, (_, alt) in enumerate(found, start=1)
        )
        return Markup('<figure class="pictures">{}</figure>').format(Markup("").join(cells))


def _read(cell: Stimulus) -> list[tuple[str, str]]:
    """Return the file and the words of each picture; none where the cell is no such list."""
    try:
        found = json.loads(cell.text)
    except (ValueError, RecursionError):
        return []
    listed = found if isinstance(found, list) else []
    named = [one if isinstance(one, dict) else {"file": one} for one in listed]
    return [(str(one.get("file", "")).strip(), str(one.get("alt", "") or "")) for one in named]


FORMATS.register("image")(OnePicture())
FORMATS.register("images")(SeveralPictures())
