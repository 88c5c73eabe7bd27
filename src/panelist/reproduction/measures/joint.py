"""One mixed model of all studies' ratings, with a term that lets systems differ differently in each study.

The model is ``rating ~ system * study`` with the largest random part of raters and items that the data
support (models/random_part.py), ordinal or linear as the ratings suggest; raters belong to their study, items
of the same name are the same. The test of ``system:study`` asks whether the systems' differences are the same
in all studies; two one-sided tests (Schuirmann 1987, doi:10.1007/BF01068419) ask for every pair of systems
whether the change of its difference between the original and a repeat is smaller than a margin. Not finding a
difference does not show that there is none; equivalence does. All tests are those of few raters and items
(models/inference/small_sample.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from panelist.analysis.fitting.stepping import fit_largest
from panelist.core.errors import BadModel, BadReproduction
from panelist.core.prose import count
from panelist.models.formulas.response import choose_family
from panelist.models.inference.hypotheses import UNTESTABLE
from panelist.models.random_part import choose_random
from panelist.numerics.arrays import Floats
from panelist.reproduction.aggregate import usable_rows
from panelist.reproduction.measures.telescopes import NORMAL
from panelist.reproduction.sources import Given

if TYPE_CHECKING:
    import pandas as pd

    from panelist.core.tables.ratings import Ratings
    from panelist.models.results.fitted import Fit

MARGIN = 0.31  # residual SDs: half the mean distance of thresholds in Howcroft & Rieser (2021)
MOST_ROWS = 100_000


@dataclass(frozen=True)
class EffectChange:
    """How far the difference a − b moved from the original to a repeat: estimate, interval, two tests.

    ``p`` is that of no change, ``p_equivalent`` that of a change beyond the margin (the larger of two
    one-sided tests); ``low`` and ``high`` are the interval of level 1 − 2α that goes with it.
    """

    repeat: str
    a: str
    b: str
    original: float
    again: float
    change: float
    se: float
    df: float
    low: float
    high: float
    p: float
    p_equivalent: float
    equivalent: bool

    @property
    def tested(self) -> bool:
        """Whether the change has a standard error to be compared with."""
        return not np.isnan(self.p)


@dataclass(frozen=True)
class JointModel:
    """The joint model of one criterion: its formula, the test of system × study, and every pair's change.

    ``margin`` is in residual standard deviations, ``margin_points`` the one declared in units of the ratings.
    """

    model: str
    link: str | None
    formula: str
    n: int
    statistic: float
    df: float
    den_df: float
    p: float
    margin: float
    confidence: float
    changes: tuple[EffectChange, ...]
    margin_points: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def units(self) -> str:
        """What the differences are in."""
        if self.model == "mixed":
            return "log-strengths"
        return "latent SDs" if self.model in ("clm", "clmm") else "points of the scale"

    @property
    def noun(self) -> str:
        """What was modelled: ratings or choices."""
        return "choices" if self.model == "mixed" else "ratings"

    @property
    def n_equivalent(self) -> int:
        """How many differences are shown to be the same within the margin."""
        return sum(one.equivalent for one in self.changes)

    def sentence(self) -> str:
        """Return both answers in words."""
        if np.isnan(self.p):
            return (
                f"In one model of all {self.n:,} {self.noun} it could not be tested whether the differences "
                "between systems changed: some are without limit, or nothing is left to estimate chance from."
            )
        p = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.3f}"
        kind = "ordinal" if self.model in ("clm", "clmm") else "mixed" if self.model == "mixed" else "linear"
        test = (
            f"χ²({self.df:.0f}) = {self.df * self.statistic:.2f}"
            if not np.isfinite(self.den_df)
            else f"F({self.df:.0f}, {self.den_df:.1f}) = {self.statistic:.2f}"
        )
        differ = "differ" if self.p < 1 - self.confidence else "are not shown to differ"
        within = f"±{self.margin:.2g} residual SDs"
        if self.margin_points is not None:
            within = f"±{self.margin_points:g} points"
        return (
            f"In one {kind} model of all {self.n:,} {self.noun} the differences between systems {differ} "
            f"between studies (system × study: {test}, {p}); {self.n_equivalent} of {len(self.changes)} "
            f"{'is' if self.n_equivalent == 1 else 'are'} shown to be the same within {within}."
        )


def fit_jointly(
    givens: Sequence[Given],
    labels: Sequence[str],
    systems: Sequence[str],
    *,
    mapped: bool = False,
    margin: float | None = None,
    confidence: float = 0.95,
    link: str = "probit",
) -> JointModel:
    """Return the joint model, or raise BadReproduction or BadModel that says why there is none.

    ``margin`` is in points of the scale; without one, changes within 0.31 residual standard deviations are no
    change. ``mapped`` says that ratings were converted from another scale: then the model is linear.
    """
    table, notes = _join(givens, labels, systems)
    ordinal = False
    if not mapped:
        ordinal, why = choose_family(table.frame["rating"].to_numpy(dtype=np.float64), ordered=False)
        notes.append(why)
    fitted, tried = _fit_steps(table, ordinal, link)
    linear = _fit_linear(fitted, table)
    if ordinal and (pair := _find_contradiction(fitted, linear, systems, labels)):
        notes.append(
            f"On {pair} the joint ordinal model contradicts a linear one that finds a difference, as it may "
            "where nearly all ratings are the same: the linear model was used."
        )
        ordinal = False
        fitted, more = _fit_steps(table, ordinal, link)
        tried, linear = [*tried, *more], fitted
    tests = fitted.anova()
    name = next((term for term in tests.terms if ":" in term and "study" in term), None)
    if name is None:
        raise BadModel(
            "The joint model has no term system × study: some system was never rated in some study."
        )
    found = UNTESTABLE if fitted.leaves_nothing else tests.tests[tests.terms.index(name)]
    unit = 1.0 if ordinal else float(fitted.sigma)
    spread = MARGIN if margin is None else margin / float(linear.sigma)
    changes = _find_changes(fitted, systems, labels, spread * unit, confidence)
    return JointModel(
        model=fitted.model,
        link=fitted.link,
        formula=fitted.formula,
        n=int(fitted.n),
        statistic=float(found.F),
        df=float(found.numdf) or nan,
        den_df=float(found.ddf),
        p=float(found.p),
        margin=spread,
        confidence=confidence,
        changes=changes,
        margin_points=margin,
        notes=tuple(dict.fromkeys([*notes, *tried])),
    )


def _join(
    givens: Sequence[Given], labels: Sequence[str], systems: Sequence[str]
) -> tuple[Ratings, list[str]]:
    """Return all ratings in one table, raters named with their study."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    notes: list[str] = []
    for given, label in zip(givens, labels, strict=True):
        if given.rows is None or given.choices:
            raise BadReproduction("A joint model needs the single ratings of every study.")
        frame, _ = usable_rows(given)
        frame = frame[frame["system"].isin(list(systems))]
        columns = {"system": frame["system"].astype(str), "rating": frame["rating"].astype(float)}
        if "rater" in frame:
            columns["rater"] = label + ": " + frame["rater"].astype(str)
        if "item" in frame:
            columns["item"] = frame["item"].astype(str)
        parts.append(pd.DataFrame(columns).assign(study=label))
    items = [set(part["item"]) if "item" in part else set() for part in parts]
    common = set.intersection(*items)
    if common:
        notes.append(
            f"{count(len(common), 'item', 'items')} of the same name: taken as the same in all studies."
        )
    elif any(items):
        notes.append("No item has the same name in all studies: items differ.")
    whole = pd.concat(parts, ignore_index=True).dropna()
    if len(whole) > MOST_ROWS:
        raise BadReproduction(
            f"A joint model is not fitted to more than {MOST_ROWS:,} ratings: {len(whole):,} here."
        )
    assert givens[0].rows is not None
    return replace(givens[0].rows, frame=whole, names={}, source="all studies", notes=()), notes


