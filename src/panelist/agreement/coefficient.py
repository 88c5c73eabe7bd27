"""What a coefficient is: a function of statistics that can be reweighted, and how it is registered.

A coefficient never sees the raw ratings. It is a function of one kind of statistics (sums over units, tables
of rater pairs, moments of complete units), and these can be made from a table under any weights of the
units and of the raters. So a bootstrap of all coefficients prepares each kind of statistics once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, get_args

from panelist.agreement.criterion_table import RatingTable
from panelist.core.errors import UnknownName, did_you_mean
from panelist.core.registry import Registry
from panelist.numerics.arrays import Floats

Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
Kind: TypeAlias = Literal["agreement", "correlation", "consistency"]
Needs: TypeAlias = Literal["any", "pairs", "complete"]

Interval: TypeAlias = Callable[[Any, float], tuple[float, float]]  # statistics and confidence → low, high

LEVELS: tuple[Level, ...] = get_args(Level)


class Undefined(Exception):
    """The coefficient has no value for these data; the message says why, as one sentence."""


class Prepared(Protocol):
    """What is made once from a table, and reweighted for every resample."""

    @property
    def n_items(self) -> int:
        """The number of units that enter."""
        ...

    @property
    def note(self) -> str:
        """Which units or pairs entered, where not all of them did; else nothing."""
        ...

    def weigh(self, units: Floats | None = None, raters: Floats | None = None) -> Any:
        """Return the statistics with every unit and every rater counted as often as its weight says."""
        ...


class Statistics(Protocol):
    """A kind of statistics that coefficients are functions of."""

    @classmethod
    def prepare(cls, table: RatingTable, measurement: Level) -> Prepared:
        """Return what is needed to weight the units and raters of this table."""
        ...


@dataclass(frozen=True)
class Estimate:
    """One coefficient on one table: its value (nan where undefined), on how many items, and what to know."""

    name: str
    value: float
    n_items: int
    note: str = ""


@dataclass(frozen=True)
class Coefficient:
    """A registered coefficient. Call it with a table to get its value, nan where it has none."""

    name: str
    title: str
    levels: tuple[Level, ...]
    kind: Kind
    needs: Needs
    statistics: type[Statistics]
    formula: Callable[[Any], float]
    two_raters: bool = False
    remark: Callable[[Any], str] | None = field(default=None, repr=False)
    interval: Interval | None = field(default=None, repr=False)
    lowest: float = -1.0
    spoken: str = ""
    read_by: tuple[str, ...] = ()
    unnamed: bool = False
    corrected: bool = True

    def __call__(self, table: RatingTable, measurement: Level | None = None) -> float:
        """Return the value on a table, nan where it is undefined."""
        return self.estimate(table, measurement).value

    def estimate(
        self, table: RatingTable, measurement: Level | None = None, prepared: Prepared | None = None
    ) -> Estimate:
        """Return the value with the number of items that entered, and why it is undefined where it is."""
        made = (
            prepared
            if prepared is not None
            else self.statistics.prepare(table, measurement or self.usual(table))
        )
        statistics = made.weigh()
        value, reason = self.evaluate(statistics)
        remark = self.remark(statistics) if self.remark is not None and not reason else ""
        note = "; ".join(part for part in (reason, made.note, remark) if part)
        return Estimate(self.name, value, made.n_items, note)

    def evaluate(self, statistics: Any) -> tuple[float, str]:
        """Return the value and nothing, or nan and the reason."""
        try:
            return float(self.formula(statistics)), ""
        except Undefined as reason:
            return float("nan"), str(reason)

    def usual(self, table: RatingTable) -> Level:
        """Return the level to compute at: the table's own where it suits, else the highest that does."""
        return table.measurement if table.measurement in self.levels else self.levels[-1]


Decorator = Callable[[Callable[[Any], float]], Coefficient]
"""What makes a coefficient of a formula."""
COEFFICIENTS: Registry[Coefficient] = Registry("coefficient", home="panelist.agreement.coefficients")


def coefficient(
    name: str,
    *,
    levels: tuple[Level, ...],
    kind: Kind,
    statistics: type[Statistics],
    needs: Needs = "any",
    two_raters: bool = False,
    remark: Callable[[Any], str] | None = None,
    interval: Interval | None = None,
    lowest: float = -1.0,
    spoken: str = "",
    read_by: tuple[str, ...] = (),
    unnamed: bool = False,
    corrected: bool = True,
) -> Decorator:
    """Return the decorator that registers a formula as a coefficient; its docstring's first line is the
    title.

    ``remark`` says what to know about its value on given statistics; ``interval`` is its analytic interval
    where one is standard, and raises Undefined where it does not apply; ``lowest`` is where intervals end.
    ``spoken`` is its name in a sentence, without it ``name``; ``read_by`` names the scales that put it in
    words (agreement/interpret.py), the usual one first; ``unnamed`` says that it does not depend on which of
    a unit's raters gave which rating, so that raters may be unknown; ``corrected`` says that chance
    alone does not raise it.
    """

    def file(formula: Callable[[Any], float]) -> Coefficient:
        title = (formula.__doc__ or name).strip().splitlines()[0].rstrip(".")
        made = Coefficient(
            name, title, levels, kind, needs, statistics, formula, two_raters, remark, interval, lowest,
            spoken or name.replace("_", " "), read_by, unnamed, corrected,
        )  # fmt: skip
        return COEFFICIENTS.register(name)(made)

    return file


def check_level(measurement: str) -> Level:
    """Return the level if there is one of this name; else say which there are."""
    if measurement not in LEVELS:
        raise UnknownName(
            f"No level of measurement is called {measurement!r}. {did_you_mean(measurement, LEVELS)}"
        )
    return measurement
