"""docs/old-hits.md, step by step: an old evaluation imported, its HIT run again, both compared."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from panelist.collection.robots.fleet import Fleet, send_robots
from tests.cli.commands import call
from tests.web.servers import serve_in_thread

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "old-hit"
PAGE = (ROOT / "docs" / "old-hits.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "old-hit")
    monkeypatch.chdir(tmp_path / "old-hit")
    return tmp_path / "old-hit"


def test_original_and_repeat_are_compared_as_the_page_says(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = call(
        capsys, "import", "original/batch.csv", "--mapping", "again/mapping.yaml", "-o", "original.csv"
    )
    assert done.code == 0
    assert done.out.strip() in PAGE  # what the page shows is what the command prints
    checked = call(capsys, "check", "again")
    assert checked.code == 0
    assert checked.out.strip() in PAGE
    with serve_in_thread(folder / "again") as served:
        send_robots(served.study, served.url, Fleet(raters=10, seed=2, careless=0.0))
    assert call(capsys, "export", "again", "-o", "repeat.csv").code == 0
    assert call(capsys, "export", "again", "-o", "batch.csv", "--what", "batch").code == 0
    batch = pd.read_csv("batch.csv")
    assert list(batch.columns) == list(pd.read_csv("original/batch.csv").columns)
    assert set(batch.groupby("HITId")["WorkerId"].nunique()) == {5}
    found = json.loads(call(capsys, "reproduce", "original.csv", "repeat.csv", "--json").out)
    by_name = {one["criterion"]: one for one in found["criteria"]}
    assert set(by_name) == {"clearer", "reads well"}
    for one in by_name.values():
        assert one["spearman"] > 0
        assert {row["system"] for row in one["cv_star"]} == {"baseline", "pipeline", "seq2seq"}
    assert by_name["clearer"]["upheld"] == 1  # the simulated raters of both runs think alike of the systems


def test_every_file_that_the_page_names_is_there() -> None:
    for name in set(re.findall(r"`((?:again|original)/[\w.-]+)`", PAGE)):
        assert (EXAMPLE / name).is_file(), name
