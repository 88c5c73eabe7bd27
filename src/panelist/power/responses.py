"""Truth × layout → responses, all data sets of a chunk at once.

A latent judgement of rater r, item i and system s is effect_s + u_rs + w_is + e: the effects of a rater (of
an item) on the systems are normal with the covariance of their spread, e is normal. Ratings are the latent
judgement cut at the thresholds; where outputs are side by side, the highest of a page is chosen.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.numerics.arrays import Floats
from panelist.power.layouts.base import Layout
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import Slider


def simulate_responses(
    truth: Truth, layout: Layout, effects: tuple[float, ...], rng: np.random.Generator, n_sets: int
) -> Any:
    """Return the responses of ``n_sets`` data sets, (n_sets, n_rows).

    They are codes 0, 1, … of ordered points, numbers from 0 to 100 of a slider, or, where the layout has
    pages, the latent judgements themselves, which the comparison of a page's outputs reads.
    """
    draw = truth.draw(rng, n_sets, effects)
    latent = draw.effects[:, layout.system]
    for index, count, root in (
        (layout.rater, layout.n_raters, draw.rater_root),
        (layout.item, layout.n_items, draw.item_root),
    ):
        z = rng.standard_normal((n_sets, count, layout.n_systems))
        latent = latent + (z @ root.transpose(0, 2, 1))[:, index, layout.system]
    latent += truth.residual * rng.standard_normal(latent.shape)
    if layout.page is not None:
        return latent
    if isinstance(truth.cuts, Slider):
        return truth.cuts.read(latent)
    return _cut(latent, draw.cuts)


def _cut(latent: Floats, cuts: Floats) -> NDArray[np.int64]:
    """Return how many thresholds lie below each judgement."""
    codes = np.zeros(latent.shape, dtype=np.int64)
    for place in range(cuts.shape[1]):
        codes += latent > cuts[:, place, None]
    return codes
