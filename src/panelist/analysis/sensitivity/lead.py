"""Which analysis of a criterion is the main one, and what is said where another contradicts it.

Ordered categories are analysed by an ordinal model, unless its Laplace approximation cannot be trusted
(models/inference/laplace_error.py measures it): where raters are nearly unanimous, the integral over an
output is far from normal, and estimates can be wrong by any amount. Then the linear mixed model leads. It
needs no approximation, and its tests of differences hold their level for two or three raters, two or five
points, half or nearly all outputs unanimous (docs/method.md has the simulation). It leads as well where
the ratings of two systems hardly overlap, so that the ordinal model has neither estimate nor test of their
difference. The ordinal model is shown beside it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from panelist.analysis.sensitivity.conclusions import Disagreement, conclude, find_disagreements
from panelist.analysis.systems.common_items import find_common_items
from panelist.analysis.systems.comparison import CriterionComparison, list_pairs
from panelist.analysis.systems.marginal import estimate_marginal, find_term, make_grid
from panelist.core.display.formats import number
from panelist.core.errors import PanelistError
from panelist.core.prose import count, listing
from panelist.models.inference.contrasts import contrast_pairs, estimate_means
from panelist.models.inference.small_sample import SmallSample
from panelist.models.predictions.predict import category_points
from panelist.models.results.fitted import MODEL_WORDS

if TYPE_CHECKING:
    import pandas as pd

    from panelist.models.results.fitted import Fit


def choose_lead(
    main: CriterionComparison,
    used: "pd.DataFrame",
    compare_by: Callable[[str], CriterionComparison],
    free: bool,
) -> CriterionComparison:
    """Return the comparison that leads, with what contradicts it; ``main`` is the one that was made.

    ``compare_by`` makes the comparison by another model; ``free`` says that the model was not asked for.
    """
    if not main.fit.ordinal:
        return replace(main, contradictions=find_contradictions(main, None, used, {}))
    faults = find_faults(main.fit, find_term(main))
    untested = [] if faults else find_untested(main)
    if not faults and not untested:
        found = find_contradictions(main, _read_analogue(main), used, _expect(main))
        return replace(main, contradictions=found)
    told = [_tell_faults(faults)] if faults else []
    off = (
        f"cannot be trusted: its approximation is off here, {faults[0]}"
        if faults
        else _tell_untested(untested)
    )
    main = replace(main, notes=(*told, *main.notes))
    if free:
        try:
            linear = compare_by("lmm" if main.model == "clmm" else "lm")
        except PanelistError:
            off += ", and no linear model could be fitted in its place"
        else:
            found = find_contradictions(linear, None, used, {})
            why = f"The linear model leads, because the ordinal one {off}."
            notes = (*told, *linear.notes)
            return replace(linear, why=why, beside=main, contradictions=found, notes=notes)
    found = find_contradictions(main, _read_analogue(main), used, _expect(main))
    return replace(main, why=f"The ordinal model {off}.", contradictions=found)


def contradict_again(
    found: CriterionComparison, main: CriterionComparison, used: "pd.DataFrame"
) -> CriterionComparison:
    """Return a comparison with what contradicts it, where its model took the place of that of ``main``."""
    if found.fit is main.fit:
        return found
    told = find_contradictions(found, _read_analogue(main), used, _expect(found))
    return replace(found, contradictions=told)


def find_faults(fit: "Fit", term: str) -> list[str]:
    """Return what is off in the Laplace approximation behind a fit, nothing where it can be trusted.

    It must hold for the differences between the levels of ``term``. A fit in which a level is separated is
    not judged by it: separated.py handles that.
    """
    error = getattr(fit, "laplace_error", None)
    if error is None or np.isnan(fit.vcov).any():
        return []
    grid = make_grid(fit, term)
    rows = estimate_means(fit, term).L if fit.has_latent_differences else grid.average(grid.X)
    pairs = np.array([a - b for a, b in combinations(rows, 2)])
    if fit.prior is not None and fit.find_loose(pairs).any():
        return []
    return [] if error.holds_for(pairs) else list(error.faults(pairs))


def find_untested(main: CriterionComparison) -> list[str]:
    """Return the pairs of systems whose ratings lie so far apart that an ordinal model could not test them.

    Systems at one end of the scale are not among them: separated.py gives those a test.
    """
    if not np.isnan(main.fit.vcov).any():
        return []
    return [f"{pair.a} and {pair.b}" for pair in main.pairs if np.isnan(pair.p) and not pair.reason]


def _tell_untested(untested: list[str]) -> str:
    named = listing(untested[:MOST_TOLD], None)
    more = f" and of {count(len(untested) - MOST_TOLD, 'other pair')}" if len(untested) > MOST_TOLD else ""
    return f"has no finite estimate of the difference of {named}{more}: their ratings hardly overlap"


def _tell_faults(faults: list[str]) -> str:
    return (
        "The Laplace approximation of the ordinal model cannot be trusted here. Measured level by level, "
        f"it is off: {'; '.join(faults)}. That happens where outputs have few ratings that nearly all agree."
    )


def _read_analogue(main: CriterionComparison) -> CriterionComparison | None:
    """Return the linear analysis with the same formula, which the tests of the ordinal one fitted already."""
    small: Any = main.fit.uncertainty
    if not isinstance(small, SmallSample):
        small = SmallSample(main.fit.design) if main.model == "clmm" else None
    if small is None or small.linear is None:
        return None
    pairs = contrast_pairs(
        small.as_fitted(), find_term(main), main.adjust, main.confidence, reference=main.reference
    )
    return replace(main, model="lmm", link=None, pairs=list_pairs(pairs, pairs.estimate * nan))


def _expect(main: CriterionComparison) -> Mapping[str, float]:
    """Return the rating that the model expects for each system, averaged over raters and items."""
    points = category_points(main.fit)
    if points is None:
        return {}
    try:
        grid = make_grid(main.fit, find_term(main))
        expected = estimate_marginal(main.fit, grid) @ points
    except PanelistError:
        return {}
    return {name: float(value) for name, value in zip(grid.systems, expected, strict=True)}


Code = Literal["analyses", "means", "fit"]
MOST_TOLD = 3
FAR = 0.1  # of the range of the scale: how far a system's expected rating may lie from its mean


@dataclass(frozen=True)
class Contradiction:
    """What contradicts a comparison's conclusion, in one sentence."""

    code: Code
    sentence: str


