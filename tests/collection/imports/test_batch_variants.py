"""Batch files as they are met in the wild: every variant gives the same table, or one clear sentence."""

import json
from pathlib import Path

import pandas as pd
import pytest

from panelist.collection.imports.importer import draft_for, import_results
from panelist.collection.imports.mapping import Mapping
from panelist.collection.imports.programs.mturk import COLUMNS
from panelist.core.errors import BadFile, PanelistError
from tests.collection.imports.batches import make_likert, make_row, write_batch

SALT = "00112233445566778899aabbccddeeff"


def table_of(path: Path, **options: object) -> pd.DataFrame:
    return import_results(path, salt=SALT, **options).frame  # type: ignore[arg-type]


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    return write_batch(tmp_path / "batch.csv", make_likert())


def test_ratings_come_with_item_system_times_and_state(batch: Path) -> None:
    frame = table_of(batch)
    first = frame.iloc[0]
    assert (first["item"], first["system"], first["criterion"], first["rating"]) == (
        "d0",
        "alto",
        "fluency",
        "1",
    )
    assert (first["seconds"], first["accepted"], first["status"]) == (96, "2023-01-09T15:28:24Z", "Approved")
    assert len(frame) == 24
    assert frame["rater"].nunique() == 3
    assert "AWORKER" not in frame.to_csv()


def test_shuffled_columns_give_the_same_table(batch: Path, tmp_path: Path) -> None:
    table = pd.read_csv(batch, dtype=str, keep_default_na=False)
    other = tmp_path / "shuffled.csv"
    table[sorted(str(name) for name in table.columns)[::-1]].to_csv(other, index=False)
    pd.testing.assert_frame_equal(table_of(other), table_of(batch))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_other_encodings_give_the_same_table(batch: Path, tmp_path: Path, encoding: str) -> None:
    mapping = Mapping.model_validate(
        draft_for(batch).data | {"keep": {"shown": "Input.text"}, "item": "Input.doc"}
    )
    other = tmp_path / "other.csv"
    other.write_bytes(batch.read_text(encoding="utf-8").encode(encoding))
    found = import_results(other, mapping, salt=SALT)
    assert set(found.frame["shown"]) == {"Ärger, “so”"}
    assert bool([note for note in found.notes if "UTF" in note]) == (encoding != "utf-8-sig")


def test_an_index_column_and_semicolons_are_seen_through(batch: Path, tmp_path: Path) -> None:
    table = pd.read_csv(batch, dtype=str, keep_default_na=False)
    other = tmp_path / "index.csv"
    table.to_csv(other, sep=";")
    found = import_results(other, salt=SALT)
    pd.testing.assert_frame_equal(found.frame, table_of(batch))
    assert any("only numbers the rows" in note for note in found.notes)


def test_a_workbook_gives_the_same_table(batch: Path, tmp_path: Path) -> None:
    table = pd.read_csv(batch, dtype=str, keep_default_na=False)
    table.to_excel(tmp_path / "batch.xlsx", index=False)
    pd.testing.assert_frame_equal(table_of(tmp_path / "batch.xlsx"), table_of(batch))


def test_rows_without_their_last_cells_are_taken(batch: Path, tmp_path: Path) -> None:
    lines = batch.read_text(encoding="utf-8").splitlines()
    other = tmp_path / "short.csv"
    other.write_text(
        "\n".join([lines[0], *(line.removesuffix(',"",""') for line in lines[1:])]), encoding="utf-8"
    )
    found = import_results(other, salt=SALT)
    pd.testing.assert_frame_equal(found.frame, table_of(batch))
    assert any("24 rows without the last cells (Approve and Reject)" in note for note in found.notes)


def test_a_row_that_lost_answers_is_refused(batch: Path, tmp_path: Path) -> None:
    lines = batch.read_text(encoding="utf-8").splitlines()
    other = tmp_path / "cut.csv"
    other.write_text("\n".join([*lines[:3], lines[3].rsplit(",", 3)[0], *lines[4:]]), encoding="utf-8")
    with pytest.raises(BadFile, match=r"cut.csv, row 3: the row ends after .* so Answer.fluency is missing"):
        import_results(other)


def test_missing_columns_of_the_platform_do_no_harm(batch: Path, tmp_path: Path) -> None:
    table = pd.read_csv(batch, dtype=str, keep_default_na=False)
    kept = ["WorkerId", "Input.doc", "Input.system", "Answer.fluency"]
    other = tmp_path / "few.csv"
    table[["HITId", *kept]].to_csv(other, index=False)
    columns = ["rater", "item", "system", "criterion", "rating"]
    pd.testing.assert_frame_equal(table_of(other)[columns], table_of(batch)[columns])


