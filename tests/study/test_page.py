"""docs/study-file.md: the study shown there is one, and no section is left out."""

import re
from pathlib import Path

from panelist.study.model import StudyFile
from panelist.study.reading.load import load_study

PAGE = (Path(__file__).parents[2] / "docs" / "study-file.md").read_text(encoding="utf-8")


def test_the_study_on_the_page_has_no_problems(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    rows = [f"{item},{system},x" for item in range(12) for system in ("rules", "tuned", "people")]
    (tmp_path / "outputs.csv").write_text("\n".join(["item,system,output", *rows]), encoding="utf-8")
    assert load_study(tmp_path).notes == ()


def test_every_section_is_on_the_page() -> None:
    table = PAGE.split("## The sections")[1].split("## ")[0]
    assert set(re.findall(r"`([a-z]\w*)`", table)) == set(StudyFile.model_fields)
