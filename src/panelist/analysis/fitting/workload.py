"""Tables too large for the largest model: what it would cost, and what is fitted in its place.

An evaluation of the likelihood eliminates the effects of the factor with more of them, a block of c effects
per level, and is left with a dense matrix of all q effects of the other factor: about levels · c · q² steps,
some sixty times over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from panelist.core.notes import Note
from panelist.models.formulas.response import choose_family
from panelist.models.random_part import choose_random

if TYPE_CHECKING:
    import pandas as pd

FEW_ROWS = 50_000
MOST_WORK = 4e9  # steps of one evaluation: a fit takes minutes


def lighten_formula(frame: pd.DataFrame) -> tuple[str | None, str]:
    """Return a formula that can be fitted in reasonable time and why it was taken; None where none is needed.

    ``frame`` has the ratings of one criterion.
    """
    groups = [name for name in ("rater", "item") if name in frame]
    if len(frame) <= FEW_ROWS or "system" not in frame or not groups:
        return None, ""
    used = frame[["system", *groups, *(name for name in ("turn", "wave") if name in frame)]].dropna()
    part = choose_random(used)
    if all(shape == "intercept" for shape in part.shapes.values()):
        return None, ""
    k = used["system"].nunique()
    levels = {name: used[name].nunique() for name in part.shapes}
    effects = {name: levels[name] * (1 if part.shapes[name] == "intercept" else k) for name in levels}
    first = max(effects, key=lambda name: effects[name])
    others = sum(size for name, size in effects.items() if name != first)
    if effects[first] * others**2 <= MOST_WORK:
        return None, ""
    counts = " and ".join(f"{levels[name]:,} {name}s" for name in levels)
    terms = " + ".join([*part.beside, *(f"(1 | {name})" for name in (*part.shapes, *part.within))])
    note = Note(
        "lightened",
        f"The largest model, {part.formula()}, would take too long for {len(used):,} ratings of {counts}: "
        "only their levels are random here, and differences may look surer than they are. To use it "
        "nevertheless, declare it in the study file (analysis: formula:).",
    )
    return f"rating ~ system + {terms}", note


def compile_for(frame: pd.DataFrame) -> None:
    """Compile everything that these ratings will need at once, so that there is only one wait."""
    from panelist.numerics.compile_ahead import list_parts, prepare

    rating = frame["rating"]
    ordered = rating.dtype == "category"
    if not ordered and rating.dtype.kind not in "iufb":
        return  # words: the reason is given where they are read
    values = np.asarray(rating.cat.codes if ordered else rating, dtype=np.float64)
    ordinal, _ = choose_family(values, ordered=ordered)
    prepare(*list_parts("clmm" if ordinal else "lmm", "clm" if ordinal else "lm"), "agreement")