def test_removed_workers_are_said(batch: Path, tmp_path: Path) -> None:
    table = pd.read_csv(batch, dtype=str, keep_default_na=False)
    other = tmp_path / "nobody.csv"
    table.drop(columns="WorkerId").to_csv(other, index=False)
    found = import_results(other, salt=SALT)
    assert found.frame["rater"].nunique() == 24
    assert "The workers were removed" in draft_for(other).write()
    assert any("every submission counts as a separate rater" in note for note in found.notes)


def test_labels_of_crowd_elements_are_criteria(tmp_path: Path) -> None:
    rows = [make_row(n, {"item": f"i{n}"}, {"mood.label": ("glad", "sad")[n % 2]}) for n in range(6)]
    frame = table_of(write_batch(tmp_path / "crowd.csv", rows))
    assert set(frame["criterion"]) == {"mood"}
    assert frame["rating"].tolist() == ["glad", "sad"] * 3


def test_one_boolean_column_an_option_is_one_answer(tmp_path: Path) -> None:
    rows = []
    for n in range(6):
        marked = {f"fluency.{k}": str(k == 1 + n % 5).lower() for k in range(1, 6)}
        if n == 5:
            marked |= {"fluency.4": "true", "fluency.5": "true", "fluency.1": "false"}
        rows.append(make_row(n, {"item": f"i{n}"}, marked))
    found = import_results(write_batch(tmp_path / "options.csv", rows), salt=SALT)
    assert found.frame["rating"].tolist() == ["1", "2", "3", "4", "5"]
    assert any(one.n == 1 and "several options" in one.what for one in found.left_out)


def test_task_answers_in_json_are_read(tmp_path: Path) -> None:
    rows = [
        make_row(
            n,
            {"item": f"i{n}"},
            {"taskAnswers": json.dumps([{"fluency": {"1": n == 0, "2": n != 0}, "mood": {"label": "glad"}}])},
        )
        for n in range(3)
    ]
    frame = table_of(write_batch(tmp_path / "json.csv", rows))
    assert frame[frame["criterion"] == "fluency"]["rating"].tolist() == ["1", "2", "2"]
    assert frame[frame["criterion"] == "mood"]["rating"].tolist() == ["glad"] * 3


def test_numbered_answers_belong_to_numbered_inputs_in_number_order(tmp_path: Path) -> None:
    numbers = range(1, 13)  # as text they sort 1, 10, 11, 12, 2
    rows = [
        make_row(
            w,
            {f"{name}{k}": f"{name}-{k}" for k in numbers for name in ("doc", "system")},
            {f"q{k}": str(1 + (k + w) % 5) for k in numbers},
        )
        for w in range(2)
    ]
    found = import_results(write_batch(tmp_path / "many.csv", rows), salt=SALT)
    assert len(found.frame) == 24
    assert found.frame["position"].tolist() == [*numbers, *numbers]
    assert (found.frame["item"] == [f"doc-{k}" for k in numbers] * 2).all()
    assert (found.frame["system"] == [f"system-{k}" for k in numbers] * 2).all()
    assert found.frame["rating"].astype(int).tolist() == [1 + (k + w) % 5 for w in range(2) for k in numbers]
    assert "work_seconds" in found.frame
    assert "seconds" not in found.frame


@pytest.mark.parametrize(("rule", "rows"), [("mark", 24), ("keep", 24), ("leave out", 22)])
def test_rejected_work_keeps_its_reason_as_the_mapping_says(tmp_path: Path, rule: str, rows: int) -> None:
    made = make_likert()
    made[0] |= {"AssignmentStatus": "Rejected", "RequesterFeedback": "Failed AWORKER0's check"}
    made[1] |= {"AssignmentStatus": "Submitted", "Reject": "too fast"}
    path = write_batch(tmp_path / "rejected.csv", made)
    mapping = Mapping.model_validate(draft_for(path).data | {"rejected": rule})
    found = import_results(path, mapping, salt=SALT)
    assert len(found.frame) == rows
    if rule == "mark":
        name = found.frame["rater"].iloc[0]
        assert found.frame["excluded"].tolist()[:3] == [
            f"rejected: Failed {name}'s check",
            "rejected: too fast",
            "",
        ]
    if rule == "leave out":
        assert [one for one in found.left_out if one.what == "rejected submissions" and one.n == 2]


