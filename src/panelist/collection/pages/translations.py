"""The words of the interface: one JSON file per language, the same keys in each."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path

from panelist.core.errors import UnknownName, did_you_mean

FOLDER = Path(__file__).parent / "languages"


def _english(n: int) -> str:
    return "one" if n == 1 else "other"


def _french(n: int) -> str:
    return "one" if n in (0, 1) else "other"


def _arabic(n: int) -> str:
    if n in (0, 1, 2):
        return ("other", "one", "two")[n]
    return "few" if 3 <= n % 100 <= 10 else "many" if n % 100 >= 11 else "other"


def _russian(n: int) -> str:
    if n % 10 == 1 and n % 100 != 11:
        return "one"
    return "few" if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else "many"


def _polish(n: int) -> str:
    return "one" if n == 1 else "many" if n % 10 == 1 else _russian(n)


def _czech(n: int) -> str:
    return "one" if n == 1 else "few" if n in (2, 3, 4) else "other"


def _without(_: int) -> str:
    return "other"


# Which form of a text goes with a number: the plural rules of the Unicode CLDR, https://cldr.unicode.org,
# also for languages that the pages do not speak yet, so that a new one is one file.
PLURALS: dict[str, Callable[[int], str]] = {
    "ar": _arabic,
    **dict.fromkeys(("fr", "pt", "hy", "hi", "fa"), _french),
    **dict.fromkeys(("ru", "uk", "be"), _russian),
    "pl": _polish,
    **dict.fromkeys(("cs", "sk"), _czech),
    **dict.fromkeys(("zh", "ja", "ko", "vi", "th", "id", "ms"), _without),
}


def list_forms(language: str) -> frozenset[str]:
    """Return the forms that a text with a number has in a language.

    >>> sorted(list_forms("de")), sorted(list_forms("pl"))
    (['one', 'other'], ['few', 'many', 'one'])
    """
    return frozenset(map(PLURALS.get(language, _english), range(200)))


@dataclass(frozen=True, eq=False)
class Words:
    """The texts of one language; ``say`` gives one of them."""

    language: str
    dir: str
    texts: Mapping[str, str | Mapping[str, str] | list[str]] = field(repr=False)

    def say(self, key: str, n: int | None = None, **values: object) -> str:
        """Return a text with its placeholders filled in; ``n`` also picks the plural form.

        >>> load_words("en").say("missing", 2)
        '2 answers are still missing.'
        """
        text = self.texts[key]
        if isinstance(text, dict):
            if n is None:
                raise TypeError(f"The text {key!r} has plural forms: give a number.")
            text = text[PLURALS.get(self.language, _english)(n)]
        if n is None and not values:
            return str(text)
        return str(text).format(n=n, **values)

    def date(self, seconds: float) -> str:
        """Return the day (UTC) of a time in seconds since 1970, in words.

        >>> load_words("de").date(0)
        '1. Januar 1970'
        """
        day = datetime.fromtimestamp(seconds, UTC)
        return self.say("date", day=day.day, month=self.texts["months"][day.month - 1], year=day.year)  # type: ignore[index]

    def money(self, amount: float | Decimal, currency: str = "") -> str:
        """Return an amount with its two decimals, as people write it.

        >>> load_words("de").money(0.5, "GBP")
        '0,50 GBP'
        """
        return f"{amount:.2f} {currency}".replace(".", self.say("decimal_mark"), 1).strip()


def find_languages() -> tuple[str, ...]:
    """Return the languages that the interface speaks."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


@cache
def load_words(language: str) -> Words:
    """Return the words of a language (``de``, ``de-AT``), or say which languages there are."""
    base = language.replace("_", "-").split("-")[0].casefold()
    known = find_languages()
    if base not in known:
        raise UnknownName(
            f"There are no rating pages in {language!r}. {did_you_mean(base, known)} Set language: in "
            "study.yaml to one of these, or add a file of translations (docs/extending.md)."
        )
    texts = json.loads((FOLDER / f"{base}.json").read_text(encoding="utf-8"))
    return Words(base, texts["dir"], texts)
