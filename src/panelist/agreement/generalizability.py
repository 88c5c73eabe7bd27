"""Generalizability theory: where the variance of ratings lies; how reliability grows with raters and items.

Components of variance come from a linear mixed model by REML: gaps and unbalanced designs are welcome.
Brennan, R. L. (2001). Generalizability Theory. Springer. https://doi.org/10.1007/978-1-4757-3456-0
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations, product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.core.errors import BadRatings, UnknownName, did_you_mean
from panelist.core.formats import TEXT, Cell, decimals
from panelist.core.ratings import Ratings, read_ratings
from panelist.core.result import Pairs, Part, Result, Sentence, Table

if TYPE_CHECKING:
    import pandas as pd

FACETS = ("system", "item", "rater")
MOST_LEVELS = 2_000  # of all factors but the largest: their block in the model is dense
GRID_RATERS = (1, 2, 3, 5, 7, 10, 15, 20)
GRID_ITEMS = (10, 25, 50, 100, 200)
RESIDUAL = "residual"


@dataclass(frozen=True)
class Decision:
    """One design: how many levels of each facet, and the reliability of the object's mean score in it.

    ``g`` (relative) tells how well objects can be ranked, ``phi`` (absolute) how well their level is known.
    """

    n: dict[str, int]
    relative_error: float
    absolute_error: float
    g: float
    phi: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Generalizability(Result):
    """The variance components of ratings, and the reliability of any design that they imply.

    ``variances`` goes from an effect (``item``, ``rater:system``, ``residual``) to its variance; ``object``
    is what one wants to tell apart; ``facets`` are what one averages over; ``observed`` how many of each
    there are for one object, and ``cells`` how many combinations of them, effect by effect.
    """

    criterion: str
    object: str
    facets: tuple[str, ...]
    variances: dict[str, float]
    observed: dict[str, int]
    n_ratings: int
    cells: dict[str, float] = field(default_factory=dict, repr=False)
    formula: str
    singular: bool = False
    raters_nested: bool = False
    decisions: tuple[Decision, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()

    def decide(self, **n: int) -> Decision:
        """Return the reliability of a design with so many raters, items, …; the rest as observed.

        Without any number it is the design of these data, gaps included; with one, a design in which every
        rater rates every item (or, where raters are nested, each item has so many of its own).

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
        truth, relative, other = self.variances.get(self.object, 0.0), 0.0, 0.0
        for effect, variance in self.variances.items():
            names = self._names(effect)
            if names == {self.object}:
                continue
            among = prod(counts[name] for name in self._divisors(names - {self.object}))
            share = variance / (self.cells.get(effect, among) if not n else among)
            if self.object in names:
                relative += share
            else:
                other += share
        absolute = relative + other
        return Decision(
            counts, relative, absolute, _ratio(truth, truth + relative), _ratio(truth, truth + absolute)
        )

    def grid(self, **n: Iterable[int]) -> tuple[Decision, ...]:
        """Return the decisions for every combination of the given numbers of levels."""
        names = list(n)
        return tuple(self.decide(**dict(zip(names, counts, strict=True))) for counts in product(*n.values()))

    def raters_needed(self, target: float = 0.8, most: int = 1000, absolute: bool = False) -> int | None:
        """Return the fewest raters for which G (or phi) reaches the target; None where none do."""
        if "rater" not in self.facets:
            return None
        for count in range(1, most + 1):
            decision = self.decide(rater=count)
            if (decision.phi if absolute else decision.g) >= target:
                return count
        return None

    def title(self) -> str:
        """Return the heading."""
        return f"Generalizability of {self.criterion}"

    def sentence(self) -> str:
        """Return the reliability of this design, and what it would take to reach 0.8."""
        now = self.decide()
        design = " and ".join(f"{count} {_plural(name, count)}" for name, count in now.n.items())
        each = f" ({self.cells[RESIDUAL]:.0f} ratings for each {self.object})" if self.cells else ""
        said = f"With {design}{each}, {self.object}s are told apart with G = {now.g:.2f} (their order) and "
        said += f"phi = {now.phi:.2f} (their level)"
        needed = self.raters_needed()
        if now.g >= 0.8:
            return said + "."
        if needed is None:
            return said + "; no number of raters alone brings G to 0.8."
        judged = "item" if self.object == "system" else self.object
        whom = f"for each {judged}" if self.raters_nested else f"who rate every {judged}"
        return said + f"; G = 0.8 would take {needed} {_plural('rater', needed)} {whom}."

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
        return whole + ([Pairs([("note", note) for note in self.notes])] if self.notes else [])

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
            "observed": asdict(self.decide()),
            "decisions": [asdict(one) for one in self.decisions],
            "finding": self.sentence(),
            "notes": list(self.notes),
        }

    def _names(self, effect: str) -> set[str]:
        """Return the facets of an effect; the residual is the interaction of everything."""
        return {self.object, *self.facets} if effect == RESIDUAL else set(effect.split(":"))

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
) -> Generalizability:
    """Return the variance components of one criterion's ratings, and a decision study on raters and items.

    ``object`` is what shall be told apart: ``system`` where there are several, else ``item``, or ``output``:
    each text, or each item of each system. ``effects`` names the sources, each a column or columns joined
    by ``:`` (``item``, ``rater:system``); without it, system, item, rater and every interaction of two that
    these data can tell from the residual. ``raters_nested`` is for designs in which each item gets its own
    raters.
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
    if effects is None and (object == "output" or (object is None and _has_outputs(frame))):
        object, frame, effects = "output", _name_outputs(frame), ("output", "rater")
    chosen = _check_effects(frame, effects) if effects else _choose_effects(frame, notes)
    present = list(dict.fromkeys(part for effect in chosen for part in effect.split(":")))
    target = object or ("system" if "system" in chosen else "item")
    if target not in present:
        raise UnknownName(f"No source of variance is called {target!r}. {did_you_mean(target, present)}")
    fitted = _fit(frame, chosen)
    facets = tuple(part for part in present if part != target)
    study = Generalizability(
        criterion=name,
        object=target,
        facets=facets,
        variances=fitted[0],
        observed=_count_levels(frame, target, facets, _nesting(chosen, target, raters_nested)),
        cells=_count_cells(frame, target, facets, chosen),
        n_ratings=len(frame),
        formula=fitted[1],
        singular=fitted[2],
        raters_nested=raters_nested,
        notes=(*notes, *fitted[3]),
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
            "Variance components are of numbers, and these ratings are words. Number them first, in a column "
            "of their own."
        )
    used = [name for name in FACETS if name in frame]
    kept = frame.dropna(subset=["rating", *used])
    gone = len(frame) - len(kept)
    return kept, [
        f"{gone} of {len(frame)} rows left out: a rating or an identifier is missing"
    ] if gone else []


def _choose_effects(frame: "pd.DataFrame", notes: list[str]) -> list[str]:
    """Return the main effects and interactions of two that the rows can tell apart; note the others."""
    facets = [name for name in FACETS if name in frame and len(frame[name].unique()) > 1]
    if "rater" not in facets:
        raise BadRatings("One rater only: the variance between raters has nothing to be seen in.")
    wanted = [*facets, *(":".join(pair) for pair in combinations(facets, 2))] if len(facets) > 2 else facets
    kept: list[str] = []
    codes: list[Any] = []
    sizes: list[int] = []
    for effect in wanted:
        code = _code(frame, effect)
        n = int(code.max()) + 1
        if n == len(frame):
            notes.append(f"{effect} cannot be told from the residual: each of its cells has one rating")
        elif any(n == size and _same(code, other) for size, other in zip(sizes, codes, strict=True)):
            notes.append(f"{effect} is left out: it divides the rows as another source does")
        elif ":" in effect and n + sum(sizes) - max(n, *sizes) > MOST_LEVELS:
            notes.append(f"{effect} ({n:,} levels) stays in the residual: too many levels for one model")
        else:
            kept.append(effect)
            codes.append(code)
            sizes.append(n)
    return kept


def _check_effects(frame: "pd.DataFrame", effects: Sequence[str]) -> list[str]:
    for part in (part for effect in effects for part in effect.split(":")):
        if part not in frame:
            raise UnknownName(f"No column is called {part!r}. {did_you_mean(part, list(frame.columns))}")
    return list(effects)


def _fit(frame: "pd.DataFrame", effects: Sequence[str]) -> tuple[dict[str, float], str, bool, list[str]]:
    """Return the variance of each effect and of the residual, the formula, and what the fit has to say."""
    from panelist.models.fit import fit

    formula = "rating ~ 1 + " + " + ".join(f"(1 | {effect})" for effect in effects)
    found = fit(formula, frame, model="lmm", method="REML")
    sds = {str(group): float(sd) for group, sd in zip(found.random["group"], found.random["sd"], strict=True)}
    variances = {effect: sds.get(effect, 0.0) ** 2 for effect in effects} | {RESIDUAL: found.sigma**2}
    zero = [effect for effect in effects if variances[effect] < 1e-8 * max(variances.values())]
    notes = [f"the variance of {', '.join(zero)} is estimated as zero"] if zero else []
    if not found.converged:
        notes.append("the model did not converge: take these components as rough")
    return variances, formula, found.singular, notes


def _nesting(effects: Sequence[str], target: str, raters_nested: bool) -> dict[str, list[str]]:
    """Return for each facet those it is nested in: those that stand beside it wherever it stands."""
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


def _count_cells(
    frame: "pd.DataFrame", target: str, facets: Sequence[str], effects: Sequence[str]
) -> dict[str, float]:
    """Return over how many cells of each effect an object was averaged, by the harmonic mean over objects."""
    cells = {RESIDUAL: _harmonic_mean(frame.groupby(target, observed=True).size())}
    for effect in effects:
        names = [name for name in effect.split(":") if name != target]
        if names:
            distinct = frame[[target, *names]].drop_duplicates()
            cells[effect] = _harmonic_mean(distinct.groupby(target, observed=True).size())
    return cells


def _has_outputs(frame: "pd.DataFrame") -> bool:
    """Return whether one system made several texts of an item, so that texts are what is judged."""
    if "text" not in frame or ("system" in frame and len(frame["system"].unique()) > 1):
        return False
    return "item" in frame and frame["text"].nunique() > frame["item"].nunique()


def _name_outputs(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows with a column for what was judged: a text, or an item of a system."""
    columns = ["text"] if _has_outputs(frame) else [name for name in ("item", "system") if name in frame]
    return frame.assign(output=frame.groupby(columns, observed=True).ngroup().astype(str))


def _harmonic_mean(counts: "pd.Series") -> float:
    seen = counts.to_numpy(dtype=np.float64)
    return float(len(seen) / (1 / seen).sum())


def _code(frame: "pd.DataFrame", effect: str) -> Any:
    return frame.groupby(effect.split(":"), sort=False, observed=True).ngroup().to_numpy()


def _same(a: Any, b: Any) -> bool:
    """Return whether two codings of the rows make the same groups; both number them as they first appear."""
    return bool((a == b).all())


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")


def _plural(name: str, count: int) -> str:
    return name if count == 1 else f"{name}s"
