"""Function calls in formulas: ``C(system, Sum)``, ``np.log(x)``, ``I(x ** 2)``; no others are allowed."""

from dataclasses import dataclass
from typing import Literal, NoReturn

from panelist.core.errors import nearest, suggest
from panelist.models.formulas.tokens import TokenStream, quote

NUMPY_FUNCTIONS = ("abs", "exp", "expm1", "log", "log10", "log1p", "log2", "sqrt", "square")
NUMBER_FUNCTIONS = frozenset(
    ["I", "abs", "center", "exp", "log", "log10", "log2", "poly", "scale", "sqrt", "standardize"]
    + [f"np.{name}" for name in NUMPY_FUNCTIONS]
)
CONTRASTS = {  # R's names as formulaic spells them, and patsy's
    f"{prefix}{name}": kind
    for kind in ("treatment", "sum", "helmert", "poly", "diff")
    for prefix, name in (("contr.", kind), ("", kind.capitalize()))
}
_INSTEAD = {"factor": "C", "as.factor": "C", "ordered": "C", "offset": "I", "as.numeric": "I"}
_KEYWORDS = frozenset(["center", "ddof", "degree", "raw", "rescale", "scale"])


@dataclass(frozen=True)
class Piece:
    """One factor of a term: a plain column, a column made categorical, or a function of numbers.

    ``text`` is what formulaic reads, ``label`` what the columns of the matrix are called after.
    """

    text: str
    label: str
    variables: tuple[str, ...]
    kind: Literal["plain", "factor", "number"] = "plain"
    contrast: str = "treatment"
    base: str | None = None


def read_call(words: TokenStream) -> Piece:
    """Return the piece for the function call that comes next.

    >>> read_call(TokenStream("C(system, contr.treatment(base='b'))"))
    ... # doctest: +NORMALIZE_WHITESPACE
    Piece(text="C(system, contr.treatment('b'))", label="C(system, contr.treatment('b'))",
          variables=('system',), kind='factor', contrast='treatment', base='b')
    """
    name = words.token.text
    if name == "C":
        return _factor(words)
    if name not in NUMBER_FUNCTIONS:
        if name in CONTRASTS:
            words.fail(f"{name} is a coding and belongs inside C(), as in C(system, {name})")
        _unknown_function(words, name)
    start = words.token.start
    variables: dict[str, None] = {}
    text = _call(words, variables)
    if not variables:
        words.fail(f"{text} uses no column", start)
    return Piece(text, text, tuple(variables), "number")


def _factor(words: TokenStream) -> Piece:
    words.at += 2
    if words.token.text == ")":
        words.fail("C() needs a column, as in C(system)")
    column = words.name()
    contrast, base, coding = "treatment", None, ""
    if words.take(","):
        kind, spelling, _ = words.token
        if kind != "name" or spelling not in CONTRASTS:
            words.fail(f"{spelling!r} is not a coding; known are {', '.join(sorted(CONTRASTS))}")
        words.at += 1
        contrast, coding = CONTRASTS[spelling], f", {spelling}"
        if words.take("("):
            base = _base(words, spelling) if contrast == "treatment" else None
            _close(words, spelling)
        if base is not None:
            coding += f"({base!r})"
        elif spelling == "Treatment":
            coding += "()"  # in formulaic a function, where the other codings are classes
    _close(words, "C")
    text = f"C({quote(column)}{coding})"
    return Piece(text, text, (column,), "factor", contrast, base)


def _base(words: TokenStream, spelling: str) -> str | None:
    if words.token.text in ("reference", "base") and words.tokens[words.at + 1].text == "=":
        words.at += 2
    kind, text, _ = words.token
    if kind == "op" and text == ")":
        return None
    if kind not in ("string", "number"):
        words.fail(f'the reference level is written in quotation marks, as in {spelling}("b")')
    words.at += 1
    return text  # levels are text, so Treatment(2) is the level called 2


def _close(words: TokenStream, function: str) -> None:
    if not words.take(")"):
        words.fail(f"{function}(…) takes no further argument here, and {words.token.text!r} was found")


# -- arithmetic on numbers: each function returns the checked text and notes the columns it met


def _call(words: TokenStream, variables: dict[str, None]) -> str:
    name = words.token.text
    if name not in NUMBER_FUNCTIONS:
        _unknown_function(words, name)
    words.at += 2
    if words.token.text == ")":
        words.fail(f"{name}() needs a column, as in {name}(x)")
    arguments = [_argument(words, variables)]
    while words.take(","):
        arguments.append(_argument(words, variables))
    _close(words, name)
    return f"{name}({', '.join(arguments)})"


def _argument(words: TokenStream, variables: dict[str, None]) -> str:
    kind, name, _ = words.token
    if kind != "name" or words.tokens[words.at + 1].text != "=":
        return _sum(words, variables)
    if name not in _KEYWORDS:
        words.fail(f"{name!r} is not an allowed argument; known are {', '.join(sorted(_KEYWORDS))}")
    words.at += 2
    value = words.token
    if value.kind != "number" and value.text not in ("True", "False"):
        words.fail(f"{name} must be a number, True or False")
    words.at += 1
    return f"{name}={value.text}"


def _sum(words: TokenStream, variables: dict[str, None]) -> str:
    text = _product(words, variables)
    while operator := words.take("+", "-"):
        text = f"{text} {operator} {_product(words, variables)}"
    return text


def _product(words: TokenStream, variables: dict[str, None]) -> str:
    text = _power(words, variables)
    while operator := words.take("*", "/"):
        text = f"{text} {operator} {_power(words, variables)}"
    return text


def _power(words: TokenStream, variables: dict[str, None]) -> str:
    minus = "-" if words.take("-") else ""
    columns: dict[str, None] = {}
    base = _value(words, columns)
    variables.update(columns)
    if operator := words.take("**", "^"):
        if words.take("-"):
            operator += "-"
        # Only a column may be raised: Python would work for years on 9 ** 9 ** 9.
        kind, exponent, _ = words.token
        if kind != "number" or not columns:
            words.fail("a power is a column raised to a number, as in I(x ** 2)")
        words.at += 1
        if words.token.text in ("**", "^"):
            words.fail("powers of powers need parentheses, as in I((x ** 2) ** 3)")
        base = f"{base} ** {'-' * operator.endswith('-')}{exponent}"
    return minus + base


def _value(words: TokenStream, variables: dict[str, None]) -> str:
    kind, text, _ = words.token
    if kind == "number":
        words.at += 1
        if text.isdecimal() and len(text) > 15:
            words.fail("this number is too long")
        return text.lstrip("0") or "0" if text.isdecimal() else text
    if kind == "op" and text == "(":
        words.at += 1
        inner = _sum(words, variables)
        _close(words, "I")
        return f"({inner})"
    if kind == "string":
        words.fail("text is not allowed in arithmetic")
    if words.calls():
        return _call(words, variables)
    name = words.name()
    variables[name] = None
    return quote(name)


def _unknown_function(words: TokenStream, name: str) -> NoReturn:
    """Raise BadFormula about a function that is not allowed."""
    allowed = sorted([*NUMBER_FUNCTIONS, "C"])
    near = [_INSTEAD[name]] if name in _INSTEAD else nearest(name, allowed)
    words.fail(f"the function {name!r} is not allowed.{suggest(near)} Allowed are {', '.join(allowed)}")
