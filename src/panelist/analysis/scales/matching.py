"""Which criterion of one file is which of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from panelist.core.errors import BadRatings, UnknownName, did_you_mean
from panelist.core.tables.ratings import Ratings


def match_criteria(
    tables: tuple[Ratings, Ratings], labels: tuple[str, str], match: Mapping[str, str]
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the pairs of criteria, those of ``match`` first, and notes on what has no partner.

    A table without criteria has one unnamed criterion. Where each file has a single criterion, they are a
    pair.
    """
    known = [table.criteria or ("",) for table in tables]
    for pair in match.items():
        for name, names, label in zip(pair, known, labels, strict=True):
            if name not in names:
                near = did_you_mean(name, names)
                raise UnknownName(f"{label} has no criterion called {name!r}. {near}")
    pairs = list(match.items())
    taken = [set(match), set(match.values())]
    pairs += [(name, name) for name in known[0] if name in known[1] and name not in taken[0] | taken[1]]
    notes = []
    if not pairs and len(known[0]) == len(known[1]) == 1:
        pairs = [(known[0][0], known[1][0])]
        notes.append(
            f"{labels[0]}'s {known[0][0] or 'ratings'} is compared with {labels[1]}'s "
            f"{known[1][0] or 'ratings'}: each has one criterion."
        )
    for table in tables:
        table.require("rating", "system", "item", "rater")  # before advice on criteria
    for one, other in ((0, 1), (1, 0)):
        if not pairs and known[one] == ("",):
            raise BadRatings(
                f"{labels[one]} has no column criterion, and {labels[other]} has {', '.join(known[other])}: "
                f"which of them is rated in {labels[one]}? Name it there in a column criterion."
            )
    if not pairs:
        raise BadRatings(
            f"No criterion has the same name on both: {labels[0]} has {', '.join(known[0])}; {labels[1]} has "
            f"{', '.join(known[1])}. Say which belong together: --match {known[0][0]}={known[1][0]} (in "
            f"Python: match={{{known[0][0]!r}: {known[1][0]!r}}})."
        )
    for side, (names, label) in enumerate(zip(known, labels, strict=True)):
        if alone := [name for name in names if name not in {pair[side] for pair in pairs}]:
            notes.append(f"{label}: without a partner, so left out: {', '.join(alone)}.")
    return pairs, notes


def parse_match(texts: Sequence[str]) -> dict[str, str]:
    """Return the pairs that ``--match fluency=readability`` stands for.

    >>> parse_match(["fluency=readability", "adequacy = clarity"])
    {'fluency': 'readability', 'adequacy': 'clarity'}
    """
    pairs: dict[str, str] = {}
    for text in texts:
        first, sign, second = (part.strip() for part in text.partition("="))
        if not (first and sign and second):
            raise BadRatings(f"--match takes A=B, a criterion of each file. Got {text!r} instead.")
        if first in pairs or second in pairs.values():
            raise BadRatings(f"--match names a criterion twice: {text!r}.")
        pairs[first] = second
    return pairs
