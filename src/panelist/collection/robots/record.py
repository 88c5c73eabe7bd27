"""What robots did and were told: every acknowledged answer, how long replies took, and how visits ended."""

from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from panelist.core.errors import PanelistError


class RobotLost(PanelistError):
    """A page that a robot cannot understand, or a server that does not come back."""


class ConfirmedAnswer(NamedTuple):
    """An answer that the server said it has."""

    token: str
    page: str
    name: str
    value: str
    key: str


class Stay(NamedTuple):
    """A robot's visit: how it ended, and the code it got."""

    rater: int
    link: str
    end: str
    code: str = ""
    pages: int = 0


@dataclass(eq=False)
class Record:
    """What all robots of one run did together."""

    receipts: list[ConfirmedAnswer] = field(default_factory=list, repr=False)
    stays: list[Stay] = field(default_factory=list, repr=False)
    requests: int = 0
    retries: int = 0
    """Requests sent again: no reply came, or one that said to try later."""
    faults: Counter[int] = field(default_factory=Counter)
    """Replies that said something went wrong, by status; 503 and 429 only say to try later."""
    refused: list[str] = field(default_factory=list, repr=False)
    """Answers that the server did not take, in its words."""
    unknown: int = 0
    """Texts that are in no outputs file, judged as average."""
    times: dict[str, "array[float]"] = field(
        default_factory=lambda: defaultdict(lambda: array("d")), repr=False
    )
    """Seconds from sending to the last byte of the reply, by what was sent; only those answered at once."""

    @property
    def ends(self) -> Counter[str]:
        """How many visits ended in which way."""
        return Counter(stay.end for stay in self.stays)

    @property
    def answers(self) -> int:
        """How many different answers the server said it has."""
        return len({(receipt.token, receipt.page, receipt.name, receipt.key) for receipt in self.receipts})

    def quantile(self, what: str, share: float) -> float:
        """Return the time within which this share of replies came, nan where there were none."""
        times = sorted(self.times.get(what, ()))
        return times[min(len(times) - 1, int(share * len(times)))] if times else float("nan")
