"""One thread for BLAS while a fit runs.

The dense blocks of a fit are small: two BLAS threads on them are slower than one, and fits that run
side by side in threads would fight for the cores. Large blocks are the exception.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_LARGE = 2500  # dense columns from which more threads pay
_lock = threading.Lock()
_running = 0
_previous: dict[str, int] = {}


@contextmanager
def single_threaded_blas(dense_columns: int) -> Iterator[None]:
    """Hold every BLAS library of this process to one thread until the last of the running fits ends."""
    if dense_columns >= _LARGE:
        yield
        return
    global _running
    with _lock:
        _running += 1
        if _running == 1:
            for library in _libraries():
                _previous[library.filepath] = library.num_threads
                if library.num_threads != 1:
                    library.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if _running == 0:
                for library in _libraries():
                    if library.num_threads != _previous[library.filepath]:
                        library.set_num_threads(_previous[library.filepath])


@cache
def _libraries() -> list[Any]:
    from threadpoolctl import ThreadpoolController

    return [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]
