"""Long work beside the event loop, in a thread that the end of the server does not wait for.

Only for work that reads: whatever is written goes through the writer of the store, which is waited for.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def run_aside(work: Callable[[], T]) -> T:
    """Return what ``work`` returns; a caller that waits for it may be cancelled, and then nobody waits."""
    loop = asyncio.get_running_loop()
    promise: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if promise.done():
            return
        if error is not None:
            promise.set_exception(error)
        else:
            promise.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop is closed: the server has ended
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="panelist-aside", daemon=True).start()
    return await promise
