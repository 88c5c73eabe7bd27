"""Numbers with their nouns, for sentences that people read."""


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun and verb, in the singular where there is one.

    >>> counted(1, "value is", "values are"), counted(1200, "value is", "values are")
    ('1 value is', '1,200 values are')
    """
    return f"{number:,} {one if number == 1 else many}"
