"""Studies that are short enough for a journey."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.servers import Served, make_study, serve_in_thread


@pytest.fixture(scope="module")
def likert(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A short study: two criteria, four texts a rater, and one may go back."""
    with serve_in_thread(shorten(tmp_path_factory.mktemp("journey") / "likert", "likert")) as served:
        yield served


def shorten(folder: Path, template: str) -> Path:
    """Return the folder of a study from a template, with few pages for each rater."""
    text_of = {"likert": "4", "pairs": "4", "best-worst": "4", "binary": "3", "mixed": "4"}
    text_of |= {"speech": "2", "chat": "3", "preference": "4"}
    if template not in text_of:
        return make_study(folder, template)
    return make_study(folder, template, trials_per_rater=f"trials_per_rater: {text_of[template]}")
