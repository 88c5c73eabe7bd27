"""One thread for BLAS while a fit runs.

The dense blocks of a fit are small: two BLAS threads on them are slower than one, by far where the cores are
busy, and fits that run side by side in threads would fight for the cores. Large blocks are the exception.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

_LARGE = 2500  # dense columns from which more threads pay
_lock = threading.Lock()
_running = 0
_previous: dict[str, int] = {}


def single_threaded_blas(dense_columns: int = 0) -> AbstractContextManager[None]:
    """Hold every BLAS library of this process to one thread until the last of the running fits ends.

    A fit that works on a large dense block, and is the only one running, gets all threads for it.
    """
    return _all_threads_if_alone() if dense_columns >= _LARGE else _single


class _Single(AbstractContextManager[None]):
    """Counts the fits that run; the first restricts the threads, the last restores them."""

    def __enter__(self) -> None:
        global _running
        with _lock:
            _running += 1
            if _running == 1:
                for library in _libraries():
                    _previous[library.filepath] = library.num_threads
                if any(count != 1 for count in _previous.values()):
                    _set_threads(None)

    def __exit__(self, *raised: object) -> None:
        global _running
        with _lock:
            _running -= 1
            if _running == 0 and any(count != 1 for count in _previous.values()):
                _set_threads(_previous)


_single = _Single()


@contextmanager
def _all_threads_if_alone() -> Iterator[None]:
    alone = _running == 1
    if alone:
        _set_threads(_previous)
    try:
        yield
    finally:
        if alone:
            _set_threads(None)


def _set_threads(counts: dict[str, int] | None) -> None:
    for library in _libraries():
        wanted = 1 if counts is None else counts[library.filepath]
        if library.num_threads == wanted:
            continue
        # threadpoolctl only obeys the thread that was first to set a limit. Fits in threads take
        # turns under our own lock, so none of them may claim it.
        release = getattr(library, "clear_controlling_thread", lambda force: None)
        release(force=True)
        library.set_num_threads(wanted)
        release(force=True)


@cache
def _libraries() -> list[Any]:
    # SciPy has its own BLAS, which is only found once it is loaded.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]
