"""The five links: both tails, three derivatives, and what one rating contributes."""

import numpy as np
import pytest
from scipy import special

from panelist.core.errors import UnknownName
from panelist.models.likelihoods import link_functions as links
from panelist.models.likelihoods.link_functions import (
    A_BEND,
    A_TILT,
    B_BEND,
    B_TILT,
    D1,
    LATENT_SD,
    LINKS,
    N_ENTRIES,
    W_SLOPE,
    A,
    B,
    W,
    link_code,
)
from panelist.models.search.entry_points import fill_rows
from panelist.numerics.arrays import Floats
from panelist.numerics.normal import FAR
from tests.models.compiled import compiled
from tests.models.oracle import LINKS as PLAIN
from tests.models.oracle import differences, negative_log_p, score

evaluate_link = compiled(links.evaluate_link)
LOG_CONCAVE = ("probit", "logit", "cloglog", "loglog")
POINTS = np.concatenate([np.linspace(-6.0, 6.0, 49), [-1e-9, 1e-9]])
THRESHOLDS = np.array([-1.3, -0.2, 0.4, 1.9])


def column(link: str, x: Floats, place: int) -> Floats:
    return np.array([evaluate_link(link_code(link), float(v))[place] for v in x])


def table(
    link: str, codes: "np.ndarray[tuple[int], np.dtype[np.int32]]", cuts: Floats, eta: Floats
) -> tuple[float, Floats]:
    rows = np.empty((N_ENTRIES, len(codes)))
    edges = np.concatenate([[-FAR], cuts, [FAR]])
    return fill_rows(link_code(link), edges[codes + 1], edges[codes], eta, rows), rows


def every_category() -> "tuple[np.ndarray[tuple[int], np.dtype[np.int32]], Floats]":
    eta = np.linspace(-3.0, 3.0, 21)
    codes = np.repeat(np.arange(len(THRESHOLDS) + 1), len(eta)).astype(np.int32)
    return codes, np.tile(eta, len(THRESHOLDS) + 1)


@pytest.mark.parametrize("link", LINKS)
def test_the_two_tails_are_one_together(link: str) -> None:
    x = np.linspace(-40.0, 40.0, 161)
    lower, upper = column(link, x, 0), column(link, x, 1)
    assert np.abs(lower + upper - 1.0).max() < 4e-16
    assert (np.diff(lower) >= 0.0).all()
    assert (np.diff(upper) <= 0.0).all()


@pytest.mark.parametrize("link", LINKS)
def test_each_tail_keeps_its_digits_far_out(link: str) -> None:
    x = np.array([-30.0, -12.0, -5.0, -1.0, 0.0, 1.0, 5.0, 12.0, 30.0])
    F, upper, f = PLAIN[link]
    for place, expected in ((0, F(x)), (1, upper(x)), (2, f(x))):
        found = column(link, x, place)
        seen = expected > 1e-300
        np.testing.assert_allclose(found[seen], expected[seen], rtol=2e-13)
        assert (found[~seen] < 1e-299).all()


def test_the_normal_tail_agrees_with_its_logarithm_down_to_the_smallest_numbers() -> None:
    x = np.linspace(-37.0, -1.0, 145)
    np.testing.assert_allclose(np.log(column("probit", x, 0)), special.log_ndtr(x), rtol=1e-14)
    np.testing.assert_allclose(np.log(column("probit", -x, 1)), special.log_ndtr(x), rtol=1e-14)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_are_the_differences_of_what_they_derive(link: str, order: int) -> None:
    h = 1e-3
    at = [column(link, POINTS + shift * h, 0 if order == 1 else order) for shift in (-2, -1, 1, 2)]
    expected = (8.0 * (at[2] - at[1]) - (at[3] - at[0])) / (12.0 * h)
    found = column(link, POINTS, order + 1)
    assert np.abs(found - expected).max() < 1e-9


@pytest.mark.parametrize("link", ["probit", "logit", "cauchit"])
def test_symmetric_links_mirror_their_tails(link: str) -> None:
    np.testing.assert_array_equal(column(link, POINTS, 0), column(link, -POINTS, 1))
    np.testing.assert_array_equal(column(link, POINTS, 3), -column(link, -POINTS, 3))


def test_loglog_is_cloglog_seen_from_the_other_side() -> None:
    for place, other, sign in ((0, 1, 1.0), (1, 0, 1.0), (2, 2, 1.0), (3, 3, -1.0), (4, 4, 1.0)):
        np.testing.assert_array_equal(
            column("cloglog", POINTS, place), sign * column("loglog", -POINTS, other)
        )


