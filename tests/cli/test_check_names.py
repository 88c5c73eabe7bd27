"""``panelist check`` on names in outputs, and the copy without them."""

from pathlib import Path

import pandas as pd
import pytest

from panelist.study.start import init_study
from tests.cli.commands import call


@pytest.fixture
def named(tmp_path: Path) -> Path:
    init_study(tmp_path / "study")
    path = tmp_path / "study" / "outputs.csv"
    frame = pd.read_csv(path)
    frame.loc[0, "output"] = "As an AI language model by OpenAI, I cannot."
    frame.to_csv(path, index=False)
    return tmp_path / "study"


def test_check_counts_names_and_redact_masks_them(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "check", named)
    assert done.code == 0
    assert "OpenAI in 1 of" in done.out
    target = named / "blind.csv"
    done = call(capsys, "check", named, "--redact", target)
    assert (done.code, done.err) == (0, "")
    assert "changed to [assistant]" in done.out
    assert pd.read_csv(target)["output"][0] == "[assistant] by [assistant], I cannot."
    assert call(capsys, "check", named, "--redact", target).code == 2  # it would overwrite
