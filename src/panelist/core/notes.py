"""Notes: a sentence for people, and a code for programs that decide something by it.

A note that another module reads again has a code. The words may change freely: no decision depends on them. A
note that only people read is plain text.
"""

from collections.abc import Iterable
from typing import Any, Literal, Self

NoteCode = Literal[
    "slopes",  # a factor has slopes of its own for systems
    "reduced",  # a smaller random part was taken in place of one that could not be fitted
    "lightened",  # a smaller random part was taken to save time
    "independent",  # ratings by one rater, or of one item, are taken as independent
    "items",  # systems were judged on different items
    "layout",  # a file would not be written back byte for byte
]


class Note(str):
    """A sentence with a code; wherever text is expected, it is its sentence."""

    code: NoteCode

    def __new__(cls, code: NoteCode, text: str) -> Self:
        """Return the sentence with its code."""
        made = super().__new__(cls, text)
        made.__dict__["code"] = code
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A note cannot be changed: make another one in place of setting {name!r}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, str(self))


def has_note(notes: Iterable[str], *codes: NoteCode) -> bool:
    """Return whether one of the notes has one of these codes.

    >>> has_note(["Plain.", Note("reduced", "A smaller model was taken.")], "reduced", "lightened")
    True
    """
    return any(isinstance(note, Note) and note.code in codes for note in notes)
