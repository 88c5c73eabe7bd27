"""What a search for the sample size gives: the design, and the trade-off around it."""

from dataclasses import dataclass
from typing import Any

from panelist.core.display.formats import Format, decimals, number
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table, json_object
from panelist.core.margin import UNITS, Margin
from panelist.core.prose import count, inflect, list_words
from panelist.power.cells import CellResult
from panelist.power.judged import JudgedDesign, JudgedPower, show_judged
from panelist.power.search.probit_search import DesignFamily

RIGHT = Format(str, "right")
ITEMS = "items (95 %)"


@dataclass(frozen=True)
class DesignOption:
    """One design that reaches the target, according to its line."""

    items: int
    ratings_per_item: int
    outputs_per_rater: int
    raters: int
    ratings: int
    cost: float | None
    power: float
    items_low: int
    items_high: int
    sims: int
    reaches: bool
    within_budget: bool


@dataclass(frozen=True)
class SampleSize(Result):
    """The smallest design found, confirmed by simulation at its own size, and the trade-off around it."""

    target: float
    effect: float
    model: str
    preset: str
    goal: str
    best: DesignOption | None
    confirmed: CellResult | None
    options: tuple[DesignOption, ...]
    families: tuple[DesignFamily, ...]
    unit: str
    """What is judged at once: an output, or a pair, tuple or page of them."""
    currency: str
    budget: float | None
    seconds: float
    fits: int
    seed: int
    notes: tuple[str, ...] = ()
    claim: str | None = None
    """What is to be shown; None where it is a difference. Then ``effect`` is in the unit of ``margin``."""
    margin: Margin | None = None
    at_zero: "SampleSize | None" = None
    """The same claim where there is no true difference."""
    judge: tuple[JudgedDesign, ...] = ()
    """What a judge would save of the smallest design, where one is planned for."""
    judge_power: tuple[JudgedPower, ...] = ()
    """The power with the judge, simulated at the designs that it leaves."""

    def title(self) -> str:
        """Return the heading."""
        claimed = self.claim is not None and self.margin is not None
        shown = f" to show {self.claim} within {self.margin.words}" if claimed and self.margin else ""
        return f"Sample size for power {self.target:g}{shown}"

    def parts(self) -> list[Part]:
        """Return the answer, the trade-off and the notes."""
        parts: list[Part] = [
            Sentence(self.sentence()),
            self._make_table(),
            *show_judged(self.judge, self.judge_power),
        ]
        asked = [("effect", f"{self.effect:g} threshold {inflect(self.effect, 'distance')}")]
        if self.margin is not None:
            asked = [("true difference", f"{self.effect:g} {UNITS[self.margin.unit]}, a third of the margin")]
        asked.append(("analysis", self.model))
        asked += [("truth", self.preset), ("smallest in", self.goal)]
        if len(loads := {option.outputs_per_rater for option in self.options}) == 1:
            asked.append((f"{self.unit}s per rater", f"{loads.pop()} {self.unit}s"))
        if self.budget is not None:
            asked.append(("budget", f"{self.budget:,.2f} {self.currency}".rstrip()))
        asked.append(("simulated", f"{self.fits:,} data sets in {self.seconds:.1f} s, seed {self.seed}"))
        return [*parts, NamedValues(asked), *(Sentence(note) for note in self.notes)]

    def sentence(self) -> str:
        """Return the answer in a sentence."""
        best, seen = self.best, self.confirmed
        if best is None or seen is None:
            return (
                f"No design within the limits reaches a power of {self.target:g}: allow more items or a "
                f"larger budget, or {'look for a larger effect' if self.claim is None else 'a wider margin'}."
            )
        cost = f", for {best.cost:,.2f} {self.currency}".rstrip() if best.cost is not None else ""
        return (
            f"{best.items} items, {count(best.ratings_per_item, 'rating')} of each {self.unit}, "
            f"{best.raters} raters of {best.outputs_per_rater} {self.unit}s: {best.ratings:,} ratings{cost}. "
            f"Simulated there, the power is {seen.power:.2f} ({seen.low:.2f} to {seen.high:.2f}, "
            f"{seen.sims:,} data sets)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the answer and every option."""
        names = list_words("target effect model preset goal unit currency budget seconds fits seed")
        whole: dict[str, Any] = {name: getattr(self, name) for name in (*names, "notes")}
        whole["best"] = vars(self.best) if self.best else None
        whole["confirmed"] = self.confirmed.to_dict() if self.confirmed else None
        whole["options"] = [vars(option) for option in self.options]
        if self.claim is not None and self.margin is not None:
            zero = None if self.at_zero is None else self.at_zero.to_dict()
            whole |= {"claim": self.claim, "margin": self.margin.written, "at_zero": zero}
        whole |= {"judge": [vars(one) for one in self.judge]} if self.judge else {}
        whole |= {"judge_power": [vars(one) for one in self.judge_power]} if self.judge_power else {}
        return json_object(whole)

    def _cost_header(self) -> str:
        return f"cost ({self.currency})" if self.currency else "cost"

    def _make_table(self) -> Table:
        paid = any(option.cost is not None for option in self.options)
        loads = len({option.outputs_per_rater for option in self.options}) > 1
        header = ["each", *(["load"] if loads else []), ITEMS, "raters", "ratings"]
        header += [self._cost_header()] if paid else []
        header += ["power", ""]
        rows = []
        for option in self.options:
            row: list[Any] = [option.ratings_per_item, *([option.outputs_per_rater] if loads else [])]
            row += [_tell_items(option), option.raters, option.ratings]
            row += [number(option.cost, 2)] if paid else []
            row += [option.power, _remark(option, option is self.best)]
            rows.append(tuple(row))
        formats: dict[str, Format] = {"power": decimals(2), ITEMS: RIGHT}
        if paid:
            formats[self._cost_header()] = RIGHT
        of_load = f", {self.unit}s per rater (load)" if loads else ""
        caption = f"The trade-off: ratings of each {self.unit}{of_load}, items needed"
        note = "Sizes and powers are those of a probit line through the simulations of each row."
        return Table(caption, tuple(header), rows, formats, note)


def tell_zero(found: SampleSize) -> str:
    """Return in a sentence what is enough where there is no true difference."""
    best = found.best
    if best is None:
        return "Even with no true difference no design within the limits reaches the target."
    each = count(best.ratings_per_item, "rating")
    return (
        f"Were there no true difference at all, {best.items} items with {each} of each {found.unit} would be "
        f"enough: {best.ratings:,} ratings."
    )


def _tell_items(option: DesignOption) -> str:
    """Return the number of items, with its interval where that was simulated."""
    if not option.reaches:
        return f"over {option.items}"
    if not option.sims:
        return str(option.items)
    return f"{option.items} ({option.items_low} to {option.items_high})"


def _remark(option: DesignOption, best: bool) -> str:
    if best:
        return "smallest"
    if not option.sims:
        return "not simulated"
    if not option.reaches:
        return "not reached"
    return "" if option.within_budget else "over the limits"
