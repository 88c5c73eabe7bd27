"""Outputs: kept byte for byte, and every fault of the file reported with its line."""

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadStudy
from panelist.study.outputs import examine_outputs, read_outputs
from panelist.study.problems import Problem

ODD = [
    "<b>bold</b> & <script>x()</script>",
    "=SUM(A1:A9)",
    "+1",
    "@x",
    " spaces ",
    'a "quote", a comma',
    "líne\nline",
]


def write(folder: Path, content: str | bytes, name: str = "outputs.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def problems(path: Path, grave: bool = True) -> list[Problem]:
    return [problem for problem in examine_outputs(path)[1] if problem.grave is grave]


def test_outputs_that_take_many_minutes_to_read_are_noted_with_the_minutes(tmp_path: Path) -> None:
    lengths = {"a": 3000, "b": 3001, "c": 4800}
    rows = [f"i,{system},{'word ' * words}" for system, words in lengths.items()]
    path = write(tmp_path, "\n".join(["item,system,output", *rows]))
    (note,) = problems(path, grave=False)
    assert (note.line, note.key) == (3, "output")
    assert note.message.startswith("2 outputs have more than 3,000 words (lines 3 and 4); the longest takes")
    assert "about 20 minutes at 240 words a minute" in note.message


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "json", "xlsx", "parquet"])
def test_html_and_formulas_stay_text_in_every_format(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame({"item": [f"{i:03}" for i in range(len(ODD))], "system": "NA", "output": ODD})
    path = tmp_path / f"outputs.{ending}"
    if ending in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="," if ending == "csv" else "\t")
    elif ending in ("jsonl", "json"):
        frame.to_json(path, orient="records", lines=ending == "jsonl")
    elif ending == "parquet":
        frame.to_parquet(path)
    else:
        rows = frame.map(lambda cell: cell)
        with pd.ExcelWriter(path, engine="openpyxl") as writer:
            rows.to_excel(writer, index=False)
            for row in writer.book.worksheets[0].iter_rows():
                for cell in row:
                    cell.data_type = "s"
    outputs = read_outputs(path)
    assert [outputs.text(f"{i:03}", "NA") for i in range(len(ODD))] == ODD
    assert outputs.items[0] == "000"
    assert outputs.systems == ("NA",)
    csv = tmp_path / "same.csv"
    frame.to_csv(csv, index=False)
    assert read_outputs(csv).hash == outputs.hash


def test_a_formula_cell_of_a_workbook_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "outputs.xlsx"
    frame = pd.DataFrame({"item": [1, 2], "system": ["a", "a"], "output": ["fine", "=1+1"]})
    frame.to_excel(path, index=False)
    told = [problem.message for problem in problems(path, grave=False)]
    assert any("1 cell (C3) with a formula" in message for message in told)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_make_no_difference(tmp_path: Path, ends: str, mark: str) -> None:
    lines = ["item,system,output,context", "1,a,one,c", "1,b,two,c", ""]
    outputs = read_outputs(write(tmp_path, mark + ends.join(lines)))
    assert outputs.frame.to_numpy().tolist() == [["1", "a", "one", "c"], ["1", "b", "two", "c"]]
    assert outputs.field("1", "b", "context") == "c"
    assert outputs.field("1", "b", "reference") == ""


def test_line_ends_inside_a_cell_are_kept(tmp_path: Path) -> None:
    assert read_outputs(write(tmp_path, 'item,system,output\n1,a,"x\r\ny"\n')).text("1", "a") == "x\r\ny"


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "item,system,output\r\n1,a,tea\r\n2,a,café\r\n".encode("cp1252"))
    (found,) = problems(path)
    assert found.line == 3
    assert "0xe9" in found.message
    assert "'é'" in found.message


def test_repeated_rows_are_named_with_their_lines_whatever_stands_between(tmp_path: Path) -> None:
    text = 'item,system,output\n1,a,"two\nlines"\n\n1,b,x\n2,a,x\n1,a,again\n2,b,5" wide\n1,a,thrice\n'
    (found,) = problems(write(tmp_path, text))
    assert found.line == 7
    assert "item '1', system 'a' (lines 2, 7 and 9)" in found.message


def test_repeated_rows_of_json_lines_are_named_with_their_lines(tmp_path: Path) -> None:
    rows = [{"item": 1, "system": "a", "output": "x"}, {"item": "1", "system": "a", "output": "y"}]
    text = "\n\n".join(json.dumps(row) for row in rows)
    (found,) = problems(write(tmp_path, text, "outputs.jsonl"))
    assert "(lines 1 and 3)" in found.message


