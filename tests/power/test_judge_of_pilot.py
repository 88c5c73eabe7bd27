"""A judge to plan with, from a pilot's ratings and its scores of the same outputs."""

import json
from pathlib import Path

import numpy as np
import pytest

from bench.judges_coverage import World, simulate
from panelist.core.errors import BadModel
from panelist.core.tables.ratings import read_ratings
from panelist.judges.worth.measure import measure_judges
from panelist.power.judge_of_pilot import measure_planned
from tests.cli.commands import call
from tests.judges.simulated_tables import tables

PILOT = simulate(World("good", 12, 40, items=60), np.random.default_rng(4))[0]


def test_a_pilot_gives_the_judges_r_and_its_lower_end_as_worth_has_them() -> None:
    ratings, scores = tables(PILOT)
    planned, said = measure_planned(read_ratings(ratings), scores)
    parts = measure_judges(ratings, scores, resamples=100).judges[0].replaced
    assert planned.items == 60
    assert planned.r == pytest.approx((parts.r_true, parts.r_low))
    assert 0 < parts.r_low < parts.r_true < parts.r_high <= 1
    assert "from 40 items of the pilot" in said
    assert "worth relying on" not in said
    turned, told = measure_planned(read_ratings(ratings), scores.assign(rating=-scores["rating"]), items=500)
    assert turned.items == 500
    assert turned.r == pytest.approx(planned.r, abs=0.02)  # other draws, the same interval
    assert "it orders against people" in told


def test_a_useless_judge_of_a_small_pilot_has_no_lower_end_and_is_said_to_rest_on_little() -> None:
    ratings, scores = tables(simulate(World("useless", 12, 20, items=60), np.random.default_rng(4))[0])
    planned, said = measure_planned(read_ratings(ratings), scores)
    assert planned.r[1] == 0.0
    assert "From 30 complete items on" in said


def test_a_pilot_that_cannot_tell_says_why() -> None:
    ratings, scores = tables(PILOT)
    with pytest.raises(BadModel, match="most outputs have one rating"):
        measure_planned(read_ratings(ratings.drop_duplicates(["item", "system"])), scores)
    two = scores.assign(judge=np.where(np.arange(len(scores)) % 2, "a", "b"))
    with pytest.raises(BadModel, match="holds 'a' and 'b': one judge"):
        measure_planned(read_ratings(ratings), two)


def test_power_takes_the_judge_from_the_pilot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings, scores = tables(PILOT)
    people, judge = tmp_path / "pilot.csv", tmp_path / "judge.csv"
    ratings.to_csv(people, index=False)
    scores.to_csv(judge, index=False)
    small = ("--items", 12, "--ratings-per-item", 2, "--effects", 0.5, "--models", "lmm", "--sims", 2)
    done = call(capsys, "power", "--pilot", people, "--judge", judge, *small, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    planned, said = measure_planned(read_ratings(people), judge)
    assert [one["r"] for one in found["judge"]] == [*planned.r, 0.0]
    assert said in found["notes"]
    for options, why in (
        (("--judge", judge), "name people's ratings of it with --pilot"),
        (("--pilot", people, "--judge", judge, "--judge-r", 0.5), "give one of the two"),
    ):
        refused = call(capsys, "power", *options)
        assert (refused.code, why in " ".join(refused.err.split())) == (2, True)
