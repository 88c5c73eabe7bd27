"""Samples of items: what is drawn, with what probability, and what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from panelist.core.errors import BadStudy
from panelist.study.outputs import Outputs
from panelist.study.reading.load import load_study
from panelist.study.sections.sampling import ItemDraw, Sample, draw_items
from tests.study.studies import PLAIN, check, write_study

SYSTEMS = "abc"


def make_outputs(n: int, topic: list[str] | None = None, folder: Path = Path()) -> Outputs:
    rows = [(f"i{item}", system, "text") for item in range(n) for system in SYSTEMS]
    frame = pd.DataFrame(rows, columns=["item", "system", "output"], dtype="str")
    if topic is not None:
        frame["topic"] = np.repeat(topic, len(SYSTEMS))
    return Outputs(frame, folder=folder)


def write_scores(folder: Path, n: int, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    rows = [(f"i{item}", system, "J", rng.integers(1, 100)) for item in range(n) for system in SYSTEMS]
    pd.DataFrame(rows, columns=["item", "system", "judge", "rating"]).to_csv(folder / "j.csv", index=False)


def draw(sample: dict[str, object], outputs: Outputs, seed: int = 1) -> ItemDraw:
    return draw_items(Sample.model_validate(sample), seed, outputs)


@settings(max_examples=60)
@given(n=st.integers(2, 60), seed=st.integers(0, 1000), data=st.data())
def test_a_larger_sample_contains_the_smaller_and_probabilities_are_those_of_the_draw(
    n: int, seed: int, data: st.DataObject
) -> None:
    topics = data.draw(st.lists(st.sampled_from("xyz"), min_size=n, max_size=n))
    stratify = len(set(topics)) > 1
    strata = {"strata": {"column": "topic"}} if stratify else {}
    outputs = make_outputs(n, topics)
    before: set[str] = set()
    for size in range(1, n + 1):
        try:
            found = draw({"items": size, **strata}, outputs, seed)
        except BadStudy:
            assert stratify  # some stratum gets none of so few items
            continue
        assert found.n == size
        assert before <= set(found.chosen)
        before = set(found.chosen)
        for name in set(found.stratum):
            own = np.array(found.stratum) == name
            assert found.probability[own] == pytest.approx(found.drawn[own].mean())
            assert abs(found.drawn[own].sum() - size * own.mean()) < 1.5  # proportional
    assert before == set(outputs.items)


def test_every_item_is_drawn_as_often_as_its_probability_says() -> None:
    outputs = make_outputs(24, ["x"] * 8 + ["y"] * 16)
    sample = {"items": 9, "strata": {"column": "topic"}}
    draws = [draw(sample, outputs, seed) for seed in range(1500)]
    share = np.mean([one.drawn for one in draws], axis=0)
    assert share == pytest.approx(draws[0].probability, abs=4.5 * np.sqrt(0.25 / 1500))


def test_a_share_is_that_share_of_the_items_and_the_draw_depends_on_the_seed() -> None:
    outputs = make_outputs(50)
    found = draw({"share": 0.2}, outputs)
    assert (found.n, found.equal, found.say_probability()) == (10, True, "each with probability 0.2")
    assert found.hash == draw({"items": 10}, outputs).hash
    assert found.hash != draw({"items": 10}, outputs, seed=2).hash


def test_strata_follow_the_spread_or_the_mean_of_a_judges_scores(tmp_path: Path) -> None:
    write_scores(tmp_path, 60)
    outputs = make_outputs(60, folder=tmp_path)
    scores = pd.read_csv(tmp_path / "j.csv").groupby("item", sort=False)["rating"]
    for measure, values in (("spread", scores.max() - scores.min()), ("mean", scores.mean())):
        found = draw({"items": 15, "strata": {"judges": "j.csv", "measure": measure, "parts": 3}}, outputs)
        own = pd.Series(found.stratum, index=list(found.items))
        assert sorted(own.unique()) == ["1", "2", "3"]
        assert values[own == "1"].max() < values[own == "2"].min()
        assert values[own == "2"].max() < values[own == "3"].min()
        assert own[list(found.chosen)].value_counts().between(4, 6).all()


def test_strata_follow_the_disagreement_of_judges_or_the_doubt_of_one(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(3), 60
    apart = rng.permutation(n).repeat(3) / n  # how far the second judge goes with the first, by item
    rows = [(f"i{item}", system) for item in range(n) for system in SYSTEMS]
    frame = pd.DataFrame(rows, columns=["item", "system"])
    first = rng.normal(size=len(frame))
    second = 100 * (first + apart * rng.normal(0, 2, len(frame)))  # on another scale
    both = [frame.assign(judge=j, rating=r) for j, r in (("J", first), ("K", second))]
    outputs = make_outputs(n, folder=tmp_path)

    def part(strata: dict[str, object], *tables: pd.DataFrame) -> "pd.Series[float]":
        pd.concat(tables).to_csv(tmp_path / "two.csv", index=False)
        found = draw({"items": 20, "strata": {"judges": "two.csv", "parts": 2, **strata}}, outputs)
        return pd.Series(apart[::3], index=list(found.items)).groupby(list(found.stratum)).mean()

    found = part({"measure": "disagreement"}, *both)
    assert found["1"] < found["2"] - 0.1
    sure = both[0].assign(confidence=1 - apart)
    found = part({"measure": "doubt"}, sure)
    assert (found["1"], found["2"]) == pytest.approx((14.5 / n, 44.5 / n))
    samples = [both[0].assign(sample=k, rating=first + k * apart) for k in (1, 2, 3)]
    assert part({"measure": "doubt"}, *samples).tolist() == pytest.approx(found.tolist())
    for measure, tables, said in (
        ("disagreement", both[:1], "has one judge"),
        ("doubt", both[:1], "neither a column confidence nor several samples"),
    ):
        with pytest.raises(BadStudy, match=said):
            part({"measure": measure}, *tables)


def test_numbers_in_a_column_are_cut_into_parts_and_rates_are_kept() -> None:
    outputs = make_outputs(90, [str(number) for number in range(90)])
    found = draw({"items": 40, "strata": {"column": "topic", "parts": 2, "rates": [1, 3]}}, outputs)
    drawn = pd.Series(found.drawn).groupby(list(found.stratum)).sum()
    assert drawn.tolist() == [10, 30]
    assert not found.equal


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        ("{items: 4, share: 0.5}", "one of the two"),
        ("{}", "one of the two"),
        ("{items: 9}", "9 items cannot be drawn"),
        ("{items: [i1, i2]}", "items that were chosen are no sample"),
        ("{hardest: 3}", "items that were chosen are no sample"),
        ("{items: 4, strata: {column: topic}}", "no column 'topic'"),
        ("{items: 4, strata: {column: output}}", "differs between outputs"),
        ("{items: 4, strata: {judges: none.csv}}", "none.csv"),
        ("{items: 4, strata: {judges: j.csv, judge: K}}", "has no judge 'K'"),
        ("{items: 4, strata: {judges: j.csv, parts: 2, rates: [1, 4]}}", "at most 3 to 1"),
        ("{items: 4, strata: {judges: j.csv, parts: 2, rates: [1, 2]}}", "8 drawn items or more"),
        ("{items: 4, strata: {judges: j.csv, parts: 2, rates: [1, 2, 2]}}", "there are 2 strata"),
        ("{items: 4, strata: {judges: j.csv, column: output}}", "say one of the two"),
        ("{items: 4, strata: {column: topic, measure: doubt}}", "doubt goes with judges"),
        ("{items: 4, strata: {judges: j.csv, judge: J, measure: disagreement}}", "leave judge out"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_reason(tmp_path: Path, sample: str, said: str) -> None:
    write_scores(tmp_path, 9)
    problems = [
        one
        for one in check(tmp_path, PLAIN + f"design: {{trials_per_rater: 2}}\nsample: {sample}\n", 8)
        if one.grave
    ]
    assert len(problems) == 1, problems
    assert said in problems[0].message


def test_items_that_lack_outputs_and_uneven_pairs_are_refused(tmp_path: Path) -> None:
    path = write_study(
        tmp_path, PLAIN + "sample: {items: 4}\noutputs: {file: outputs.csv, missing: plan}\n", 8
    )
    outputs = tmp_path / "outputs.csv"
    outputs.write_text(outputs.read_text().replace("i2,b,2 by b\n", ""))
    with pytest.raises(BadStudy, match="items are drawn complete, and 1 output is missing"):
        load_study(path)
    pairs = PLAIN.replace("{type: likert, points: 5}", "{type: pairs}") + "design: {type: pairs}\n"
    strata = "sample: {items: 5, strata: {judges: j.csv, parts: 2}}\n"
    write_scores(tmp_path, 9)
    with pytest.raises(BadStudy, match="same probability"):
        load_study(write_study(tmp_path, pairs + strata, 8))


def test_a_study_has_the_drawn_items_all_outputs_and_another_hash(tmp_path: Path) -> None:
    whole = load_study(write_study(tmp_path, n_items=30))
    said = load_study(write_study(tmp_path, PLAIN + "sample: all\n", 30))
    assert (said.draw, said.hash) == (None, whole.hash)
    study = load_study(write_study(tmp_path, PLAIN + "sample: {items: 6}\n", 30))
    assert study.draw is not None
    assert study.items == study.draw.chosen
    assert (len(study.items), len(study.outputs.items), study.n_outputs) == (6, 30, 12)
    assert study.hash != whole.hash
    assert [note.key for note in study.notes if note.key == "sample"] == ["sample"]  # few items
