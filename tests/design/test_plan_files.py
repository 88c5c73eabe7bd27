import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadPlan
from panelist.design.make import plan_study
from panelist.design.plan import COLUMNS
from panelist.design.plan_files import read_plan, write_plan
from panelist.study.outputs import Outputs
from panelist.study.study import Study
from tests.design.small_studies import make_study
from tests.examples import examples

ODD = [
    "001",
    "1",
    "NA",
    "nan",
    "None",
    "a,b",
    'say "so"',
    "line\nend",
    "back\r\nline",
    "=SUM(A1)",
    " spaced ",
    "é…漢",
]
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1)


def name_items(names: list[str]) -> Study:
    study = make_study(len(names), ("x", "y"), design={"type": "pairs"})
    frame = study.outputs.frame.copy()
    frame["item"] = [names[int(item[1:]) - 1] for item in frame["item"]]
    return Study(study.file, Outputs(frame))


def test_what_is_written_is_read_back_unchanged(tmp_path: Path) -> None:
    plan = plan_study(make_study(12, ("a", "b", "c"), design={"type": "best-worst", "occasions": 2}))
    write_plan(plan, tmp_path / "new folder", {"balance": {"systems": "even"}})
    read = read_plan(tmp_path / "new folder")
    assert read.hash == plan.hash
    pd.testing.assert_frame_equal(read.table, plan.table)
    for name in ("design", "seed", "study_hash", "places", "trials", "notes", "history", "raters"):
        assert getattr(read, name) == getattr(plan, name)


def test_odd_names_survive(tmp_path: Path) -> None:
    plan = plan_study(name_items(ODD))
    write_plan(plan, tmp_path)
    read = read_plan(tmp_path)
    assert set(read.table["item"].cat.categories) == set(ODD)
    pd.testing.assert_frame_equal(read.table, plan.table)
    with (tmp_path / "plan.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["item"] for row in rows] == plan.table["item"].tolist()  # any other reader sees the same
    assert tuple(rows[0]) == COLUMNS


@examples(60)
@given(names=st.lists(NAMES, min_size=1, max_size=8, unique=True))
def test_any_names_survive(names: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("plan")
    plan = plan_study(name_items(names))
    write_plan(plan, folder)
    assert read_plan(folder).hash == plan.hash


def test_the_record_says_what_belongs_to_the_plan(tmp_path: Path) -> None:
    plan = plan_study(make_study())
    write_plan(plan, tmp_path, {"cost": {"total": "12.50"}})
    record = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert record["format"] == 1
    assert record["plan_hash"] == plan.hash
    assert (record["design"], record["seed"], record["raters"], record["rows"]) == (
        "latin-square",
        1,
        2,
        len(plan),
    )
    assert record["cost"] == {"total": "12.50"}


def test_a_table_changed_by_hand_is_refused(tmp_path: Path) -> None:
    write_plan(plan_study(make_study()), tmp_path)
    path = tmp_path / "plan.csv"
    path.write_text(path.read_text().replace(",a,", ",b,", 1))
    with pytest.raises(BadPlan, match=r"plan\.csv was changed after it was written: its hash is"):
        read_plan(tmp_path)


def damage(record: dict[str, Any], **changes: Any) -> str:
    return json.dumps({key: value for key, value in {**record, **changes}.items() if value is not None})


@pytest.mark.parametrize(
    ("changes", "words"), [({"format": 9}, "format 9"), ({"plan_hash": None}, "lacks plan_hash")]
)
def test_a_record_that_is_not_ours_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    write_plan(plan_study(make_study()), tmp_path)
    path = tmp_path / "plan.json"
    path.write_text(damage(json.loads(path.read_text()), **changes))
    with pytest.raises(BadPlan, match=words):
        read_plan(tmp_path)


@pytest.mark.parametrize(
    ("name", "text"), [("plan.json", "{"), ("plan.csv", "a,b\n1\n"), ("plan.csv", "rater,order\n")]
)
def test_broken_files_are_refused_with_a_sentence(tmp_path: Path, name: str, text: str) -> None:
    write_plan(plan_study(make_study()), tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(BadPlan, match=name.replace(".", r"\.")):
        read_plan(tmp_path)


@pytest.mark.parametrize("name", ["plan.json", "plan.csv"])
def test_a_missing_file_is_named_with_what_to_do(tmp_path: Path, name: str) -> None:
    write_plan(plan_study(make_study()), tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(BadPlan, match="panelist plan"):
        read_plan(tmp_path)
