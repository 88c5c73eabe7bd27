"""A study whose people rate a sample: planned, rated, and compared with a judge of all outputs."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadPlan
from panelist.design.make import plan_study
from panelist.design.plan_files import read_plan, write_plan, write_sample
from panelist.judges.compare import compare_systems
from panelist.judges.correct.corrected import CorrectedCriterion
from panelist.judges.sample import find_sample, read_sample
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from tests.cli.commands import call
from tests.study.studies import PLAIN

N, SYSTEMS, MEANS = 120, ("a", "b", "c"), np.array([0.0, 0.2, 0.5])
DESIGN = "design: {type: latin-square, ratings_per_output: 2, trials_per_rater: 10}\n"
STRATA = "sample: {items: 36, strata: {judges: judges.csv, measure: spread, parts: 3}}\n"
UNEVEN = "sample: {items: 40, strata: {judges: judges.csv, measure: mean, parts: 2, rates: [1, 3]}}\n"


def write_world(folder: Path, sample: str, seed: int = 1) -> np.ndarray:
    """Write a study and a judge's scores of all its outputs; return what very many people would say."""
    rng = np.random.default_rng([7, seed])
    items = [f"i{number:03}" for number in range(N)]
    level = rng.normal(size=(N, 1))
    truth = 3 + MEANS + 0.6 * level + 0.6 * rng.normal(size=(N, 3))
    truth[:, 2] += np.where(level[:, 0] > 0, 0.4, -0.4)  # the last system is better on good items
    scores = truth + 0.4 * rng.normal(size=truth.shape) + [0, 0, 0.7]
    rows = [(item, name, f"{name} on {item}") for item in items for name in SYSTEMS]
    pd.DataFrame(rows, columns=["item", "system", "output"]).to_csv(folder / "outputs.csv", index=False)
    judged = [(item, name, "J", one) for (item, name, _), one in zip(rows, scores.ravel(), strict=True)]
    columns = ["item", "system", "judge", "rating"]
    pd.DataFrame(judged, columns=columns).to_csv(folder / "judges.csv", index=False)
    text = PLAIN + DESIGN.replace("}", f", seed: {seed}}}") + sample
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return truth


def rate(study: Study, truth: np.ndarray, seed: int) -> pd.DataFrame:
    """Return the ratings that the plan asks for."""
    rng = np.random.default_rng([8, seed])
    table = plan_study(study).table
    table = table[table["phase"] == "trial"]
    item = table["item"].astype(str).str[1:].astype(int).to_numpy()
    system = np.array([SYSTEMS.index(name) for name in table["system"]])
    rater = table["rater"].cat.codes.to_numpy()
    taste = 0.3 * rng.normal(size=(rater.max() + 1, 3)) + 0.4 * rng.normal(size=(rater.max() + 1, 1))
    y = truth[item, system] + taste[rater, system] + 0.7 * rng.normal(size=len(table))
    frame = table[["rater", "item", "system", "criterion"]].astype(str)
    return frame.assign(rating=y)


@pytest.mark.slow
@pytest.mark.parametrize("sample", [STRATA, UNEVEN, "sample: {share: 0.3}\n"])
def test_planned_drawn_and_compared_with_a_judge_the_truth_is_found_and_covered(
    tmp_path: Path, sample: str
) -> None:
    sets, held, off = 60, 0, []
    for seed in range(sets):
        truth = write_world(tmp_path, sample, seed)
        study = load_study(tmp_path)
        one = compare_systems(
            rate(study, truth, seed), judge=tmp_path / "judges.csv", sample=find_sample(study), adjust="none"
        ).criteria[0]
        assert isinstance(one, CorrectedCriterion)
        assert one.n_judged == N
        for pair in one.pairs:
            true = MEANS[SYSTEMS.index(pair.a)] - MEANS[SYSTEMS.index(pair.b)]
            held += pair.low <= true <= pair.high
            off.append((f"{pair.a}{pair.b}", pair.difference - true, pair.se))
    assert 0.89 < held / (3 * sets) <= 1.0
    found = pd.DataFrame(off, columns=["pair", "off", "se"]).groupby("pair").agg(["mean", "std"])
    assert (found["off"]["mean"].abs() < 4 * found["off"]["std"] / np.sqrt(sets)).all()


def test_every_drawn_item_is_rated_on_all_systems_and_no_other_is(tmp_path: Path) -> None:
    write_world(tmp_path, STRATA)
    study = load_study(tmp_path)
    assert study.draw is not None
    plan = plan_study(study)
    shown = plan.table[["item", "system"]].astype(str).drop_duplicates()
    wanted = {(item, name) for item in study.draw.chosen for name in SYSTEMS}
    assert set(zip(shown["item"], shown["system"], strict=True)) == wanted
    assert plan.sample == study.draw.hash


