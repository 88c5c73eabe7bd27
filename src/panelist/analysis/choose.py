"""Which model a table of ratings can bear: the family from the values, the random effects from the design.

Random effects. Conclusions are meant for other raters and other items, so both are random, and systems may
differ more for some raters and items than for others. The start is the largest model that the design can
identify (Barr, Levy, Scheepers & Tily 2013, doi:10.1016/j.jml.2012.11.001), decided for each factor alone:

- ``slopes``     (system | rater): every system has its own spread, and all correlate. Needs raters who saw
                 several systems, more than one rating in most cells rater × system, fewer random columns than
                 ratings, and at least as many raters as the k (k + 1) / 2 variances and correlations.
- ``cells``      (1 | rater) + (1 | rater:system): the same interaction with one spread for all systems and
                 one correlation. It is what is left when correlations are dropped from a factor's slopes
                 (they cannot be dropped one by one: that would depend on which system is the reference).
                 Taken from the start with more than six systems, or too few raters for slopes.
- ``intercept``  (1 | rater): for factors that saw one system each, or one rating a cell.

A factor with one level, or with a level a rating, is left out. If the fit is singular or does not converge,
the factors at fault step down (Bates, Kliegl, Vasishth & Baayen 2015, https://arxiv.org/abs/1506.04967), and
the first fit is kept that converged and is not singular. A zero variance of ``cells`` or ``intercept`` is no
reason to step down: leaving that term out gives the same likelihood and the same estimates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

Shape = Literal["slopes", "cells", "intercept"]
MOST_SLOPES = 6
_LOWER: dict[Shape, Shape] = {"slopes": "cells", "cells": "intercept", "intercept": "intercept"}


@dataclass(frozen=True)
class RandomPart:
    """The random effects of a comparison: for each grouping factor its shape, and why."""

    shapes: dict[str, Shape]
    notes: tuple[str, ...] = ()

    def formula(self) -> str:
        """Return the whole formula."""
        terms = ["system"]
        for group, shape in self.shapes.items():
            if shape == "slopes":
                terms.append(f"(system | {group})")
            else:
                terms.append(f"(1 | {group})")
            if shape == "cells":
                terms.append(f"(1 | {group}:system)")
        return "rating ~ " + " + ".join(terms)

    def lower(self, groups: set[str]) -> RandomPart | None:
        """Return the part with these groups one step down, or None if none of them can step."""
        shapes = {group: _LOWER[shape] if group in groups else shape for group, shape in self.shapes.items()}
        return None if shapes == self.shapes else replace(self, shapes=shapes)


def choose_random(frame: pd.DataFrame) -> RandomPart:
    """Return the largest random part that these ratings (rater, item, system; no gaps) can bear."""
    shapes: dict[str, Shape] = {}
    notes: list[str] = []
    n, k = len(frame), frame["system"].nunique()
    for group in ("rater", "item"):
        levels = frame[group].nunique() if group in frame else 0
        reason = _why_left_out(frame, group, levels, n, shapes)
        if reason:
            notes.append(reason)
            continue
        shapes[group], why = _choose_shape(frame, group, levels, n, k)
        notes.append(why)
        if levels < 5:
            notes.append(
                f"There are only {levels} {group}s: how much {group}s differ is hardly known, and what is "
                f"concluded reaches little beyond these {levels}."
            )
    if not shapes:
        notes.append("No random effects are left: the model takes all ratings as independent.")
    return RandomPart(shapes, tuple(notes))


def groups_at_fault(random: pd.DataFrame, correlations: pd.DataFrame, shapes: dict[str, Shape]) -> set[str]:
    """Return the groups whose slopes have a covariance without full rank (all of them if none shows)."""
    slopes = {group for group, shape in shapes.items() if shape == "slopes"}
    found = {group for group in slopes if _lacks_rank(random, correlations, group)}
    return found or slopes


def zero_terms(random: pd.DataFrame) -> list[str]:
    """Return the terms, as ``group`` or ``group (term)``, whose standard deviation is zero."""
    spread = random["sd"].to_numpy(dtype=float)
    rows = random[spread <= 1e-3 * max(float(np.nanmax(spread, initial=0.0)), 1e-12)]
    return [str(group) for group in dict.fromkeys(rows["group"])]


def _why_left_out(frame: pd.DataFrame, group: str, levels: int, n: int, taken: dict[str, Shape]) -> str:
    if levels == 0:
        return f"There is no column {group}: {group}s have no random effect."
    if levels == 1:
        return f"There is only one {group}: no random effect, and conclusions hold for this {group} alone."
    if levels == n:
        return (
            f"Every rating has its own {group}: {group}s cannot be told from noise and have no random effect."
        )
    for other in taken:
        if len(frame[[group, other]].drop_duplicates()) == levels == frame[other].nunique():
            return f"Each {group} goes with one {other}: one random effect stands for both."
    return ""


def _choose_shape(frame: pd.DataFrame, group: str, levels: int, n: int, k: int) -> tuple[Shape, str]:
    cells = frame.groupby([group, "system"], observed=True).size()
    systems_seen = cells.groupby(level=0).size()
    if float((systems_seen >= 2).mean()) < 0.5:
        return "intercept", f"{group}: (1 | {group}), for most {group}s met one system only."
    if float((cells >= 2).mean()) < 0.5 or len(cells) >= n:
        return "intercept", f"{group}: (1 | {group}), for most cells {group} × system hold one rating."
    parameters = k * (k + 1) // 2
    if k <= MOST_SLOPES and levels >= parameters and levels * k < n:
        return (
            "slopes",
            f"{group}: (system | {group}), for {group}s met several systems, more than once each.",
        )
    why = (
        f"{k} systems would need {parameters} variances and correlations"
        if k > MOST_SLOPES
        else f"{levels} {group}s are too few for {parameters} variances and correlations"
    )
    return "cells", f"{group}: (1 | {group}) + (1 | {group}:system), for {why}."


def _lacks_rank(random: pd.DataFrame, correlations: pd.DataFrame, group: str) -> bool:
    rows = random[random["group"] == group]
    if rows.empty:
        return False
    names = [str(name) for name in rows["term"]]
    sd = rows["sd"].to_numpy(dtype=float)
    R = np.eye(len(names))
    mine = correlations[correlations["group"] == group] if len(correlations) else correlations
    for a, b, r in zip(mine["a"], mine["b"], mine["r"], strict=True) if len(mine) else ():
        i, j = names.index(str(a)), names.index(str(b))
        R[i, j] = R[j, i] = r
    if not np.isfinite(R).all() or not np.isfinite(sd).all():
        return True  # a correlation with something that does not vary
    eigenvalues = np.linalg.eigvalsh(R * np.outer(sd, sd))
    return bool(eigenvalues[0] <= 1e-6 * max(float(eigenvalues[-1]), 1e-12))
