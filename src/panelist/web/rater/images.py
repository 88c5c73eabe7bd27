"""Pictures of the outputs: found by their place on a page, so that no address says whose they are."""

import logging
from functools import lru_cache
from pathlib import Path

from starlette.responses import Response

from panelist.web.rater.picture_metadata import NotAPicture, strip_metadata

TYPES = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
PICTURES_KEPT = 32
log = logging.getLogger("panelist.web")
# A drawing may hold scripts: opened by itself, it is nobody's page and can do nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


def find_image(folder: Path, name: str) -> Path | None:
    """Return the file of a picture; None where it is none, or lies outside the study's folder after all."""
    if not name or "\0" in name or Path(name).suffix.casefold() not in TYPES:
        return None
    path = (folder / name).resolve()
    inside = path.is_relative_to(folder.resolve()) and path.suffix.casefold() in TYPES
    return path if inside and path.is_file() else None


def send_image(path: Path) -> Response | None:
    """Return a picture without name, age or metadata, which could tell systems apart; None if it is none."""
    headers = {"Cache-Control": "private, max-age=3600", "Content-Security-Policy": POLICY}
    about = path.stat()
    try:
        content = _read_picture(path, about.st_mtime_ns, about.st_size)
    except NotAPicture as error:
        log.warning("A picture is not shown, since nothing can be taken out of it: %s: %s", path, error)
        return None
    return Response(content, media_type=TYPES[path.suffix.casefold()], headers=headers)


@lru_cache(PICTURES_KEPT)
def _read_picture(path: Path, changed: int, size: int) -> bytes:
    """Return the picture in a file, as long as the file is the same."""
    return strip_metadata(path.read_bytes())
