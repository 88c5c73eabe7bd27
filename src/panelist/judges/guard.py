"""Raters whose answers follow a judge beyond what the other raters explain: a reason to look, no more.

An honest rater agrees with a good judge, because both see the same outputs; the mean of a few others does not
explain all of that. So no rater is compared with independence, but with the other raters: given the mean of
the others and the system, how much of the answer follows the judge, for each unit that follows the others?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import nan, sqrt
from typing import Any

import numpy as np
from scipy.special import stdtr

from panelist.core.display.formats import P_VALUE, TEXT, decimals
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.prose import count, listing
from panelist.judges.match import JudgedRatings
from panelist.judges.units import Units, make_units
from panelist.models.inference.adjust import adjust_holm
from panelist.numerics.arrays import Floats, Longs

LEAST_LEFT = 4
"""Outputs beyond one for each system and three, all shared with others and the judge, for a test."""
LEAST_RATERS = 4
"""Raters who must be comparable: how far honest people follow a judge is known from the others."""
MOST = 0.999
LEVEL = 0.05
NEVER = "A flag is a reason to look; nobody is left out because of it."


@dataclass(frozen=True)
class Following:
    """How far one rater's answers follow a judge's scores beyond what the other raters explain.

    Correlations within systems: with the mean of the other raters, with the judge, with the judge given the
    others (``partial``), and what that is for the other raters (``usual``). ``p`` is one-sided, and
    ``p_adjusted`` by Holm for all raters, judges and criteria tested together.
    """

    rater: str
    judge: str
    criterion: str
    n_outputs: int
    with_others: float
    with_judge: float
    partial: float
    usual: float
    p: float
    p_adjusted: float = nan

    @property
    def flagged(self) -> bool:
        """Whether it is a reason to look."""
        return self.p_adjusted < LEVEL


@dataclass(frozen=True)
class Guard(Result):
    """The raters who were tested, those who follow a judge most first."""

    raters: tuple[Following, ...] = field(default=())

    @property
    def flagged(self) -> tuple[Following, ...]:
        """Those with a reason to look."""
        return tuple(one for one in self.raters if one.flagged)

    def title(self) -> str:
        """Return the heading."""
        return "Raters who follow a judge"

    def sentence(self) -> str:
        """Return what was found, and that it decides nothing."""
        if not self.raters:
            return (
                "Whether a rater's answers follow a judge's cannot be said: that takes "
                f"{LEAST_RATERS} raters, each with more outputs than systems that others rated too."
            )
        names = list(dict.fromkeys(one.rater for one in self.flagged))
        tested = count(len({one.rater for one in self.raters}), "rater")
        if not names:
            return f"No rater's answers follow a judge's beyond what the other raters explain ({tested})."
        return (
            f"The answers of {listing(names)} follow a judge's beyond what the other raters explain "
            f"(of {tested}). {NEVER}"
        )

    def parts(self) -> list[Part]:
        """Return the finding, and the raters with a flag."""
        parts: list[Part] = [Sentence(self.sentence())]
        if not self.flagged:
            return parts
        rows = [
            (one.rater, one.judge, one.criterion, one.n_outputs, one.with_others, one.partial, one.usual,
             one.p_adjusted)
            for one in self.flagged
        ]  # fmt: skip
        head = ("rater", "judge", "criterion", "outputs", "r with others", "partial r", "usual", "p, Holm")
        form = {name: decimals(2) for name in ("r with others", "partial r", "usual")}
        note = (
            "Partial r: with the judge's scores given the other raters and the system; usual: that of the "
            "other raters. A rater who is more precise than the others follows a good judge too: look "
            f"at r with others. {NEVER}"
        )
        return [
            *parts,
            Table(
                self.title(), head, rows, {**form, "rater": TEXT, "p, Holm": P_VALUE}, note=note, name="guard"
            ),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return every rater tested."""
        return {
            "finding": self.sentence(),
            "level": LEVEL,
            "raters": [{**asdict(one), "flagged": one.flagged} for one in self.raters],
        }


def adjust_together(found: Sequence[Following]) -> Guard:
    """Return all tests of a table, with p-values by Holm."""
    p = adjust_holm(np.array([one.p for one in found]))
    done = [replace(one, p_adjusted=float(q)) for one, q in zip(found, p, strict=True)]
    return Guard(tuple(sorted(done, key=lambda one: (one.p, one.rater, one.judge, one.criterion))))


