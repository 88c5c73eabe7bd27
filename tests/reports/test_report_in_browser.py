"""The report in a real browser: no violation of accessibility, no sideways scroll, light, dark, printed."""

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

from panelist.analysis.analyse import analyse
from panelist.design.make import plan_study
from panelist.design.simulate import simulate_ratings
from panelist.reports.report.write_report import write_report
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from tests.simulated import simulate_demo


@pytest.fixture(scope="module", params=["table", "chat", "speech"])
def page_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a table, and of studies, which have examples of outputs and lists of what to report."""
    folder = tmp_path_factory.mktemp("browser")
    path, study = folder / "report.html", None
    if request.param == "table":
        frame = simulate_demo()
        frame = frame.assign(
            excluded=np.where(frame["rater"] == "rater-03", "withdrew", ""),
            system="a system with a long name, called " + frame["system"],
        )
    else:
        init_study(folder / "study", request.param)
        study = load_study(folder / "study")
        frame = simulate_ratings(study, plan_study(study))
    write_report(analyse(study, frame, resamples=20), path, made=date(2026, 11, 4), files=False)
    return path


@pytest.mark.parametrize(
    ("width", "scheme", "media"),
    [
        (1280, "light", "screen"),
        (1280, "dark", "screen"),
        (390, "light", "screen"),
        (360, "dark", "screen"),
        (720, "light", "print"),
    ],
)
def test_axe_finds_nothing_and_the_page_does_not_scroll_sideways(
    page_path: Path, browser: Any, width: int, scheme: str, media: str
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.emulate_media(color_scheme=scheme, media=media)
    page.goto(page_path.as_uri())
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    page.close()
