"""The largest random part that a table of ratings supports, decided only from who rated what.

Conclusions are meant for other raters and other items, so both are random, and systems may differ more for
some raters and items than for others. The start is the largest model that the design can identify (Barr,
Levy, Scheepers & Tily 2013, doi:10.1016/j.jml.2012.11.001), decided for each factor alone:

- ``slopes``     (system | rater): every system has its own spread, and all correlate. Needs raters who saw
                 several systems, half of the ratings or more in cells rater × system that they share, fewer
                 random columns than ratings, and at least as many raters as the k (k + 1) / 2 variances and
                 correlations.
- ``cells``      (1 | rater) + (1 | rater:system): the same interaction with one spread for all systems and
                 one correlation. It is what is left when correlations are dropped from a factor's slopes
                 (they cannot be dropped one by one: that would depend on which system is the reference).
                 Taken from the start with more than six systems, with too few raters for slopes, or where
                 fewer ratings share a cell, but a tenth of them do.
- ``intercept``  (1 | rater): for factors that saw one system each, or one rating in nearly every cell.

Where each turn of dialogues is rated (a column ``turn``), a rater gives several ratings to one output. These
shapes are then decided as if each output had been rated once, and two intercepts join them: (1 | item:turn),
because some turns are harder than others for every system, and (1 | rater:item:system), because the ratings
that one rater gives to the turns of one output are alike. What a system makes of one turn needs no term: the
item's slopes or cells hold its mean (docs/method.md).

Where systems never meet within a rater or an item, the shape steps down until it is identified
(models/identify.py). A factor with one level, or with one level per rating, is left out. No rating is used,
so that a plan can be judged before anybody is paid; fitting/choose.py says what follows where a fit is
singular nevertheless.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from panelist.core.notes import Note
from panelist.models.identify import Meetings, Shape, count_meetings, find_unidentified

if TYPE_CHECKING:
    import pandas as pd

MOST_SLOPES = 6
LEAST_SHARED = 0.1
AROUND = ("document", "doc", "topic", "batch", "list", "prompt_set")  # what items are often nested in
PAGE = ("rater", "item", "system")
WAVE = "wave"
FEWEST_AROUND = 5  # levels below which their spread is hardly known
_LOWER: dict[Shape, Shape] = {"slopes": "cells", "cells": "intercept", "intercept": "intercept"}


@dataclass(frozen=True)
class RandomPart:
    """The random effects of a comparison: for each grouping factor its shape, and why."""

    shapes: dict[str, Shape]
    notes: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    """Columns that items are nested in, such as documents: an intercept each."""
    within: tuple[str, ...] = ()
    """What ratings of turns are nested in, a turn of an item and an output of a rater: an intercept each."""
    beside: tuple[str, ...] = ()
    """Fixed effects beside the systems: the wave, where each has raters of its own."""

    def formula(self) -> str:
        """Return the whole formula."""
        around = [f"(1 | {name})" for name in (*self.around, *self.within)]
        return "rating ~ " + " + ".join(
            ["system", *self.beside, *(self.terms(group) for group in self.shapes), *around]
        )

    def terms(self, group: str) -> str:
        """Return the random terms of one group."""
        shape = self.shapes[group]
        cells = f" + (1 | {group}:system)" if shape == "cells" else ""
        return f"(system | {group})" if shape == "slopes" else f"(1 | {group}){cells}"

    def lower(self, groups: set[str]) -> RandomPart | None:
        """Return the part with these groups one step down, or None if none of them can step."""
        shapes = {group: _LOWER[shape] if group in groups else shape for group, shape in self.shapes.items()}
        return None if shapes == self.shapes else replace(self, shapes=shapes)


def choose_random(frame: pd.DataFrame, meetings: Meetings | None = None) -> RandomPart:
    """Return the largest random part that these ratings (rater, item, system; no gaps) support.

    ``meetings`` are those of the frame, where they have been counted already.
    """
    shapes: dict[str, Shape] = {}
    notes: list[str] = []
    every = frame
    if turned := has_turns(frame):
        frame, meetings = _take_first_turns(frame), None
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
                f"There are only {levels} {group}s: how much {group}s differ is hardly known, and "
                f"conclusions hold for little more than these {levels}."
            )
    if not shapes:
        notes.append("No random effects are left: the model treats all ratings as independent.")
    around, said = _find_around(frame) if "item" in shapes else ((), [])
    within, why_within = _find_within(every, shapes) if turned else ((), [])
    beside, why_beside = find_beside(every) if "rater" in shapes else ((), [])
    part = RandomPart(shapes, (*notes, *said, *why_within, *why_beside), around, within, beside)
    return _lower_unidentified(part, meetings or count_meetings(frame))


def find_beside(frame: pd.DataFrame) -> tuple[tuple[str, ...], list[str]]:
    """Return the fixed effects beside the systems, and why: the wave, if waves have raters of their own.

    It can be told from the systems if these connect the waves: each wave shares a system with another, and
    all hang together (connected two-way data: Searle 1971, Linear models, Wiley).
    """
    if WAVE not in frame or frame[WAVE].isna().any() or frame[WAVE].nunique() < 2:
        return (), []
    parts = [part for _, part in frame.groupby(WAVE, observed=True)]
    if len({frozenset(part["rater"].unique()) for part in parts}) == 1:
        return (), []
    shown = [set(part["system"].unique()) for part in parts]
    joined, rest = shown[0], shown[1:]
    while linked := [part for part in rest if part & joined]:
        joined = joined.union(*linked)
        rest = [part for part in rest if not part & joined]
    if rest:
        return (), [
            "Waves have raters of their own and no system in common: wave and system are confounded, and a "
            "difference between systems of two waves may be one between their raters."
        ]
    return (WAVE,), [
        f"{len(shown)} waves have raters of their own: wave is a fixed effect, so that a "
        "system is not credited with milder raters."
    ]


def has_turns(frame: pd.DataFrame) -> bool:
    """Return whether turns of items are rated: a column ``turn`` that tells ratings of an item apart."""
    if "turn" not in frame or "item" not in frame or frame["turn"].isna().any():
        return False
    return len(frame[["item", "turn"]].drop_duplicates()) > frame["item"].nunique()


def _take_first_turns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one rating of each output by each rater (and occasion): that of the first turn."""
    page = [name for name in PAGE if name in frame]
    codes = frame["turn"].astype("category").cat.codes
    first = codes.groupby([frame[name] for name in page], observed=True).transform("min")
    return frame[(codes == first).to_numpy()]


