"""A rater in a browser: answers whatever a page asks, as a person would, with mouse, finger or keys."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, BrowserContext, Page

from panelist.collection.store.records import Visit
from tests.web.servers import Served

# Which controls a page has, in order: groups of buttons, lines, lists and boxes for words.
LOOK = """() => {
  const found = [];
  const seen = new Set();
  for (const one of document.querySelectorAll("main input, main select, main textarea")) {
    if (one.type === "hidden" || one.id === "keys-on" || one.closest("[hidden], .unplayable")) continue;
    const name = one.dataset.for ?? one.name;
    if (seen.has(name)) continue;
    seen.add(name);
    found.push({name, kind: one.tagName === "INPUT" ? one.type : one.tagName.toLowerCase()});
  }
  return found;
}"""
PLACE = """() => {
  const form = document.querySelector("main form");
  const page = form?.elements.page?.value ?? "";
  const kind = page.replace(/[0-9-]+$/, "") || (page ? "rate" : "end");
  const code = document.querySelector("#code")?.textContent;
  return {page, kind, code, practice: document.title.startsWith("Practice")};
}"""
PLAY = """player => new Promise((done) => {
  player.addEventListener("ended", done);
  player.addEventListener("error", done);
  player.play().catch(done);
})"""
# A ring around the control with the focus, or around the label that stands for it.
FOCUS = """() => [document.activeElement, document.activeElement.closest("label")].some((one) =>
  one && [one, ...one.querySelectorAll("*")].map((part) => getComputedStyle(part)).some((style) =>
    (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none"))"""
# How far the page reaches beyond the window: also where it is cut there and so does not scroll.
WIDE = """() => {
  const ends = [...document.querySelectorAll("main *")].map((one) => {
    const { left, right, width, height } = one.getBoundingClientRect();
    const scrolls = one.parentElement.closest("[role=region], .scroller, .hidden, svg");
    if (scrolls || width <= 1 || height <= 1) return 0;
    return Math.max(Math.floor(right), innerWidth - Math.ceil(left));
  });
  return Math.max(document.scrollingElement.scrollWidth, ...ends) - innerWidth;
}"""


@dataclass
class Rider:
    """A rater with a browser window."""

    served: Served
    page: Page
    seen: dict[str, str] = field(default_factory=dict)
    """The ids of the pages seen, each with its kind."""
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("request", self._note)

    def _note(self, request: Any) -> None:
        if not request.url.startswith((self.served.url, "data:")):
            self.strangers.append(request.url)

    def join(self) -> "Rider":
        """Come in by the open link; where the study tells nothing beforehand, press Begin."""
        self.page.goto(f"{self.served.url}/join")
        information = self.served.study.file.information
        if not (information.text or information.facts or information.consent or information.headline):
            self.page.locator("button.primary[name=consent]").click()
            self.page.wait_for_url("**/r/*")
        return self

    @property
    def token(self) -> str:
        return self.page.url.rpartition("/")[2]

    def visit(self) -> Visit:
        """Return the visit, as the server has it."""
        found = self.served.store.find_visit(self.token)
        assert found is not None
        return found

    def where(self) -> dict[str, Any]:
        """Return the id and the kind of the page."""
        self.page.wait_for_load_state("domcontentloaded")  # a page that is still coming has no form yet
        found: dict[str, Any] = self.page.evaluate(PLACE)
        return found

    def answer(self) -> None:
        """Answer everything that the page asks."""
        page = self.page
        practice = self.where()["practice"]
        for control in page.evaluate(LOOK):
            name, kind = control["name"], control["kind"]
            if kind == "radio":
                options = page.locator(f'input[name="{name}"]')
                place = self._choose(name, options.count(), practice)
                options.nth(place).locator("xpath=ancestor::label").click()
            elif kind == "checkbox":
                page.locator(f'input[name="{name}"]').check()
            elif kind == "range":
                line = page.locator(f'input[data-for="{name}"]')
                box = line.bounding_box()
                assert box
                line.click(position={"x": box["width"] * 0.7, "y": box["height"] / 2})
            elif kind in ("text", "textarea"):
                heard = self.served.study.file.sound_check
                page.locator(f'[name="{name}"]').fill(heard.words[0] if heard and name == "word" else "7")
        for player in page.locator("form.sheet :is(audio, video)").all():
            player.evaluate(PLAY)

    def _choose(self, name: str, options: int, practice: bool) -> int:
        """Return the answer to take: in practice one that passes, so that nobody is screened out."""
        if not practice:
            return 0 if name.endswith("-best") else options - 1
        study = self.served.study
        number = int(self.page.title().split()[1]) - 1
        right = [one.right for one in study.file.practice.items][number] if study.file.practice else {}
        place, turn = (int(part or 1) - 1 for part in re.findall(r"^c\d+(?:p(\d+))?(?:s(\d+))?", name)[0])
        outputs = study.file.practice.items[number].outputs if study.file.practice else ()
        parts = [max(study.outputs.parts(text), 1) for text in outputs]
        at = sum(parts[:place]) + turn  # one answer for each output and turn where there are several
        each = ("p" in name and len(outputs) > 1) or "s" in name
        wanted = next((answers[at if each else 0] for answers in right.values()), "1")
        values = [
            self.page.locator(f'input[name="{name}"]').nth(place).get_attribute("value")
            for place in range(options)
        ]
        best, _, worst = wanted.partition(",")
        wanted = best if name.endswith("-best") else worst or wanted
        return values.index(wanted) if wanted in values else 0

    def go_on(self) -> None:
        """Press the button that leads on, and wait for the page that follows."""
        here = self.where()["page"]
        button = self.page.locator("button.primary[name=consent], #next").first
        button.click()
        self.wait_past(here)

    def wait_past(self, page: str) -> None:
        """Wait until another page is there than this one."""
        self.page.wait_for_function(
            "page => document.querySelector('main form')?.elements.page?.value !== page", arg=page
        )

    def ride(self, look: Callable[["Rider"], None] = lambda _: None, until: str = "") -> "Rider":
        """Go on to the end, or to the first page of a kind; ``look`` sees each page on the way."""
        for _ in range(80):
            where = self.where()
            self.seen[where["page"]] = where["kind"]
            look(self)
            if where["kind"] == "end" or (until and where["kind"] == until and not where["practice"]):
                return self
            self.answer()
            self.go_on()
        raise AssertionError("the visit does not end")


class KeyRider(Rider):
    """A rater without a mouse: Tab finds every control, arrows, space and letters answer, Enter goes on."""

    def reach(self, selector: str) -> None:
        """Press Tab until one of these controls has the focus, and see that it shows."""
        for _ in range(120):
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                assert self.page.evaluate(FOCUS), f"nothing shows that {selector} has the focus"
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {selector}")

    def answer(self) -> None:
        """Answer everything that the page asks, with keys."""
        press, practice = self.page.keyboard.press, self.where()["practice"]
        for control in self.page.evaluate(LOOK):
            name, kind = control["name"], control["kind"]
            self.reach(f'[name="{name}"], [data-for="{name}"]')
            if kind == "radio":
                press("Space")
                options = self.page.locator(f'input[name="{name}"]').count()
                for _ in range(self._choose(name, options, practice)):
                    press("ArrowDown")
            elif kind in ("checkbox", "range"):
                press("Space")
            else:
                self.page.keyboard.type("7")

    def go_on(self) -> None:
        """Reach the button that leads on and press it."""
        here = self.where()["page"]
        self.reach("button.primary[name=consent], #next")
        self.page.keyboard.press("Enter")
        self.wait_past(here)


@contextmanager
def open_window(
    browser: Browser, served: Served, kind: type[Rider] = Rider, **settings: Any
) -> Iterator[Rider]:
    """Open a window of its own, as on another device."""
    context: BrowserContext = browser.new_context(**settings)
    try:
        yield kind(served, context.new_page())
    finally:
        context.close()


def find_faults(page: Page) -> list[str]:
    """Return what axe-core finds wrong for people who use a keyboard, a screen reader or large letters."""
    found = Axe().run(page)
    return [
        f"{fault['id']}: {fault['help']} {[node['html'][:160] for node in fault['nodes']][:3]}"
        for fault in found.response["violations"]
    ]
