"""A browser for tests: Debian's chromium, driven by Playwright. Nothing is downloaded."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.patience import PATIENCE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Windows in one process without a graphics card: a third less work for each.
ARGUMENTS = ("--no-sandbox", "--renderer-process-limit=1", "--disable-gpu", "--in-process-gpu")


@contextmanager
def use_browser() -> Iterator[Browser]:
    """Start the browser, for one module: tests elsewhere run event loops, which cannot while it is there."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        browser.on("context", lambda context: context.set_default_timeout(PATIENCE * 1000))
        yield browser
        browser.close()


class Windows:
    """Windows that are used again, as opening one takes longer than most tests; one for each kind."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: dict[str, BrowserContext] = {}

    def open(self, **settings: Any) -> Page:
        """Return a page in a window with these settings, without anything that was kept there before."""
        key = repr(sorted(settings.items()))
        context = self._contexts.get(key)
        if context is None:
            context = self._contexts[key] = self._browser.new_context(**settings)
        context.set_offline(False)
        context.clear_cookies()
        first, *others = context.pages or [context.new_page()]
        for page in others:
            page.close()
        if first.url.startswith("http") and settings.get("java_script_enabled", True):
            first.evaluate("localStorage.clear()")
        return first

    def close(self) -> None:
        """Close all windows."""
        for context in self._contexts.values():
            context.close()
