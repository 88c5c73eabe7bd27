"""The part of the server that programs talk to, and its description (OpenAPI)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

MOST_LETTERS = 20_000
Measured = Annotated[float, Field(ge=0, le=1e7, allow_inf_nan=False)]


class Message(BaseModel):
    """One answer, sent the moment it is given. The same key again is the same answer, stored once."""

    model_config = ConfigDict(frozen=True, extra="ignore", str_max_length=MOST_LETTERS)

    page: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,2}-[1-9][0-9]{0,5}$")]
    """Occasion and number of the page, as the page itself says: ``1-7``."""
    name: Annotated[str, StringConstraints(pattern=r"^c[0-9]{1,3}(p[0-9]{1,3})?(s[0-9]{1,3})?(-why)?$")]
    """The field of the page."""
    value: Annotated[str, StringConstraints(max_length=MOST_LETTERS)]
    """The answer; empty takes it back."""
    key: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{6,64}$")]
    """What identifies this answer: drawn by the page, once for each change."""
    seconds_first: Measured | None = None
    """Seconds from the page's appearance to the first action in this field."""
    seconds: Measured | None = None
    """Seconds from the page's appearance to this answer."""
    changes: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """How often the answer was changed before."""
    raw: Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)] | None = None
    """The position on a line, as the browser measured it."""
    width: Annotated[int, Field(ge=0, le=100_000)] | None = None
    """The width of the window, in pixels."""


class Receipt(BaseModel):
    """The answer is on disk."""

    saved: Literal[True] = True
    revision: int
    """0 for the first answer to this question, 1 for the first change …"""
    late: bool = False
    """Whether the place had been given to another rater before the answer came; it is kept, and marked."""


class Refusal(BaseModel):
    """The answer was not stored."""

    saved: Literal[False] = False
    problem: str


class Health(BaseModel):
    """Whether the server and its database are available."""

    status: Literal["ok", "away"]


async def tell_health(request: Request) -> Response:
    """Return ok where an answer could be saved now, or 503 while the database is unavailable."""
    if await request.app.state.site.is_well():
        return JSONResponse({"status": "ok"})
    return JSONResponse({"status": "away"}, 503, {"Retry-After": "5"})


async def describe(request: Request) -> Response:
    """Return the OpenAPI description of what programs may send."""
    return JSONResponse(_DESCRIPTION)


def _describe_health() -> dict[str, Any]:
    return {
        "summary": "Is all well?",
        "description": "ok where an answer could be saved now, away while the database cannot be reached.",
        "operationId": "health",
        "responses": {
            "200": {"description": "All is well.", "content": _json("Health")},
            "503": {"description": "The database is away.", "content": _json("Health")},
        },
    }


def _describe_answer() -> dict[str, Any]:
    refused = {
        400: "Not JSON.",
        403: "Sent from another site.",
        404: "No such link.",
        409: "The page is not open: not reached yet, or done and not to be changed.",
        413: "Too long.",
        422: "Not an answer to anything on this page.",
        429: "Too many at once.",
        503: "The database is unavailable; send it again later.",
    }
    return {
        "summary": "Store one answer",
        "operationId": "answer",
        "parameters": [
            {
                "name": "token",
                "in": "path",
                "required": True,
                "description": "The rater's link: 128 bits.",
                "schema": {"type": "string", "pattern": "^[A-Z2-7]{26}$"},
            }
        ],
        "requestBody": {"required": True, "content": _json("Message")},
        "responses": {
            "200": {"description": "The answer is on disk.", "content": _json("Receipt")},
            **{
                str(status): {"description": why, "content": _json("Refusal")}
                for status, why in refused.items()
            },
        },
    }


def _json(model: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{model}"}}}


_, _SCHEMAS = models_json_schema(
    [(model, "validation") for model in (Message, Receipt, Refusal, Health)],
    ref_template="#/components/schemas/{model}",
)
_DESCRIPTION = {
    "openapi": "3.1.0",
    "info": {
        "title": "Panelist",
        "summary": "What the rating pages send, and whether the server is well.",
        "version": "1",
    },
    "paths": {"/health": {"get": _describe_health()}, "/r/{token}/answer": {"post": _describe_answer()}},
    "components": {"schemas": _SCHEMAS["$defs"]},
}

ROUTES = [Route("/health", tell_health, methods=["GET"]), Route("/openapi.json", describe, methods=["GET"])]
