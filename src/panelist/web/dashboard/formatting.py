"""Numbers and times as the dashboard writes them."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from markupsafe import Markup


def write_clock(seconds: float) -> str:
    """Return a duration as minutes and seconds.

    >>> write_clock(1025.0), write_clock(4000)
    ('17:05', '1:06:40')
    """
    whole = int(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def write_minutes(seconds: float) -> str:
    """Return a duration in minutes, with a decimal where it is short."""
    minutes = seconds / 60
    return f"{minutes:.1f}" if minutes < 10 else f"{minutes:.0f}"


def write_moment(moment: float | None, year: bool = False) -> Markup:
    """Return a time for people and for scripts, which put it into the reader's own zone."""
    if moment is None:
        return Markup("–")
    at = datetime.fromtimestamp(moment, UTC)
    said = f"{at:%A} {at.day} {at:%B}{f' {at.year}' if year else ''}, {at:%H:%M} UTC"
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(timespec="seconds"), said)


def write_stamp(moment: float | None) -> Markup:
    """Return a time in the short form of tables, to the second."""
    if moment is None:
        return Markup("–")
    at = datetime.fromtimestamp(moment, UTC)
    return Markup('<time datetime="{}" data-short>{}</time>').format(
        at.isoformat(timespec="seconds"), f"{at:%Y-%m-%d %H:%M:%S} UTC"
    )


def write_span(low: int, high: int) -> str:
    """Return a range of counts.

    >>> write_span(7, 9), write_span(12, 12)
    ('7–9', '12')
    """
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def write_estimate(value: float) -> str:
    """Return an estimate with two decimals and a true minus."""
    return f"{value:.2f}".replace("-", "−") if isfinite(value) else "–"


def write_detail(detail: Mapping[str, Any]) -> str:
    """Return what an event or action holds, as name: value.

    >>> write_detail({"places": ["r001", "r002"], "ids": True})
    'places: r001, r002; ids: true'
    """
    return "; ".join(f"{name}: {_write_value(value)}" for name, value in detail.items())


def _write_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_write_value(one) for one in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def write_list_name(name: str) -> str:
    """Return the name of a list without the word itself.

    >>> write_list_name("list-001"), write_list_name("A")
    ('1', 'A')
    """
    bare = name.removeprefix("list-")
    return bare.lstrip("0") or bare if bare.isdigit() else bare
