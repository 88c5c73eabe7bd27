"""Threads of this process: the solvers release the GIL."""

from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue

from panelist.numerics.compile_ahead import count_cores
from panelist.power.chunks import Chunk, run_chunk
from panelist.power.engines.base import Engine, Tallies


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
