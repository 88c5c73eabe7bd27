"""How large must a repeat be: 2.5 times, small telescopes, the original's p, simulation from its model.

Which n is meant comes first: raters, items, or ratings of an item. The rules are about the number of
independent units behind one comparison; where raters and items are crossed, simulation is the better answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import ceil, isfinite
from typing import Any

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.core.display.formats import P_VALUE, TEXT, Cell, decimals, interval
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table, pick
from panelist.core.errors import BadReproduction, PanelistError
from panelist.power.curve import make_cells, simulate_cells
from panelist.power.layouts.base import Layout
from panelist.power.run import Run
from panelist.power.truth.base import Truth
from panelist.reproduction.aggregate import aggregate, choose_aggregation
from panelist.reproduction.measures.pair_tests import check_pairs
from panelist.reproduction.measures.telescopes import LEAST, RULE_OF_THUMB, Telescope, point_telescope
from panelist.reproduction.size.shrunk_power import COCHRANE, Mixture, ShrunkPower, shrink_power
from panelist.reproduction.sources import Given, read_source


@dataclass(frozen=True, kw_only=True)
class ReplicationSize(Result):
    """How large a repeat must be, by every rule for which enough is known about the original."""

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
            return "The size of the original is not known."
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
        return [*found, *([NamedValues([("note", note) for note in self.notes])] if self.notes else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name."""
        telescope = None
        if self.telescope is not None:
            factors = [{"power": power, "factor": factor} for power, factor in self.telescope.factors]
            telescope = asdict(self.telescope) | {"factors": factors, "rule_of_thumb": RULE_OF_THUMB}
        return {
            **pick(self, "criterion n unit"),
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
    run: Run | None = None,
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
            "To say how large a repeat must be, something must be known about the original: its raw ratings, "
            "its n (--original-n) or its p-value (--original-p)."
        )
    tested = {name: max(value, 1e-12) for name, value in (pairs or {}).items() if isfinite(value)}
    found = [("", p)] if p is not None else sorted(tested.items())
    by_p = tuple((name, shrink_power(value, mixture)) for name, value in found)
    simulated: tuple[SimulatedPair, ...] = ()
    if raw and simulate:
        assert given is not None
        try:
            simulated = simulate_repeats(given, run=run)
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
        "of a paired comparison; to conclude for other raters as well, raters must grow with them."
    )


def _unit(design: str | None) -> str:
    return "pairs" if design == "paired" else "units per group"


def _times(factor: float) -> str:
    return f"{factor:.1f} times" if isfinite(factor) else "more than any multiple of"


__all__: Sequence[str] = ("ReplicationSize", "size_repeat")


FACTORS = (1, 2, 3)
SIMS = 200


@dataclass(frozen=True)
class SimulatedPair:
    """One pair of systems in repeats of ``factor`` times the items and raters: power, and wrong signs."""

    factor: int
    items: int
    raters: int
    a: str
    b: str
    power: float
    low: float
    high: float
    type_s: float


def simulate_repeats(
    given: Given, factors: Sequence[int] = FACTORS, run: Run | None = None
) -> tuple[SimulatedPair, ...]:
    """Return the power of every pair in repeats of the original's own design, taken once, twice …

    Ratings are simulated from the original's ordinal mixed model and tested with the same kind of model,
    Tukey adjusted. A repeat of factor 2 has twice as many items and raters, in the same layout.
    """
    if given.rows is None or given.choices:
        raise BadReproduction(
            "Repeats are simulated from the original's single ratings. Give them as ORIGINAL; of scores or "
            "choices there is no model to simulate from."
        )
    rows = given.rows
    rows.require("rater", "item", "system", "rating")
    truth = Truth.from_pilot(rows)
    base = _lay_out(given, truth.systems)
    found = []
    for factor in factors:
        layout = _enlarge(base, factor)
        curve = simulate_cells(
            make_cells([truth], [layout], None), ["clmm"], AnalysisSpec(), run or Run(SIMS)
        )
        for pair in curve.cells[0].pairs:
            power = (pair.power, pair.low, pair.high, pair.type_s)
            found.append(SimulatedPair(factor, layout.n_items, layout.n_raters, pair.a, pair.b, *power))
    return tuple(found)


def _lay_out(given: Given, systems: Sequence[str]) -> Layout:
    """Return who rated what in the original."""
    assert given.rows is not None
    frame = given.rows.frame.dropna(subset=["rater", "item", "system", "rating"])
    rater, item = (np.unique(frame[name].astype(str), return_inverse=True) for name in ("rater", "item"))
    code = {name: place for place, name in enumerate(systems)}
    system = np.array([code[str(name)] for name in frame["system"]], dtype=np.int32)
    outputs = len(np.unique(item[1].astype(np.int64) * len(systems) + system))
    return Layout(
        rater[1].astype(np.int32),
        item[1].astype(np.int32),
        system,
        len(rater[0]),
        len(item[0]),
        tuple(systems),
        round(len(frame) / outputs, 2),
    )


def _enlarge(base: Layout, factor: int) -> Layout:
    """Return ``factor`` copies of the layout, each with its own items and raters."""
    copies = np.repeat(np.arange(factor, dtype=np.int32), base.n_rows)
    return Layout(
        (np.tile(base.rater, factor) + base.n_raters * copies).astype(np.int32),
        (np.tile(base.item, factor) + base.n_items * copies).astype(np.int32),
        np.tile(base.system, factor).astype(np.int32),
        base.n_raters * factor,
        base.n_items * factor,
        base.systems,
        base.ratings_per_item,
    )


@dataclass(frozen=True, kw_only=True)
class ReplicationSizes(Result):
    """The sizes for each criterion of an original."""

    source: str
    sizes: tuple[ReplicationSize, ...]

    def title(self) -> str:
        """Return the heading."""
        return "How large a repeat must be"

    def parts(self) -> list[Part]:
        """Return what was given, and each criterion's parts."""
        found: list[Part] = [Sentence(self.source)] if self.source else []
        for one in self.sizes:
            if one.criterion:
                found.append(Sentence(f"\nOn {one.criterion}"))
            found += one.parts()
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the sizes by criterion."""
        return {"source": self.source, "sizes": [one.to_dict() for one in self.sizes]}


def size_original(
    original: Any = None,
    *,
    n: int | None = None,
    p: float | None = None,
    design: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    sims: int = 200,
    seed: int = 1,
) -> ReplicationSizes:
    """Return how large a repeat of an original must be, from its raw data or from its printed n and p."""
    if original is None:
        return ReplicationSizes(source="", sizes=(size_repeat(n=n, p=p, design=design),))
    source = read_source(original, "original", columns, where)
    sizes = []
    for given in source.given:
        pairs: dict[str, float] = {}
        if p is None and given.rows is not None:
            rule, _ = choose_aggregation([given], None, "")
            scores, _ = aggregate(given, rule)
            systems = sorted(scores)
            tests = check_pairs(given, scores, systems, rule, confidence=confidence)
            found = {(a, b): tests.of(a, b).p for a, b in combinations(systems, 2)}
            pairs = {f"{a} – {b}": value for (a, b), value in found.items() if isfinite(value)}
        sizes.append(size_repeat(given, n=n, p=p, pairs=pairs, design=design, run=Run(sims, seed=seed)))
    return ReplicationSizes(source=source.sentence(), sizes=tuple(sizes))
