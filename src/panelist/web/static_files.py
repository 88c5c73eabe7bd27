"""Style sheets and scripts: read once, and kept by browsers under an address that names their content."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from panelist.web.rendering import STATIC, find_version

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
FOR_GOOD = "public, max-age=31536000, immutable"


def make_static_routes(folder: Path = STATIC, under: str = "") -> list[Route]:
    """Return the routes of the static files of a folder; nothing but these files can be asked for."""
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in TYPES}

    async def send_file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files:
            return PlainTextResponse("There is no such file.\n", 404)
        # A page from before an update asks under an older address: it gets the current file, marked as not
        # to be cached.
        current = request.path_params["version"] == find_version(folder)
        headers = {"Cache-Control": FOR_GOOD if current else "no-cache"}
        return Response(files[name], media_type=TYPES[Path(name).suffix], headers=headers)

    return [Route(f"{under}/static/{{version}}/{{name}}", send_file, methods=["GET"])]
