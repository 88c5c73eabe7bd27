"""Pictures of the outputs: found by their place on a page, so that no address says whose they are."""

from pathlib import Path

from starlette.responses import Response

TYPES = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
# A drawing may hold scripts: opened by itself, it is nobody's page and can do nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


def find_image(folder: Path, name: str) -> Path | None:
    """Return the file of a picture; None where it is none, or lies outside the study's folder after all."""
    if not name or "\0" in name or Path(name).suffix.casefold() not in TYPES:
        return None
    path = (folder / name).resolve()
    inside = path.is_relative_to(folder.resolve()) and path.suffix.casefold() in TYPES
    return path if inside and path.is_file() else None


def send_image(path: Path) -> Response:
    """Return the picture without its name or age: either could tell systems apart."""
    headers = {"Cache-Control": "private, max-age=3600", "Content-Security-Policy": POLICY}
    return Response(path.read_bytes(), media_type=TYPES[path.suffix.casefold()], headers=headers)