def test_missing_outputs_are_named_and_counted(tmp_path: Path) -> None:
    (found,) = problems(
        write(tmp_path, "item,system,output\n1,a,x\n1,b,x\n1,c,x\n2,b,x\n3,a,x\n3,b,x\n3,c,x\n")
    )
    assert "2 of 9 outputs (3 items × 3 systems) are missing: item '2' lacks 'a' and 'c'." in found.message


def test_many_missing_outputs_are_counted_and_the_first_named(tmp_path: Path) -> None:
    rows = [f"{item},a,x" for item in range(40)] + ["0,b,x"]
    (found,) = problems(write(tmp_path, "item,system,output\n" + "\n".join(rows)))
    assert "39 of 80 outputs" in found.message
    assert "and 34 more items" in found.message


def test_empty_outputs_are_named_unless_a_picture_stands_in(tmp_path: Path) -> None:
    (found,) = problems(write(tmp_path, "item,system,output\n1,a,\n2,a, \n3,a,x\n"))
    assert found.line == 2
    assert (
        "2 outputs are empty: item '1', system 'a' and item '2', system 'a' (lines 2 and 3)" in found.message
    )
    assert not problems(write(tmp_path, "item,system,output,image\n1,a,,a.png\n"))


def test_rows_without_item_or_system_are_told(tmp_path: Path) -> None:
    found = problems(write(tmp_path, "item,system,output\n1,a,x\n,a,x\n2,,x\n"))
    assert [(problem.line, problem.key) for problem in found if "without" in problem.message] == [
        (3, "item"),
        (4, "system"),
    ]


def test_other_names_of_columns_are_understood_and_noted(tmp_path: Path) -> None:
    path = write(tmp_path, "Item,Model,text,remark\n1,a,x,y\n")
    assert read_outputs(path).text("1", "a") == "x"
    told = [problem.message for problem in problems(path, grave=False)]
    assert told == [
        "the column 'Model' is read as 'system'.",
        "the column 'text' is read as 'output'.",
        "not used: column 'remark'.",
    ]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("item,sistem,output", "no column 'system'. Is it 'sistem'?"),
        ("a,b,c", "Its columns are 'a', 'b' and 'c'"),
        ("item,system,output,output", "several columns could be the output"),
    ],
)
def test_missing_and_doubled_columns_are_told(tmp_path: Path, header: str, words: str) -> None:
    cells = ",".join(["1"] * (header.count(",") + 1))
    found = problems(write(tmp_path, f"{header}\n{cells}\n"))
    assert any(words in problem.message for problem in found)


@pytest.mark.parametrize("content", ["", "\n\n", "item,system,output\n", "item,system,output\r\n\r\n"])
def test_files_without_outputs_are_refused(tmp_path: Path, content: str) -> None:
    (found,) = problems(write(tmp_path, content))
    assert "holds no outputs" in found.message


def test_a_missing_file_is_answered_with_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, "item,system,output\n1,a,x\n", "output.csv")
    (found,) = problems(tmp_path / "outputs.csv")
    assert "Did you mean 'output.csv'?" in found.message


def test_a_ragged_table_is_refused_without_a_traceback(tmp_path: Path) -> None:
    (found,) = problems(write(tmp_path, "item,system,output\n1,a,x\n2,b,y,z\n"))
    assert "the file is not a table" in found.message


def test_names_with_spaces_at_their_ends_are_kept_and_noted(tmp_path: Path) -> None:
    path = write(tmp_path, "item,system,output\n1,a ,x\n")
    assert read_outputs(path).systems == ("a ",)
    assert any("'a '" in problem.message for problem in problems(path, grave=False))


def test_reading_raises_all_problems_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadStudy) as caught:
        read_outputs(write(tmp_path, "item,system,output\n1,a,\n1,a,x\n2,b,x\n"))
    assert len(caught.value.problems) == 3
    assert str(caught.value).count("\n") == 2


def test_an_output_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    outputs = read_outputs(write(tmp_path, "item,system,output\n1,a,x\n"))
    with pytest.raises(BadStudy, match="no output of system 'b' for item '1'"):
        outputs.text("1", "b")


CELLS = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1
)


@pytest.mark.slow
@given(st.lists(CELLS.filter(lambda text: bool(text.strip())), min_size=1, max_size=5))
def test_outputs_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("outputs") / "outputs.parquet"
    frame = pd.DataFrame({"item": [str(i) for i in range(len(texts))], "system": "s", "output": texts})
    frame.to_parquet(path)
    outputs = read_outputs(path)
    assert outputs.frame["output"].tolist() == texts
    changed = outputs.frame.assign(output=[*texts[:-1], texts[-1] + "."])
    assert type(outputs)(changed).hash != outputs.hash
