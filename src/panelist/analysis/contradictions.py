"""Where a conclusion is contradicted: by the other kind of analysis, by the means, or by the model's own fit.

An automatic sentence is quoted without its page. So what speaks against it stands in the sentence, first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Literal

from panelist.analysis.comparison import MODEL_WORDS, CriterionComparison
from panelist.analysis.conclusions import Disagreement, conclude, find_disagreements
from panelist.core.formats import number

if TYPE_CHECKING:
    import pandas as pd

Code = Literal["analyses", "means", "fit"]
MOST_TOLD = 3
FAR = 0.1  # of the range of the scale: how far a system's expected rating may lie from its mean


@dataclass(frozen=True)
class Contradiction:
    """What speaks against a comparison's conclusion, in one sentence."""

    code: Code
    sentence: str


def find_contradictions(
    main: CriterionComparison,
    other: CriterionComparison | None,
    used: "pd.DataFrame",
    expected: Mapping[str, float],
) -> tuple[Contradiction, ...]:
    """Return what contradicts ``main``; ``other`` is the other kind of analysis of the same ratings.

    ``used`` holds the ratings behind it, ``expected`` the rating that the model expects of each system.
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
    names = [f"the {MODEL_WORDS[one.model]}" for one in (main, other)]
    worst = sorted(differ, key=lambda one: -abs(_surprise(one)))[:MOST_TOLD]
    told = [one.sentence(*names).rstrip(".") for one in worst]
    more = f"; so do {len(differ) - len(told)} other pairs" if len(differ) > len(told) else ""
    return f"two analyses of the same ratings disagree: {'; '.join(told)}{more}"


def _surprise(one: Disagreement) -> float:
    """Return how far apart two conclusions are: opposite signs first, then the ratio of the p-values."""
    from math import log

    opposite = {one.first, one.second} == {"higher", "lower"}
    known = isfinite(one.first_p) and isfinite(one.second_p)
    return 1e6 * opposite + (log(max(one.first_p, 1e-12) / max(one.second_p, 1e-12)) if known else 0.0)


def _observe(used: "pd.DataFrame") -> dict[str, float]:
    """Return the mean rating of each system; none where ratings are words."""
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(used["rating"]):
        return {}
    means = used.groupby("system", observed=True)["rating"].mean()
    return {str(name): float(mean) for name, mean in means.items()}


def _tell_means(main: CriterionComparison, means: Mapping[str, float]) -> list[str]:
    told = []
    for pair in main.pairs:
        verdict = conclude(pair, main.level)
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
