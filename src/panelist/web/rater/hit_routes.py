"""Old HITs: each is sent alone, into a box that it cannot look out of.

The HTML of a HIT comes from somebody else, and so do the cells that were put into it. It is shown in a frame
with an origin of its own: the scripts of its template run, and no others, but they reach neither the page
around it, nor cookies, nor what the browser keeps for us, and no network but the hosts that the study names.
What it hands out is a message with the fields of its form.
"""

from collections.abc import Sequence
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from panelist.collection.hits.document import make_document
from panelist.collection.hits.keys import list_keys
from panelist.study.sections.hit import list_rows, read_template
from panelist.study.study import Study
from panelist.web.security import POLICY
from panelist.web.state import AppState

SANDBOX = "allow-scripts allow-forms"
AROUND_A_HIT = {"Content-Security-Policy": f"{POLICY}; frame-src 'self'"}
"""The policy of the page around: a frame may show what this server sends, and nothing else."""


def make_policy(hosts: tuple[str, ...], scripts: Sequence[str] = (), handlers: Sequence[str] = ()) -> str:
    """Return the policy of a HIT: what its template brings with it, what the study names, and nothing else.

    ``scripts`` and ``handlers`` are the hashes of those of the template. By these alone they run: not a
    script in a cell, nor an address that begins with ``javascript:``.
    """
    named = "".join(f" https://{host}" for host in hosts)
    told = "".join(f" {one}" for one in dict.fromkeys(scripts))
    on = " ".join(("'unsafe-hashes'", *dict.fromkeys(handlers))) if handlers else "'none'"
    return (
        f"sandbox {SANDBOX}; default-src 'none'; script-src 'unsafe-eval'{told}{named}; script-src-attr "
        f"{on}; frame-src 'none'; webrtc 'block'; style-src 'unsafe-inline'{named}; img-src data:{named}; "
        f"font-src data:{named}; media-src data:{named}; connect-src {named or chr(39) + 'none' + chr(39)}; "
        "form-action 'none'; frame-ancestors 'self'; base-uri 'none'"
    )


def allow_connections(hosts: tuple[str, ...]) -> str:
    """Return what the frame may connect to at all, for browsers that heed it (Chromium).

    The policy refuses to load and to go elsewhere, but browsers may open a connection before they refuse, and
    the name of a host can carry what a rater wrote.
    """
    named = "".join(f' "https://{host}/*"' for host in hosts)
    return f"(response-origin{named})"


async def send_hit(request: Request) -> Response:
    """Send the HTML of a HIT."""
    site: AppState = request.app.state.site
    hit = site.study.file.hit
    item = list_keys(site.study).get(request.path_params["key"]) if hit is not None else None
    if hit is None or item is None:
        return PlainTextResponse("There is no such page.\n", 404)
    template, rows = read_hits(site.study)
    made = make_document(template, rows[item])
    headers = {
        "Content-Security-Policy": make_policy(hit.hosts, made.scripts, made.handlers),
        "Connection-Allowlist": allow_connections(hit.hosts),
        "X-Frame-Options": "SAMEORIGIN",
        "X-DNS-Prefetch-Control": "off",
    }
    return Response(made.html, 200, headers, "text/html; charset=utf-8")


@lru_cache(8)
def read_hits(study: Study) -> tuple[str, dict[str, dict[str, str]]]:
    """Return the template of a study's HITs, as it was when it was first asked for, and the row of each."""
    assert study.file.hit is not None, "only a study with a HIT has a template"
    return read_template(study.folder / study.file.hit.template), list_rows(study.outputs)


ROUTES = [Route("/hit/{key}", send_hit, methods=["GET"])]
