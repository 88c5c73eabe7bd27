"""Formulas as lme4 writes them: ``rating ~ system + (system | rater) + (1 | item)``."""

from dataclasses import dataclass, replace
from functools import lru_cache

from panelist.core.errors import BadFormula
from panelist.models.formulas.terms import Bar, Reader, Terms, read_terms
from panelist.models.formulas.tokens import EXAMPLE, quote


@dataclass(frozen=True)
class RandomTerm:
    """One random term: which columns vary over the levels of which grouping factor.

    ``columns`` is a right-hand side that is explicit about its intercept ("1 + system"), ``group`` the
    grouping factor ("rater", "item:system"), ``grouping`` its columns; ``split``: the term came from ``||``.
    """

    columns: str
    group: str
    text: str
    grouping: tuple[str, ...]
    split: bool = False


@dataclass(frozen=True)
class Formula:
    """A parsed formula; ``fixed`` says whether it has an intercept, ``random`` has no a/b and no ``||``."""

    text: str
    response: str
    fixed: str
    random: tuple[RandomTerm, ...]
    variables: frozenset[str]
    nominal: str = ""  # right-hand sides beside the location, "1 + system"; empty where there is none
    scale: str = ""
    pooled: str = ""  # the term of the scale effects that have a prior: a grouping factor, "C(rater, Sum)"
    stretch: tuple[RandomTerm, ...] = ()  # the random part of the scale effects: one "(1 | rater)", or none


@lru_cache(maxsize=256)
def parse_formula(text: str) -> Formula:
    """Return the formula that the text means, or raise BadFormula that points at the mistake.

    >>> formula = parse_formula("score ~ system*group + (1 | item/system) + (length || rater)")
    >>> formula.fixed
    '1 + system + group + system:group'
    >>> [term.text for term in formula.random]
    ['(1 | item)', '(1 | item:system)', '(1 | rater)', '(0 + length | rater)']

    The notation is that of Bates, Mächler, Bolker & Walker (2015), table 2, https://doi.org/10.18637/jss.v067.i01
    """
    reader = Reader(text)
    response = _read_response(reader)
    fixed = reader.read_sum()
    reader.finish()
    random = tuple(term for bar in reader.bars for term in _spell_out(bar))
    _refuse_repeats(reader, random)
    predictors = fixed.variables.union(
        *(read_terms(term.columns).variables for term in random), *(term.grouping for term in random)
    )
    if response in predictors:
        reader.fail(f"{response!r} is on both sides of '~'", 0)
    return Formula(
        text=" ".join(reader.text.split()),
        response=response,
        fixed=fixed.text,
        random=random,
        variables=predictors | {response},
    )


def add_sides(formula: Formula, nominal: str | None, scale: str | None) -> Formula:
    """Return the formula with the right-hand sides of nominal and of scale effects, such as "~ system"."""
    given = {name: _read_side(text, name) for name, text in (("nominal", nominal), ("scale", scale)) if text}
    if not given:
        return formula
    sides = {name: terms for name, (terms, _) in given.items()}
    stretch = given["scale"][1] if scale else ()
    for name, terms in sides.items():
        if formula.response in terms.variables:
            raise BadFormula(
                f"The {name} effects use the ratings themselves, {formula.response!r}. Use what explains it."
            )
    if len(sides) == 2 and (both := sides["nominal"].variables & sides["scale"].variables):
        one = min(both)
        raise BadFormula(
            f"{one!r} is in nominal and in scale. Thresholds of its own can do all that a spread of its own "
            f"does: leave it out of one; scale='~ {one}' has fewer parameters, and comes first."
        )
    for name in (name for term in stretch for name in term.grouping if name in sides["scale"].variables):
        raise BadFormula(
            f"{name!r} has a spread of each level and random spreads: use scale='~ {name}' or "
            f"scale='~ (1 | {name})', not both."
        )
    variables = formula.variables.union(
        *(terms.variables for terms in sides.values()), *(term.grouping for term in stretch)
    )
    written = {name: Terms(True, terms.terms).text for name, terms in sides.items() if terms.terms}
    # Only a factor by itself: a system that is crossed with raters in the random part is not one of them.
    groups = {"rater", *(term.grouping[0] for term in formula.random if len(term.grouping) == 1)}
    items = written.get("scale", "").split(" + ")
    for one in [item for item in items if item in groups][:1]:  # nobody is the norm: effects sum to zero
        written["pooled"] = f"C({one}, Sum)"
        written["scale"] = " + ".join(written["pooled"] if item == one else item for item in items)
    nominal, scale, pooled = (written.get(name, "") for name in ("nominal", "scale", "pooled"))
    return replace(formula, variables=variables, nominal=nominal, scale=scale, pooled=pooled, stretch=stretch)