@pytest.mark.parametrize("link", LINKS)
def test_a_table_of_ratings_sums_their_log_probabilities(link: str) -> None:
    codes, eta = every_category()
    value, _ = table(link, codes, THRESHOLDS, eta)
    assert value == pytest.approx(negative_log_p(link, codes, THRESHOLDS, eta).sum(), rel=1e-13)


@pytest.mark.parametrize("link", LINKS)
def test_the_probabilities_of_all_categories_are_one_together(link: str) -> None:
    for eta in (-25.0, -4.0, 0.1, 3.0, 25.0):
        if link in ("cloglog", "loglog") and abs(eta) > 20.0:
            continue  # a category has lost its probability there
        values = [
            table(link, np.array([k], dtype=np.int32), THRESHOLDS, np.array([eta]))[0] for k in range(5)
        ]
        assert np.exp(-np.array(values)).sum() == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("link", LINKS)
def test_entries_by_eta_are_the_differences_of_one_another(link: str) -> None:
    codes, eta = every_category()
    _, rows = table(link, codes, THRESHOLDS, eta)
    np.testing.assert_allclose(rows[D1], score(link, codes, THRESHOLDS, eta), rtol=1e-12, atol=1e-14)
    h = 1e-3
    moved = {shift: table(link, codes, THRESHOLDS, eta + shift * h)[1] for shift in (-2, -1, 1, 2)}
    for place, slope in ((D1, W), (W, W_SLOPE)):
        near, far = moved[1][place] - moved[-1][place], moved[2][place] - moved[-2][place]
        np.testing.assert_allclose(rows[slope], (8.0 * near - far) / (12.0 * h), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("link", LINKS)
def test_entries_by_threshold_are_differences_too(link: str) -> None:
    codes, eta = every_category()
    _, rows = table(link, codes, THRESHOLDS, eta)
    by_threshold = differences(lambda t: negative_log_p(link, codes, t, eta), THRESHOLDS)
    tilt = differences(lambda t: table(link, codes, t, eta)[1][D1], THRESHOLDS)
    bend = differences(lambda t: table(link, codes, t, eta)[1][W], THRESHOLDS)
    for i, k in enumerate(codes):
        expected = np.zeros((3, len(THRESHOLDS)))
        if k < len(THRESHOLDS):
            expected[:, k] += [-rows[A, i], rows[A_TILT, i], rows[A_BEND, i]]
        if k > 0:
            expected[:, k - 1] += [rows[B, i], rows[B_TILT, i], rows[B_BEND, i]]
        found = np.array([by_threshold[:, i], tilt[:, i], bend[:, i]])
        np.testing.assert_allclose(expected, found, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("link", LOG_CONCAVE)
def test_weights_of_log_concave_links_are_never_negative(link: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        cuts = np.sort(rng.normal(0.0, 2.0, 5)) + 0.01 * np.arange(5)
        eta = rng.normal(0.0, 3.0, 200)
        codes = rng.integers(0, 6, 200).astype(np.int32)
        value, rows = table(link, codes, cuts, eta)
        if np.isfinite(value):
            assert rows[W].min() > -1e-9


def test_cauchit_is_not_log_concave() -> None:
    _, rows = table("cauchit", np.array([4], dtype=np.int32), THRESHOLDS, np.array([-6.0]))
    assert rows[W, 0] < 0.0


def test_a_lost_probability_refuses_the_point() -> None:
    value, _ = table("probit", np.array([0, 4], dtype=np.int32), THRESHOLDS, np.array([60.0, 0.0]))
    assert value == np.inf
    value, _ = table("probit", np.array([2], dtype=np.int32), np.array([0.0, 1.0, 1.0]), np.array([0.0]))
    assert value == np.inf


def test_a_narrow_category_far_out_keeps_its_probability() -> None:
    cuts = np.array([8.0, 8.001])
    value, _ = table("probit", np.array([1], dtype=np.int32), cuts, np.array([0.0]))
    x, width = 8.0005, 0.001  # the middle, and the bend of the density over the width
    middle = -0.5 * x**2 - 0.5 * np.log(2.0 * np.pi) + np.log(width)
    assert -value == pytest.approx(middle + (x**2 - 1.0) * width**2 / 24.0, abs=1e-10)


@pytest.mark.parametrize("link", ["probit", "logit", "cloglog", "loglog"])
def test_the_latent_spread_is_that_of_the_density(link: str) -> None:
    x = np.linspace(-60.0, 60.0, 400_001)
    f = PLAIN[link][2](x) * (x[1] - x[0])
    mean = (f * x).sum()
    assert np.sqrt((f * x**2).sum() - mean**2) == pytest.approx(LATENT_SD[link], rel=1e-9)


def test_an_unknown_link_is_named_with_what_comes_near() -> None:
    with pytest.raises(UnknownName, match=r"No link is called 'probti'.*'probit'"):
        link_code("probti")
