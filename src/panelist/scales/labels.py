"""Labels: the words that raters read at the points and ends of a scale."""

from string import ascii_uppercase
from typing import Annotated, Any
from unicodedata import category

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema


def _refuse_truth(label: Any) -> Any:
    """Return the label unless YAML has read a word as true or false: which word it was is then lost."""
    if isinstance(label, bool):
        raise ValueError(
            f"this label was read as {str(label).lower()}, not as a word. "
            "YAML does so with yes, no, on, off, true and false: put the label in quotes"
        )
    return label


def check_labels(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels if no two are the same to a reader, else raise ValueError naming those that are."""
    first: dict[str, int] = {}
    for place, label in enumerate(labels, start=1):
        known = first.setdefault(label.casefold(), place)
        if known != place:
            raise ValueError(
                f"labels must differ: {label!r} is at places {known} and {place}. Reword one of them"
            )
    return labels


def _check_one_line(label: str) -> str:
    if any(category(char) in ("Cc", "Cs", "Zl", "Zp") for char in label):  # controls, half characters, breaks
        raise ValueError(f"a label is one line of plain words. Got {label!r} instead")
    return label


def _label(longest: int) -> tuple[object, ...]:
    """Return the validator of a label; in a study file it may be a number."""
    return (
        StringConstraints(min_length=1, max_length=longest),
        BeforeValidator(_refuse_truth),
        AfterValidator(_check_one_line),
        WithJsonSchema({"type": ["string", "number"], "minLength": 1, "maxLength": longest}),
    )


Label = Annotated[str, *_label(300)]
"""Words that raters read beside an answer; numbers are fine, line breaks are not."""

ShortLabel = Annotated[str, *_label(24)]
"""A word or two: several are side by side on a phone."""

differing = AfterValidator(check_labels)
"""A validated tuple of labels in which no two are the same."""


def labels_of(least: int, most: int) -> tuple[object, ...]:
    """Return the validator for a tuple of ``least`` to ``most`` labels, all different."""

    def check_count(labels: tuple[str, ...]) -> tuple[str, ...]:
        if not least <= len(labels) <= most:
            raise ValueError(f"there must be {least} to {most} labels. Got {len(labels)} instead")
        return check_labels(labels)

    # not Field(min_length=…): pydantic would count only the labels that are valid, and complain twice
    return AfterValidator(check_count), Field(json_schema_extra={"minItems": least, "maxItems": most})


LONGEST_ACROSS = 24  # characters of an answer that is beside another
ROOMS = (20, 28, 36, 44, 52)  # rem that a row of points can need; rate.css has a rule for each
LEAST_STEP, A_LETTER, AROUND_STEP, MOST_LINES = 3.25, 0.48, 1.25, 3


def find_room(labels: tuple[str, ...], rooms: tuple[int, ...] = ROOMS) -> int:
    """Return the width in rem that the points need in one row, so that no word breaks; 0 for a list.

    Words may wrap to a second or third line. Points that need more width than a page has stay a list.
    """
    step = LEAST_STEP
    for label in labels:
        words = [len(word) for word in label.split()]
        wanted = max(max(words, default=0), sum(words) / MOST_LINES)
        step = max(step, AROUND_STEP + A_LETTER * wanted)
    room = len(labels) * step
    return next((one for one in rooms if room <= one), 0)


def name_letter(place: str) -> str:
    """Return the letter of an output's place, as pages name those that are compared.

    >>> name_letter("2"), name_letter("tie")
    ('B', 'tie')
    """
    return ascii_uppercase[int(place) - 1] if place.isdigit() and 0 < int(place) <= 26 else place
