"""Exports of Potato, Label Studio, Prolific and survey programs."""

import json
from pathlib import Path

import pytest

from panelist.collection.imports.importer import draft_for, import_results
from panelist.collection.imports.mapping import Mapping
from panelist.core.errors import BadFile

SALT = "00112233445566778899aabbccddeeff"


def test_potatos_json_lines_give_an_answer_a_schema(tmp_path: Path) -> None:
    lines = [
        {
            "user_id": f"ann{user}",
            "instance_id": f"i{item}",
            "displayed_text": "a text",
            "label_annotations": {
                "fluency": {f"scale_{1 + item}": str(1 + item)},
                "mood": {"glad": user == 0, "sad": user != 0},
                "speed": {"slider": "40"},
            },
            "span_annotations": [{"start": 0}] if item else [],
            "behavioral_data": {"time_string": "Time spent: 0d 0h 1m 5s "},
        }
        for user in range(2)
        for item in range(3)
    ]
    path = tmp_path / "annotated_instances.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = import_results(path, salt=SALT)
    frame = found.frame
    assert frame[frame["criterion"] == "fluency"]["rating"].tolist() == ["1", "2", "3"] * 2
    assert frame[frame["criterion"] == "mood"]["rating"].tolist() == ["glad"] * 3 + ["sad"] * 3
    assert set(frame[frame["criterion"] == "speed"]["rating"]) == {"40"}
    assert set(frame["work_seconds"]) == {65}
    assert [one.n for one in found.left_out if "spans" in one.what] == [4]


def test_potatos_state_of_a_user_and_its_tables_say_the_same(tmp_path: Path) -> None:
    state = tmp_path / "user_state.json"
    labels = {f"i{n}": {"mood": {"labels": {("glad", "sad")[n % 2]: True}}} for n in range(4)}
    state.write_text(
        json.dumps({"user_id": "ann", "instance_id_to_label_to_value": labels}), encoding="utf-8"
    )
    table = tmp_path / "annotations.csv"
    rows = [f"ann,i{n},{'1' if n % 2 == 0 else ''},{'1' if n % 2 else ''}" for n in range(4)]
    table.write_text("\n".join(["user,instance_id,mood:::glad,mood:::sad", *rows]), encoding="utf-8")
    one, other = (import_results(path, salt=SALT).frame for path in (state, table))
    assert one["rating"].tolist() == other["rating"].tolist() == ["glad", "sad"] * 2
    assert one["rater"].tolist() == other["rater"].tolist()


def test_potato_2_writes_pairs_in_states_and_dots_in_tables(tmp_path: Path) -> None:
    state, table, lines = (tmp_path / name for name in ("user_state.json", "annotations.csv", "a.jsonl"))
    points = {"i0": "4", "i1": "1", "i2": "0"}  # a label may look like a no
    pairs = {item: [[{"schema": "fluency", "name": n}, n]] for item, n in points.items()}
    times = {item: {"total_time_ms": 1500} for item in points}
    whole = {
        "user_id": "ann",
        "instance_id_to_label_to_value": pairs,
        "instance_id_to_behavioral_data": times,
    }
    state.write_text(json.dumps(whole), encoding="utf-8")
    rows = [f"{item},ann," + ",".join(n if n == m else "" for m in "014") for item, n in points.items()]
    table.write_text(
        "\n".join(["instance_id,user_id,fluency.0,fluency.1,fluency.4", *rows]), encoding="utf-8"
    )
    entries = [
        {"instance_id": item, "user_id": "ann", "labels": {"fluency": {n: n}}, "spans": {}, "links": {}}
        for item, n in points.items()
    ]
    lines.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    for path in (state, table, lines):
        found = import_results(path, salt=SALT)
        assert found.mapping.source == "potato"
        assert dict(zip(found.frame["item"], found.frame["rating"], strict=True)) == points
    assert set(import_results(state, salt=SALT).frame["seconds"]) == {1.5}


def write_tasks(path: Path, *, sides: bool = True) -> Path:
    tasks = []
    for n in range(3):
        results = [
            {"type": "choices", "from_name": "mood", "to_name": "t", "value": {"choices": ["glad"]}},
            {"type": "rating", "from_name": "fluency", "to_name": "t", "value": {"rating": 3 + n % 2}},
            {
                "type": "pairwise",
                "from_name": "pw",
                "to_name": "t",
                "value": {"selected": ("left", "right")[n % 2]},
            },
            {"type": "labels", "from_name": "ner", "to_name": "t", "value": {"start": 0, "labels": ["X"]}},
        ]
        data = {"item_id": f"i{n}", "text1": "a", "text2": "b"}
        data |= {"system1": "alto", "system2": "bass"} if sides else {}
        annotation = {"completed_by": {"id": 7, "email": "a@b.org"}, "result": results, "lead_time": 4.5}
        annotations = [annotation | {"id": 10 * n}, annotation | {"id": 10 * n + 1, "was_cancelled": True}]
        tasks.append({"id": n, "data": data, "annotations": annotations})
    path.write_text(json.dumps([*tasks, {"id": 9, "data": {}, "annotations": []}]), encoding="utf-8")
    return path


