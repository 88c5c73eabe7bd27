"""Names for the columns of a table without a header line: guessed, and asked for."""

from collections.abc import Sequence

from panelist.collection.imports.files.nested_records import Records
from panelist.collection.imports.files.unfolding import unfold
from panelist.collection.imports.guessing.column_profiles import Column, list_columns
from panelist.core.errors import BadFile
from panelist.core.prose import listing


class NoHeader(BadFile):
    """A file has no header line, and a person must name its columns."""

    def __init__(self, described: str, advice: str, headers: Sequence[str]) -> None:
        super().__init__(f"{described}\n{advice}")
        self.described = described
        self.headers = tuple(headers)
        """What the names could be, separated by commas."""


def ask_header(files: Sequence[Records]) -> None:
    """Raise NoHeader for a file without a header line: what its columns hold, and how to name them."""
    bare = next((one for one in files if one.headless), None)
    if bare is None:
        return
    columns = list_columns(unfold([bare], ()))
    lines = [
        f"  column {place}: {listing(one.distinct, 3)} ({len(one.distinct):,} different)"
        for place, one in enumerate(columns, start=1)
    ]
    first, second = (",".join(names) for names in guess_headers(columns))
    raise NoHeader(
        f"{bare.name} has no header line: its first row reads like those below it.\n" + "\n".join(lines),
        f"Name the columns, those of the ratings by their criteria. It could be\n  1. --header {first}\n"
        f"  2. --header {second}\nIn a mapping: layout: {{header: [{', '.join(first.split(','))}]}}",
        (first, second),
    )


def guess_headers(columns: Sequence[Column]) -> tuple[list[str], list[str]]:
    """Return two ways to name columns that have no names: by what their cells look like, and otherwise."""
    names = [one for one in columns if not (one.is_scale or one.is_time or one.is_text)]
    people = next((one for one in names if one.are_people), None)
    rest = sorted((one for one in names if one is not people), key=lambda one: -len(one.distinct))
    order = [*rest[:1], *([people] if people else rest[1:2]), *(rest[1:] if people else rest[2:])]
    roles = dict(zip([one.name for one in order], ("item", "rater", "system"), strict=False))
    swapped = (
        {"item": "rater", "rater": "item"}
        if len(roles) < 3 or people is None
        else {"rater": "system", "system": "rater"}
    )
    made: list[list[str]] = [[], []]
    scores = 0
    for one in columns:
        scores += one.is_scale
        other = "text" if one.is_text else "time" if one.is_time else f"quality_{chr(96 + scores)}"
        name = roles.get(
            one.name, other if one.is_scale or one.is_time or one.is_text else f"more_{len(made[0]) + 1}"
        )
        while name in made[0]:
            name += "_"
        made[0].append(name)
        made[1].append(swapped.get(name, name))
    return made[0], made[1]