def _fit_steps(table: Ratings, ordinal: bool, link: str) -> tuple[Fit, list[str]]:
    """Return the fit with the largest random part that the ratings support, and how it was found."""
    from panelist.models.fit import fit

    part = choose_random(table.frame)
    model = ("clm" if ordinal else "lm") + ("m" if part.shapes else "")

    def fit_formula(text: str) -> Fit:
        return fit(_add_study(text), table, model=model, link=link)

    stepped = fit_largest(part, fit_formula)
    return stepped.fit, [_add_study(note) for note in stepped.notes]


def _add_study(text: str) -> str:
    """Return a formula, or a sentence that holds some, with systems that may differ in each study."""
    return text.replace("rating ~ system", "rating ~ system * study")


def _fit_linear(fitted: Fit, table: Ratings) -> Fit:
    """Return the linear model of the same formula, which is in points of the scale."""
    from panelist.models.fit import fit

    if fitted.model in ("lm", "lmm"):
        return fitted
    return fit(fitted.formula, table, model="lmm" if fitted.model == "clmm" else "lm")


def _find_contradiction(
    fitted: Fit, linear: Fit, systems: Sequence[str], labels: Sequence[str]
) -> str | None:
    """Return a pair of systems whose order in some study the two models see in opposite ways.

    Only differences count that the linear model, which does not break down where nearly all ratings are the
    same, finds beyond twice its standard error.
    """
    both = zip(
        _list_contrasts(fitted, systems, labels), _list_contrasts(linear, systems, labels), strict=True
    )
    for (again, a, b, *ordinal), (_, _, _, *straight) in both:
        for label, l, m in zip((labels[0], again), ordinal, straight, strict=True):
            there = float(m @ linear.beta)
            found = abs(there) > 2 * float(np.sqrt(max(float(m @ linear.vcov @ m), 0.0)))
            if found and there * float(l @ fitted.beta) < 0:
                return f"{a} and {b} ({label})"
    return None


