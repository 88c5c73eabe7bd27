"""What an engine is: it takes chunks and returns tallies as they are done, in any order; threads are one."""

from abc import ABC, abstractmethod
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Self

from panelist.numerics.compile_ahead import count_cores
from panelist.power.chunks import Chunk, run_chunk
from panelist.power.tally import Tally

Tallies = dict[str, Tally]


class Engine(ABC):
    """Runs chunks; use it in a ``with`` statement."""

    n_workers: int

    @abstractmethod
    def submit(self, chunk: Chunk) -> None:
        """Begin to run a chunk, or queue it."""

    @abstractmethod
    def wait(self) -> tuple[Chunk, Tallies]:
        """Return a chunk that is done, and its tallies; waits for the next one."""

    @abstractmethod
    def close(self) -> None:
        """Stop; what is still running is abandoned."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_engine(name: str = "local", workers: int | None = None) -> Engine:
    """Return the engine of this name: ``local``, ``dask``, or the address of a Dask scheduler.

    ``workers`` is the number of threads (cores unless given); a cluster that runs already has its own.
    """
    from panelist.core.errors import UnknownName
    from panelist.core.numbers import check_count

    if workers is not None:
        check_count("workers", workers)
    if name == "local":
        return LocalEngine(workers)
    if name == "dask" or "://" in name:
        from panelist.power.engines.dask import DaskEngine

        return DaskEngine(None if name == "dask" else name, workers)
    raise UnknownName(
        f"No engine is called {name!r}. There are local, dask, and the address of a Dask scheduler, such as "
        "tcp://host:8786."
    )


class LocalEngine(Engine):
    """A pool of threads, as many as there are cores unless told otherwise."""

    def __init__(self, workers: int | None = None) -> None:
        self.n_workers = workers or count_cores()
        self._pool = ThreadPoolExecutor(self.n_workers)
        self._done: SimpleQueue[tuple[Chunk, Future[Tallies]]] = SimpleQueue()

    def submit(self, chunk: Chunk) -> None:
        """Queue a chunk."""
        future = self._pool.submit(run_chunk, chunk)
        future.add_done_callback(lambda done: self._done.put((chunk, done)))

    def wait(self) -> tuple[Chunk, Tallies]:
        """Return the next chunk that is done."""
        chunk, future = self._done.get()
        return chunk, future.result()

    def close(self) -> None:
        """Abandon what is queued, and wait for what is running."""
        self._pool.shutdown(wait=True, cancel_futures=True)
