"""A new study: a folder that can be checked at once, and nothing overwritten."""

import json
from pathlib import Path

import pytest

from panelist.core.errors import BadFile, UnknownName
from panelist.study.reading.json_schema import make_schema
from panelist.study.reading.load import load_study
from panelist.study.start import init_study, list_templates

TEMPLATES = (
    *("likert", "vas", "binary", "pairs", "preference", "best-worst", "mixed"),
    *("chat", "speech", "judged"),
)


def test_there_is_a_template_for_every_kind_of_study() -> None:
    assert set(list_templates()) == set(TEMPLATES)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_new_study_loads_and_knows_its_schema(tmp_path: Path, template: str) -> None:
    made = init_study(tmp_path / "deep" / "new", template)
    outputs = "outputs.jsonl" if template == "chat" else "outputs.csv"
    media = [path for path in made if path.suffix in (".wav", ".vtt")]
    judges = ["judges.csv"] if template == "judged" else []
    others = [path.name for path in made if path not in media]
    assert others == ["study.yaml", *judges, outputs, "study.schema.json"]
    assert {path.relative_to(made[0].parent).as_posix() for path in media} == set(load_study(made[0]).files)
    assert load_study(made[0]).outputs.items
    first = made[0].read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=study.schema.json"
    assert json.loads(made[-1].read_text(encoding="utf-8")) == make_schema()


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(BadFile, match=r"is not empty \(it holds notes.txt\); nothing was written"):
        init_study(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine", encoding="utf-8")
    with pytest.raises(BadFile, match="is a file; name a new folder"):
        init_study(tmp_path / "x")
    with pytest.raises(BadFile, match="cannot be written"):
        init_study(tmp_path / "x" / "y")


def test_an_unknown_template_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'likert'"):
        init_study(tmp_path / "new", "lickert")
    assert not (tmp_path / "new").exists()
