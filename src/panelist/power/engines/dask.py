"""A Dask cluster: one inside this process, or any scheduler by its address.

Dask itself runs the chunks of a lost worker again, a few times; where it gives up they are submitted again. A
chunk draws from its own random stream, so it does not matter which worker runs it, or how often.
"""

from queue import SimpleQueue
from typing import Any

from panelist.core.errors import PanelistError
from panelist.power.chunks import Chunk, run_chunk
from panelist.power.engines.base import Engine, Tallies

_CONNECT_SECONDS = 10
_MOST_LOSSES = 5  # workers that one chunk may outlive


class DaskEngine(Engine):
    """A client of a Dask scheduler."""

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self._cluster: Any = None
        self._client = self._connect(address, workers)
        self._done: SimpleQueue[tuple[Chunk, Any]] = SimpleQueue()
        self._losses: dict[tuple[str, int], int] = {}
        self.n_workers = max(1, sum(self._client.nthreads().values()))

    def submit(self, chunk: Chunk) -> None:
        """Send a chunk to the scheduler."""
        future = self._client.submit(run_chunk, chunk, pure=False)
        future.add_done_callback(lambda done: self._done.put((chunk, done)))

    def wait(self) -> tuple[Chunk, Tallies]:
        """Return the next chunk that is done; one whose workers were all lost is sent again."""
        from distributed.scheduler import KilledWorker

        while True:
            chunk, future = self._done.get()
            try:
                tallies: Tallies = future.result()
                return chunk, tallies
            except KilledWorker as error:
                self._losses[chunk.key] = self._losses.get(chunk.key, 0) + 1
                if self._losses[chunk.key] > _MOST_LOSSES:
                    raise PanelistError(
                        "The same chunk lost its worker repeatedly: the workers may have too little "
                        "memory. Start them with more, or use fewer threads on each."
                    ) from error
                self.submit(chunk)

    def close(self) -> None:
        """Leave the scheduler; a cluster that was started here ends."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def _connect(self, address: str | None, workers: int | None) -> Any:
        try:
            import distributed
        except ImportError:
            raise PanelistError(
                "The engine dask needs the package distributed. Install it with: pip install "
                "'panelist[dask]'; or use --engine local."
            ) from None
        if address is None:
            cluster: Any = distributed.LocalCluster  # without types
            self._cluster = cluster(
                n_workers=1, threads_per_worker=workers, processes=False, dashboard_address=None
            )
        client: Any = distributed.Client
        try:
            return client(address or self._cluster, timeout=_CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise PanelistError(
                f"No Dask scheduler answers at {address}. Start one with 'dask scheduler', and workers with "
                f"'dask worker {address}'."
            ) from error
