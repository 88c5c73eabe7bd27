"""The deviation table: every parameter that differs, with its reason or without, and what is still to ask."""

import json
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner, Result

from panelist.cli.check import check
from panelist.core.errors import BadFile, PanelistError
from panelist.reports.repeat.deviation_files import write_deviations
from panelist.reproduction.deviations.deviation_table import Deviations, find_deviations, list_open_questions
from panelist.study.reading.load import load_study
from tests.study.studies import PLAIN, write_study

ORIGINAL = PLAIN + "design: {type: full, order: as listed}\nraters: {count: 6}\npay: {hourly: 5}\n"
REPEAT = """\
repeat:
  of: original/study.yaml
  reasons:
    pay: The law.
    pay.hourly: The minimum wage rose.
    raters.count: More power.
    checks: Nothing differs here.
"""


def compare(folder: Path, repeat: str, n_items: int = 6, systems: str = "ab") -> Deviations:
    (folder / "original").mkdir()
    (folder / "repeat").mkdir()
    first = load_study(write_study(folder / "original", ORIGINAL))
    return find_deviations(first, load_study(write_study(folder / "repeat", repeat, n_items, systems)))


def rows(found: Deviations) -> dict[str, tuple[str, str, str]]:
    return {row.parameter: (row.original, row.repeat, row.reason) for row in found.rows}


def test_a_study_does_not_deviate_from_itself(tmp_path: Path) -> None:
    found = compare(tmp_path, ORIGINAL)
    assert found.rows == ()
    assert "does everything as the original" in found.sentence()


def test_every_difference_is_a_row_with_its_nearest_reason(tmp_path: Path) -> None:
    text = ORIGINAL.replace("count: 6", "count: 9").replace("{hourly: 5}", "{hourly: 10, currency: EUR}")
    found = compare(tmp_path, text.replace("as listed", "random") + REPEAT)
    assert rows(found) == {
        "design.order": ("as listed", "random", ""),
        "raters.count": ("6", "9", "More power."),
        "pay.currency": ("GBP", "EUR", "The law."),
        "pay.hourly": ("5", "10", "The minimum wage rose."),
    }
    assert found.without_reason == ("design.order",)
    assert found.idle_reasons == ("checks",)
    assert "1 of them without a reason" in found.sentence()


def test_what_only_one_study_has_is_a_row(tmp_path: Path) -> None:
    more = "  - name: adequacy\n    question: Is it right?\n    scale: {type: binary}\n"
    found = rows(compare(tmp_path, ORIGINAL.replace("design:", more + "design:")))
    assert found["criteria.adequacy.question"] == ("", "Is it right?", "")


def test_a_new_title_is_no_deviation(tmp_path: Path) -> None:
    assert compare(tmp_path, ORIGINAL.replace("A study", "Another study")).rows == ()


def test_other_outputs_are_counted(tmp_path: Path) -> None:
    found = rows(compare(tmp_path, ORIGINAL, n_items=5, systems="abc"))
    assert found["outputs.items"][:2] == ("6", "5")
    assert found["outputs.systems"][:2] == ("a, b", "a, b, c")
    assert found["outputs.texts"][:2] == ("12 outputs", "15 outputs: 5 new, 2 left out")


def test_a_changed_text_is_found(tmp_path: Path) -> None:
    compare(tmp_path, ORIGINAL)
    path = tmp_path / "repeat" / "outputs.csv"
    path.write_text(path.read_text("utf-8").replace("1 by a", "one by a"), encoding="utf-8")
    found = find_deviations(load_study(tmp_path / "original"), load_study(tmp_path / "repeat"))
    assert rows(found) == {"outputs.texts": ("12 outputs", "12 outputs: 1 changed", "")}


def test_what_the_original_leaves_blank_is_asked(tmp_path: Path) -> None:
    asked = {one.key for one in list_open_questions(load_study(write_study(tmp_path, ORIGINAL)).file)}
    needed = {"instructions", "practice", "criteria.fluency.scale", "criteria.fluency.definition"}
    assert needed | {"raters.description", "checks", "analysis.exclude", "analysis.findings"} <= asked
    assert "raters.count" not in asked
    assert "design.order" not in asked
    assert "pay" not in asked


def test_what_the_original_says_is_not_asked(tmp_path: Path) -> None:
    text = PLAIN.replace("points: 5", "points: 5, labels: [a, b, c, d, e]") + "instructions: Read.\n"
    asked = {one.key for one in list_open_questions(load_study(write_study(tmp_path, text)).file)}
    assert not asked & {"instructions", "criteria.fluency.scale"}
    assert {"raters.count", "design.order", "pay"} <= asked


HOSTILE = "=1+1 | <b> \\input{x}"


@pytest.mark.parametrize("ending", ["md", "tex", "csv", "json"])
def test_every_format_shows_user_text_and_obeys_none(tmp_path: Path, ending: str) -> None:
    found = compare(tmp_path, ORIGINAL + f"instructions: {json.dumps(HOSTILE)}\n")
    path = tmp_path / f"d.{ending}"
    write_deviations(found, path)
    text = path.read_text("utf-8")
    assert "instructions" in text
    if ending == "json":
        assert json.loads(text)["deviations"][0]["repeat"] == HOSTILE
    elif ending == "csv":
        assert pd.read_csv(path)["repeat"].tolist() == [f"'{HOSTILE}"]
    else:
        assert HOSTILE not in text
        assert "\\input{x}" not in text.replace("\\\\input", "")


def run(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(check)
    return CliRunner().invoke(app, list(arguments))


def test_check_against_prints_the_table_and_says_no_without_reasons(tmp_path: Path) -> None:
    compare(tmp_path, ORIGINAL.replace("count: 6", "count: 9"))
    answer = run(
        str(tmp_path / "repeat"), "--against", str(tmp_path / "original"), "-o", str(tmp_path / "d.md")
    )
    assert answer.exit_code == 1
    assert "raters.count" in answer.stdout
    assert "(missing)" in answer.stdout
    assert "| raters.count | 6 | 9 |" in (tmp_path / "d.md").read_text("utf-8")


def test_check_against_is_content_with_reasons(tmp_path: Path) -> None:
    compare(tmp_path, ORIGINAL.replace("count: 6", "count: 9") + REPEAT)
    answer = run(str(tmp_path / "repeat"), "--against", str(tmp_path / "original"), "--json")
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["without_reason"] == []


def test_bad_endings_and_lone_outputs_are_refused(tmp_path: Path) -> None:
    compare(tmp_path, ORIGINAL)
    place, original = str(tmp_path / "repeat"), str(tmp_path / "original")
    assert isinstance(run(place, "--against", original, "-o", "x.docx").exception, BadFile)
    assert isinstance(run(place, "-o", "x.md").exception, PanelistError)
