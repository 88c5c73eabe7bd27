"""Ratings of turns: the column, what is a unit, and which random effects the comparison gets."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from panelist.agreement.cleaning import make_tables
from panelist.analysis.compare import compare_systems
from panelist.core.tables.ratings import read_ratings, write_ratings
from panelist.models.random_part import choose_random, has_turns

WITHIN = " + (1 | item:turn) + (1 | rater:item:system)"


def make_turns(
    raters: int = 6, items: int = 8, turns: int = 3, seed: int = 1, page: float = 1.0
) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    grid = np.mgrid[0:raters, 0:items, 0:2, 0:turns]
    rater, item, system, turn = (axis.ravel() for axis in grid)
    latent = rng.normal(size=len(rater)) + system + rng.normal(size=(items, turns))[item, turn]
    latent += page * rng.normal(size=(raters, items, 2))[rater, item, system]
    names = {"rater": rater, "item": item, "system": system}
    frame = pd.DataFrame({name: [f"{name[0]}{n}" for n in each] for name, each in names.items()})
    return frame.assign(turn=turn + 1, rating=latent)


@pytest.mark.parametrize("name", ["ratings.csv", "ratings.jsonl", "ratings.parquet"])
def test_the_column_turn_is_kept_as_a_name_in_every_format(tmp_path: Path, name: str) -> None:
    write_ratings(read_ratings(make_turns()), tmp_path / name)
    back = read_ratings(tmp_path / name)
    assert back.levels("turn") == ("1", "2", "3")
    assert not any("rated on the same criterion" in note for note in back.notes)


def test_agreement_is_about_item_system_and_turn() -> None:
    (one,) = make_tables(make_turns())
    assert one.table.n_units == 8 * 2 * 3
    assert not any("second or later" in note for note in one.notes)


def test_turns_add_two_random_effects_and_change_no_other() -> None:
    frame = make_turns()
    alone = choose_random(frame.query("turn == 1").drop(columns="turn"))
    part = choose_random(frame)
    assert part.formula() == alone.formula() + WITHIN
    lower = part.lower({"rater"})
    assert lower is not None
    assert lower.formula().endswith(WITHIN)


def test_shapes_are_those_of_a_study_that_rates_each_output_once() -> None:
    frame = make_turns()
    once = frame[
        [(int(r[1:]) + int(i[1:])) % 6 == 0 for r, i in zip(frame["rater"], frame["item"], strict=True)]
    ]
    part = choose_random(once)
    assert part.shapes["item"] == "intercept"  # one rater an item: three turns are no evidence about systems
    assert "rater:item:system" in part.within


def test_a_column_turn_that_tells_nothing_apart_adds_nothing() -> None:
    frame = make_turns(turns=1)
    assert not has_turns(frame)
    assert choose_random(frame).within == ()
    assert not has_turns(make_turns().assign(turn=None))
    numbered = make_turns(turns=1).assign(turn=lambda table: table["item"])
    assert choose_random(numbered).within == ()


def test_what_another_group_stands_for_is_left_out() -> None:
    frame = make_turns()
    single = frame[frame["rater"] == "r" + frame["item"].str[1:]]  # each item has one rater of its own
    assert "item:turn" in choose_random(single).within


@pytest.mark.slow
def test_a_comparison_finds_the_spreads_of_turns_and_pages() -> None:
    (one,) = compare_systems(make_turns(raters=12, items=24, seed=3)).criteria
    spreads = dict(zip(one.fit.random["group"], one.fit.random["sd"], strict=True))
    assert spreads["item:turn"] == pytest.approx(1.0, rel=0.25)
    assert spreads["rater:item:system"] == pytest.approx(1.0, rel=0.15)
    assert one.pairs[0].p < 0.05