def follow_judges(beside: JudgedRatings) -> list[Following]:
    """Return how far each rater follows each judge on one criterion; nobody where raters are unknown."""
    if not beside.knows_raters:
        return []
    S = len(beside.systems)
    unit, group = beside.item * S + beside.system, np.arange(len(beside.items) * S) % S
    return [
        one
        for judge, grid in beside.scores.items()
        for one in measure_following(
            make_units(unit, beside.rater, beside.y, grid.ravel(), beside.raters),
            group,
            judge,
            beside.criterion,
        )
    ]


def measure_following(units: Units, group: Longs, judge: str, criterion: str) -> list[Following]:
    """Return how far each rater follows the judge; ``group`` is the system, or pair of systems, of each unit.

    Answers, the mean of the others (each rater's own mean taken out) and the judge's scores are centred
    within rater and system. A rater's partial correlation with the judge given the others, as Fisher's z, is
    compared with those of the other raters: their mean, and their spread τ² beyond chance (DerSimonian &
    Laird 1986), as a new member of that population would be (Higgins, Thompson & Spiegelhalter 2009).
    """
    known = units.answered()
    R = len(known.raters)
    seen = np.bincount(known.rater, minlength=R)
    mean = np.bincount(known.rater, weights=known.y, minlength=R) / np.maximum(seen, 1)
    level = replace(known, y=known.y - mean[known.rater])
    n, total, _ = level.sums()
    shared = n[level.unit] > 1
    unit, rater, y = level.unit[shared], level.rater[shared], level.y[shared]
    if not len(unit):
        return []
    others, f = (total[unit] - y) / (n[unit] - 1), known.f[unit]
    _, first, cell = np.unique(
        rater * (int(group.max()) + 1) + group[unit], return_index=True, return_inverse=True
    )
    size = np.bincount(cell)
    o, g, v = (x - (np.bincount(cell, weights=x) / size)[cell] for x in (others, f, y))
    outputs, cells = np.bincount(rater, minlength=R), np.bincount(rater[first], minlength=R)
    with_others, with_judge, partial = _correlate_each(
        *(_sum_by(rater, w, R) for w in (o * o, g * g, v * v, o * g, o * v, g * v))
    )
    left = outputs - cells - 3  # Fisher's z of a partial correlation has variance 1 / (n - controls - 3)
    able = np.flatnonzero((left >= LEAST_LEFT) & np.isfinite(partial))
    if len(able) < LEAST_RATERS:
        return []
    z, variance = np.arctanh(np.clip(partial[able], -MOST, MOST)), 1.0 / left[able]
    found = []
    for at, code in enumerate(able):
        usual, p = _compare(at, z, variance)
        found.append(
            Following(
                known.raters[code],
                judge,
                criterion,
                int(outputs[code]),
                float(with_others[code]),
                float(with_judge[code]),
                float(partial[code]),
                usual,
                p,
            )
        )
    return found


def _sum_by(rater: Longs, weights: Floats, R: int) -> Floats:
    return np.asarray(np.bincount(rater, weights=weights, minlength=R), dtype=np.float64)


def _correlate_each(
    oo: Floats, gg: Floats, vv: Floats, og: Floats, ov: Floats, gv: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return each rater's r with the others, with the judge, and with the judge given the others."""
    with np.errstate(divide="ignore", invalid="ignore"):
        r_ov, r_gv, r_og = ov / np.sqrt(oo * vv), gv / np.sqrt(gg * vv), og / np.sqrt(oo * gg)
        partial = (r_gv - r_ov * r_og) / np.sqrt((1 - r_ov**2) * (1 - r_og**2))
    flat = np.minimum(np.minimum(oo, gg), vv) < 1e-9
    return r_ov, r_gv, np.where(flat | (r_og**2 > 1 - 1e-9), nan, partial)


def _compare(at: int, z: Floats, variance: Floats) -> tuple[float, float]:
    """Return the others' usual partial correlation, and the one-sided p that a rater like them has more."""
    rest = np.arange(len(z)) != at
    x, v, G = z[rest], variance[rest], len(z) - 1
    w = 1 / v
    Q = float(w @ x**2 - (w @ x) ** 2 / w.sum())
    spread = max(0.0, (Q - (G - 1)) / float(w.sum() - (w @ w) / w.sum()))
    w = 1 / (v + spread)
    usual = float(w @ x / w.sum())
    whole = float(variance[at]) + spread + 1 / float(w.sum())
    return float(np.tanh(usual)), float(stdtr(G - 1, (usual - z[at]) / sqrt(whole)))
