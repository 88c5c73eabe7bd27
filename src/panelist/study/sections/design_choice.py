"""The design section of a study file: who sees how much of what; and what is known about designs.

The facts of a design are in its own file (design/designs), beside the code that makes its plan.
"""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, NonNegativeInt, PositiveInt
from pydantic_core import CoreSchema, PydanticKnownError

from panelist.core.registry import Registry
from panelist.core.schema import StudyPart, Text


class DesignFacts:
    """What a study needs to know about a design, apart from how its plan is made."""

    title: ClassVar[str]
    """The design in a few words."""
    summary: ClassVar[str]
    """What raters get, as a clause for those who choose a design."""
    assigned: ClassVar[str]
    """How outputs were assigned to raters, for the methods: it follows on "Outputs were assigned"."""
    unit: ClassVar[str] = "output"
    """What the number of ratings counts: an output, a pair, a tuple, a page."""
    compares: ClassVar[bool] = False
    """Whether it is made for comparisons, so that some criterion must compare outputs."""
    whole: ClassVar[bool] = False
    """Whether a rater meets all items, or everything, unless the study says otherwise."""
    everything: ClassVar[bool] = False
    """Whether every rater gets all pages of every item."""
    carries_over: ClassVar[bool] = False
    """Whether it promises that every system follows every other equally often."""
    does_without: ClassVar[bool] = False
    """Whether it can be planned on the outputs that exist, where some are missing."""
    least_systems: ClassVar[int] = 1
    """How many systems it needs."""
    keys: ClassVar[tuple[str, ...]] = ()
    """The keys of the section that only this design uses."""

    def count_shown(self, n_systems: int, choice: "DesignChoice") -> int:
        """Return how many outputs a page shows."""
        return 1

    def count_pages(self, n_systems: int, choice: "DesignChoice") -> int:
        """Return how many different pages can be made of one item: outputs, pairs or tuples."""
        return n_systems

    def count_showings(self, n_systems: int) -> int | None:
        """Return on how many of these pages an output appears; None where that is not promised."""
        return 1

    def find_fault(self, n_systems: int, choice: "DesignChoice") -> tuple[str, str] | None:
        """Return the key that does not fit these systems, and what is wrong with it; None where all fits."""
        return None


DESIGNS: Registry[DesignFacts] = Registry("design", home="panelist.design.designs")


class _RegisteredDesign:
    """Lists the registered designs in the JSON Schema."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        each = " ".join(f"``{name}``: {design.summary}." for name, design in DESIGNS.items())
        return {"type": "string", "enum": list(DESIGNS), "description": each}


def _check_name(name: str) -> str:
    if name not in DESIGNS:
        raise PydanticKnownError("literal_error", {"expected": ", ".join(map(repr, DESIGNS))})
    return name


if TYPE_CHECKING:
    DesignName = str
else:
    DesignName = Annotated[str, AfterValidator(_check_name), _RegisteredDesign()]


class OftenPair(StudyPart):
    """A pair of systems that is shown more often than others."""

    pair: tuple[Text, Text]
    """The names of the two systems."""
    times: int = Field(default=3, ge=2, le=20)
    """How many times as often as a pair that is not named."""


class DesignChoice(StudyPart):
    """The design. Of raters, trials per rater and ratings per output, the third follows from two."""

    type: DesignName = "latin-square"
    trials_per_rater: PositiveInt | None = None
    """How many pages of ratings one rater gets; by default as many as there are items. Criteria that have
    pages of their own, and outputs that are rated alone, add theirs to each."""
    ratings_per_output: PositiveInt | None = None
    """How many raters judge each output (each pair or tuple, where outputs are compared), per group."""
    shown: PositiveInt | None = None
    """How many outputs a best-worst tuple shows; by default four, or all systems if there are fewer."""
    tuples_per_item: PositiveInt | None = None
    """How many tuples are made of each item; by default enough that every system is shown equally often."""
    often: tuple[OftenPair, ...] | None = None
    """Pairs of systems that are expected to be close, and shown more often for it; declared before there are
    answers, so that every pair keeps a probability that is known."""
    items_may_return: bool = False
    """Whether a rater may meet an item again, with another system, in the same sitting."""
    order: Literal["random", "as listed"] = "random"
    """The order of pages, random for each rater, or that of the outputs file."""
    positions: Literal["balanced", "random", "as listed"] = "balanced"
    """Where outputs are on a page that shows several."""
    criteria: Literal["together", "in turn", "in blocks", "one per rater"] = "together"
    """All criteria on one page; one page each, one after the other; all pages of one criterion before those
    of the next; or each rater judges one criterion only."""
    rated: Literal["side by side", "alone"] = "side by side"
    """How outputs are rated where a page shows several: ``side by side``, each on the page of the others;
    ``alone``, each on a page of its own, apart from the page that compares them."""
    occasions: PositiveInt = 1
    """How often raters sit; 2 is a test and a retest with the same pages in a new order."""
    days_between: NonNegativeInt = 0
    """The least number of days between two sittings."""
    seed: NonNegativeInt = 1
    """All random numbers follow from it."""

    def weigh(self, systems: tuple[str, ...]) -> dict[tuple[str, str], int]:
        """Return how many times as often each pair is shown that is named, its systems in this order."""
        found = {}
        for one in self.often or ():
            if set(one.pair) <= set(systems):
                first, second = sorted(one.pair, key=systems.index)
                found[first, second] = one.times
        return found

    @property
    def facts(self) -> DesignFacts:
        """What is known of the design."""
        return DESIGNS[self.type]


def say_wants_all(choice: DesignChoice, missing: int, of: int) -> str:
    """Return what to say where a design wants every output and some are missing: which would do."""
    able = [name for name, one in DESIGNS.items() if one.does_without and one.unit in ("output", "page")]
    each = "; ".join(f"{name} ({DESIGNS[name].summary})" for name in able)
    return (
        f"design {choice.type} wants an output of every system for every item, and {missing:,} of {of:,} are "
        f"missing. What would do: {each}. Or leave the items out that lack one."
    )