def test_label_studio_gives_choices_stars_and_sides(tmp_path: Path) -> None:
    found = import_results(write_tasks(tmp_path / "tasks.json"), salt=SALT)
    frame = found.frame
    assert frame[frame["criterion"] == "fluency"]["rating"].tolist() == ["3", "4", "3"]
    pairs = frame[frame["criterion"] == "pw"]
    assert pairs["system"].tolist() == ["alto", "bass"] * 3
    assert pairs["choice"].tolist() == ["best", "", "", "best", "best", ""]
    assert set(frame["item"]) == {"i0", "i1", "i2"}
    told = {one.what: one.n for one in found.left_out}
    assert told["submissions whose was_cancelled is true"] == 3
    assert told["regions of the type labels"] == 6
    assert told["tasks without an annotation"] == 1
    assert "a@b.org" not in frame.to_csv()


def test_label_studio_without_systems_asks_for_them(tmp_path: Path) -> None:
    path = write_tasks(tmp_path / "tasks.json", sides=False)
    with pytest.raises(
        BadFile, match=r"A person has to decide: result.pw looks like a choice between outputs"
    ):
        import_results(path)
    assert "# DECIDE: result.pw looks like a choice" in draft_for(path).write()


def test_what_is_no_export_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a": 1}', encoding="utf-8")
    with pytest.raises(BadFile, match="is not an export of Label Studio"):
        import_results(path, source="label-studio")
    with pytest.raises(BadFile, match="without label_annotations"):
        import_results(path, source="potato")
    with pytest.raises(BadFile, match="no column was recognised as somebody's ratings"):
        import_results(path)
    path.write_text("{nonsense", encoding="utf-8")
    with pytest.raises(BadFile, match="line 1, is not JSON"):
        import_results(path)


QUALTRICS = """\
StartDate,Status,ResponseId,Duration (in seconds),PROLIFIC_PID,Q1_flu_alto,Q1_flu_bass,Q2_flu_alto,Q2_flu_bass
Start Date,Response Type,Response ID,Duration (in seconds),PROLIFIC_PID,"How fluent, A?",B?,C?,D?
"{""ImportId"":""startDate""}","{""ImportId"":""status""}","{""ImportId"":""_recordId""}",x,x,x,x,x,x
2024-01-01,IP Address,R_1,300,5e9088a8a4b6,1,2,3,4
2024-01-01,IP Address,R_2,200,5c655e3c42fa,5,,4,3
2024-01-01,Survey Preview,R_3,10,preview,1,1,1,1
"""


def test_a_survey_with_three_header_rows_is_read_by_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "survey.csv"
    path.write_text(QUALTRICS, encoding="utf-8")
    with pytest.raises(BadFile, match="which part is the item"):
        import_results(path)
    draft = draft_for(path)
    assert (draft.data["rater"], draft.data["submission"]) == ("PROLIFIC_PID", "ResponseId")
    mapping = Mapping.model_validate(
        draft.data
        | {
            "criteria": [{"answer": "Q{item}_{criterion}_{system}"}],
            "rename": {"criterion": {"flu": "fluency"}},
        }
    )
    people = tmp_path / "prolific_export_1.csv"
    people.write_text(
        "Submission id,Participant id,Status,Time taken,Age,Sex\n"
        "s1,5e9088a8a4b6,APPROVED,300,25,Female\ns2,5c655e3c42fa,APPROVED,200,DATA_EXPIRED,Male\n"
        "s3,66655e3c42fa,RETURNED,20,40,Male\n",
        encoding="utf-8",
    )
    found = import_results([path, people], mapping, salt=SALT)
    frame = found.frame
    assert frame["rating"].tolist() == ["1", "2", "3", "4", "5", "4", "3"]
    assert frame["item"].tolist() == ["1", "1", "2", "2", "1", "2", "2"]
    assert set(frame["criterion"]) == {"fluency"}
    told = {one.what: one.n for one in found.left_out}
    assert told["submissions whose Status is Survey Preview and Spam"] == 1
    assert sum(n for what, n in told.items() if "empty" in what) == 1
    assert found.background is not None
    assert found.background["rater"].tolist() == frame["rater"].unique().tolist()
    assert found.background["Age"].tolist() == ["25", ""]
    assert any("1 person of the demographics export gave no rating" in note for note in found.notes)
    assert "5e9088a8a4b6" not in frame.to_csv() + found.background.to_csv()


def test_demographics_alone_are_background(tmp_path: Path) -> None:
    people = tmp_path / "prolific_export_1.csv"
    people.write_text(
        "Submission id,Participant id,Status,Age\ns1,5e9088a8a4b6,APPROVED,25\n", encoding="utf-8"
    )
    found = import_results(people, salt=SALT)
    assert found.background is not None
    assert found.background[["Status", "Age"]].to_numpy().tolist() == [["APPROVED", "25"]]
    assert found.frame.empty
    assert "background" in str(found)


def test_files_of_two_programs_are_not_mixed(tmp_path: Path) -> None:
    one = write_tasks(tmp_path / "tasks.json")
    other = tmp_path / "survey.csv"
    other.write_text(QUALTRICS, encoding="utf-8")
    with pytest.raises(BadFile, match=r"come from different programs: tasks.json .label-studio., survey.csv"):
        import_results([one, other])
