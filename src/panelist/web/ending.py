"""What clients hear whose request is still in progress when the server ends: to send it again."""

import asyncio
import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from panelist.web.security import refuse

log = logging.getLogger("panelist.web")
AGAIN_SECONDS = 5


class EndingMiddleware:
    """Answers requests that were given up because the server ends, and notes each in one line of the log."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        begun = False

        async def send_and_note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
            path = scope["path"]
            # Only where it led: the rest of the address may be somebody's link.
            log.warning("A request to /%s was given up: the server is ending", path.split("/")[1])
            if not begun:
                why = "The server is ending. Please send this again in a moment."
                again = {"Retry-After": str(AGAIN_SECONDS)}
                await refuse(path, 503, why, again)(scope, receive, send)
