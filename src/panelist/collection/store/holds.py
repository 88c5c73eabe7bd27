"""How long a place is held: by a clock that cannot be set, as far as this process can see.

``seen`` in the database is the time of day, and that can jump: a machine wakes up, or somebody corrects its
clock. So a process counts for itself for how long the ``seen`` of a visit has stayed the same. For the time
before it started it relies on the time of day, but no visit is released in its first minutes: raters who
could not reach the server while it was down have time to come back.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic

GRACE_SECONDS = 15 * 60.0


@dataclass(eq=False)
class Holds:
    """The visits whose places are held, and since when nothing new was seen of each."""

    seconds: float
    """For how long a place is held."""
    clock: Callable[[], float] = monotonic
    _since: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Of each visit the ``seen`` that was found, and since when, by our clock."""

    def find_stale(self, going: Iterable[tuple[int, float]], today: float) -> tuple[tuple[int, float], ...]:
        """Return the visits, with their ``seen``, where nobody was seen for that long.

        ``going`` has every visit that holds a place, with its ``seen``; ``today`` is the time of day.
        """
        now = self.clock()
        before, self._since = self._since, {}
        for visit, seen in going:
            known = before.get(visit)
            if known is None or known[0] != seen:
                # Somebody was there since the last look, or this is the first one.
                known = (seen, now - (self._believe(seen, today) if known is None else 0.0))
            self._since[visit] = known
        return tuple(
            (visit, seen) for visit, (seen, since) in self._since.items() if now - since >= self.seconds
        )

    def _believe(self, seen: float, today: float) -> float:
        """Return for how long nobody was seen, as the time of day has it, less the grace."""
        return min(max(0.0, today - seen), max(0.0, self.seconds - GRACE_SECONDS))
