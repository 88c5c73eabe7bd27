"""Links for raters: one open link that hands out places, or one link for each rater."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from panelist.collection.recruiting.badges import SIGNATURE, sign_id
from panelist.collection.store.records import Visit
from panelist.collection.store.store import Store
from panelist.core.errors import BadFile

HEADINGS = ("place", "group", "link")
MOST_IDS = 100_000


@dataclass(frozen=True)
class Link:
    """The link of one rater."""

    place: str
    group: str
    link: str


def make_links(
    store: Store, url: str, count: int | None = None, group: str | None = None, who: str = ""
) -> tuple[Link, ...]:
    """Return new links, one for each free place or for ``count`` of them; nobody else gets these places."""
    return _write_links(store.make_links(count, group, who), url)


def find_links(store: Store, url: str, group: str | None = None) -> tuple[Link, ...]:
    """Return the links that were made before and that nobody has used yet."""
    waiting = (visit for visit in store.visits() if visit.state == "invited" and visit.seen is None)
    return _write_links((visit for visit in waiting if group in (None, visit.group)), url)


def keep_links(store: Store, url: str, count: int, who: str = "") -> tuple[Link, ...]:
    """Return ``count`` links that nobody has used yet: those made before, and new ones for the rest."""
    known = find_links(store, url)[:count]
    return known if len(known) == count else known + make_links(store, url, count - len(known), None, who)


def read_ids(path: Path) -> tuple[str, ...]:
    """Return the ids in a file, one per line; raise BadFile where there are none, or one occurs twice."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadFile(f"{path} cannot be read: {why}. Give a text file with one id per line.") from None
    ids = [line.strip() for line in lines if line.strip()]
    twice = next((one for one in ids if ids.count(one) > 1), None) if len(set(ids)) < len(ids) else None
    if not 0 < len(ids) <= MOST_IDS or twice is not None:
        found = f"{twice!r} occurs twice" if twice is not None else f"it has {len(ids):,} ids"
        raise BadFile(f"{path} is not a list of people: {found}. Give one id per line, each once.")
    return tuple(ids)


def sign_links(secret: str, url: str, name: str, ids: Iterable[str]) -> tuple[Link, ...]:
    """Return the open link with each id and our signature: nobody can make one for another person.

    ``name`` is the parameter that holds the id. A place is taken when the person agrees, not before.
    """
    return tuple(
        Link(
            person,
            "",
            f"{open_link(url)}?{urlencode({name: person, SIGNATURE: sign_id(secret, name, person)})}",
        )
        for person in ids
    )


def write_links(links: Iterable[Link], path: Path, first: str = "place") -> None:
    """Write links to a CSV file that only its owner can read: anyone who has a link is that rater."""
    try:
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow((first, *HEADINGS[1:]))
            writer.writerows((_tame(link.place), _tame(link.group), link.link) for link in links)
    except OSError as error:
        raise BadFile(f"The links cannot be written to {path}: {error.strerror or error}.") from None


def open_link(url: str) -> str:
    """Return the open link, which hands out places."""
    return f"{url}/join"


def _write_links(visits: Iterable[Visit], url: str) -> tuple[Link, ...]:
    return tuple(Link(visit.place or "", visit.group, f"{url}/r/{visit.token}") for visit in visits)


def _tame(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
