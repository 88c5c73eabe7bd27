"""The languages of the datasheet: ISO 639-1, in the order of the forms, as languages.txt lists them."""

from functools import cache
from importlib.resources import files


@cache
def list_languages() -> dict[str, str]:
    """Return the label of each language under its ISO 639-1 code, in the order of the forms."""
    listed = (files("panelist.reports.datasheet") / "languages.txt").read_text(encoding="utf-8")
    return dict(line.split(" ", 1) for line in listed.splitlines())


def find_language(tag: str) -> int | None:
    """Return the number of a language in the forms (English is 41), None where they do not list it.

    >>> find_language("en"), find_language("pt-BR"), find_language("tlh")
    (41, 129, None)
    """
    codes = list(list_languages())
    code = tag.replace("_", "-").split("-")[0].strip().casefold()
    return codes.index(code) + 1 if code in codes else None
