"""The dashboard in a browser: everything of it can be seen on a phone."""

from pathlib import Path

import pytest

from tests.collection.browsers import CHROMIUM, Windows
from tests.web.researchers import STUDY, make_folder
from tests.web.servers import PASSWORD, serve_in_thread
from tests.web.walking import Walker

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: no program 'chromium'")
PHONE = {"width": 390, "height": 844}
BEYOND = """() => [...document.querySelectorAll(".card td, .card th, .card dd, .card .btn")]
    .filter(one => !one.closest("thead") && one.getClientRects().length)
    .filter(one => one.getBoundingClientRect().right > one.closest(".card").getBoundingClientRect().right)
    .map(one => one.textContent)"""


def test_no_part_of_the_dashboard_goes_beyond_its_card_on_a_phone(tmp_path: Path, windows: Windows) -> None:
    folder = make_folder(tmp_path / "study", STUDY)
    with serve_in_thread(folder, joins_a_minute=0) as served:
        with served.client() as client:
            Walker(client, served.study).join().finish()
        page = windows.open(viewport=PHONE)
        page.goto(f"{served.url}/dashboard")
        page.fill("input[name=who]", "Ada")
        page.fill("input[name=password]", PASSWORD)
        page.click("main button")
        page.get_by_role("link", name="Review rater").wait_for()
        assert page.evaluate(BEYOND) == []
        assert page.get_by_role("row").count() > 2, "it stays a table for who cannot see it"
        assert page.get_by_role("columnheader", name="Flags").count() == 1
        page.close()
