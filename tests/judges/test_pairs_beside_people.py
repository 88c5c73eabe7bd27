"""Judges of pairs beside people who compared the same pairs: numbers by hand, and the command's JSON."""

import json
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

import panelist
from panelist.judges.worth.judge_worth import JudgeWorth

SYSTEMS = ("one", "two", "three")
KEYS = ["item", "system_a", "system_b"]


def make_tables(judges: tuple[str, ...] = ("m",), seed: int = 2) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return people's answers about 30 of 45 items by pairs of two raters, and judges' in both orders."""
    rng = np.random.default_rng(seed)
    people, machine = list[tuple[str, ...]](), list[tuple[str, ...]]()
    for item in range(45):
        worth = dict(zip(SYSTEMS, rng.normal([0, 0.3, 0.6], 0.8), strict=True))
        for a, b in combinations(SYSTEMS, 2):
            gap = worth[a] - worth[b]
            raters = rng.choice(5, 2 * (item < 30), replace=False)
            people += [(f"r{r}", f"i{item}", a, b, _answer(rng, gap, a, b)) for r in raters]
            machine += [
                (judge, f"i{item}", one, other, _answer(rng, gap, a, b), one)
                for judge in judges
                for one, other in ((a, b), (b, a))
            ]
    return (
        pd.DataFrame(people, columns=["rater", *KEYS, "choice"]),
        pd.DataFrame(machine, columns=["judge", *KEYS, "choice", "first"]),
    )


def _answer(rng: Any, gap: float, a: str, b: str) -> str:
    said = gap + rng.logistic()
    return a if said > 0.3 else b if said < -0.3 else "tie"


def measure(people: pd.DataFrame, machine: pd.DataFrame) -> JudgeWorth:
    return panelist.measure_judges(people, machine, resamples=100).judges[0]


def score(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with its systems sorted, and 1, 0 or ½ for the first of them."""
    one, other = frame["system_a"], frame["system_b"]
    won = np.select([frame["choice"] == one, frame["choice"] == other], [1.0, 0.0], 0.5)
    swap = one > other
    return frame.assign(
        system_a=np.where(swap, other, one),
        system_b=np.where(swap, one, other),
        s=np.where(swap, 1 - won, won),
    )


def test_win_rates_beyond_peoples_have_items_as_clusters() -> None:
    people, machine = make_tables()
    y, f = (score(frame).groupby(KEYS)["s"].mean() for frame in (people, machine))
    gap = (f - y).dropna().rename("gap").reset_index()
    for one in measure(people, machine).bias:
        rows = pd.concat(
            [
                gap[gap["system_a"] == one.system],
                gap[gap["system_b"] == one.system].assign(gap=lambda part: -part["gap"]),
            ]
        )
        mean = rows["gap"].mean()
        by_item = (rows["gap"] - mean).groupby(rows["item"]).sum()
        n = len(by_item)
        assert one.estimate == pytest.approx(mean)
        assert one.se == pytest.approx(np.sqrt((by_item**2).sum() * n / (n - 1)) / len(rows))
        assert one.n_items == n == 30


def test_an_answer_that_leans_to_a_side_is_that_side_where_answers_are_counted() -> None:
    people, machine = make_tables()
    found = measure(people, machine)
    lean = score(machine).groupby(KEYS)["s"].mean().rename("f").reset_index()
    both = score(people).merge(lean, on=KEYS)
    assert both["f"].isin([0.25, 0.75]).any()
    hit = (np.sign(both["f"] - 0.5) == np.sign(both["s"] - 0.5)).groupby(both["rater"]).mean()
    assert found.agreement is not None
    assert found.agreement.judge == pytest.approx(hit.mean())  # type: ignore[union-attr]


def test_several_judges_of_pairs_are_compared_and_combined_on_pairs_that_all_answered() -> None:
    people, machine = make_tables(("m", "n"))
    machine.loc[(machine["judge"] == "n") & (machine["item"] == "i3"), "choice"] = ""
    found = panelist.measure_judges(people, machine, resamples=100)
    assert [one.judge for one in found.judges] == ["m", "n", "mean of 2 judges"]
    combined, one = found.judges[2], found.differences[0]
    assert combined.combined
    assert combined.alt_test is None
    assert (combined.n_outputs, found["m"].n_outputs) == (87, 90)
    shared = machine[machine["item"] != "i3"]
    alone = panelist.measure_judges(people, shared, resamples=100, combine=False)
    r = [alone[name].level("pair").pearson for name in ("m", "n")]
    assert (one.a, one.b) == ("m", "n")
    assert one.difference == pytest.approx(r[0] - r[1])
    assert one.low < one.difference < one.high


def test_pairs_that_a_judge_has_no_row_of_are_counted() -> None:
    people, machine = make_tables()
    machine.loc[machine.index[:2], "choice"] = ""
    found = measure(people, machine[machine["item"] != "i7"])
    assert found.missing == {"missing": 2, "no line": 3}
    assert "m has no row for 3 pairs: counted as no answers" in found.notes


def test_a_corrected_comparison_of_pairs_has_a_json() -> None:
    people, machine = make_tables()
    said = json.loads(json.dumps(panelist.compare_systems(people, judge=machine).to_dict()))["criteria"][0]
    assert said["model"] == "bradley-terry"
    assert len(said["pairs"]) == len(said["people"]["pairs"]) == 3
    assert {one["system"] for one in said["people"]["systems"]} == set(SYSTEMS)


def test_a_criterion_without_a_judges_answer_is_left_out_by_name() -> None:
    people, machine = make_tables()
    both = pd.concat([people.assign(criterion=name) for name in ("quality", "style")])
    found = panelist.measure_judges(both, machine.assign(criterion="style"), resamples=100)
    assert [one.criterion for one in found.judges] == ["style"]
    assert any("has no answers on 'quality'; it has style" in note for note in found.notes)