def _read_side(text: str, name: str) -> tuple[Terms, tuple[RandomTerm, ...]]:
    """Return the terms of "~ system", and a random spread "(1 | rater)"; the tilde may be missing."""
    if not isinstance(text, str):
        raise BadFormula(f"The {name} effects are a text such as {name}='~ system'. Got {text!r}.")
    reader = Reader(text, f"{name}='~ system'")
    reader.take("~")
    if reader.token.kind == "end":
        reader.fail(f"the {name} effects name no variable")
    terms = reader.read_sum()
    if reader.token[:2] == ("op", "~"):
        reader.fail(f"{name} effects are a right-hand side alone")
    reader.finish()
    random = tuple(term for bar in reader.bars for term in _spell_out(bar))
    if random and name == "nominal":
        reader.fail(
            "a random term cannot be among the nominal effects; the nearest that can be: nominal='~ system'",
            reader.bars[0].start,
        )
    if len(random) > 1 or any(term.columns != "1" for term in random):
        reader.fail(
            "scale effects have one random term, and its spreads do not depend on anything else: "
            "scale='~ (1 | rater)'",
            reader.bars[-1].start,
        )
    if not terms.terms and not random:
        reader.fail(f"the {name} effects have no term", 0)
    return terms, random


def _read_response(reader: Reader) -> str:
    tildes = [token for token in reader.tokens if token[:2] == ("op", "~")]
    if len(reader.tokens) == 1:
        raise BadFormula(f"The formula is empty. A right one: {EXAMPLE}")
    if not tildes:
        reader.fail("there is no '~' between the ratings and what explains them", reader.tokens[-1].start)
    if reader.take("~"):
        reader.fail("the column of the ratings is missing before '~'", 0)
    if reader.calls():
        reader.fail("a function is not allowed before '~'; name one column, and make it first if needed")
    response = reader.name()
    if not reader.take("~"):
        reader.fail(f"one column name must come before '~', and {reader.token.text!r} follows it")
    if reader.token.kind == "end":
        reader.fail("nothing follows '~'; a mean alone is rating ~ 1")
    return response


def _spell_out(bar: Bar) -> list[RandomTerm]:
    """Return the plain terms of one bar, as lme4: ``||`` split into its terms, ``a/b`` into a and a:b."""
    parts = [bar.columns]
    if bar.split:
        parts = [Terms(True, ())] * bar.columns.intercept + [
            Terms(False, (term,)) for term in bar.columns.terms
        ]
    terms = []
    for grouping in bar.groups:
        group = ":".join(quote(name) for name in grouping)
        for part in parts:
            terms.append(RandomTerm(part.text, group, f"({part.text} | {group})", grouping, bar.split))
    return terms


def _refuse_repeats(reader: Reader, random: tuple[RandomTerm, ...]) -> None:
    seen: set[tuple[frozenset[str], frozenset[str]]] = set()
    for term in random:
        columns = read_terms(term.columns)
        key = (
            frozenset(term.grouping),
            frozenset(
                [str(columns.intercept), *(":".join(sorted(p.text for p in t)) for t in columns.terms)]
            ),
        )
        if key in seen:
            reader.fail(
                f"the random term {term.text} occurs twice (a/b means a and a:b); leave one out",
                reader.bars[-1].start,
            )
        seen.add(key)
