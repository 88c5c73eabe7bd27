"""What an engine is: it takes chunks and returns their tallies as they are done, in any order."""

from abc import ABC, abstractmethod
from typing import Self

from panelist.power.chunks import Chunk
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
    from panelist.core.errors import PanelistError, UnknownName

    if workers is not None and workers < 1:
        raise PanelistError(f"The number of workers must be 1 or more. Got {workers}.")
    if name == "local":
        from panelist.power.engines.local import LocalEngine

        return LocalEngine(workers)
    if name == "dask" or "://" in name:
        from panelist.power.engines.dask import DaskEngine

        return DaskEngine(None if name == "dask" else name, workers)
    raise UnknownName(
        f"No engine is called {name!r}. There are local, dask, and the address of a Dask scheduler, such as "
        "tcp://host:8786."
    )
