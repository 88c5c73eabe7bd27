"""Generalizability theory: where the variance of ratings lies; how reliability grows with raters and items.

Components of variance come from a linear mixed model by REML, and the error of an object's mean from who
rated what (components.py): gaps, nested raters and unbalanced designs are allowed.
Brennan, R. L. (2001). Generalizability Theory. Springer. https://doi.org/10.1007/978-1-4757-3456-0
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.agreement.statistics.components import (
    RESIDUAL,
    Multipliers,
    ReliabilityLimits,
    find_nested,
    fit_components,
    limit_reliability,
    weigh_errors,
)
from panelist.agreement.studies.variance_sources import (
    FACETS,
    check_effects,
    check_object,
    choose_effects,
    has_outputs,
    name_outputs,
)
from panelist.core.display.formats import TEXT, Cell, decimals, interval
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table
from panelist.core.errors import BadRatings, UnknownName, did_you_mean
from panelist.core.prose import count, listing
from panelist.core.tables.ratings import Ratings, read_ratings

if TYPE_CHECKING:
    import pandas as pd

GRID_RATERS = (1, 2, 3, 5, 7, 10, 15, 20)
GRID_ITEMS = (10, 25, 50, 100, 200)


@dataclass(frozen=True)
class Decision:
    """One design: how many levels of each facet, and the reliability of the object's mean score in it.

    ``g`` (relative) says how well objects can be ranked, ``phi`` (absolute) how well their level is known.
    """

    n: dict[str, int]
    relative_error: float
    absolute_error: float
    g: float
    phi: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Generalizability(Result):
    """The variance components of ratings, and the reliability of any design that they imply.

    ``variances`` maps an effect (``item``, ``rater:system``, ``residual``) to its variance; ``object``
    is what is to be distinguished; ``facets`` are what one averages over; ``observed`` how many of each
    there are for one object; ``weights`` what the design as it is makes of each effect's variance, and
    ``limits`` the intervals of G and phi in it. Effects that are ``nested`` in the object cannot be separated
    from their interaction with it.
    """

    criterion: str
    object: str
    facets: tuple[str, ...]
    variances: dict[str, float]
    observed: dict[str, int]
    n_ratings: int
    n_each: float = 0.0
    weights: Multipliers | None = field(default=None, repr=False)
    limits: ReliabilityLimits | None = None
    nested: tuple[str, ...] = ()
    formula: str
    singular: bool = False
    raters_nested: bool = False
    decisions: tuple[Decision, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()

    def decide(self, **n: int) -> Decision:
        """Return the reliability of a design with these numbers of raters, items, …; the rest as observed.

        Without any number it is the design of these data, gaps included; with one, a design in which every
        rater rates every item (or, where raters are nested, each item has that many of its own).

        >>> parts = {"item": 1.0, "rater": 0.5, "residual": 2.0}
        >>> study = Generalizability(criterion="x", object="item", facets=("rater",), variances=parts,
        ...                          observed={"rater": 3}, n_ratings=30, formula="")
        >>> decision = study.decide(rater=4)
        >>> round(decision.g, 4), round(decision.phi, 4)
        (0.6667, 0.6154)
        """
        if unknown := sorted(set(n) - set(self.facets)):
            raise UnknownName(f"No facet is called {unknown[0]!r}. {did_you_mean(unknown[0], self.facets)}")
        counts = {name: int(n.get(name, self.observed[name])) for name in self.facets}
        if any(count < 1 for count in counts.values()):
            raise BadRatings(f"A design has at least one level of each facet. Got {counts}.")
        truth = self.variances.get(self.object, 0.0)
        weights = self.weights if not n and self.weights is not None else self._cross(counts)
        relative, absolute = (
            sum(by[effect] * self.variances[effect] for effect in by)
            for by in (weights.relative, weights.absolute)
        )
        return Decision(
            counts, relative, absolute, _ratio(truth, truth + relative), _ratio(truth, truth + absolute)
        )

    def _cross(self, counts: Mapping[str, int]) -> Multipliers:
        """Return the multipliers of a design in which objects have these numbers of levels of each facet."""
        relative, absolute = {}, {}
        for effect in self.variances:
            names = self._names(effect)
            if names == {self.object}:
                continue
            among = prod(counts[name] for name in self._divisors(names - {self.object}))
            absolute[effect] = 1 / among
            relative[effect] = 1 / among if self.object in names else 0.0
        return Multipliers(relative, absolute)

    def grid(self, **n: Iterable[int]) -> tuple[Decision, ...]:
        """Return the decisions for every combination of the given numbers of levels."""
        names = list(n)
        return tuple(self.decide(**dict(zip(names, counts, strict=True))) for counts in product(*n.values()))

    def raters_needed(self, target: float = 0.8, most: int = 1000, absolute: bool = False) -> int | None:
        """Return the fewest raters for which G (or phi) reaches the target; None where none do."""
        if "rater" not in self.facets:
            return None
        for raters in range(1, most + 1):
            decision = self.decide(rater=raters)
            if (decision.phi if absolute else decision.g) >= target:
                return raters
        return None

    def title(self) -> str:
        """Return the heading."""
        return f"Generalizability of {self.criterion}"

    def sentence(self) -> str:
        """Return the reliability of this design, and what it would take to reach 0.8."""
        now = self.decide()
        design = listing(count(n, name) for name, n in now.n.items())
        each = f" ({self.n_each:.0f} ratings for each {self.object})" if self.n_each else ""
        g, phi = self._say_limits()
        said = (
            f"With {design}{each}, {self.object}s are told apart with G = {now.g:.2f} (their order{g}) and "
        )
        said += f"phi = {now.phi:.2f} (their level{phi})"
        needed = self.raters_needed()
        if now.g >= 0.8:
            return said + "."
        if needed is None:
            return said + "; by these estimates no number of raters alone brings G to 0.8."
        judged = "item" if self.object == "system" else self.object
        whom = f"for each {judged}" if self.raters_nested else f"who rate every {judged}"
        if "rater" in self.nested:
            whom = f"for each {self.object}"
        return said + f"; G = 0.8 would take {count(needed, 'rater')} {whom}."

    def _say_limits(self) -> tuple[str, str]:
        """Return the intervals of G and of phi, each after a semicolon; nothing where there are none."""
        if (ends := self.limits) is None:
            return "", ""
        heading = f"{ends.confidence * 100:g} % interval"
        return (
            f"; {heading} {interval(ends.g_low, ends.g_high)}",
            f"; {interval(ends.phi_low, ends.phi_high)}",
        )

    def parts(self) -> list[Part]:
        """Return the sentence, the components, the decision study and the notes."""
        total = sum(self.variances.values())
        rows = [(name, value, 100 * _ratio(value, total)) for name, value in self.variances.items()]
        components = Table(
            f"Variance of {self.criterion}",
            ("source", "variance", "% of all"),
            rows,
            {"source": TEXT, "variance": decimals(4), "% of all": decimals(1)},
            note=f"REML estimates of {self.formula}.",
        )
        decisions = self._decision_table()
        whole: list[Part] = [Sentence(self.sentence()), components, *([decisions] if self.decisions else [])]
        return whole + ([NamedValues([("note", note) for note in self.notes])] if self.notes else [])

    def _decision_table(self) -> Table:
        """Return a row for each number of raters, a column for each number of the other facet's levels."""
        nested = "each item by other raters" if self.raters_nested else "the same raters for all items"
        note = f"G: reliability of the order of {self.object}s; phi: of their level; {nested}."
        across = "item" if "item" in self.facets and "rater" in self.facets else ""
        if not across:
            header = (*(f"{name}s" for name in self.facets), "G", "phi")
            rows: list[tuple[Cell, ...]] = [
                (*(d.n[name] for name in self.facets), d.g, d.phi) for d in self.decisions
            ]
            return Table("Decision study", header, rows, {"G": decimals(2), "phi": decimals(2)}, note)
        cells = {(d.n["rater"], d.n[across]): f"{d.g:.2f} ({d.phi:.2f})" for d in self.decisions}
        columns, lines = sorted({key[1] for key in cells}), sorted({key[0] for key in cells})
        grid: list[tuple[Cell, ...]] = [
            (count, *(cells[count, column] for column in columns)) for count in lines
        ]
        header = ("raters", *(f"{column} {across}s" for column in columns))
        return Table("Decision study: G (phi)", header, grid, note=note)

    def to_dict(self) -> dict[str, Any]:
        """Return components, decisions and notes."""
        return {
            "criterion": self.criterion,
            "object": self.object,
            "facets": list(self.facets),
            "formula": self.formula,
            "n_ratings": self.n_ratings,
            "components": [{"source": name, "variance": value} for name, value in self.variances.items()],
            "observed": asdict(self.decide()) | (asdict(self.limits) if self.limits else {}),
            "nested": list(self.nested),
            "decisions": [asdict(one) for one in self.decisions],
            "finding": self.sentence(),
            "notes": list(self.notes),
        }

    def _names(self, effect: str) -> set[str]:
        """Return the facets of an effect; the residual is the interaction of everything.

        What is nested in the object holds its interaction with it.
        """
        if effect == RESIDUAL:
            return {self.object, *self.facets}
        return {*effect.split(":"), *((self.object,) if effect in self.nested else ())}

    def _divisors(self, names: set[str]) -> set[str]:
        """Return the facets over whose levels an effect is averaged."""
        nested = self.raters_nested and "rater" in names and "item" in self.facets
        return names | {"item"} if nested else names


