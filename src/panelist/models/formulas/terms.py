"""The right-hand sides of formulas: what may be written there, and the terms it means.

A formula may come from anybody who can call the command line, and formulaic evaluates Python. So the text is
read by the grammar below, which knows names, numbers, a few operators and the functions listed here, and only
text that this grammar produced is ever passed on.

    sum     = [+ -] product {(+ -) product}        product = cross {(* /) cross}
    cross   = power {: power}                      power   = atom [(** ^) whole number]
    atom    = 0 | 1 | name | `name` | function(…) | (sum) | (sum | group) | (sum || group)
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from panelist.models.formulas.calls import Piece, read_call
from panelist.models.formulas.tokens import EXAMPLE, TokenStream, quote

_MOST_TERMS = 2000  # (a + b + …) ** n grows without bounds


@dataclass(frozen=True)
class Terms:
    """A right-hand side multiplied out: an intercept or none, and the terms by rising order."""

    intercept: bool
    terms: tuple[tuple[Piece, ...], ...]

    @property
    def text(self) -> str:
        """The terms as a formula that is explicit about its intercept."""
        return " + ".join(
            ["1" if self.intercept else "0", *(":".join(p.text for p in t) for t in self.terms)]
        )

    @property
    def variables(self) -> frozenset[str]:
        """The columns that the terms use."""
        return frozenset(name for term in self.terms for piece in term for name in piece.variables)


class Bar(NamedTuple):
    """A random term as it was written: columns, whether it has ``||``, and the nested groups."""

    columns: Terms
    split: bool
    groups: tuple[tuple[str, ...], ...]
    start: int


Sum = dict[frozenset[str], tuple[Piece, ...]]  # keyed by the texts of the pieces: a:b is b:a
_INTERCEPT: frozenset[str] = frozenset()


@lru_cache(maxsize=512)
def read_terms(text: str) -> Terms:
    """Return the terms of a right-hand side without random terms.

    >>> read_terms("a * b - a").text
    '1 + b + a:b'
    """
    reader = Reader(text)
    terms = reader.read_sum()
    reader.finish()
    return terms


class Reader(TokenStream):
    """Reads one formula from left to right; random terms are collected in ``bars``."""

    def __init__(self, text: str, example: str = EXAMPLE) -> None:
        super().__init__(text, example)
        self.bars: list[Bar] = []
        self._inside_bar = False

    def read_sum(self) -> Terms:
        """Return the terms up to a closing parenthesis, a bar or the end, with R's implied intercept."""
        terms = self._sum({_INTERCEPT: ()}, top=True)
        ordered = sorted((term for key, term in terms.items() if key), key=len)
        return Terms(_INTERCEPT in terms, tuple(ordered))

    def _sum(self, terms: Sum, top: bool) -> Sum:
        sign = self.take("+", "-") or "+"
        while True:
            start, bars = self.token.start, len(self.bars)
            if self.token[:2] == ("number", "0"):
                self.at += 1
                item: Sum = {_INTERCEPT: ()}
                add = sign == "-"  # 0 is "no intercept", so + 0 removes it and - 0 restores it
            else:
                item, add = self._product(), sign == "+"
            if len(self.bars) > bars and not add:
                self.fail("a random term can be added, but not removed", start)
            if not top and not add and _INTERCEPT in item:
                self.fail("0 and -1 (no intercept) are not allowed in inner parentheses", start)
            if add:
                terms = _unite(terms, item)
            else:
                terms = {key: term for key, term in terms.items() if key not in item}
            sign = self.take("+", "-")
            if not sign:
                return terms

    def _product(self) -> Sum:
        start, bars = self.token.start, len(self.bars)
        left = self._cross()
        while operator := self.take("*", "/"):
            right = self._cross()
            if operator == "*":
                left = _unite(left, right, self._multiply(left, right))
            else:
                whole = {p.text: p for term in left.values() for p in term}
                left = _unite(left, self._multiply({frozenset(whole): tuple(whole.values())}, right))
            self._refuse_bars(bars, operator, start)
        return left

    def _cross(self) -> Sum:
        start, bars = self.token.start, len(self.bars)
        left = self._power()
        while operator := self.take(":"):
            left = self._multiply(left, self._power())
            self._refuse_bars(bars, operator, start)
        return left

    def _power(self) -> Sum:
        start, bars = self.token.start, len(self.bars)
        left = self._atom()
        if operator := self.take("**", "^"):
            self._refuse_bars(bars, operator, start)
            kind, text, _ = self.token
            if kind != "number" or not text.isdecimal() or not 1 <= int(text[:3]) <= 20:
                self.fail(
                    f"after '{operator}' a whole number from 1 to 20 must follow; powers of x are I(x ** 2)"
                )
            self.at += 1
            power = left
            for _ in range(int(text) - 1):
                power = _unite(power, self._multiply(power, left))
            return power
        return left

    def _refuse_bars(self, before: int, operator: str, start: int) -> None:
        if len(self.bars) > before:
            self.fail(f"a random term can be added with '+', but not joined with '{operator}'", start)

    def _multiply(self, left: Sum, right: Sum) -> Sum:
        if len(left) * len(right) > _MOST_TERMS:
            self.fail(f"it multiplies out to more than {_MOST_TERMS} terms")
        product: Sum = {}
        for a in left.values():
            for b in right.values():
                both = {piece.text: piece for piece in (*a, *b)}
                product.setdefault(frozenset(both), tuple(both.values()))
        return product

    def _atom(self) -> Sum:
        kind, text, start = self.token
        if kind == "op" and text == "(":
            return self._parenthesis(start)
        if kind == "number":
            if text != "1":
                self.fail(f"the number {text} means nothing among terms; arithmetic is written I({text} * x)")
            self.at += 1
            return {_INTERCEPT: ()}
        if kind not in ("name", "quoted"):
            self.fail(
                f"a column or a term is missing before {text!r}" if text else "a column or a term is missing"
            )
        if self.calls():
            piece = read_call(self)
        else:
            name = self.name()
            piece = Piece(quote(name), name, (name,))
        return {frozenset([piece.text]): (piece,)}

    # -- random terms --------------------------------------------------------------------------------------

    def _parenthesis(self, start: int) -> Sum:
        self.at += 1
        if not self._bar_follows():
            if self.take(")"):
                self.fail("these parentheses are empty", start)
            inner = self._sum({}, top=False)
            self._close()
            return inner
        if self._inside_bar:
            self.fail("a random term is not allowed inside a random term", start)
        if self.take("|", "||"):
            self.fail("nothing comes before the '|'; an intercept for each rater is (1 | rater)", start + 1)
        self._inside_bar = True
        columns = self.read_sum()
        split = self.take("|", "||") == "||"
        if self.take("|", "||"):
            self.fail("a random term has one '|' or one '||'; spaces inside '||' are not allowed")
        groups = self._groups()
        self._close()
        self._inside_bar = False
        if not columns.intercept and not columns.terms:
            self.fail("the random term has no columns; an intercept for each rater is (1 | rater)", start)
        self.bars.append(Bar(columns, split, groups, start))
        return {}

    def _bar_follows(self) -> bool:
        depth = 0
        for kind, text, _ in self.tokens[self.at :]:
            if kind != "op":
                continue
            if text in ("|", "||") and depth == 0:
                return True
            depth += (text == "(") - (text == ")")
            if depth < 0:
                break
        return False

    def _groups(self) -> tuple[tuple[str, ...], ...]:
        if self.token.text == ")":
            self.fail("the grouping factor after '|' is missing; (1 | rater) has the group rater")
        groups: list[tuple[str, ...]] = []
        names: list[str] = []
        while True:
            if self.calls():
                self.fail("a grouping factor is a column, not a function; make the column first")
            start = self.token.start
            name = self.name()
            if name in names:
                self.fail(f"the grouping factor names {name!r} twice", start)
            names.append(name)
            if self.take(":"):
                continue
            groups.append(tuple(names))
            if not self.take("/"):
                break
        return tuple(groups)

    def _close(self) -> None:
        if self.take(")"):
            return
        text = self.token.text
        if text in ("|", "||"):
            self.fail("a random term has one '|' or one '||'")
        if text in ("+", "*", "-") and self._inside_bar:
            self.fail(f"groups are joined with ':' or '/', not '{text}'; two groups are (1 | a) + (1 | b)")
        self.finish()


def _unite(*sums: Sum) -> Sum:
    """Return the terms of all sums, each as it was first written: after a:b nothing becomes b:a."""
    united: Sum = {}
    for terms in sums:
        for key, term in terms.items():
            united.setdefault(key, term)
    return united
