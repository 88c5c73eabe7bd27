"""Take the pictures of the running program that the docs show: ``python -m docs.screenshots``.

With ``--gallery`` only those of docs/gallery.md: the first rating page of every template, served without what
comes before it (consent, instructions, practice). Without it, the demo is run (``panelist demo
--keep-serving``), served again, and looked at in Chromium (Debian's package; none is downloaded): a rating
page, the dashboard, the report.
"""

import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
PANELIST = str(Path(sys.executable).with_name("panelist"))
MINUTES = 26  # of a rater, as the demo's plan has it
TIMES = {
    "visits": ("opened", "seen", "ended", "created"),
    "answers": ("given",),
    "pages_done": ("shown", "done"),
    "events": ("time",),
    "studies": ("created",),
}
GALLERY = ("likert", "vas", "binary", "pairs", "preference", "best-worst", "mixed", "chat", "speech")
SERVED = {"title", "language", "outputs", "noun", "systems", "criteria", "design", "formats"}
DESK, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
WIDE = {"width": 960, "height": 880}


class Shown(NamedTuple):
    """A demo whose server is up."""

    url: str
    password: str
    report: Path


def main() -> int:
    """Write the pictures to docs/images, as WebP."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        print("No chromium was found; install it (apt-get install chromium).")
        return 1
    if "--gallery" in sys.argv[1:]:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for template in GALLERY:
                take_template(browser, template)
            browser.close()
        return 0
    with (
        tempfile.TemporaryDirectory() as folder,
        show_demo(Path(folder) / "demo") as shown,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        take_pages(browser, shown)
        take_dashboard(browser, shown)
        take_planner(browser, shown)
        take_report(browser, shown)
        browser.close()
    return 0


@contextmanager
def show_demo(folder: Path) -> Iterator[Shown]:
    """Run the demo, give its raters the time of people, and serve it again; give what there is to see."""
    with _started("demo", "--keep-serving", "--output", str(folder)) as demo:
        _read_until(demo, "Ctrl+C")
    stretch_time(folder / "study" / "study.db")
    with _started("serve", str(folder / "study"), "--port", "0") as server:
        words = _read_until(server, "password").split()
        url = words[words.index("dashboard") + 1].removesuffix("/dashboard")
        yield Shown(url, words[words.index("password") + 1], folder / "report.html")


@contextmanager
def _started(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen([PANELIST, *arguments], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            time.sleep(0.5)  # it is waiting by now
            process.send_signal(signal.SIGINT)


def _read_until(process: "subprocess.Popen[str]", word: str) -> str:
    """Return what a process has printed, up to the line with a word."""
    assert process.stdout is not None
    said = ""
    while word not in said:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"It ended:\n{said}")
        said += line
    return said


def stretch_time(database: Path) -> None:
    """Let the simulated raters, who answer in seconds, have taken as long as people, for pay and pace."""
    with closing(sqlite3.connect(database)) as link:
        first, last = link.execute("SELECT min(opened), max(ended) FROM visits").fetchone()
        factor = MINUTES * 60 / (last - first)
        for table, columns in TIMES.items():
            for name in columns:
                link.execute(
                    f"UPDATE {table} SET {name} = ? - (? - {name}) * ? WHERE {name} IS NOT NULL",
                    (last, last, factor),
                )
        link.commit()


def take_pages(browser: "Browser", shown: Shown) -> None:
    """Take a rating page, on a desk and on a phone."""
    page = browser.new_page(viewport=DESK)  # type: ignore[arg-type]
    go_to_rating(page, f"{shown.url}/join")
    keep(page, "rating")
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    keep(page, "rating-phone")
    page.close()


def take_template(browser: "Browser", template: str) -> None:
    """Take the first rating page of a template's study."""
    from panelist.study.start import init_study

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "study"
        init_study(folder, template)
        file = folder / "study.yaml"
        sections = re.split(r"^(?=[a-z]+:)", file.read_text("utf-8"), flags=re.MULTILINE)
        kept = [text for text in sections if text.split(":")[0] in SERVED]
        file.write_text("".join(kept), encoding="utf-8")
        with _started("serve", str(folder), "--port", "0") as server:
            words = _read_until(server, "password").split()
            page = browser.new_page(viewport=WIDE)  # type: ignore[arg-type]
            page.goto(words[words.index("dashboard") + 1].removesuffix("dashboard") + "join")
            page.locator(".btn.primary").first.click()
            page.locator("#where", has_text=" 1 of ").wait_for()
            page.wait_for_load_state("networkidle")  # a player has the length of its sound by then
            keep(page, f"page-{template}")
            page.close()


def log_in(browser: "Browser", shown: Shown) -> "Page":
    """Return a window of the dashboard."""
    page = browser.new_page(viewport=DESK)  # type: ignore[arg-type]
    page.goto(f"{shown.url}/dashboard")
    page.locator("input[type=password]").fill(shown.password)
    page.locator("input[type=password]").press("Enter")
    page.wait_for_load_state("load")
    return page


def take_planner(browser: "Browser", shown: Shown) -> None:
    """Take the planner, once every point was simulated some hundred times."""
    page = log_in(browser, shown)
    design = "items=60&ratings_per_item=3&systems=2&outputs_per_rater=20&effect=0.75"
    page.goto(f"{shown.url}/dashboard/planner?{design}&live=1")
    page.get_by_text("from 350 simulated studies").wait_for(timeout=300_000)
    keep(page, "planner")
    page.close()


def take_dashboard(browser: "Browser", shown: Shown) -> None:
    """Take the researcher's dashboard."""
    page = log_in(browser, shown)
    page.locator("text=Krippendorff").first.wait_for()  # agreement is measured a moment later
    keep(page, "dashboard")
    page.close()


def take_report(browser: "Browser", shown: Shown) -> None:
    """Take the first screen of the report."""
    page = browser.new_page(viewport=DESK)  # type: ignore[arg-type]
    page.goto(shown.report.resolve().as_uri())
    keep(page, "report")
    page.close()


def keep(page: "Page", name: str) -> None:
    """Write what the page shows now to docs/images."""
    from PIL import Image

    page.evaluate("scrollTo(0, 0)")
    with Image.open(BytesIO(page.screenshot())) as image:
        image.convert("RGB").save(IMAGES / f"{name}.webp", quality=90, method=6)


def go_to_rating(page: "Page", join: str) -> None:
    """Go through consent, questions and practice to the first page that counts."""
    page.goto(join)
    first = page.locator("#where", has_text=" 1 of 4")
    while not first.count() or page.get_by_text("does not count").count():
        for box in page.locator("input[type=checkbox][required]").all():
            box.check()
        for name in {radio.get_attribute("name") for radio in page.locator("input[type=radio]").all()}:
            page.locator(f'input[type=radio][name="{name}"]').first.check()
        page.locator(".btn.primary").first.click()
        page.wait_for_load_state("networkidle")


if __name__ == "__main__":
    sys.exit(main())
