"""Truth × layout → responses, all data sets of a chunk at once.

A latent judgement of rater r, item i and system s is effect_s + u_rs + w_is + e: the effects of a rater (of
an item) on the systems are normal with the covariance of their spread, e is normal, with a standard deviation
of the system's and the rater's own where the truth has them. Ratings are the latent judgement cut at the
thresholds; where outputs are side by side, the highest of a page is chosen. Where each turn of a dialogue is
rated, the deviations of turn, reply and page of design/simulate.py come on top.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.design.simulate import TURN_SPREADS
from panelist.numerics.arrays import Floats
from panelist.power.layouts.base import Layout
from panelist.power.truth.base import Draw, Truth
from panelist.power.truth.cuts import Slider


def simulate_responses(
    truth: Truth, layout: Layout, effects: tuple[float, ...], rng: np.random.Generator, n_sets: int
) -> Any:
    """Return the responses of ``n_sets`` data sets, (n_sets, n_rows).

    They are codes 0, 1, … of ordered points, numbers from 0 to 100 of a slider, or, where the layout has
    pages, the latent judgements themselves, which the comparison of a page's outputs reads.
    """
    draw = truth.draw(rng, n_sets, effects)
    return draw_responses(truth, layout, draw, rng)


def draw_responses(
    truth: Truth, layout: Layout, draw: Draw, rng: np.random.Generator, items: Floats | None = None
) -> Any:
    """Return the responses to what was drawn; ``items`` are the items' effects where these are drawn too."""
    n_sets = len(draw.effects)
    latent = draw.effects[:, layout.system]
    for index, count, root, known in (
        (layout.rater, layout.n_raters, draw.rater_root, None),
        (layout.item, layout.n_items, draw.item_root, items),
    ):
        if known is None:
            known = rng.standard_normal((n_sets, count, layout.n_systems)) @ root.transpose(0, 2, 1)
        latent = latent + known[:, index, layout.system]
    if layout.turn is not None:
        latent += _draw_turns(layout, rng, n_sets)
    noise = rng.standard_normal(latent.shape)
    if truth.spreads:
        sds = truth.spread_out(layout.n_systems, rng, n_sets, layout.n_raters)
        latent += sds[:, layout.rater, layout.system] * noise
    else:
        latent += truth.residual * noise
    if layout.page is not None:
        return latent
    if isinstance(truth.cuts, Slider):
        return truth.cuts.read(latent)
    gains = truth.gains(layout.n_systems)
    return _cut(latent, draw.cuts, None if gains is None else gains[layout.system])


def _draw_turns(layout: Layout, rng: np.random.Generator, n_sets: int) -> Floats:
    """Return how turns of an item, systems on them, and the ratings of one rater of one output deviate."""
    assert layout.turn is not None
    turn = (layout.item, layout.turn)
    groups = {
        "turn": turn,
        "reply": (*turn, layout.system),
        "page": (layout.rater, layout.item, layout.system),
    }
    total: Floats = np.zeros((n_sets, layout.n_rows))
    for name, keys in groups.items():
        levels, index = np.unique(np.column_stack(keys), axis=0, return_inverse=True)
        total += TURN_SPREADS[name] * rng.standard_normal((n_sets, len(levels)))[:, index.reshape(-1)]
    return total


def _cut(latent: Floats, cuts: Floats, gains: Floats | None) -> NDArray[np.int64]:
    """Return how many thresholds lie below each judgement; ``gains`` are those of its row, (rows, cuts)."""
    codes = np.zeros(latent.shape, dtype=np.int64)
    for place in range(cuts.shape[1]):
        codes += (latent if gains is None else latent + gains[:, place]) > cuts[:, place, None]
    return codes