def _find_within(frame: pd.DataFrame, shapes: dict[str, Shape]) -> tuple[tuple[str, ...], list[str]]:
    """Return the groups that ratings of turns add, and why; none that another group stands for."""
    found: list[str] = []
    notes: list[str] = []
    sizes = {len(frame), *(frame[name].nunique() for name in shapes)}
    turns = len(frame[["item", "turn"]].drop_duplicates())
    items = len(frame["item"].drop_duplicates())
    if items > 1 and turns not in sizes:
        found.append("item:turn")
        notes.append(
            "turn: (1 | item:turn), because some turns of an item are harder than others for all systems."
        )
    if all(name in frame for name in PAGE):
        pages = len(frame[list(PAGE)].drop_duplicates())
        if pages not in sizes | {turns}:
            found.append(":".join(PAGE))
            notes.append(
                "page: (1 | rater:item:system), because the ratings that a rater gives to the turns of one "
                "output are alike."
            )
    return tuple(found), notes


def _find_around(frame: pd.DataFrame) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns that items are nested in and that have enough levels to vary, and why."""
    items, found = frame["item"].nunique(), list[str]()
    sizes: list[int] = []
    notes = []
    for name in AROUND:
        if name not in frame or frame[name].isna().any():
            continue
        pairs, levels = frame[["item", name]].drop_duplicates(), frame[name].nunique()
        if len(pairs) != items or not FEWEST_AROUND <= levels < items or levels in sizes:
            continue
        found.append(name)
        sizes.append(levels)
        notes.append(
            f"{name}: (1 | {name}), because the {items:,} items come from {levels:,} {name}s, and those of "
            f"one {name} may be alike."
        )
    return tuple(found), notes


def _lower_unidentified(part: RandomPart, meetings: Meetings) -> RandomPart:
    """Return the part with those groups stepped down whose systems do not meet as their shape needs."""
    notes = list(part.notes)
    while lost := find_unidentified(part.shapes, meetings):
        lower = part.lower(lost)
        if lower is None:
            break
        for group in sorted(lost, reverse=True):
            if lower.shapes[group] != part.shapes[group]:
                notes.append(
                    f"{group}: {lower.terms(group)} instead, because some systems never meet within one "
                    f"{group}."
                )
        part = lower
    return replace(part, notes=tuple(notes))


def _why_left_out(frame: pd.DataFrame, group: str, levels: int, n: int, taken: dict[str, Shape]) -> str:
    if levels == 0:
        return f"There is no column {group}: {group}s have no random effect."
    if levels == 1:
        return f"There is only one {group}: no random effect, and conclusions hold for this {group} alone."
    if levels == n:
        return (
            f"Every rating has its own {group}: {group}s cannot be separated from noise and have no random "
            "effect."
        )
    for other in taken:
        if len(frame[[group, other]].drop_duplicates()) == levels == frame[other].nunique():
            return f"Each {group} goes with one {other}: one random effect stands for both."
    return ""


def _choose_shape(frame: pd.DataFrame, group: str, levels: int, n: int, k: int) -> tuple[Shape, str]:
    cells = frame.groupby([group, "system"], observed=True).size()
    systems_seen = cells.groupby(level=0, observed=True).size()
    if float((systems_seen >= 2).mean()) < 0.5:
        return "intercept", f"{group}: (1 | {group}), because most {group}s met only one system."
    shared = float(cells[cells >= 2].sum()) / n  # of the ratings, not of the cells: they hold the evidence
    if shared < LEAST_SHARED:
        return "intercept", (
            f"{group}: (1 | {group}), because nearly all cells {group} × system hold one rating."
        )
    parameters = k * (k + 1) // 2
    if shared >= 0.5 and k <= MOST_SLOPES and levels >= parameters and levels * k < n:
        return (
            "slopes",
            Note(
                "slopes",
                f"{group}: (system | {group}), because {group}s met several systems, more than once each.",
            ),
        )
    if k > MOST_SLOPES:
        why = f"{k} systems would need {parameters} variances and correlations"
    elif shared < 0.5:
        why = f"{100 * shared:.0f} % of the ratings share a cell {group} × system"
    else:
        why = f"{levels} {group}s are too few for {parameters} variances and correlations"
    return "cells", f"{group}: (1 | {group}) + (1 | {group}:system), because {why}."
