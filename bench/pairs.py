"""Do the tests of pairs hold their level? Familywise error of unbalanced studies, equivalence at its margin.

``python -m bench.pairs --studies 2000`` prints a row for each case: the share of studies with nothing to find
in which something was found, and its 95 % interval.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from panelist.analysis.compare import compare_systems
from panelist.analysis.systems.pairwise import adjust_pairs
from panelist.core.seeds import stream
from panelist.models.fit import fit
from panelist.models.inference.contrasts import contrast_pairs

CELLS = "rating ~ system + (1 | rater) + (1 | rater:system) + (1 | item) + (1 | item:system)"
ALPHA = 0.05


def make_study(
    rng: np.random.Generator,
    raters: int,
    items: int,
    systems: int,
    spread: tuple[float, float],
    *,
    thin: float = 1.0,
    effect: float = 0.0,
    points: bool = False,
) -> pd.DataFrame:
    """Return one study; ``spread`` are the SDs of rater:system and item:system.

    The last system is rated on the share ``thin`` of the items, and lies ``effect`` above the others.
    """
    r, i, s = (grid.ravel() for grid in np.meshgrid(*map(np.arange, (raters, items, systems)), indexing="ij"))
    latent = rng.normal(size=len(r)) + effect * (s == systems - 1)
    latent += rng.normal(0, 0.5, raters)[r] + rng.normal(0, 0.5, items)[i]
    latent += (
        rng.normal(0, spread[0], (raters, systems))[r, s] + rng.normal(0, spread[1], (items, systems))[i, s]
    )
    frame = pd.DataFrame({"rater": r, "item": i, "system": s, "rating": latent}).astype(
        {"rater": str, "item": str, "system": str}
    )
    if points:
        frame["rating"] = np.searchsorted([-1.5, -0.5, 0.5, 1.5], latent) + 1.0
    return frame[(s < systems - 1) | (i < round(thin * items))]


def find_false_pairs(frame: pd.DataFrame) -> dict[str, bool]:
    """Return by adjustment whether any pair of systems that are alike is called different."""
    fitted = fit(CELLS, frame, model="lmm")
    found = {}
    for adjust in ("tukey", "mvt", "holm", "none"):
        found[adjust] = bool((contrast_pairs(fitted, "system", adjust).p_adjusted < ALPHA).any())
    last = sorted(frame["system"].unique())[-1]

    def contrast(adjust: str, reference: str | None) -> Any:
        return contrast_pairs(fitted, "system", adjust, reference=reference)

    found["dunnett"] = bool((adjust_pairs(contrast, "tukey", last)[1].p_adjusted < ALPHA).any())
    return found


def find_false_equivalence(frame: pd.DataFrame, model: str, margin: float) -> dict[str, bool]:
    """Return whether two systems exactly a margin apart are called equivalent."""
    compared = compare_systems(frame, model=model, formula=CELLS, margin=margin).criteria[0]
    return {f"equivalent ({model})": compared.equivalence[0].p < ALPHA}


def expected_difference(effect: float, spread: tuple[float, float]) -> float:
    """Return the difference in points that a latent effect makes, for raters and items in general."""
    from scipy.special import ndtr

    wide = np.sqrt(1 + 0.5 + spread[0] ** 2 + spread[1] ** 2)
    cuts = np.array([-1.5, -0.5, 0.5, 1.5])
    return float(np.sum(ndtr((effect - cuts) / wide) - ndtr(-cuts / wide)))


def list_cases() -> Iterator[tuple[str, Callable[[np.random.Generator], dict[str, bool]]]]:
    """Return each case with what is asked of one of its studies."""
    shapes = ((8, 12, 3, 0.3, 0.3), (8, 12, 4, 0.5, 0.5), (5, 20, 4, 0.3, 0.5), (6, 12, 6, 0.3, 0.3))
    for raters, items, systems, first, second in shapes:
        for thin in (1.0, 0.25):
            name = f"{raters}×{items}×{systems}; {first}, {second}; last on {100 * thin:.0f} % of the items"
            yield name, partial(_ask_pairs, raters, items, systems, (first, second), thin)
    for raters, items, spread in ((8, 12, (0.3, 0.3)), (5, 30, (0.3, 0.5)), (24, 40, (0.3, 0.3))):
        for model, what in (("lmm", "equivalence"), ("clmm", "equivalence in points")):
            name = f"{what}, {raters}×{items}×2; {spread[0]}, {spread[1]}; difference = margin"
            yield name, partial(_ask_equivalence, raters, items, spread, model)


def _ask_pairs(
    raters: int, items: int, systems: int, spread: tuple[float, float], thin: float, rng: np.random.Generator
) -> dict[str, bool]:
    return find_false_pairs(make_study(rng, raters, items, systems, spread, thin=thin))


def _ask_equivalence(
    raters: int, items: int, spread: tuple[float, float], model: str, rng: np.random.Generator
) -> dict[str, bool]:
    points = model == "clmm"
    frame = make_study(rng, raters, items, 2, spread, effect=0.6, points=points)
    return find_false_equivalence(frame, model, expected_difference(0.6, spread) if points else 0.6)


def main() -> None:
    """Print the share of studies with a false finding, case by case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    given = parser.parse_args()
    for name, ask in list_cases():
        if given.only not in name:
            continue
        found = [ask(stream(given.seed, "pairs", name, str(study))) for study in range(given.studies)]
        for what in found[0]:
            share = float(np.mean([one[what] for one in found]))
            reach = 1.96 * np.sqrt(max(share * (1 - share), 1e-4) / len(found))
            print(
                f"{name:62} {what:20} {share:.3f} ({max(share - reach, 0):.3f}–{share + reach:.3f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
