"""One mixed model of all studies' ratings, with a term that lets systems differ otherwise in each study.

The model is ``rating ~ system * study`` with the largest random part of raters and items that the data bear
(models/random_part.py), ordinal or linear as the ratings suggest; raters belong to their study, items of the
same name are the same. The test of ``system:study`` asks whether the systems' differences are the same in all
studies; two one-sided tests (Schuirmann 1987, doi:10.1007/BF01068419) ask of every pair of systems whether
the change of its difference between the original and a repeat is smaller than a margin. Not finding a
difference does not show that there is none; equivalence does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.analysis.choose import groups_at_fault
from panelist.core.errors import BadModel, BadReproduction
from panelist.models.formulas.response import choose_family
from panelist.models.random_part import RandomPart, choose_random
from panelist.reproduction.aggregate import usable_rows
from panelist.reproduction.sources import Given

if TYPE_CHECKING:
    import pandas as pd

    from panelist.core.ratings import Ratings
    from panelist.models.fitted import Fit

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
    low: float
    high: float
    p: float
    p_equivalent: float
    equivalent: bool


@dataclass(frozen=True)
class JointModel:
    """The joint model of one criterion: its formula, the test of system × study, and every pair's change."""

    model: str
    link: str | None
    formula: str
    n: int
    statistic: float
    df: float
    den_df: float
    p: float
    margin: float
    level: float
    changes: tuple[EffectChange, ...]
    notes: tuple[str, ...] = ()

    @property
    def n_equivalent(self) -> int:
        """How many differences are shown to be the same within the margin."""
        return sum(one.equivalent for one in self.changes)

    def sentence(self) -> str:
        """Return both answers in words."""
        p = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.3f}"
        kind = "ordinal" if self.model in ("clm", "clmm") else "linear"
        test = (
            f"χ²({self.df:.0f}) = {self.df * self.statistic:.2f}"
            if not np.isfinite(self.den_df)
            else f"F({self.df:.0f}, {self.den_df:.1f}) = {self.statistic:.2f}"
        )
        differ = "differ" if self.p < 1 - self.level else "are not shown to differ"
        return (
            f"In one {kind} model of all {self.n:,} ratings the differences between systems {differ} between "
            "studies "
            f"(system × study: {test}, {p}); {self.n_equivalent} of {len(self.changes)} "
            f"{'is' if self.n_equivalent == 1 else 'are'} shown to be the same within ±{self.margin:g}."
        )


def fit_jointly(
    givens: Sequence[Given],
    labels: Sequence[str],
    systems: Sequence[str],
    *,
    mapped: bool = False,
    margin: float = MARGIN,
    level: float = 0.95,
    link: str = "probit",
) -> JointModel:
    """Return the joint model, or raise BadReproduction or BadModel that says why there is none.

    ``margin`` is in residual standard deviations: of the latent scale of an ordinal model, of single ratings
    of a linear one. ``mapped`` says that ratings were carried over from another scale: then the model is
    linear.
    """
    if not (np.isfinite(margin) and margin > 0):
        raise BadReproduction(f"The margin of equivalence must be above 0, in residual SDs. Got {margin:g}.")
    table, notes = _join(givens, labels, systems)
    ordinal = False
    if not mapped:
        ordinal, why = choose_family(table.frame["rating"].to_numpy(dtype=np.float64), ordered=False)
        notes.append(why)
    fitted, tried = _fit_steps(table, ordinal, link)
    tests = fitted.test_terms()
    name = next((term for term in tests.terms if ":" in term and "study" in term), None)
    if name is None:
        raise BadModel(
            "The joint model has no term system × study: some system was never rated in some study."
        )
    found = tests.tests[tests.terms.index(name)]
    unit = 1.0 if ordinal else float(fitted.sigma)
    return JointModel(
        model=fitted.model,
        link=fitted.link,
        formula=fitted.formula,
        n=int(fitted.n),
        statistic=float(found.F),
        df=float(found.numdf),
        den_df=float(found.ddf),
        p=float(found.p),
        margin=margin,
        level=level,
        changes=_find_changes(fitted, systems, labels, margin * unit, level),
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
        notes.append(f"{len(common):,} items of the same name are taken as the same in all studies.")
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
    """Return the first fit, from the largest random part down, that converged and is not singular in
    slopes."""
    from panelist.models.fit import fit

    part = choose_random(table.frame)
    notes: list[str] = []
    while True:
        model = ("clm" if ordinal else "lm") + ("m" if part.shapes else "")
        formula = part.formula().replace("~ system", "~ system * study", 1)
        slopes = {group for group, shape in part.shapes.items() if shape == "slopes"}
        suspects = slopes or {group for group, shape in part.shapes.items() if shape == "cells"}
        fitted: Any = None
        try:
            fitted = (
                fit(formula, table, model=model, link=link) if ordinal else fit(formula, table, model=model)
            )
        except BadModel:
            if not suspects:
                raise
            trouble = "could not be fitted"
        else:
            trouble = "" if fitted.converged else "did not converge"
            if fitted.converged and fitted.singular and slopes:
                trouble = "was singular"
                suspects = groups_at_fault(fitted.covariances, part.shapes)
        lower: RandomPart | None = part.lower(suspects) if trouble else None
        if lower is None:
            if trouble:
                notes.append("The joint model did not converge, not even the smallest: do not rely on it.")
            return fitted, notes
        notes.append(f"{formula} {trouble}: a smaller random part was taken.")
        part = lower


def _find_changes(
    fitted: Fit, systems: Sequence[str], labels: Sequence[str], margin: float, level: float
) -> tuple[EffectChange, ...]:
    """Return, for every repeat and pair of systems, how far the difference moved."""
    import pandas as pd
    from scipy.special import stdtr, stdtrit

    grid = pd.DataFrame([(s, t) for t in labels for s in systems], columns=["system", "study"])
    X, _ = fitted.design.fixed.matrix(grid)
    place = {(s, t): row for row, (s, t) in enumerate(zip(grid["system"], grid["study"], strict=True))}
    found = []
    for again in labels[1:]:
        for a, b in combinations(systems, 2):
            first = X[place[a, labels[0]]] - X[place[b, labels[0]]]
            second = X[place[a, again]] - X[place[b, again]]
            l = second - first
            change, se = float(l @ fitted.beta), float(np.sqrt(max(l @ fitted.vcov @ l, 0.0)))
            df = float(fitted.degrees(l[None, :])[0])
            tail = [float(stdtr(min(df, 1e9), -value / se)) for value in (change + margin, margin - change)]
            reach = float(stdtrit(min(df, 1e9), level)) * se
            found.append(
                EffectChange(
                    repeat=again,
                    a=a,
                    b=b,
                    original=float(first @ fitted.beta),
                    again=float(second @ fitted.beta),
                    change=change,
                    se=se,
                    low=change - reach,
                    high=change + reach,
                    p=2 * float(stdtr(min(df, 1e9), -abs(change) / se)),
                    p_equivalent=max(tail),
                    equivalent=max(tail) < 1 - level,
                )
            )
    return tuple(found)
