"""Fits side by side in threads, and BLAS as it was before."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from panelist.models.fit import fit
from panelist.models.results.fitted import Fit
from panelist.numerics.blas_threads import single_threaded_blas
from tests.models.small_tables import make_frame
from tests.patience import PATIENCE

FITS = 8


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def answer(frame: pd.DataFrame, model: str) -> Fit:
    return fit("rating ~ system + (system | rater) + (system | item)", frame, model=model)


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_fits_in_threads_are_bit_for_bit_those_made_one_by_one(model: str) -> None:
    frames = [make_frame(seed=seed) for seed in range(FITS)]
    alone = [answer(frame, model) for frame in frames]
    with ThreadPoolExecutor(FITS) as pool:
        together = list(pool.map(lambda frame: answer(frame, model), frames))
    for one, other in zip(alone, together, strict=True):
        assert one.loglik == other.loglik
        np.testing.assert_array_equal(one.beta, other.beta)
        np.testing.assert_array_equal(one.vcov, other.vcov)
        for left, right in zip(one.solution.lambdas, other.solution.lambdas, strict=True):
            np.testing.assert_array_equal(left, right)
        assert one.optimum == other.optimum


def test_blas_has_one_thread_inside_and_its_own_number_afterwards() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with single_threaded_blas(10):
            assert set(blas_threads()) == {1}
            with single_threaded_blas(10):
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_blas_has_one_thread_whichever_thread_asks() -> None:
    """threadpoolctl obeys only the first thread that set a limit, and ignores all others silently."""

    def look() -> list[int]:
        with single_threaded_blas(10):
            return blas_threads()

    before = blas_threads()
    with single_threaded_blas(10):  # the main thread has set a limit, and is alive
        pass
    with ThreadPoolExecutor(1) as pool:
        assert set(pool.submit(look).result()) == {1}
        assert blas_threads() == before
    assert set(look()) == {1}
    assert blas_threads() == before


def test_blas_is_given_back_by_whichever_thread_ends_last() -> None:
    before = blas_threads()
    inside, leave = Event(), Event()

    def stay() -> None:
        with single_threaded_blas(10):
            inside.set()
            assert leave.wait(PATIENCE)

    with ThreadPoolExecutor(1) as pool:
        with single_threaded_blas(10):  # the main thread comes first and leaves first
            other = pool.submit(stay)
            assert inside.wait(PATIENCE)
        leave.set()
        other.result()
    assert blas_threads() == before


def test_blas_has_its_own_number_of_threads_after_a_failure() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ZeroDivisionError), single_threaded_blas(10):
            raise ZeroDivisionError
        assert blas_threads() == before


def test_blas_has_its_own_number_of_threads_after_fits_in_threads() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda seed: answer(make_frame(seed=seed), "clmm"), range(4)))
        assert blas_threads() == before


def test_large_blocks_may_use_every_thread() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with single_threaded_blas(100_000):
            assert blas_threads() == before
