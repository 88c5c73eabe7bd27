"""How far a long piece of work is: what every ``on_progress`` is called with."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """``done`` of ``total`` parts; ``what`` is being done, or was found last."""

    done: int
    total: int
    what: str = ""
    in_work: int = 0
    """The parts that were begun and are not done."""
    at_most: bool = False
    """Whether the total is only an upper bound."""


OnProgress = Callable[[Progress], None]


def ignore(progress: Progress) -> None:
    """Do nothing: no callback was given."""
