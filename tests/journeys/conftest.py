"""A browser for the journeys: Debian's chromium, driven by Playwright. Nothing is downloaded."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.collection.web.servers import Served, make_study, serve_in_thread


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def likert(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A short study: two criteria, four texts a rater, and one may go back."""
    with serve_in_thread(shorten(tmp_path_factory.mktemp("journey") / "likert", "likert")) as served:
        yield served


def shorten(folder: Path, template: str) -> Path:
    """Return the folder of a study from a template, with few pages for each rater."""
    text_of = {"likert": "4", "pairs": "4", "best-worst": "4", "binary": "3"}
    if template not in text_of:
        return make_study(folder, template)
    return make_study(folder, template, trials_per_rater=f"trials_per_rater: {text_of[template]}")
