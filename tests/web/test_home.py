"""The address of the server alone: raters read that they need a link, researchers where the dashboard is."""

from pathlib import Path

import pytest

from panelist.collection.pages.translations import find_languages, load_words
from tests.web.servers import make_study, serve_in_thread


@pytest.mark.parametrize("language", find_languages())
def test_the_root_tells_who_comes_where_to_go_and_nothing_about_the_study(
    tmp_path: Path, language: str
) -> None:
    folder = make_study(tmp_path / "study", language=f"language: {language}")
    with serve_in_thread(folder) as served, served.client() as client:
        page = client.get("/")
        visits = len(served.store.snapshot().visits)
    assert page.status_code == 200
    for key in ("home_title", "home_text", "home_dashboard"):
        assert load_words(language).say(key) in page.text
    assert '<a href="/dashboard">' in page.text
    file = served.study.file
    for secret in (file.title, file.information.headline, file.information.contact, *served.study.systems):
        assert secret not in page.text
    assert "/r/" not in page.text
    assert visits == 0