def study_generalizability(
    ratings: Any,
    object: str | None = None,
    effects: Sequence[str] | None = None,
    raters: Sequence[int] = GRID_RATERS,
    items: Sequence[int] = GRID_ITEMS,
    raters_nested: bool = False,
    criterion: str | None = None,
    confidence: float = 0.95,
) -> Generalizability:
    """Return the variance components of one criterion's ratings, and a decision study on raters and items.

    ``object`` is what is to be distinguished: ``system`` where there are several, else ``item``, or
    ``output``: each text, or each item of each system. ``effects`` names the sources, each a column or
    columns joined by ``:`` (``item``, ``rater:system``); without it, system, item, rater and every
    interaction of two that these data can separate from the residual. G and phi of these data take the design
    as it is: raters nested in systems, or some of many raters for each output, are error of the order too.
    ``raters_nested`` is for projected designs in which each item gets its own raters.
    """
    table = read_ratings(ratings)
    if criterion is not None:
        table = table.only(criterion)
    elif len(table.criteria) > 1:
        raise BadRatings(
            f"Variance components are of one criterion, and there are {', '.join(table.criteria)}. "
            "Name one (criterion=…)."
        )
    name = criterion or next(iter(table.criteria), "rating")
    frame, notes = _clean(table)
    if effects is None and (object == "output" or (object is None and has_outputs(frame))):
        object, frame = "output", name_outputs(frame)
        chosen = choose_effects(frame, ("output", "rater"), notes)
    else:
        chosen = check_effects(frame, effects) if effects else choose_effects(frame, FACETS, notes)
    present = list(dict.fromkeys(part for effect in chosen for part in effect.split(":")))
    target = object or ("system" if "system" in chosen else "item")
    check_object(frame, target, present)
    fitted = fit_components(frame, chosen)
    weights, nested = weigh_errors(frame, target, chosen), find_nested(frame, target, chosen)
    if nested:
        notes.append(
            f"each {nested[0]} belongs to one {target}, so its differences are error of their order too"
        )
    facets = tuple(part for part in present if part != target)
    each = frame.groupby(target, observed=True).size()
    study = Generalizability(
        criterion=name,
        object=target,
        facets=facets,
        variances=fitted.variances,
        observed=_count_levels(frame, target, facets, _nesting(chosen, target, raters_nested)),
        n_each=_harmonic_mean(each),
        weights=weights,
        limits=limit_reliability(fitted, target, weights, len(each), confidence),
        nested=nested,
        n_ratings=len(frame),
        formula=fitted.formula,
        singular=fitted.singular,
        raters_nested=raters_nested,
        notes=(*notes, *fitted.notes),
    )
    wanted: Mapping[str, Sequence[int]] = {"rater": raters, "item": items}
    steps = {facet: wanted[facet] for facet in facets if facet in wanted}
    if not steps:
        return study
    from dataclasses import replace

    return replace(study, decisions=study.grid(**steps))


