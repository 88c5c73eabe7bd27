"""Words that differ between two outputs, underlined where the study says so."""

from pathlib import Path

import pytest

from panelist.collection.pages.models import RatingPage
from panelist.core.errors import BadStudy
from panelist.reports.methods_of_study import tell_study
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from panelist.study.study import Study
from tests.collection.raters import walk_through


def load_with(folder: Path, template: str, outputs: str) -> Study:
    init_study(folder, template)
    file = folder / "study.yaml"
    text = file.read_text(encoding="utf-8")
    assert "outputs: outputs.csv" in text
    file.write_text(text.replace("outputs: outputs.csv", f"outputs: {outputs}", 1), encoding="utf-8")
    return load_study(folder)


@pytest.mark.parametrize("shown", [True, False])
def test_pairs_show_their_differences_where_the_study_says_so(shown: bool, tmp_path: Path) -> None:
    word = "shown" if shown else "hidden"
    study = load_with(tmp_path / "s", "pairs", f"{{file: outputs.csv, differences: {word}}}")
    page = walk_through(study).go_to(RatingPage)
    assert isinstance(page, RatingPage)
    assert all(("<u>" in output.text) == shown for output in page.outputs)
    assert any("underlined" in sentence for sentence in tell_study(study)) == shown


@pytest.mark.parametrize(
    ("template", "outputs", "said"),
    [
        ("likert", "{file: outputs.csv, differences: shown}", "is for pages that show two outputs"),
        (
            "pairs",
            "{file: outputs.csv, differences: shown, formats: {output: markdown}}",
            "is for plain outputs; these are markdown",
        ),
    ],
)
def test_differences_are_refused_where_they_cannot_be_shown(
    template: str, outputs: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(BadStudy, match=said):
        load_with(tmp_path / "s", template, outputs)