def refuse(path: Path | list[Path], words: str, **options: object) -> None:
    with pytest.raises(PanelistError, match=words) as caught:
        import_results(path, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_what_cannot_be_imported_is_refused_in_a_sentence(batch: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("", encoding="utf-8")
    refuse(other, "is empty")
    other.write_text(",".join([*COLUMNS, "Answer.x"]), encoding="utf-8")
    refuse(other, "has a header but no rows")
    refuse(tmp_path / "none.csv", "There is no file")
    refuse([batch, batch], "is named twice")
    other.write_bytes(batch.read_bytes())
    refuse([batch, other], "are the same file")
    other.write_text(batch.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    refuse(
        [batch, other],
        "24 AssignmentIds? occur more than once, the first .ASSIGN0000. in batch.csv, row 1 and other",
    )
    lines = batch.read_text(encoding="utf-8").splitlines()
    other.write_text("\n".join([*lines, lines[1] + ",more"]), encoding="utf-8")
    refuse(other, "row 25: .* cells, and the header has")
    other.write_text("a,b\n1,2\n", encoding="utf-8")
    refuse(other, "no column Answer", source="mturk")
    refuse(batch, "No source is called 'mtrk'. Did you mean 'mturk'", source="mtrk")
    other.write_bytes(b"PK\x03\x04abc")
    refuse(other, "is a damaged Excel workbook")
    other.write_text('HITId,Input.id,Answer.a\n1,2,"abc\n2,3,4\n', encoding="utf-8")
    refuse(other, "other.csv, line 3, is not a table: .* A quotation mark is not closed")


def test_a_mapping_that_names_missing_columns_says_line_and_key(batch: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(
        "source: mturk\nrater: WorkerID\nitem: Input.doc\n"
        "criteria:\n  - name: fluency\n    answer: Answer.fluensy\n",
        encoding="utf-8",
    )
    with pytest.raises(BadFile) as caught:
        import_results(batch, mapping)
    assert (
        "mapping.yaml:2 rater: no column is called 'WorkerID' in batch.csv. Did you mean 'WorkerId'?"
        in str(caught.value)
    )
    assert "mapping.yaml:6 criteria[0].answer:" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("source: mturk\nrater: WorkerId\n", "names no criterion"),
        (
            "source: mturk\nratr: W\ncriteria: [{name: a, answer: b}]\n",
            "mapping.yaml:2 ratr: unknown key. Did you mean 'rater'",
        ),
        (
            "source: turk\nrater: W\ncriteria: [{name: a, answer: b}]\n",
            "mapping.yaml:1 source: should be one of",
        ),
        (
            "source: mturk\nrater: W\nitem: {column: a, match: 'a'}\ncriteria: [{name: a, answer: b}]\n",
            "exactly one pair",
        ),
        ("source: mturk\nrater: W\nrater: V\ncriteria: [{name: a, answer: b}]\n", "twice"),
        ("source: mturk\nrater: W\ncriteria: [{answer: b}]\n", "the key 'name' is missing"),
        ("", "holds no keys"),
    ],
)
def test_a_bad_mapping_is_explained(batch: Path, tmp_path: Path, text: str, words: str) -> None:
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile) as caught:
        import_results(batch, mapping)
    assert words in str(caught.value)


def test_a_code_that_the_expression_does_not_fit_is_named(batch: Path) -> None:
    data = draft_for(batch).data | {"item": {"column": "Input.doc", "match": "x(.*)"}}
    refuse(batch, "batch.csv, row 1: Input.doc holds 'd0', which 'x", mapping=Mapping.model_validate(data))


def test_words_count_as_the_mapping_says_and_others_are_named(tmp_path: Path) -> None:
    words = ("Good", "bad", "so-so")
    rows = [make_row(n, {"item": f"i{n}"}, {"fluency": words[n % 3]}) for n in range(6)]
    path = write_batch(tmp_path / "words.csv", rows)
    data = draft_for(path).data
    data["criteria"][0]["values"] = {"good": 5, "Bad": 1}
    found = import_results(path, Mapping.model_validate(data), salt=SALT)
    assert found.frame["rating"].tolist() == ["5", "1", "5", "1"]
    assert [str(one) for one in found.left_out] == [
        "2 answers on fluency that the mapping gives no value ('so-so')"
    ]


def test_the_draft_is_a_mapping_that_imports_the_same(batch: Path, tmp_path: Path) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text(draft_for(batch).write(), encoding="utf-8")
    pd.testing.assert_frame_equal(table_of(batch, mapping=path), table_of(batch))
    assert "# Not used (free text, or all alike): Answer.comment." in path.read_text(encoding="utf-8")


def test_several_files_of_one_study_may_ask_different_things(tmp_path: Path) -> None:
    made = [
        write_batch(
            tmp_path / f"{name}.csv",
            [make_row(n, {"item": f"i{n}"}, {name: "3"}, AssignmentId=f"{name}{n}") for n in range(3)],
        )
        for name in ("fluency", "adequacy")
    ]
    found = import_results(made, salt=SALT)
    assert found.frame.groupby("criterion").size().to_dict() == {"adequacy": 3, "fluency": 3}
    assert not found.left_out
