"""Whatever goes wrong on the command line, the message leads to a heading that says why and what to do."""

import re
from pathlib import Path

import pandas as pd
import pytest

import panelist
from docs.generate import ERRORS, ROOT
from panelist.cli import main as command_line
from panelist.core import errors
from panelist.core.errors import BadFormula, PanelistError, find_anchor
from panelist.study.start import init_study
from tests.cli.commands import NAMES

WRONG = {  # for every command something that people do, and the heading that they should find
    "demo --output STUDY": "bad-file",
    "init STUDY": "bad-file",
    "init new --template nosuch": "unknown-name",
    "check STUDY/wrong.yaml": "bad-study",
    "check nosuch": "bad-file",
    "power --effects a,b": "panelist-error",
    "power --preset nosuch": "unknown-name",
    "power paper --nosuch": "usage",
    "size --study nosuch": "bad-file",
    "plan STUDY/wrong.yaml": "bad-study",
    "plan extend STUDY --add 2": "bad-plan",
    "preregister nosuch": "bad-file",
    "simulate STUDY --seed one": "usage",
    "serve STUDY --port 99999": "bad-address",
    "serve STUDY --db mysql://host/name": "bad-store",
    "links STUDY --count 0": "usage",
    "recruit STUDY status": "bad-recruiting",
    "export STUDY -o nosuch/ratings.csv": "bad-file",
    "backup STUDY -o backup": "bad-store",
    "restore nosuch STUDY": "bad-store",
    "forget STUDY --rater me": "bad-store",
    "import nosuch.csv": "bad-file",
    "report STUDY/outputs.csv --check": "bad-file",
    "report STUDY/outputs.csv": "bad-ratings",
    "heds fill STUDY -o sheet.docx": "bad-file",
    "heds lint STUDY/outputs.csv": "bad-file",
    "heds convert STUDY/study.yaml": "usage",
    "heds diff STUDY": "usage",
    "heds nosuch": "usage",
    "archive STUDY -o study.txt": "bad-file",
    "verify STUDY/outputs.csv": "bad-file",
    "agreement STUDY/outputs.csv": "bad-ratings",
    "compare RATINGS --confidence 2": "bad-model",
    "compare RATINGS --criterion flu": "unknown-name",
    "compare RATINGS --confidence high": "usage",
    "judges prompts nosuch": "bad-file",
    "judges read nosuch --key nosuch": "bad-file",
    "judges worth STUDY/outputs.csv RATINGS": "bad-ratings",
    "scales RATINGS": "usage",
    "reproduce RATINGS": "bad-reproduction",
    "reproduce size --p 2": "bad-reproduction",
    "fit STUDY --nosuch": "usage",
    "fit RATINGS": "panelist-error",
    "fit RATINGS --formula rating~sytem": "bad-formula",
    "fit RATINGS --formula rating~system --model nosuch": "unknown-name",
    "schema -o nosuch/schema.json": "bad-file",
    "nosuch": "usage",
}


def find_explained() -> set[str]:
    """Return the anchors of the headings under which something is said, besides a list of messages."""
    parts = re.split(r"^##+ (.+)$", ERRORS.read_text("utf-8"), flags=re.MULTILINE)
    told = zip(parts[1::2], parts[2::2], strict=True)
    return {title.lower().replace(" ", "-") for title, text in told if len(text.split("<!--")[0].split()) > 8}


def test_every_class_of_errors_is_explained_in_words() -> None:
    listed = re.findall(r"^<!-- messages of (\w+),", ERRORS.read_text("utf-8"), re.MULTILINE)
    anchors = {find_anchor(type(name, (PanelistError,), {})) for name in listed}
    assert anchors | {"usage", "not-enough-memory", "a-fault-of-panelist"} <= find_explained()


def test_there_is_an_error_of_every_command() -> None:
    assert {name for name in NAMES if any(f"{wrong} ".startswith(f"{name} ") for wrong in WRONG)} == set(
        NAMES
    )


@pytest.mark.parametrize("wrong", WRONG)
def test_a_message_leads_to_a_heading_that_explains_it(
    wrong: str,
    tmp_path: Path,
    ratings: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PANELIST_TRACEBACK", raising=False)
    if "STUDY" in wrong:
        init_study(tmp_path / "study", "likert")
        text = (tmp_path / "study" / "study.yaml").read_text("utf-8")
        (tmp_path / "study" / "wrong.yaml").write_text(text.replace("type: likert", "type: lickert"), "utf-8")
    with pytest.raises(SystemExit) as ended:
        command_line.main(wrong.replace("STUDY", "study").replace("RATINGS", str(ratings)).split())
    assert ended.value.code == (1 if wrong.startswith("check STUDY") else 2)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == f"More: {ERRORS}#{WRONG[wrong]}"
    assert WRONG[wrong] in find_explained()


def test_a_program_without_its_repository_has_the_page_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "panelist" / "errors.md"
    page.parent.mkdir()
    page.write_bytes(ERRORS.read_bytes())
    monkeypatch.setattr(errors, "__file__", str(page.parent / "core" / "errors.py"))
    (tmp_path / "panelist" / "core").mkdir()
    errors.find_causes.cache_clear()
    try:
        with pytest.raises(SystemExit):
            command_line.main(["nosuch"])
    finally:
        errors.find_causes.cache_clear()
    assert capsys.readouterr().err.splitlines()[-1] == f"More: {page}#usage"
    assert '"docs/errors.md" = "panelist/errors.md"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_a_fault_and_a_lack_of_memory_lead_to_their_headings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PANELIST_TRACEBACK", raising=False)
    for error, heading in (
        (ZeroDivisionError(), "a-fault-of-panelist"),
        (MemoryError(), "not-enough-memory"),
    ):

        def fail(*_: object, raised: BaseException = error, **__: object) -> None:
            raise raised

        monkeypatch.setattr(command_line, "app", fail)
        with pytest.raises(SystemExit):
            command_line.main(["fit"])
        assert capsys.readouterr().err.endswith(f"#{heading}\n")


def test_an_error_in_python_leads_there_too() -> None:
    with pytest.raises(BadFormula) as caught:
        panelist.fit("rating ~ sistem", pd.DataFrame({"rating": [1, 2], "system": ["a", "b"]}))
    assert [note.rpartition("/")[2] for note in caught.value.__notes__] == ["errors.md#bad-formula"]
