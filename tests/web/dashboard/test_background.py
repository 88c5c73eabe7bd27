"""Long work beside the event loop: its result arrives, and the end of the loop does not wait for it."""

import asyncio
import threading

import pytest

from panelist.web.dashboard.background import run_aside
from tests.patience import PATIENCE


def test_the_result_and_the_error_arrive() -> None:
    assert asyncio.run(run_aside(lambda: 6 * 7)) == 42
    with pytest.raises(ZeroDivisionError):
        asyncio.run(run_aside(lambda: 1 // 0))


def test_the_end_of_the_loop_does_not_wait() -> None:
    going_on, over = threading.Event(), threading.Event()

    def work() -> None:
        going_on.wait(PATIENCE)
        over.set()

    async def give_up() -> None:
        task = asyncio.ensure_future(run_aside(work))
        await asyncio.sleep(0.05)
        task.cancel()

    asyncio.run(give_up())
    assert not over.is_set()
    going_on.set()
    assert over.wait(PATIENCE)
