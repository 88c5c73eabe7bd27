"""Frames put together from a text column and numbers are those that pandas makes of a dictionary."""

import numpy as np
import pandas as pd
import pytest

from panelist.models.results import fit_tables as frames
from panelist.models.results.fit_tables import make_frame
from panelist.numerics.arrays import Floats

COLUMNS = ("estimate", "se")


def make_numbers(rows: int) -> Floats:
    return np.random.default_rng(rows).normal(size=(2, rows))


def make_slowly(words: tuple[str, ...], numbers: Floats) -> pd.DataFrame:
    return pd.DataFrame({"term": list(words), "estimate": numbers[0], "se": numbers[1]})


@pytest.mark.parametrize("words", [(), ("Intercept",), ("Intercept", "system[T.b]", "größe")])
@pytest.mark.parametrize("quick", [True, False])
def test_frame_is_that_of_a_dictionary(
    words: tuple[str, ...], quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not quick:
        monkeypatch.setattr(frames, "_find_maker", lambda: None)
    numbers = make_numbers(len(words))
    pd.testing.assert_frame_equal(make_frame("term", words, COLUMNS, numbers), make_slowly(words, numbers))


def test_what_is_done_to_one_frame_does_not_reach_the_next() -> None:
    words, numbers = ("a", "b"), make_numbers(2)
    first = make_frame("term", words, COLUMNS, numbers.copy())
    first.loc[0, "term"] = "changed"
    first.loc[1, "se"] = -1.0
    first.index.name, first.columns.name = "row", "column"
    first["more"] = 1
    first.columns = pd.Index(["w", "x", "y", "z"])
    second = make_frame("term", words, COLUMNS, numbers)
    pd.testing.assert_frame_equal(second, make_slowly(words, numbers), check_names=True)


def test_frame_can_be_worked_with() -> None:
    made = make_frame("term", ("b", "a"), COLUMNS, make_numbers(2))
    assert made.sort_values("term")["term"].tolist() == ["a", "b"]
    assert made.set_index("term").loc["a", "se"] == made["se"][1]
    assert pd.concat([made, made]).shape == (4, 3)
