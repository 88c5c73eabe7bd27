"""How large must a repeat be: 2.5 times, small telescopes, the original's p, simulation from its model.

Which n is meant comes first: raters, items, or ratings of an item. The rules are about the number of
independent units behind one comparison; where raters and items are crossed, simulation is the better answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil, isfinite
from typing import Any

from panelist.core.errors import BadReproduction, PanelistError
from panelist.core.formats import P_VALUE, TEXT, Cell, decimals, interval
from panelist.core.result import Pairs, Part, Result, Sentence, Table
from panelist.reproduction.shrunk_power import COCHRANE, Mixture, ShrunkPower, shrink_power
from panelist.reproduction.simulated_repeat import SIMS, SimulatedPair, simulate_repeats
from panelist.reproduction.sources import Given
from panelist.reproduction.telescopes import LEAST, RULE_OF_THUMB, Telescope, point_telescope


@dataclass(frozen=True, kw_only=True)
class ReplicationSize(Result):
    """How large a repeat must be, by every rule for which the original says enough."""

    criterion: str | None
    n: int | None
    unit: str
    telescope: Telescope | None
    by_p: tuple[tuple[str, ShrunkPower], ...]
    simulated: tuple[SimulatedPair, ...]
    notes: tuple[str, ...] = ()

    def title(self) -> str:
        """Return the heading."""
        on = f", on {self.criterion}" if self.criterion else ""
        return f"How large a repeat must be{on}"

    def sentence(self) -> str:
        """Return the rules' answers in words."""
        words = []
        if self.telescope is not None and self.n is not None:
            exact = ceil(self.telescope.factor(0.8) * self.n - 1e-9)
            words.append(
                f"With {self.n} {self.unit} in the original, the rule of 2.5 times asks for "
                f"{ceil(RULE_OF_THUMB * self.n)}, and exactly it takes {exact} "
                f"({self.telescope.factor(0.8):.2f} times) "
                "to find with 80 % power that an effect of 0 is smaller than what the original could see."
            )
        for name, one in self.by_p[:1] if len(self.by_p) == 1 else ():
            of = f" of {name}" if name else ""
            words.append(
                f"After p = {one.p:g}{of}, a repeat of the same size is significant again with probability "
                f"{one.power:.2f}, and it takes {_times(one.factor_80)} the size for 80 %."
            )
        if not words and not self.simulated:
            return "Nothing is known of the original's size."
        return " ".join(words) if words else "Simulated from the original's own model."

    def parts(self) -> list[Part]:
        """Return the sentence and a table for each rule."""
        found: list[Part] = [Sentence(self.sentence())]
        if self.telescope is not None:
            found.append(self._telescope_table(self.telescope))
        if self.by_p:
            found.append(self._p_table())
        if self.simulated:
            found.append(self._simulated_table())
        return [*found, *([Pairs([("note", note) for note in self.notes])] if self.notes else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name."""
        telescope = None
        if self.telescope is not None:
            factors = [{"power": power, "factor": factor} for power, factor in self.telescope.factors]
            telescope = asdict(self.telescope) | {"factors": factors, "rule_of_thumb": RULE_OF_THUMB}
        return {
            "criterion": self.criterion,
            "n": self.n,
            "unit": self.unit,
            "small_telescopes": telescope,
            "by_p": [{"pair": name, **asdict(one)} for name, one in self.by_p],
            "simulated": [asdict(one) for one in self.simulated],
            "sentence": self.sentence(),
            "notes": list(self.notes),
        }

    def _telescope_table(self, found: Telescope) -> Table:
        rows: list[tuple[Cell, ...]] = [
            ("2.5 times", RULE_OF_THUMB, ceil(RULE_OF_THUMB * found.n), found.power_at_rule)
        ]
        rows += [
            (f"exact, {power * 100:g} %", factor, ceil(factor * found.n - 1e-9), power)
            for power, factor in found.factors
        ]
        rows.append(("the same n", 1.0, found.n, found.power_same_n))
        return Table(
            "Small telescopes (Simonsohn 2015)",
            ("rule", "times", self.unit, "power"),
            rows,
            {"rule": TEXT, "times": decimals(2), "power": decimals(3)},
            note=f"{found.design} t test; the original had a power of one third for d = {found.d33:.3f}. "
            "Power: that "
            "the repeat is significantly below it where the true effect is 0.",
        )

    def _p_table(self) -> Table:
        rows = [
            (name or "original", one.p, one.power, one.sign, one.factor_80, one.factor_90)
            for name, one in self.by_p
        ]
        form = {"power, same n": decimals(2), "sign right": decimals(2), "times for 80 %": decimals(1)}
        return Table(
            "What the original's p promises (van Zwet & Goodman 2022)",
            ("finding", "p", "power, same n", "sign right", "times for 80 %", "times for 90 %"),
            rows,
            {"finding": TEXT, "p": P_VALUE, "times for 90 %": decimals(1), **form},
            note="p without adjustment for the number of pairs. A guide: the mixture comes from trials in "
            "medicine.",
        )

    def _simulated_table(self) -> Table:
        rows = [
            (
                f"{one.a} – {one.b}",
                one.factor,
                one.items,
                one.raters,
                one.power,
                interval(one.low, one.high),
                one.type_s,
            )
            for one in self.simulated
        ]
        return Table(
            "Repeats simulated from the original's model",
            ("pair", "times", "items", "raters", "power", "95 % interval", "type S"),
            rows,
            {"pair": TEXT, "power": decimals(2), "type S": decimals(2)},
            note="Times 1 is a repeat of the same size. Published effects are often too large, and so are "
            "these powers.",
        )


def size_repeat(
    given: Given | None = None,
    *,
    n: int | None = None,
    p: float | None = None,
    pairs: Mapping[str, float] | None = None,
    design: str | None = None,
    mixture: Mixture = COCHRANE,
    simulate: bool = True,
    sims: int = SIMS,
    seed: int = 1,
) -> ReplicationSize:
    """Return how large a repeat of the original must be.

    ``given`` is the original on one criterion: its items count, its findings' p-values (``pairs``) and its
    model are used. ``n`` and ``p`` say what a paper prints: units behind one comparison (in each group for
    the design "two-sample", pairs for "paired"), and the p-value of its finding.
    """
    notes: list[str] = []
    unit, raw = "units", given is not None and given.rows is not None
    if n is None and raw:
        assert given is not None
        assert given.rows is not None
        if "item" in given.rows.frame:
            n, unit = int(given.rows.frame["item"].nunique()), "items"
            design = design or "paired"
            notes.append(_say_counts(given))
    if n is None and p is None and not pairs:
        raise BadReproduction(
            "To say how large a repeat must be, something of the original must be known: its raw ratings, "
            "its n "
            "(--original-n) or its p-value (--original-p)."
        )
    tested = {name: max(value, 1e-12) for name, value in (pairs or {}).items() if isfinite(value)}
    found = [("", p)] if p is not None else sorted(tested.items())
    by_p = tuple((name, shrink_power(value, mixture)) for name, value in found)
    simulated: tuple[SimulatedPair, ...] = ()
    if raw and simulate:
        assert given is not None
        try:
            simulated = simulate_repeats(given, sims=sims, seed=seed)
        except PanelistError as error:
            notes.append(f"Not simulated: {error}")
    telescope = None
    if n is not None and (n >= LEAST or unit != "items"):
        telescope = point_telescope(n, design or "two-sample")
    elif n is not None:
        notes.append(f"Small telescopes take {LEAST} items or more, and the original has {n}.")
    return ReplicationSize(
        criterion=given.name if given is not None else None,
        n=n,
        unit=unit if unit == "items" else _unit(design),
        telescope=telescope,
        by_p=by_p,
        simulated=simulated,
        notes=tuple(notes),
    )


def _say_counts(given: Given) -> str:
    assert given.rows is not None
    frame = given.rows.frame
    counts = [f"{frame[name].nunique():,} {name}s" for name in ("rater", "item") if name in frame]
    return (
        f"The original has {' and '.join(counts)}, {len(frame):,} answers. The rules take items as the units "
        "of a paired "
        "comparison; to conclude for other raters as well, raters must grow with them."
    )


def _unit(design: str | None) -> str:
    return "pairs" if design == "paired" else "units a group"


def _times(factor: float) -> str:
    return f"{factor:.1f} times" if isfinite(factor) else "more than any multiple of"


__all__: Sequence[str] = ("ReplicationSize", "size_repeat")
