"""Threshold structures, and where a search begins."""

import numpy as np
import pytest

from panelist.core.errors import BadModel, UnknownName
from panelist.models.likelihoods.thresholds import STRUCTURES, make_thresholds
from panelist.models.search.starts import start_alpha
from tests.models.oracle import LINKS


def categories(count: int) -> tuple[str, ...]:
    return tuple(str(k) for k in range(1, count + 1))


@pytest.mark.parametrize("count", [2, 3, 7])
def test_flexible_thresholds_are_themselves(count: int) -> None:
    made = make_thresholds("flexible", categories(count))
    assert made.names == made.between == tuple(f"{k}|{k + 1}" for k in range(1, count))
    np.testing.assert_array_equal(made.J, np.eye(count - 1))


@pytest.mark.parametrize("count", [3, 4, 8])
def test_equidistant_thresholds_have_one_spacing(count: int) -> None:
    made = make_thresholds("equidistant", categories(count))
    assert made.names == ("threshold.1", "spacing")
    np.testing.assert_allclose(np.diff(made.J @ np.array([-1.0, 0.7])), 0.7)


@pytest.mark.parametrize("count", [4, 5, 6, 7, 8])
def test_symmetric_thresholds_mirror_about_their_centre(count: int) -> None:
    made = make_thresholds("symmetric", categories(count))
    alpha = np.random.default_rng(count).normal(size=made.J.shape[1])
    values = made.J @ alpha
    np.testing.assert_allclose(values + values[::-1], np.full(count - 1, values[0] + values[-1]), atol=1e-12)
    assert np.linalg.matrix_rank(made.J) == made.J.shape[1] == count // 2 + (count % 2)


def test_symmetric_thresholds_are_named_as_in_r() -> None:
    """R's ordinal, makeThresholds: an odd number has one in the centre, an even number two."""
    odd, even = make_thresholds("symmetric", categories(6)), make_thresholds("symmetric", categories(5))
    assert odd.names == ("central", "spacing.1", "spacing.2")
    assert even.names == ("central.1", "central.2", "spacing.1")
    np.testing.assert_allclose(odd.J @ [0.5, 1.0, 2.5], [-2.0, -0.5, 0.5, 1.5, 3.0])
    np.testing.assert_allclose(even.J @ [-0.5, 0.5, 2.0], [-2.5, -0.5, 0.5, 2.5])


@pytest.mark.parametrize("kind", STRUCTURES)
def test_solving_returns_the_parameters_of_thresholds_that_fit(kind: str) -> None:
    made = make_thresholds(kind, categories(6))
    alpha = np.linspace(0.3, 1.4, made.J.shape[1])
    np.testing.assert_allclose(made.solve(made.J @ alpha), alpha, atol=1e-12)


@pytest.mark.parametrize(("kind", "count"), [("equidistant", 2), ("symmetric", 3), ("symmetric", 2)])
def test_structures_refuse_too_few_categories(kind: str, count: int) -> None:
    with pytest.raises(BadModel, match=r"categories or more; use threshold='flexible'"):
        make_thresholds(kind, categories(count))


def test_an_unknown_structure_is_named() -> None:
    with pytest.raises(UnknownName, match=r"'symetric'.*'symmetric'"):
        make_thresholds("symetric", categories(5))


@pytest.mark.parametrize("link", LINKS)
def test_the_search_begins_at_the_margins(link: str) -> None:
    codes = np.repeat([0, 1, 2, 3], [5, 20, 40, 35]).astype(np.int32)
    alpha = start_alpha(codes, make_thresholds("flexible", categories(4)), link, 1.0)
    np.testing.assert_allclose(LINKS[link][0](alpha), [0.05, 0.25, 0.65], rtol=1e-12)


def test_the_search_begins_with_thresholds_in_order() -> None:
    counts = [400, 1, 1, 1, 1, 200]  # margins that are nowhere near symmetric
    codes = np.repeat(np.arange(6), counts).astype(np.int32)
    for kind in STRUCTURES:
        made = make_thresholds(kind, categories(6))
        assert (np.diff(made.J @ start_alpha(codes, made, "probit", 1.0)) > 0.0).all()
