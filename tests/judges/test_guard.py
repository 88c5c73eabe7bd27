"""Who follows a judge is found, honest raters are not, and nobody is left out for it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.judges_guard import GuardWorld, count_flags
from panelist.cli.main import main
from panelist.judges.guard import NEVER, adjust_together, follow_judges, measure_following
from panelist.judges.units import Units
from panelist.judges.worth.measure import measure_judges
from tests.judges.simulated_tables import honest, tables, with_copier


def test_a_rater_who_copies_the_judge_is_flagged_and_nobody_else() -> None:
    found = adjust_together(follow_judges(with_copier(honest())))
    assert [one.rater for one in found.flagged] == ["r00"]
    assert found.raters[0].partial > 0.6 > found.raters[0].usual
    assert NEVER in found.sentence()


def test_honest_raters_beside_a_good_judge_are_not_flagged() -> None:
    found = adjust_together(follow_judges(honest()))
    assert len(found.raters) == 12
    assert not found.flagged
    assert found.raters[0].usual > 0.1, "honest raters do agree with a good judge, given the others"
    assert "No rater" in found.sentence()


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["good", "items", "useless", "biased"])
def test_the_rate_of_false_alarms_is_held(judge: str) -> None:
    rng = np.random.default_rng(8)
    done = [count_flags(GuardWorld(24, 20, 3, judge), rng) for _ in range(150)]
    assert np.mean([one[0] > 0 for one in done]) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)
    assert np.mean([one[3] for one in done]) <= 0.06


def test_severity_and_the_judges_unit_change_nothing() -> None:
    beside = with_copier(honest())
    moved = replace(
        beside,
        y=beside.y + np.linspace(-2, 2, 12)[beside.rater],
        scores={"judge": 7 + 30 * beside.scores["judge"]},
    )
    for one, two in zip(follow_judges(beside), follow_judges(moved), strict=True):
        assert (one.partial, one.p) == pytest.approx((two.partial, two.p), abs=1e-9)


def test_the_partial_correlation_is_that_of_a_regression_on_the_others_and_the_systems() -> None:
    rng = np.random.default_rng(2)
    n, R = 30, 5
    y = rng.normal(size=(R, n)) + np.linspace(0, 2, n)
    f, group = rng.normal(size=n), np.arange(n) % 3
    units = Units(
        np.tile(np.arange(n), R), np.repeat(np.arange(R), n), y.ravel(), f, tuple(f"r{k}" for k in range(R))
    )
    own = measure_following(units, group, "j", "c")[2]
    centred = y - y.mean(axis=1, keepdims=True)
    X = np.column_stack([np.eye(3)[group], np.delete(centred, 2, axis=0).mean(axis=0)])
    left = [v - X @ np.linalg.lstsq(X, v, rcond=None)[0] for v in (y[2], f)]
    assert own.partial == pytest.approx(float(np.corrcoef(*left)[0, 1]))


def test_too_few_raters_or_unknown_ones_are_not_tested() -> None:
    beside = honest()
    few = beside.rater < 3
    three = replace(
        beside, item=beside.item[few], system=beside.system[few], rater=beside.rater[few], y=beside.y[few]
    )
    assert follow_judges(three) == []
    assert follow_judges(replace(beside, raters=(), rater=np.full(len(beside.y), -1))) == []
    assert "cannot be said" in adjust_together([]).sentence()


def test_worth_shows_the_flag_and_the_ratings_are_all_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ratings, judges = tables(with_copier(honest()))
    found = measure_judges(ratings, judges, judge_scale="as-is", resamples=200)
    assert [one.rater for one in found.guard.flagged] == ["r00"]
    assert found.judges[0].n_raters == 12, "a flag leaves nobody out"
    ratings.to_csv(tmp_path / "ratings.csv", index=False)
    judges.to_csv(tmp_path / "judges.csv", index=False)
    names = [str(tmp_path / name) for name in ("ratings.csv", "judges.csv")]
    with pytest.raises(SystemExit):
        main(["judges", "worth", *names, "--judge-scale", "as-is"])
    assert "Raters who follow a judge" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["judges", "worth", *names, "--judge-scale", "as-is", "--json"])
    said = json.loads(capsys.readouterr().out)["guard"]
    assert [one["rater"] for one in said["raters"] if one["flagged"]] == ["r00"]
