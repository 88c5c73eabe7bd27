"""What an answer about a pair says: the first, the second, or neither; in the words that people publish."""

import re
from typing import Literal

NOUNS = "model|system|output|response|text|option|assistant|answer|candidate|summary|translation|version"
FIRST, SECOND = (
    re.compile(rf"(the )?(({NOUNS}) )?({marks})( ({NOUNS}))?( (is )?(better|wins|won|preferred))?")
    for marks in ("a|1|one|first|left", "b|2|two|second|right")
)
TIE = re.compile(
    r"ties?|tied|tie \(?both ?(bad|good)\)?|draw|drawn|both|neither|either|equal|equals|equally (good|bad)|0"
    r"|both (are )?(equally )?(good|bad)|bothbad|(about |exactly )?(the )?(same|similar)|no difference"
    r"|no (preference|winner)|undecided"
)
SILENT = ("", "na", "n/a", "nan", "none", "skip", "skipped", "no answer")
_STRENGTHS = {
    **dict.fromkeys(("marginally", "slightly", "a bit", "a little"), 1),
    **{"somewhat": 2, "": 3, "clearly": 4},
    **dict.fromkeys(("much", "significantly", "strongly", "a lot"), 5),
}
"""What words say about how much better, in order; none of them is plainly better."""
_STRENGTH = re.compile(rf"\b({'|'.join(filter(None, _STRENGTHS))})\b ?")

_SIGNS = re.compile(r"([ab12])\s*(>{1,2}|<{1,2}|={1,2}|~)\s*([ab12])")
_BOTH_BAD = re.compile(r"both ?(are )?(equally )?bad|equally bad")
SCALES = (5, 7)
"""The numbers of points of scales of 1 to K; their middle is a tie."""

Side = Literal["first", "second", "tie", "silent"]


def drop_zeros(answer: str) -> str:
    """Return an answer as it was meant: a whole number in a column with gaps is often written with decimals.

    >>> drop_zeros("1.0"), drop_zeros("-1.00"), drop_zeros("0.5")
    ('1', '-1', '0.5')
    """
    return re.sub(r"^(-?\d+)\.0+$", r"\1", answer.strip())


def find_strength(answer: str) -> int:
    """Return how much better one is in the words of an answer; only the order of the numbers counts.

    >>> [find_strength(word) for word in ("A is slightly better", "B", "model_b is much better", "A>>B")]
    [1, 3, 5, 5]
    """
    found = _STRENGTH.search(_simplify(answer))
    return _STRENGTHS[found[1] if found else ""]


def find_side(answer: str) -> Side | None:
    """Return which side an answer names, or None where it names none.

    >>> [find_side(word) for word in ("model_a", "B is slightly better", "tie (bothbad)", "N/A", "good")]
    ['first', 'second', 'tie', 'silent', None]
    >>> [find_side(word) for word in ("A>B", "A<<B", "B = A")]
    ['first', 'second', 'tie']
    """
    plain = _simplify(drop_zeros(answer))
    if plain in SILENT:
        return "silent"
    plain = " ".join(_STRENGTH.sub("", plain).split())
    for side, pattern in (("first", FIRST), ("second", SECOND), ("tie", TIE)):
        if pattern.fullmatch(plain):
            return side  # type: ignore[return-value]  # a tuple of literals is one of strings to mypy
    return None


def says_both_bad(answer: str) -> bool:
    """Return whether an answer says that neither is any good.

    >>> [says_both_bad(word) for word in ("tie (bothbad)", "both are bad", "tie")]
    [True, True, False]
    """
    return bool(_BOTH_BAD.search(_simplify(answer)))


def _simplify(answer: str) -> str:
    """Return an answer in small letters with single spaces, and signs such as A>>B as words."""
    plain = re.sub(r"[\s_\-]+", " ", answer.strip().casefold())
    if not (found := _SIGNS.fullmatch(plain)):
        return plain
    left, sign, right = found.groups()
    if left == right:
        return plain
    if set(sign) <= {"=", "~"}:
        return "tie"
    better = left if sign[0] == ">" else right
    return f"{better} is {'much ' if len(sign) > 1 else ''}better"


def find_grades(answers: list[str], scales: tuple[int, ...] = SCALES) -> tuple[dict[str, int], int] | None:
    """Return the signed grade of each answer, above 0 where the first is better, and the number of points.

    None where the answers have no grades: two sides and perhaps a tie. Grades are numbers about 0 (-2 … 2),
    points from 1 (the second is much better) to the highest of one of the ``scales``, or words for a side
    with slightly or much.

    >>> find_grades(["-2", "-1", "0", "1", "2"])
    ({'-2': -2, '-1': -1, '0': 0, '1': 1, '2': 2}, 5)
    >>> find_grades(["1", "4", "5"])
    ({'1': -2, '4': 1, '5': 2}, 5)
    >>> find_grades(["A much better", "B slightly better", "about the same"])
    ({'A much better': 2, 'B slightly better': -1, 'about the same': 0}, 5)
    >>> find_grades(["A", "B", "tie"])
    """
    said = [one for one in answers if find_side(one) != "silent"]
    numbers = {one: int(drop_zeros(one)) for one in said if re.fullmatch(r"[+-]?\d+", drop_zeros(one))}
    if numbers and len(numbers) == len(said):
        low, high = min(numbers.values()), max(numbers.values())
        if low < 0:
            reach = max(-low, high)
            ties = 0 in numbers.values()
            return numbers, 2 * reach + ties
        if low >= 1 and high in scales:
            return {one: value - (high + 1) // 2 for one, value in numbers.items()}, high
        return None
    sides = {one: find_side(one) for one in said}
    if None in sides.values():
        return None
    levels = sorted({find_strength(one) for one in said if sides[one] != "tie"})
    if len(levels) < 2:
        return None
    sign = {"first": 1, "second": -1, "tie": 0}
    grades = {
        one: sign[str(side)] * (levels.index(find_strength(one)) + 1 if side != "tie" else 0)
        for one, side in sides.items()
    }
    return grades, 2 * len(levels) + (0 in grades.values())
