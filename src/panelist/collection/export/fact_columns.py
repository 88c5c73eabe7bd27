"""What pages noticed while they were read, as columns of the ratings table."""

import json
from typing import Any

import pandas as pd

from panelist.core.prose import count

FACTS = ("seen_end", "in_view", "played", "plays", "speed", "folded")
"""Whether the end of the output was on the screen, seconds in view, share played, how often, how fast, and
whether outputs stood one above the other."""
_KINDS = {"seen_end": "boolean", "plays": "Int64", "folded": "boolean"}


def list_facts(frame: pd.DataFrame, done: pd.DataFrame) -> dict[str, "pd.Series[Any]"]:
    """Return a column for each fact, for the rows of a ratings table; missing where a page said nothing."""
    pages = _read_pages(done)
    keys = zip(*(frame[name] for name in ("visit", "occasion", "order", "position")), strict=True)
    told = [_find(pages.get((*page,), {}), position) for *page, position in keys]
    return {
        name: pd.Series([one.get(name) for one in told], index=frame.index, dtype=_KINDS.get(name, "float64"))
        for name in FACTS
    }


def count_failed(done: pd.DataFrame) -> list[str]:
    """Return the note about outputs that did not play, where there are some."""
    pages = _read_pages(done).values()
    failed = sum(bool(one.get("failed")) for page in pages for one in page.get("outputs", {}).values())
    return [f"{count(failed, 'output')} did not play for a rater and not rated there"] if failed else []


def _read_pages(done: pd.DataFrame) -> dict[tuple[Any, ...], dict[str, Any]]:
    told = done[done["facts"] != ""]
    return {
        (visit, occasion, page): json.loads(facts)
        for visit, occasion, page, facts in zip(
            *(told[name] for name in ("visit", "occasion", "page", "facts")), strict=True
        )
    }


def _find(page: dict[str, Any], position: int) -> dict[str, Any]:
    """Return what a page says about an output, and about itself."""
    return {"folded": page.get("folded"), **page.get("outputs", {}).get(str(position), {})}
