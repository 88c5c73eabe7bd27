"""Take the pictures of the running program that the docs show: ``python -m docs.screenshots``.

A study made from a template is served on a loopback port and looked at in Chromium (Debian's package; none
is downloaded).
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
PANELIST = [str(Path(sys.executable).with_name("panelist"))]


def main() -> int:
    """Write docs/images/rating.png and rating-phone.png."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        print("No chromium was found; install it (apt-get install chromium).")
        return 1
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Path(folder) / "study") as join,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        go_to_rating(page, join)
        page.screenshot(path=IMAGES / "rating.png")
        page.set_viewport_size({"width": 390, "height": 844})
        page.screenshot(path=IMAGES / "rating-phone.png")
        browser.close()
    return 0


@contextmanager
def serve(study: Path) -> Iterator[str]:
    """Serve a fresh study; yield the link for raters."""
    subprocess.run([*PANELIST, "init", str(study), "--template", "likert"], check=True, capture_output=True)
    command = [*PANELIST, "serve", str(study), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield next(line.split()[-1] for line in server.stdout if line.strip().startswith("for raters"))
    finally:
        server.terminate()
        server.wait()


def go_to_rating(page: "Page", join: str) -> None:
    """Go through consent, questions and practice to the first page that counts."""
    page.goto(join)
    first = page.locator("#where", has_text=" 1 of 1")
    while not first.count() or page.get_by_text("does not count").count():
        for box in page.locator("input[type=checkbox][required]").all():
            box.check()
        for name in {radio.get_attribute("name") for radio in page.locator("input[type=radio]").all()}:
            page.locator(f'input[type=radio][name="{name}"]').first.check()
        page.locator(".btn.primary").first.click()
        page.wait_for_load_state("networkidle")


if __name__ == "__main__":
    sys.exit(main())
