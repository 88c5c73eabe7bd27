"""The journal of a search: what its engine runs is written down, and what is written is not run again.

A search decides by what it has seen, so a run that was killed takes the same way again, at no cost, up to
where it stopped.
"""

from collections import deque
from hashlib import blake2b

from panelist.power.analyses.base import Choices
from panelist.power.chunks import Chunk
from panelist.power.engines.base import Engine, Tallies
from panelist.power.journal import Journal, Key


class RecordedEngine(Engine):
    """An engine that reads chunks from a journal where they are there, and writes those it had to run."""

    def __init__(self, engine: Engine, journal: Journal) -> None:
        self.n_workers = engine.n_workers
        self._engine, self._journal = engine, journal
        self._known: deque[tuple[Chunk, Tallies]] = deque()

    def submit(self, chunk: Chunk) -> None:
        """Take a chunk from the journal, or have it run."""
        found = self._journal.done.get(_name(chunk))
        if found is not None and all(tally.n == chunk.n_sets for tally in found.values()):
            self._known.append((chunk, found))
        else:
            self._engine.submit(chunk)

    def wait(self) -> tuple[Chunk, Tallies]:
        """Return a chunk that is done; one that was run stands in the journal by then."""
        if self._known:
            return self._known.popleft()
        chunk, tallies = self._engine.wait()
        self._journal.add(_name(chunk), tallies)
        return chunk, tallies

    def close(self) -> None:
        """Stop; the engine and the journal are closed by whoever opened them."""


def find_search_key(models: tuple[str, ...], choices: Choices, seed: int) -> str:
    """Return a digest of what a search's numbers hang on, besides the cells, which have keys of their own.

    Target, budget and limits are not in it: they say where to look, not what is seen there.
    """
    return blake2b(repr(("size", sorted(models), choices, seed)).encode(), digest_size=16).hexdigest()


def _name(chunk: Chunk) -> Key:
    """Return what tells a chunk from all others of a search: rounds meet the same cells with other seeds."""
    return f"{chunk.cell.key}-{chunk.seed}", chunk.index
