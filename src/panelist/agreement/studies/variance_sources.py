"""Which sources of variance the rows of a ratings table can separate, and which they should."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from panelist.agreement.statistics.components import code_levels
from panelist.core.errors import BadRatings, UnknownName, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

FACETS = ("system", "item", "rater")
MOST_LEVELS = 2_000  # of all factors but the largest: their block in the model is dense


def choose_effects(frame: "pd.DataFrame", names: Sequence[str], notes: list[str]) -> list[str]:
    """Return the main effects and interactions of two that the rows can separate; note the others."""
    facets = [name for name in names if name in frame and len(frame[name].unique()) > 1]
    if "rater" not in facets:
        raise BadRatings("One rater only: the variance between raters cannot be estimated.")
    wanted = [*facets, *(":".join(pair) for pair in combinations(facets, 2))] if len(facets) > 2 else facets
    kept: list[str] = []
    codes: list[Any] = []
    sizes: list[int] = []
    for effect in wanted:
        code = code_levels(frame, effect)
        n = int(code.max()) + 1
        if n == len(frame):
            notes.append(f"{effect} cannot be separated from the residual: each of its cells has one rating")
        elif any(n == size and _same(code, other) for size, other in zip(sizes, codes, strict=True)):
            notes.append(f"{effect} is left out: it divides the rows as another source does")
        elif ":" in effect and n + sum(sizes) - max(n, *sizes) > MOST_LEVELS:
            notes.append(f"{effect} ({n:,} levels) stays in the residual: too many levels for one model")
        else:
            kept.append(effect)
            codes.append(code)
            sizes.append(n)
    return kept


def check_object(frame: "pd.DataFrame", target: str, present: Sequence[str]) -> None:
    """Refuse objects that ratings cannot distinguish: with one rating each, or one rater of its own each."""
    if target not in frame or (target in present and len(frame[target].unique()) < 2):
        raise UnknownName(f"No source of variance is called {target!r}. {did_you_mean(target, present)}")
    objects = code_levels(frame, target)
    if objects.max() + 1 == len(frame):
        raise BadRatings(
            f"Each {target} has one rating, so {target}s cannot be separated from errors of rating."
        )
    for facet in FACETS:
        if facet != target and facet in frame and _same(objects, code_levels(frame, facet)):
            raise BadRatings(
                f"Each {target} has one {facet} of its own, so {target}s cannot be separated from {facet}s, "
                f"and no reliability can be given. It takes two {facet}s or more for each {target}."
            )
    if target not in present:
        raise UnknownName(f"No source of variance is called {target!r}. {did_you_mean(target, present)}")


def check_effects(frame: "pd.DataFrame", effects: Sequence[str]) -> list[str]:
    """Return the effects that were asked for, if their columns are there."""
    for part in (part for effect in effects for part in effect.split(":")):
        if part not in frame:
            raise UnknownName(f"No column is called {part!r}. {did_you_mean(part, list(frame.columns))}")
    return list(effects)


def has_outputs(frame: "pd.DataFrame") -> bool:
    """Return whether one system made several texts of an item, so that texts are what is judged."""
    if "text" not in frame or ("system" in frame and len(frame["system"].unique()) > 1):
        return False
    return "item" in frame and frame["text"].nunique() > frame["item"].nunique()


def name_outputs(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows with a column for what was judged: a text, or an item of a system."""
    named = [name for name in ("item", "system", "turn") if name in frame]
    columns = ["text"] if has_outputs(frame) else named
    return frame.assign(output=frame.groupby(columns, observed=True).ngroup().astype(str))


def _same(a: Any, b: Any) -> bool:
    """Return whether two codings of the rows make the same groups; both number them as they first appear."""
    return bool((a == b).all())
