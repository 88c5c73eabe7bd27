"""A worker does not outlive the server that started it, however that one ended."""

import asyncio
import ctypes
import os
import signal
import sys

LOOK_SECONDS = 0.5
_PR_SET_PDEATHSIG = 1  # of prctl(2): which signal to get when the parent ends


async def follow_parent(parent: int) -> None:
    """End this process once its parent is gone: at once where the system says so, else within a second."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    while os.getppid() == parent:
        await asyncio.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