def find_contradictions(
    main: CriterionComparison,
    other: CriterionComparison | None,
    used: "pd.DataFrame",
    expected: Mapping[str, float],
) -> tuple[Contradiction, ...]:
    """Return what contradicts ``main``; ``other`` is the other kind of analysis of the same ratings.

    ``used`` holds the ratings behind it, ``expected`` the rating that the model expects for each system.
    """
    found: list[Contradiction] = []
    if other is not None and (differ := find_disagreements(main, other)):
        found.append(Contradiction("analyses", _tell_analyses(main, other, differ)))
    means = _observe(used)
    found += [Contradiction("means", text) for text in _tell_means(main, means)]
    found += [Contradiction("fit", text) for text in _tell_fit(main, means, expected, used)]
    return tuple(found)


def _tell_analyses(
    main: CriterionComparison, other: CriterionComparison, differ: tuple[Disagreement, ...]
) -> str:
    names = f"the {MODEL_WORDS[main.model]} says", f"the {MODEL_WORDS[other.model]}"
    worst = sorted(differ, key=lambda one: -abs(_surprise(one)))[:MOST_TOLD]
    told = [one.sentence(*names).rstrip(".") for one in worst]
    rest = len(differ) - len(told)
    more = f"; the same holds for {count(rest, 'other pair')}" if rest else ""
    return f"two analyses of the same ratings disagree: {'; '.join(told)}{more}"


def _surprise(one: Disagreement) -> float:
    """Return how far apart two conclusions are: opposite signs first, then the ratio of the p-values."""
    from math import log

    opposite = {one.first, one.second} == {"higher", "lower"}
    known = isfinite(one.first_p) and isfinite(one.second_p)
    return 1e6 * opposite + (log(max(one.first_p, 1e-12) / max(one.second_p, 1e-12)) if known else 0.0)


def _observe(used: "pd.DataFrame") -> dict[str, float]:
    """Return the mean rating of each system, on the items of all where they were judged on different ones.

    There are none where ratings are words.
    """
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(used["rating"]):
        return {}
    common, unequal = find_common_items(used)
    if common and unequal:
        return {one.system: one.common_mean for one in unequal}
    means = used.groupby("system", observed=True)["rating"].mean()
    return {str(name): float(mean) for name, mean in means.items()}


def _tell_means(main: CriterionComparison, means: Mapping[str, float]) -> list[str]:
    told = []
    for pair in main.pairs:
        verdict = conclude(pair, main.confidence)
        if verdict not in ("higher", "lower") or not {pair.a, pair.b} <= set(means):
            continue
        above, below = (pair.a, pair.b) if verdict == "higher" else (pair.b, pair.a)
        if means[above] < means[below] - 1e-9:
            told.append(
                f"{above} comes out above {below}, and yet its mean rating is the lower one "
                f"({number(means[above], 2)} and {number(means[below], 2)})"
            )
    return told[:MOST_TOLD]


def _tell_fit(
    main: CriterionComparison, means: Mapping[str, float], expected: Mapping[str, float], used: "pd.DataFrame"
) -> list[str]:
    if not means or not expected:
        return []
    span = float(used["rating"].max() - used["rating"].min())
    off = {
        name: abs(expected[name] - means[name])
        for name in means
        if name in expected and isfinite(expected[name]) and abs(expected[name] - means[name]) > FAR * span
    }
    worst = sorted(off, key=lambda name: -off[name])[:MOST_TOLD]
    told = [
        f"{number(expected[name], 2)} for {name}, whose mean is {number(means[name], 2)}" for name in worst
    ]
    model = f"the {MODEL_WORDS[main.model]}"
    return [f"{model} does not reproduce the ratings: it expects {'; '.join(told)}"] if told else []
