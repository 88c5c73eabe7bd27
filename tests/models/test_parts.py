"""A fit whose parts are factorised one by one is the fit by one dense matrix, level by level."""

import numpy as np
import pandas as pd
import pytest

from panelist.models.blocks import pattern as blocks
from panelist.models.fit import fit

FORMULA = "rating ~ system + (1 | rater) + (1 | rater:system) + (1 | item) + (1 | item:system)"


def make_frame() -> pd.DataFrame:
    """Return ratings by raters drawn for each output anew: no factor is nested in another."""
    rng = np.random.default_rng(5)
    raters, items, systems = 80, 70, 7
    item, system = (grid.ravel() for grid in np.meshgrid(range(items), range(systems), indexing="ij"))
    rater = np.array([rng.choice(raters, 4, replace=False) for _ in item]).ravel()
    item, system = np.repeat(item, 4), np.repeat(system, 4)
    latent = rng.normal(0.0, 0.6, systems)[system] + rng.normal(0.0, 1.0, len(item))
    latent += rng.normal(0.0, 0.7, raters)[rater] + rng.normal(0.0, 0.5, items)[item]
    latent += rng.normal(0.0, 0.4, (raters, systems))[rater, system]
    latent += rng.normal(0.0, 0.6, (items, systems))[item, system]
    names = {"rater": rater, "item": item, "system": system}
    frame = pd.DataFrame({name: [f"{name[0]}{n}" for n in codes] for name, codes in names.items()})
    return frame.assign(rating=np.searchsorted([-1.2, -0.2, 0.6, 1.5], latent) + 1)


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_parts_change_nothing_but_the_time(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = make_frame()
    found = fit(FORMULA, frame, model=model)
    pattern = blocks.find_pattern(found.design.factors)
    assert len(pattern.bounds) == 7 + 1
    none = np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    monkeypatch.setattr(blocks, "_find_parts", lambda factors: none)
    dense = fit(FORMULA, frame, model=model)
    assert found.loglik == pytest.approx(dense.loglik, rel=1e-10)
    np.testing.assert_allclose(found.beta, dense.beta, atol=1e-6)
    np.testing.assert_allclose(found.vcov, dense.vcov, atol=1e-6)
    for ours, theirs in zip(found.solution.modes, dense.solution.modes, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    for ours, theirs in zip(found.solution.deviations, dense.solution.deviations, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_threads_are_counted_by_the_largest_block() -> None:
    factors = fit(FORMULA, make_frame(), model="lmm").design.factors
    pattern = blocks.find_pattern(factors)
    assert blocks.largest_block(pattern) == max(80 + 70, int(np.diff(pattern.bounds).max()))
    assert blocks.largest_block(pattern) < pattern.q
