"""Pictures, sounds and films: found by their place on a page, so that no address says whose they are."""

import hmac
import logging
import os
import re
from pathlib import Path

from starlette.responses import FileResponse, Response

from panelist.collection.pages.booklet import Booklet
from panelist.formats.media_types import find_type
from panelist.formats.picture_metadata import NotAPicture
from panelist.study.media import find_media, hash_file, read_sent

log = logging.getLogger("panelist.web")
# A drawing may hold scripts: opened by itself, it is nobody's page and can do nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
ADDRESS = re.compile(r"([1-9]\d{0,2}-[1-9]\d{0,5}|examples|sound)-(\w{1,20})-([1-9]\d{0,2})", re.ASCII)
_HEADERS = {"Cache-Control": "private, max-age=3600", "Content-Security-Policy": POLICY}


def find_image(folder: Path, name: str) -> Path | None:
    """Return the file of a picture; None where it is none, or lies outside the study's folder after all."""
    known = find_type(name)
    return find_media(folder, name) if known is not None and known.kind == "picture" else None


def find_file(booklet: Booklet, place: str | None, address: str, reached: tuple[int, int]) -> Path | None:
    """Return the media file of an address: ``1-7-2-1`` is the first file of output 2 of page 7; or None.

    Browsers fetch those of the next page while this one is answered; those behind it are not given out.
    """
    found = ADDRESS.fullmatch(address)
    if found is None:
        return None
    page_name, part, number = found[1], found[2], int(found[3])
    if page_name == "sound":
        check = booklet.study.file.sound_check
        names: tuple[str, ...] = (check.file,) if check is not None and part == "word" else ()
    elif page_name == "examples":
        names = booklet.list_examples(part)
    else:
        occasion, order = map(int, page_name.split("-"))
        sitting = booklet.agenda.sitting(place, occasion)
        page, following = sitting.page(order), sitting.after(reached[1])
        last = following.order if following is not None else reached[1]
        if page is None or (occasion, order) > (reached[0], last):
            return None
        names = booklet.list_media(page, part)
    return booklet.study.outputs.media.find(names[number - 1]) if 1 <= number <= len(names) else None


def send_media(path: Path, salt: str = "") -> Response | None:
    """Return a file without name, age or metadata, which could tell systems apart; None if it is damaged.

    Sound and film are sent in the parts that players ask for (Range), and only those are read. The tag that
    lets browsers keep a file follows from its content and the salt: two studies give it different ones, and
    without a salt there is none.
    """
    known = find_type(path.name)
    if known is None:
        return None
    headers = dict(_HEADERS)
    if salt:
        tag = hmac.digest(salt.encode(), hash_file(path).encode(), "sha256").hex()[:32]
        headers |= {"Content-Disposition": "inline", "ETag": f'"{tag}"'}
    if known.kind in ("sound", "film"):
        return _PlainFile(path, headers=headers, media_type=known.mime)
    try:
        return Response(read_sent(path), media_type=known.mime, headers=headers)
    except NotAPicture as error:
        log.warning("A picture is not shown, since nothing can be taken out of it: %s: %s", path, error)
        return None


class _PlainFile(FileResponse):
    """A file without the time at which it was written."""

    def set_stat_headers(self, stat_result: os.stat_result) -> None:
        """Say how long the file is; its tag is known already."""
        self.headers.setdefault("content-length", str(stat_result.st_size))
