"""The study as an object: what it says of itself."""

from pathlib import Path

import pytest

from panelist.core.errors import BadFile
from panelist.study.reading.load import load_study
from tests.study.studies import PLAIN, write_study


def test_a_study_says_in_one_line_what_it_is(tmp_path: Path) -> None:
    study = load_study(write_study(tmp_path, PLAIN))
    said = repr(study)
    assert said.startswith(f"Study({study.title!r}, ")
    assert f"{len(study.systems)} systems × {len(study.items)} item" in said
    assert len(said) < 120


def test_a_folder_that_is_not_there_is_answered_with_the_study_of_the_nearest_name(tmp_path: Path) -> None:
    write_study(tmp_path, PLAIN)
    (tmp_path / "other.yaml").write_text("a: 1", encoding="utf-8")
    (near := tmp_path / "forecasts").mkdir()
    (near / "study.yaml").write_text("", encoding="utf-8")
    with pytest.raises(BadFile, match=r"Did you mean 'forecasts'\?(\n|$)"):
        load_study(tmp_path / "forecast")
    with pytest.raises(BadFile, match=r"nowhere\. Make one with: panelist init FOLDER(\n|$)"):
        load_study(tmp_path / "nowhere")
