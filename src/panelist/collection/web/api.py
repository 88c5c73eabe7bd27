"""The part of the server that programs talk to, and its description (OpenAPI)."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MOST_LETTERS = 20_000
Measured = Annotated[float, Field(ge=0, le=1e7, allow_inf_nan=False)]


class Message(BaseModel):
    """One answer, sent the moment it is given. The same key again is the same answer, stored once."""

    model_config = ConfigDict(frozen=True, extra="ignore", str_max_length=MOST_LETTERS)

    page: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,2}-[1-9][0-9]{0,5}$")]
    """Occasion and number of the page, as the page itself says: ``1-7``."""
    name: Annotated[str, StringConstraints(pattern=r"^c[0-9]{1,3}(p[0-9]{1,3})?(-why)?$")]
    """The field of the page."""
    value: Annotated[str, StringConstraints(max_length=MOST_LETTERS)]
    """The answer; empty takes it back."""
    key: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{6,64}$")]
    """What makes this answer itself: drawn by the page, once for each change of mind."""
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
    """0 for the first answer to this question, 1 for the first change of mind …"""
    late: bool = False
    """Whether the place had been passed on before the answer came; it is kept, and marked."""


class Refusal(BaseModel):
    """The answer was not stored."""

    saved: Literal[False] = False
    problem: str


class Health(BaseModel):
    """Whether the server and its database are there."""

    status: Literal["ok", "away"]


router = APIRouter()


@router.get("/health", response_model=Health, responses={503: {"model": Health}}, summary="Is all well?")
async def tell_health(request: Request) -> Any:
    """Return ok where an answer could be saved now, or 503 while the database is away."""
    if await request.app.state.site.is_well():
        return {"status": "ok"}
    return JSONResponse({"status": "away"}, 503, {"Retry-After": "5"})


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description, with the route of answers, which goes past FastAPI for speed."""
    whole = get_openapi(
        title="Panelist",
        version="1",
        summary="What the rating pages send, and whether the server is well.",
        routes=app.routes,
    )
    schemas = whole.setdefault("components", {}).setdefault("schemas", {})
    template = "#/components/schemas/{model}"
    for model in (Message, Receipt, Refusal):
        schema = model.model_json_schema(ref_template=template)
        schemas.update(schema.pop("$defs", {}))
        schemas[model.__name__] = schema
    whole["paths"]["/r/{token}/answer"] = {"post": _describe_answer()}
    return whole


def _describe_answer() -> dict[str, Any]:
    refused = {
        400: "Not JSON.",
        403: "Sent from another site.",
        404: "No such link.",
        409: "The page is not open: not reached yet, or done and not to be changed.",
        413: "Too long.",
        422: "Not an answer to anything on this page.",
        429: "Too many at once.",
        503: "The database is away; send it again later.",
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
