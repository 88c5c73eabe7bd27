"""The history of a visit: its answers and events, read only where a page needs them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class Visiting(Protocol):
    """Where a visit is. The store's Visit is one."""

    @property
    def place(self) -> str | None:
        """The place of the plan."""

    @property
    def state(self) -> str:
        """The step."""

    @property
    def occasion(self) -> int:
        """The occasion, from 1."""

    @property
    def page(self) -> int:
        """The number of the page to show next."""

    @property
    def code(self) -> str:
        """The completion code, once there is one."""

    @property
    def reason(self) -> str:
        """Why the visit ended."""

    @property
    def outside_id(self) -> str | None:
        """The person's id at the panel that sent them."""


class History(Protocol):
    """The history of one visit. Pages need little of it, so it is read on demand."""

    def answers(self, occasion: int, page: int) -> Mapping[str, str]:
        """Return the current answers on a page, by field."""

    def events(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return the details of the events of a kind, oldest first."""

    def seconds(self, occasion: int) -> float:
        """Return how long the pages of an occasion took so far."""

    def ended(self, occasion: int) -> float | None:
        """Return when the last page of an occasion was done, in seconds since 1970."""


@dataclass
class Memory:
    """A history that is kept in memory: for previews and tests."""

    given: dict[tuple[int, int], dict[str, str]] = field(default_factory=dict)
    happened: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    took: dict[int, float] = field(default_factory=dict)
    done: dict[int, float] = field(default_factory=dict)

    def answers(self, occasion: int, page: int) -> Mapping[str, str]:
        """Return the answers on a page."""
        return self.given.get((occasion, page), {})

    def events(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return the details of the events of a kind."""
        return [detail for name, detail in self.happened if name == kind]

    def seconds(self, occasion: int) -> float:
        """Return how long the pages of an occasion took."""
        return self.took.get(occasion, 0.0)

    def ended(self, occasion: int) -> float | None:
        """Return when an occasion ended."""
        return self.done.get(occasion)
