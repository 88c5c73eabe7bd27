"""``panelist import`` as its user runs it."""

import json
import stat
from pathlib import Path

import pandas as pd
import pytest

from panelist.core.tables.ratings import read_ratings
from tests.cli.commands import call
from tests.collection.imports.batches import make_likert, write_batch


@pytest.fixture
def batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_batch(tmp_path / "batch.csv", make_likert())


def test_draft_then_import_gives_a_table_that_can_be_analysed(
    batch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = call(capsys, "import", batch, "--draft")
    assert (done.code, done.err) == (0, "")
    assert "Draft written to mapping.yaml" in done.out
    assert call(capsys, "import", batch, "--draft").code == 2  # it would overwrite
    done = call(capsys, "import", batch, "--mapping", "mapping.yaml")
    assert done.code == 0
    assert "submissions  24" in done.out
    assert "Written to ratings.csv." in done.out
    assert "import.salt" in done.err
    assert stat.S_IMODE(Path("import.salt").stat().st_mode) == 0o600
    assert len(read_ratings("ratings.csv")) == 24
    assert call(capsys, "compare", "ratings.csv").code == 0
    assert call(capsys, "agreement", "ratings.csv").code == 0


def test_the_same_salt_gives_the_same_names_again(batch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.csv", "b.csv"):
        assert call(capsys, "import", batch, "-o", name).code == 0
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert call(capsys, "import", batch, "-o", "c.csv", "--keep-ids").code == 0
    assert set(pd.read_csv("c.csv")["rater"]) == {"AWORKER0", "AWORKER1", "AWORKER2"}


def test_json_is_one_object(batch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "import", batch, "--json")
    found = json.loads(done.out)
    assert (found["n_submissions"], found["n_rows"], found["n_raters"]) == (24, 24, 3)
    assert found["criteria"] == [
        {"criterion": "fluency", "kind": "ratings", "n": 24, "raters": 3, "items": 4, "excluded": 0}
    ]


def test_nothing_is_written_where_anything_is_wrong(batch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name for path in Path().iterdir()}
    for arguments in (
        ("import", batch, batch),
        ("import", batch, "--mapping", "none.yaml"),
        ("import", batch, "-o", "nowhere/ratings.csv"),
        ("import", batch, "-o", "ratings.docx"),
        ("import", batch, "--from", "turk"),
        ("import", "none.csv"),
        ("import", batch, "--salt", "batch.csv"),
    ):
        done = call(capsys, *arguments)
        assert done.code == 2, arguments
        assert done.err.startswith("Error: ")
        assert done.out == ""
        assert {path.name for path in Path().iterdir()} == before


def test_what_is_asked_of_whole_submissions_takes_no_numbered_columns(
    batch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "import", batch, "--draft").code == 0
    draft = Path("mapping.yaml").read_text(encoding="utf-8")
    for key in ("leave_out:\n  Answer.q{n}: [x]\n", "background:\n  age: Answer.q{n}\n"):
        Path("numbered.yaml").write_text(draft + key, encoding="utf-8")
        done = call(capsys, "import", batch, "--mapping", "numbered.yaml")
        assert done.code == 2
        assert "about whole submissions" in done.err
        assert "'Answer.q{n}'" in done.err


def test_outputs_are_imported_with_words_about_what_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(
        '{"custom_id": "x", "response": null, "error": {"code": "batch_expired"}}\n'
        '{"custom_id": "y", "response": {"status_code": 200, "body": {"model": "m", "choices": '
        '[{"message": {"content": "Hello."}}]}}, "error": null}\n',
        encoding="utf-8",
    )
    done = call(capsys, "import", "a.jsonl", "--as", "outputs")
    assert (done.code, done.err) == (0, "")
    assert "batch results" in done.out
    assert "missing: plan" in done.out
    assert "Written to outputs.jsonl." in done.out
    first = json.loads(Path("outputs.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first == {"item": "x", "system": "m", "output": "", "status": "timeout"}
    done = call(capsys, "import", "a.jsonl", "--as", "outputs", "--json")
    assert json.loads(done.out)["n_outputs"] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--as", "output"], "Did you mean 'outputs'?"),
        (["--as", "outputs", "--keep-ids"], "--keep-ids does not go with --as outputs."),
        (["--system", "x"], "--system does not go with --as ratings."),
        (["--as", "outputs", "--columns", "rater=x"], "Outputs have no column 'rater'."),
        (["--as", "outputs", "--repeats", "some"], "--repeats is first or all; found 'some'."),
        (["--as", "outputs", "--from", "inspct"], "Did you mean 'inspect'?"),
    ],
)
def test_what_does_not_fit_the_kind_of_import_is_refused(
    words: list[str], said: str, batch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = call(capsys, "import", batch, *words)
    assert done.code == 2
    assert said in done.err


def answer(monkeypatch: pytest.MonkeyPatch, *said: str) -> None:
    """Be at a terminal, and give these answers there."""
    answers = iter(said)
    monkeypatch.setattr("panelist.cli.import_.is_asked", lambda: True)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(answers))


def test_which_reading_is_right_is_asked_until_there_is_an_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "systems.csv"
    path.write_text("rater,item,a,b\n" + "".join(f"P{n % 3},d{n},{n % 5},{n % 4}\n" for n in range(9)))
    answer(monkeypatch, "7", "two", "2")
    done = call(capsys, "import", path, "-o", tmp_path / "ratings.csv")
    assert done.code == 0
    assert "'7' is not a number from 1 to 2." in done.err
    assert set(pd.read_csv(tmp_path / "ratings.csv")["system"]) == {"a", "b"}


@pytest.mark.parametrize("said", ["1", "rater,system,item,quality_a"])
def test_names_of_columns_are_asked_where_a_file_has_none(
    said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bare.csv"
    path.write_text("".join(f"A{n % 3},sys-{'ab'[n % 2]},doc-{n % 4},{n % 5}\n" for n in range(24)))
    refused = call(capsys, "import", path, "-o", tmp_path / "ratings.csv", "--header", "rater,item")
    assert "has 4 columns, and the header that was given names 2" in refused.err
    answer(monkeypatch, said)
    done = call(capsys, "import", path, "-o", tmp_path / "ratings.csv")
    assert done.code == 0, done.err
    assert "column 2: sys-a and sys-b (2 different)" in done.err
    found = pd.read_csv(tmp_path / "ratings.csv")
    assert (found["rater"].nunique(), found["system"].nunique(), found["item"].nunique()) == (3, 2, 4)
    again = call(
        capsys, "import", path, "--mapping", tmp_path / "ratings-mapping.yaml", "--header", "a,b,c,d"
    )
    assert again.code == 2
    assert "--header does not go with --mapping" in again.err
