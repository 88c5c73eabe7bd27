import os
import subprocess
import sys
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import PanelistError
from panelist.core.seeds import stream

NAMES = st.lists(st.text(max_size=5) | st.integers(), max_size=4)
SEEDS = st.integers(0, 2**70)


@given(SEEDS, NAMES)
def test_the_same_seed_and_names_give_the_same_bits(seed: int, names: list[str | int]) -> None:
    assert stream(seed, *names).bytes(16) == stream(seed, *names).bytes(16)


@given(st.integers(0, 2**200), st.lists(st.text(max_size=5), max_size=4))
def test_the_bits_are_those_of_a_spawn_key(seed: int, names: list[str]) -> None:
    digests = [blake2b(f"text:{name}".encode(), digest_size=16).digest() for name in names]
    key = [int.from_bytes(one[at : at + 4], "little") for one in digests for at in range(0, 16, 4)]
    spawned = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))
    assert stream(seed, *names).bytes(16) == spawned.bytes(16)


@given(SEEDS, NAMES, NAMES)
def test_different_names_give_different_bits(seed: int, a: list[str | int], b: list[str | int]) -> None:
    same = [(type(name), name) for name in a] == [(type(name), name) for name in b]
    assert (stream(seed, *a).bytes(16) == stream(seed, *b).bytes(16)) == same


@given(SEEDS, SEEDS)
def test_different_seeds_give_different_bits(a: int, b: int) -> None:
    assert (stream(a, "raters").bytes(16) == stream(b, "raters").bytes(16)) == (a == b)


def test_a_number_and_its_text_are_different_names() -> None:
    assert stream(7, 1).random() != stream(7, "1").random()
    assert stream(7, np.int64(1)).random() == stream(7, 1).random()


def test_names_do_not_run_together() -> None:
    assert stream(7, "a", "b").random() != stream(7, "ab").random()


def test_drawing_from_one_stream_leaves_the_others_alone() -> None:
    alone = stream(7, "items").random(5)
    stream(7, "raters").random(1000)
    assert (stream(7, "items").random(5) == alone).all()


def test_streams_of_one_seed_are_uncorrelated() -> None:
    draws = np.array([stream(7, "simulation", i).standard_normal(2000) for i in range(40)])
    correlations = np.corrcoef(draws)[np.triu_indices(40, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(2000)


def test_the_bits_are_the_same_in_another_process_with_other_hashes() -> None:
    code = "from panelist.core.seeds import stream; print(stream(7, 'raters', 3).bit_generator.random_raw())"
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    there = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert int(there.stdout) == stream(7, "raters", 3).bit_generator.random_raw()


def test_the_bits_are_those_of_the_first_release() -> None:
    # numpy promises that PCG64 and SeedSequence keep their bits (NEP 19); a change breaks every saved plan.
    assert stream(7, "raters", 3).bit_generator.random_raw() == PINNED


@pytest.mark.parametrize("seed", [-1, 1.5, "7", None])
def test_a_seed_that_is_no_whole_number_is_refused(seed: object) -> None:
    with pytest.raises(PanelistError, match=r"whole number from 0 upwards\. Got"):
        stream(seed, "raters")  # type: ignore[arg-type]


PINNED = 7594998260270770973
