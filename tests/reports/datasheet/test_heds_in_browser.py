"""The datasheet in a real browser: no violation of accessibility, no sideways scroll, light and dark."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

from panelist.reports.datasheet.sheet import SheetAnswer
from panelist.reports.datasheet.write_datasheet import save_sheet
from tests.reports.datasheet.sheets import make_full


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("browser") / "heds.html"
    long = SheetAnswer((), "https://example.org/" + "a-long-address-" * 20, "x", draft=True)
    save_sheet(make_full(q5_1=SheetAnswer(), q3_3_4_1=long), [path])
    return path


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing_and_the_page_does_not_scroll_sideways(
    page_path: Path, browser: Any, width: int, scheme: str
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.emulate_media(color_scheme=scheme)
    page.goto(page_path.as_uri())
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    page.close()
