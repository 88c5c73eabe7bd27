"""The documentation as a site: every page in it, every link within it, nothing fetched from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path
from posixpath import normpath
from typing import Any

import pytest
import yaml

from docs.site_pages import ROOT, find_outside, lead_inside
from tests.collection.browsers import CHROMIUM, use_browser

ASKED = re.compile(
    r"<(?:script|img|iframe|source)[^>]*?\ssrc=\"?([^\"\s>]+)|<link [^>]*?href=\"?([^\"\s>]+)[^>]*>"
)
HREF = re.compile(r"<a [^>]*?href=\"?([^\"\s>]+)")
ID = re.compile(r"\sid=\"?([^\"\s>]+)")
SOURCES = ROOT / "docs"
LARGEST_IMAGE = 150_000


class Plain(yaml.SafeLoader):
    """Reads mkdocs.yml without making what its tags name."""


Plain.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)


def list_nav(part: Any) -> list[str]:
    """Return the pages of a navigation, in order."""
    if isinstance(part, str):
        return [part]
    return [name for one in (part.values() if isinstance(part, dict) else part) for name in list_nav(one)]


def test_every_page_is_in_the_navigation_once() -> None:
    nav = list_nav(yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Loader=Plain)["nav"])
    pages = {path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.md")}
    assert sorted(nav) == sorted(pages | {"contributing.md"}), "add the page to nav: in mkdocs.yml"


@pytest.mark.parametrize(
    ("page", "link", "leads"),
    [
        ("index.md", "../CONTRIBUTING.md", "contributing.md"),
        ("examples.md", "../examples/li-et-al-2023/README.md", "examples/li-et-al-2023.md"),
        ("how-to/prolific.md", "../collecting.md#on-a-server", "../collecting.md#on-a-server"),
        ("how-to/prolific.md", "../../CONTRIBUTING.md", "../contributing.md"),
        ("contributing.md", "docs/power.md", "power.md"),
        ("index.md", "https://example.org/a.md", "https://example.org/a.md"),
    ],
)
def test_links_lead_inside_the_site(page: str, link: str, leads: str) -> None:
    assert lead_inside(f"[x]({link})", page) == f"[x]({leads})"


def test_pictures_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in (SOURCES / "images").iterdir()}
    assert sizes
    assert max(sizes.values()) < LARGEST_IMAGE, sizes


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site."""
    pytest.importorskip("mkdocs", reason="mkdocs-material is not installed: make setup")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def site(built: Path) -> dict[str, str]:
    """Return the pages of the built site by their place in it."""
    return {path.relative_to(built).as_posix(): path.read_text("utf-8") for path in built.rglob("*.html")}


def test_site_has_every_page(built: Path, site: dict[str, str]) -> None:
    pages = {path.relative_to(SOURCES).with_suffix(".html").as_posix() for path in SOURCES.rglob("*.md")}
    outside = {target.replace(".md", ".html") for target in find_outside().values()}
    assert pages <= set(site)
    assert all((built / target).exists() for target in outside)


def test_site_asks_no_other_server_for_anything(site: dict[str, str]) -> None:
    for name, text in site.items():
        asked = [one or other for one, other in ASKED.findall(text)]
        assert asked
        assert not [address for address in asked if address.startswith(("http:", "https:", "//"))], name
        assert "fonts.googleapis" not in text


def test_every_link_of_the_site_leads_to_a_page_and_a_heading(site: dict[str, str]) -> None:
    ids = {name: set(ID.findall(text)) for name, text in site.items()}
    for name, text in site.items():
        for address in HREF.findall(text):
            if re.match(r"\w+:|//", address):
                continue
            file, _, heading = address.partition("#")
            place = normpath(f"{Path(name).parent.as_posix()}/{file}") if file else name
            if place in (".", "./"):
                continue
            assert place in site or not place.endswith(".html"), f"{name}: {address}"
            if heading and place in site:
                assert heading in ids[place], f"{name}: {address}"


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: no program 'chromium'")
def test_search_works_from_a_folder_and_asks_no_server(built: Path) -> None:
    with use_browser() as browser:
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((built / "index.html").as_uri())
        page.keyboard.press("s")
        page.locator("input[name=query]").press_sequentially("krippendorff")
        page.locator(".md-search-result__item").first.wait_for()
        assert [address for address in asked if not address.startswith(("file:", "data:"))] == []