def _clean(table: Ratings) -> "tuple[pd.DataFrame, list[str]]":
    """Return the rows with a numeric rating, and what was left out."""
    import pandas as pd

    table.require("rating", "rater")
    frame = table.frame
    if not pd.api.types.is_numeric_dtype(frame["rating"]):
        raise BadRatings(
            "Variance components are of numbers, and these ratings are words. Number them first, in a "
            "separate column."
        )
    used = [name for name in FACETS if name in frame]
    kept = frame.dropna(subset=["rating", *used])
    gone = len(frame) - len(kept)
    return kept, [
        f"{gone} of {len(frame)} rows left out: a rating or an identifier is missing"
    ] if gone else []


def _nesting(effects: Sequence[str], target: str, raters_nested: bool) -> dict[str, list[str]]:
    """Return for each facet those it is nested in: those that always occur with it."""
    sets = [set(effect.split(":")) for effect in effects]
    within = {}
    for facet in set.union(*sets) - {target}:
        beside = set.intersection(*(names for names in sets if facet in names)) - {facet, target}
        within[facet] = sorted(beside)
    if raters_nested and "item" in within and "rater" in within:
        within["rater"] = sorted({*within["rater"], "item"})
    return within


def _count_levels(
    frame: "pd.DataFrame", target: str, facets: Sequence[str], within: Mapping[str, list[str]]
) -> dict[str, int]:
    """Return how many levels of each facet an object was averaged over, by the harmonic mean over objects."""
    counts = {}
    for facet in facets:
        seen = frame.groupby([target, *within[facet]], observed=True)[facet].nunique()
        counts[facet] = max(1, round(_harmonic_mean(seen)))
    return counts


def _harmonic_mean(counts: "pd.Series") -> float:
    seen = counts.to_numpy(dtype=np.float64)
    return float(len(seen) / (1 / seen).sum())


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")
