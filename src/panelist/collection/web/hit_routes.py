"""Old HITs: each is sent alone, into a box that it cannot look out of.

The HTML of a HIT comes from somebody else, and so do the cells that were put into it. It is shown in a frame
with an origin of its own: its scripts run, but they reach neither the page around it, nor cookies, nor what
the browser keeps for us, and no network but the hosts that the study names. What it hands out is a message
with the fields of its form.
"""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from panelist.collection.legacy.hit_document import make_document
from panelist.collection.legacy.hit_keys import list_keys
from panelist.collection.web.security import POLICY
from panelist.collection.web.site import Site
from panelist.study.hit import SYSTEM

SANDBOX = "allow-scripts allow-forms"
AROUND_A_HIT = {"Content-Security-Policy": f"{POLICY}; frame-src 'self'"}
"""The policy of the page around: a frame may show what this server sends, and nothing else."""


def make_policy(hosts: tuple[str, ...]) -> str:
    """Return the policy of a HIT: what it brings with it, what the study names, and nothing else."""
    named = "".join(f" https://{host}" for host in hosts)
    return (
        f"sandbox {SANDBOX}; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'{named}; "
        f"style-src 'unsafe-inline'{named}; img-src data:{named}; font-src data:{named}; "
        f"media-src data:{named}; connect-src {named or chr(39) + 'none' + chr(39)}; form-action 'none'; "
        "frame-ancestors 'self'; base-uri 'none'"
    )


async def send_hit(request: Request) -> Response:
    """Send the HTML of a HIT."""
    site: Site = request.app.state.site
    hit = site.study.file.hit
    item = list_keys(site.study).get(request.path_params["key"]) if hit is not None else None
    if hit is None or item is None:
        return PlainTextResponse("There is no such page.\n", 404)
    headers = {"Content-Security-Policy": make_policy(hit.hosts), "X-Frame-Options": "SAMEORIGIN"}
    html = make_document(site.study.outputs.text(item, SYSTEM))
    return Response(html, 200, headers, "text/html; charset=utf-8")


ROUTES = [Route("/hit/{key}", send_hit, methods=["GET"])]
