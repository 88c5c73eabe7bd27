"""Words for sentences that people read: numbers with their nouns, lists, spans, capitals."""

from collections.abc import Iterable


def list_words(text: str) -> tuple[str, ...]:
    """Return the words of a text: how long lists of names are written."""
    return tuple(text.split())


NUMERALS = list_words("no one two three four five six seven eight nine ten eleven twelve")


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, or with noun and verb.

    >>> count(1, "rater"), count(2304, "rating"), count(2, "study"), count(2, "criterion", "criteria")
    ('1 rater', '2,304 ratings', '2 studies', '2 criteria')
    >>> count(1, "value is", "values are"), count(1200, "value is", "values are")
    ('1 value is', '1,200 values are')
    """
    return f"{number:,} {inflect(number, noun, plural)}"


def inflect(number: float, noun: str, plural: str = "") -> str:
    """Return the noun alone, or a verb, as the number asks for.

    >>> inflect(1, "distance"), inflect(0.5, "distance"), inflect(2, "is", "are")
    ('distance', 'distances', 'are')
    """
    if number == 1:
        return noun
    regular = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in set("aeiou") else f"{noun}s"
    return plural or regular


def listing(words: Iterable[object], most: int | None = 5, last: str = "and") -> str:
    """Return words in a row, cut after ``most`` with the number of those left out; None shows all.

    >>> listing(["a", "b", "c"]), listing("abcd", most=2), listing([1, 2], last="or"), listing([])
    ('a, b and c', 'a, b and 2 more', '1 or 2', '')
    """
    every = [str(word) for word in words]
    if most is not None and len(every) > most:
        every = [*every[:most], f"{len(every) - most:,} more"]
    return f"{', '.join(every[:-1])} {last} {every[-1]}" if len(every) > 1 else "".join(every)


def quoted(words: Iterable[object], most: int | None = 5) -> str:
    """Return words in quotation marks, as ``listing`` does.

    >>> quoted(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    return listing(map(repr, words), most)


def span(low: str, high: str, between: str = " to ") -> str:
    """Return the two ends, or the one value where they are the same.

    >>> span("2", "5"), span("3", "3")
    ('2 to 5', '3')
    """
    return low if low == high else f"{low}{between}{high}"


def with_article(name: str) -> str:
    """Return the name of a model with its article, as it is said: letters are spelt out.

    >>> with_article("lmm"), with_article("clmm")
    ('an lmm', 'a clmm')
    """
    return f"an {name}" if name.startswith("l") else f"a {name}"


def spell(number: int) -> str:
    """Return a small number as a word.

    >>> spell(7), spell(0), spell(1200)
    ('seven', 'no', '1,200')
    """
    return NUMERALS[number] if 0 <= number < len(NUMERALS) else f"{number:,}"


def capitalise(text: str) -> str:
    """Return the text with a capital first letter, the rest as it is.

    >>> capitalise("the LMM")
    'The LMM'
    """
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Return the text as a sentence: a capital first letter, a full stop at the end.

    >>> sentence("all raters agree")
    'All raters agree.'
    """
    return f"{capitalise(text)}."
