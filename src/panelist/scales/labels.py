"""Labels: the words that raters read at the points and ends of a scale."""

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
                f"labels must differ: {label!r} stands at places {known} and {place}. Reword one of them"
            )
    return labels


def _check_one_line(label: str) -> str:
    if any(category(char) in ("Cc", "Cs", "Zl", "Zp") for char in label):  # controls, half characters, breaks
        raise ValueError(f"a label is one line of plain words. Got {label!r} instead")
    return label


def _label(longest: int) -> tuple[object, ...]:
    """Return what makes a string a label; in a study file it may be a number."""
    return (
        StringConstraints(min_length=1, max_length=longest),
        BeforeValidator(_refuse_truth),
        AfterValidator(_check_one_line),
        WithJsonSchema({"type": ["string", "number"], "minLength": 1, "maxLength": longest}),
    )


Label = Annotated[str, *_label(300)]
"""Words that raters read beside an answer; numbers are fine, line breaks are not."""

ShortLabel = Annotated[str, *_label(24)]
"""A word or two: several stand side by side on a phone."""

differing = AfterValidator(check_labels)
"""Makes a tuple of labels one in which no two are the same."""


def labels_of(least: int, most: int) -> tuple[object, ...]:
    """Return what makes a tuple of labels one of so many, all different."""

    def check_count(labels: tuple[str, ...]) -> tuple[str, ...]:
        if not least <= len(labels) <= most:
            raise ValueError(f"there must be {least} to {most} labels. Got {len(labels)} instead")
        return check_labels(labels)

    # not Field(min_length=…): pydantic would count only the labels that are valid, and complain twice
    return AfterValidator(check_count), Field(json_schema_extra={"minItems": least, "maxItems": most})
