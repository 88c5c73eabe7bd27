"""Texts as raters see them: each rendered once, and never where requests are answered.

Markdown takes some 10 ms a kilobyte. So whoever answers requests defers rendering: what was not rendered yet
is then an error that says how to do so, in a thread, after which the page is asked for again. Only plain text
of a usual length is rendered at once: it is escaped, and no more.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from threading import Lock

from markupsafe import Markup

from panelist.collection.pages.spoiling import spoil_output
from panelist.collection.pages.translations import Words
from panelist.formats import Stimulus
from panelist.formats.base import ShownTurn
from panelist.formats.plain import mark_differences
from panelist.study.outputs import Outputs

TEXTS_KEPT = 50_000
LONGEST_AT_ONCE = 100_000
"""The characters of plain text up to which it is rendered at once, in about a millisecond."""

_deferred: ContextVar[bool] = ContextVar("deferred", default=False)


class NotRendered(Exception):
    """A text is not rendered yet; ``render`` does it and takes its time."""

    def __init__(self, render: Callable[[], object]) -> None:
        super().__init__("not rendered yet")
        self.render = render


@contextmanager
def defer_rendering() -> Iterator[None]:
    """Within the block, texts that take time are not rendered: NotRendered is raised in their place."""
    before = _deferred.set(True)
    try:
        yield
    finally:
        _deferred.reset(before)


class Renderings:
    """The texts of a study as HTML, kept by what they hold."""

    def __init__(self, outputs: Outputs, words: Words) -> None:
        self._outputs = outputs
        self._words = words
        self._kept: dict[tuple[Stimulus, str], Markup] = {}
        self._turns: dict[Stimulus, tuple[ShownTurn, ...]] = {}
        self._marked: dict[tuple[str, str], tuple[Markup, Markup]] = {}
        self._spoilt: dict[tuple[Stimulus, str, int, tuple[str, str]], Stimulus] = {}
        self._lock = Lock()  # rendering is all Python: two at once would take as long as one after the other

    def show(self, cell: Stimulus, column: str) -> Markup:
        """Return a cell of a column (output, context or reference) as HTML."""
        kept = self._kept.get((cell, column))
        if kept is not None:
            return kept
        if not self._takes_time(cell, column):
            return self._keep(cell, column)
        if _deferred.get():
            raise NotRendered(partial(self.render, cell, column))
        return self.render(cell, column)

    def _takes_time(self, cell: Stimulus, column: str) -> bool:
        return self._outputs.format(column).blocks or len(cell.text) > LONGEST_AT_ONCE

    def split(self, cell: Stimulus) -> tuple[ShownTurn, ...]:
        """Return the turns of an output as HTML; none where the outputs are no dialogues."""
        kept = self._turns.get(cell)
        if kept is not None or not self._outputs.format("output").has_turns:
            return kept or ()
        if _deferred.get():
            raise NotRendered(partial(self.render_turns, cell))
        return self.render_turns(cell)

    def mark(self, texts: tuple[str, str]) -> tuple[Markup, Markup]:
        """Return two plain texts with the words underlined in which they differ."""
        kept = self._marked.get(texts)
        if kept is not None:
            return kept
        if _deferred.get():
            raise NotRendered(partial(self._mark, texts))
        return self._mark(texts)

    def _mark(self, texts: tuple[str, str]) -> tuple[Markup, Markup]:
        if len(self._marked) >= TEXTS_KEPT:
            del self._marked[next(iter(self._marked))]
        self._marked[texts] = mark_differences(*texts)
        return self._marked[texts]

    def spoil(self, cell: Stimulus, how: str, seed: int, pair: tuple[str, str]) -> Stimulus:
        """Return the degraded copy of the output of an item and system; its words are drawn line by line."""
        kept = self._spoilt.get((cell, how, seed, pair))
        if kept is not None:
            return kept
        if _deferred.get():
            raise NotRendered(partial(self._spoil, cell, how, seed, pair))
        return self._spoil(cell, how, seed, pair)

    def _spoil(self, cell: Stimulus, how: str, seed: int, pair: tuple[str, str]) -> Stimulus:
        if len(self._spoilt) >= TEXTS_KEPT:
            del self._spoilt[next(iter(self._spoilt))]
        worse = self._spoilt[cell, how, seed, pair] = spoil_output(self._outputs, cell, how, seed, *pair)
        return worse

    def render_turns(self, cell: Stimulus) -> tuple[ShownTurn, ...]:
        """Return the turns of an output as HTML, now."""
        with self._lock:
            if len(self._turns) >= TEXTS_KEPT:
                del self._turns[next(iter(self._turns))]
            shown = self._outputs.format("output")
            self._turns[cell] = shown.split(cell, self._outputs.options, self._words.say)
            return self._turns[cell]

    def render(self, cell: Stimulus, column: str) -> Markup:
        """Return a cell as HTML, now."""
        with self._lock:
            kept = self._kept.get((cell, column))
            return self._keep(cell, column) if kept is None else kept

    def prepare(self, cell: Stimulus, column: str) -> None:
        """Render a cell, and read its words while it is at hand: the dashboard counts them."""
        self.render(cell, column)
        if column == "output" and self._outputs.format(column).has_turns:
            self.render_turns(cell)
        self._outputs.format(column).read_words(cell, self._outputs.options)

    def list_all(self) -> Iterator[tuple[Stimulus, str]]:
        """Give each cell of the outputs that takes time to render, with its column."""
        frame = self._outputs.frame
        for column, _ in self._outputs.options.formats:
            if column in frame:
                cells = ((cell, column) for cell in self._outputs.cells(column))
                yield from (both for both in cells if self._takes_time(*both))

    def _keep(self, cell: Stimulus, column: str) -> Markup:
        html = self._outputs.format(column).show(cell, self._outputs.options, self._words.say)
        if len(self._kept) >= TEXTS_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[cell, column] = html
        return html


_MARK = re.compile(r'(<(?:img|audio|video|source|track|input)(?:\s[^<>]*)?\s(?:src|name)="media:)(?=\d+")')


def place_media(html: Markup, where: str) -> Markup:
    """Return HTML whose media know their page and place: ``media:1`` becomes ``media:1-7-2-1``."""
    return Markup(_MARK.sub(rf"\g<1>{where}-", str(html))) if where and '="media:' in html else html