def _find_changes(
    fitted: Fit, systems: Sequence[str], labels: Sequence[str], margin: float, confidence: float
) -> tuple[EffectChange, ...]:
    """Return, for every repeat and pair of systems, how far the difference moved."""
    found = []
    for again, a, b, first, second in _list_contrasts(fitted, systems, labels):
        l = second - first
        se = float(np.sqrt(max(float(l @ fitted.vcov @ l), 0.0)) * fitted.widen(l)[0])
        ends = float(first @ fitted.beta), float(second @ fitted.beta)
        found.append(find_change(again, (a, b), ends, se, float(fitted.degrees(l)[0]), margin, confidence))
    return tuple(found)


def _list_contrasts(
    fitted: Fit, systems: Sequence[str], labels: Sequence[str]
) -> list[tuple[str, str, str, Floats, Floats]]:
    """Return, for every repeat and pair a, b: the difference a − b in the original and there."""
    import pandas as pd

    grid = pd.DataFrame([(s, t) for t in labels for s in systems], columns=["system", "study"])
    X, _ = fitted.design.fixed.matrix(grid)
    rows = {(s, t): row for s, t, row in zip(grid["system"], grid["study"], X, strict=True)}
    return [
        (again, a, b, rows[a, labels[0]] - rows[b, labels[0]], rows[a, again] - rows[b, again])
        for again in labels[1:]
        for a, b in combinations(systems, 2)
    ]


def find_change(
    repeat: str,
    pair: tuple[str, str],
    ends: tuple[float, float],
    se: float,
    df: float,
    margin: float,
    confidence: float,
) -> EffectChange:
    """Return one change with its tests, which are nan where its standard error is not above 0."""
    from scipy.special import stdtr, stdtrit

    change = ends[1] - ends[0]
    se = se if se > 0 else nan
    df = min(df, NORMAL)
    reach = float(stdtrit(df, confidence)) * se
    p_equivalent = max(float(stdtr(df, (way * change - margin) / se)) for way in (1, -1))
    return EffectChange(
        repeat=repeat,
        a=pair[0],
        b=pair[1],
        original=ends[0],
        again=ends[1],
        change=change,
        se=se,
        df=df,
        low=change - reach,
        high=change + reach,
        p=2 * float(stdtr(df, -abs(change) / se)),
        p_equivalent=p_equivalent,
        equivalent=p_equivalent < 1 - confidence,
    )