def test_the_sample_is_beside_the_plan_and_its_hash_in_the_record(tmp_path: Path) -> None:
    write_world(tmp_path, STRATA)
    study = load_study(tmp_path)
    assert study.draw is not None
    plan = plan_study(study)
    write_plan(plan, tmp_path)
    assert write_sample(plan, study)
    assert json.loads((tmp_path / "plan.json").read_text())["sample_hash"] == study.draw.hash
    assert read_plan(tmp_path).sample == plan.sample
    table = pd.read_csv(tmp_path / "sample.csv")
    assert list(table.columns) == ["item", "probability", "stratum", "drawn"]
    assert set(table["item"][table["drawn"] == "yes"]) == set(study.items)
    mine, read = find_sample(study), read_sample(tmp_path / "sample.csv")
    assert mine is not None
    assert (mine.items, mine.stratum) == (read.items, read.stratum)
    assert np.array_equal(mine.probability, read.probability)
    assert mine.probability.sum() == pytest.approx(36)


def test_a_sample_that_changed_after_the_plan_is_refused(tmp_path: Path) -> None:
    write_world(tmp_path, STRATA)
    study = load_study(tmp_path)
    plan = plan_study(study)
    write_plan(plan, tmp_path)
    write_sample(plan, study)
    path = tmp_path / "sample.csv"
    kept = path.read_text()
    path.write_text(kept.replace(",yes", ",no", 1))
    with pytest.raises(BadPlan, match="was changed after it was written"):
        find_sample(study)
    path.write_text(kept)
    scores = pd.read_csv(tmp_path / "judges.csv")
    scores.assign(rating=scores["rating"].sample(frac=1, random_state=1).to_numpy()).to_csv(
        tmp_path / "judges.csv", index=False
    )
    with pytest.raises(BadPlan, match="is another than the one in"):
        find_sample(load_study(tmp_path))


def test_a_study_that_rates_all_has_no_sample(tmp_path: Path) -> None:
    write_world(tmp_path, "")
    study = load_study(tmp_path)
    assert find_sample(study) is None
    assert len(study.items) == N
    assert not write_sample(plan_study(study), study)
    assert "sample_hash" not in plan_study(study).to_dict()


def test_from_the_plan_to_the_comparison_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_world(tmp_path, "sample: {items: 36}\n")
    said = call(capsys, "plan", tmp_path)
    assert "labelled 36 of 120" in said.out
    assert "each with probability 0.3" in said.out
    assert call(capsys, "simulate", tmp_path).code == 0
    done = call(capsys, "compare", tmp_path, "--judge", tmp_path / "judges.csv", "--json")
    assert done.code == 0, done.err
    (one,) = json.loads(done.out)["criteria"]
    assert (one["n_items"], one["n_judged"]) == (36, N)
    assert any("36.0 were to be expected by sample.csv" in note for note in one["notes"])
    page = tmp_path / "report.html"
    told = call(capsys, "report", tmp_path, "--judge", tmp_path / "judges.csv", "-o", page, "--no-files",
                "--resamples", 50)  # fmt: skip
    assert told.code == 0, told.err
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert "36.0 were to be expected by sample.csv" in text  # of the study's own sample, as compare has it
    other = (tmp_path / "study.yaml").read_text().replace("items: 36", "items: 48")
    (tmp_path / "study.yaml").write_text(other)
    late = call(capsys, "compare", tmp_path, "--judge", tmp_path / "judges.csv")
    assert (late.code, "is another than the one in" in late.err) == (2, True)


def test_a_study_says_how_long_its_scale_is_where_people_used_a_part_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_world(tmp_path, "sample: {items: 36}\n")
    assert call(capsys, "plan", tmp_path).code == call(capsys, "simulate", tmp_path).code == 0
    ratings = pd.read_csv(tmp_path / "ratings.csv")
    ratings.assign(rating=ratings["rating"].clip(2, 4)).to_csv(tmp_path / "ratings.csv", index=False)
    scores = pd.read_csv(tmp_path / "judges.csv")
    scores.assign(rating=scores["rating"].round().clip(1, 5)).to_csv(tmp_path / "judges.csv", index=False)
    for words in (("judges", "worth", tmp_path), ("compare", tmp_path, "--judge")):
        done = call(capsys, *words, tmp_path / "judges.csv")
        assert done.code == 0, done.err
        assert "off the scale" not in done.out
    table = tmp_path / "ratings.csv"  # a table alone knows no more than the ratings in it
    assert (
        "lie off the scale (2.00 to 4.00"
        in call(capsys, "judges", "worth", table, tmp_path / "judges.csv").out
    )
