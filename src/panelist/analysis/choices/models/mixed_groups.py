"""What varies over raters and items in a mixed model of choices, and how far it spread."""

from __future__ import annotations

import numpy as np

from panelist.analysis.choices.models.choice_formula import LEVEL, ChoiceTerms, say_level
from panelist.analysis.choices.models.estimate import Sides, choose_sides
from panelist.analysis.choices.models.mixed_part import PreferenceSpread
from panelist.analysis.choices.trials import ChoiceTrials
from panelist.core.errors import BadModel
from panelist.models.choices.pairs import GradedPairs, PairGroup
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.solvers.solution import Solution
from panelist.numerics.arrays import Floats, Longs

MOST_CELLS = 5_000_000  # answers × systems, and levels × systems²: beyond, too large for a mixed model here
MOST_EFFECTS = 2500  # of the smaller side: its part of H is dense


def choose_groups(
    trials: ChoiceTrials, used: Longs, terms: ChoiceTerms | None
) -> tuple[Sides, dict[str, Longs], list[str]]:
    """Return the sides whose preferences can be told, by name, and why others cannot.

    Of sides that a formula does not name none is taken, and one that it names must be there.
    """
    sides = choose_sides(trials, used, "both")
    wanted = None if terms is None else {name for name, _ in terms.groups}
    kept, notes = {}, list(sides.notes)
    k = len(trials.systems)
    for name, code in sides.codes.items():
        seen = np.unique(code[used][code[used] >= 0])
        if wanted is not None and name not in wanted:
            continue
        if len(seen) * 1.2 > len(used):
            notes.append(f"Nearly every {name} was judged once: their own preferences cannot be told.")
        else:
            kept[name] = code
    if not kept or (wanted is not None and wanted - set(kept)):
        lacking = "raters or items" if wanted is None else " or ".join(f"{name}s" for name in sorted(wanted))
        raise BadModel(f"there are no {lacking} that answered, or were judged, more than once")
    sizes = [len(np.unique(code[used])) * k for code in kept.values()]
    large = max(len(used), max(sizes)) * k > MOST_CELLS
    if large or (len(sizes) > 1 and min(sizes) > MOST_EFFECTS):
        raise BadModel(f"{len(used):,} answers and {sum(sizes):,} preferences are too many for it here")
    return sides, kept, notes


def name_groups(
    pairs: GradedPairs, kept: dict[str, Longs], trials: ChoiceTrials, used: Longs, terms: ChoiceTerms | None
) -> tuple[PairGroup, ...]:
    """Return the random terms of pairs: exchangeable preferences, unless a formula says otherwise."""
    names = {"rater": trials.raters, "item": trials.items}
    asked = [(name, "preferences") for name in kept] if terms is None else terms.groups
    found = []
    for name, what in asked:
        if what == LEVEL:
            if pairs.position is None or (pairs.position < 0).any():
                raise BadModel(say_level(name))
            what = "position"
        found.append(PairGroup(name, names[name], kept[name][used], what))
    return tuple(found)


def measure_spreads(
    pairs: GradedPairs, design: ModelMatrices, solution: Solution, unit: float
) -> tuple[tuple[PreferenceSpread, ...], Floats | None]:
    """Return the standard deviations, and those of each difference of two systems where they are not one.

    Of contrasts with a full covariance they are those of each system's distance from the mean of all, which
    does not depend on the system called the reference.
    """
    k = len(pairs.systems)
    centre = np.eye(k) - 1.0 / k
    blocks = dict(
        zip([_sign(one.name, one.columns) for one in design.factors], solution.lambdas, strict=True)
    )
    spreads: list[PreferenceSpread] = []
    whole, full = np.zeros((k, k)), False
    for group in pairs.groups:
        columns = {"preferences": pairs.systems, "contrasts": pairs.systems[1:]}.get(
            group.what, ("position",)
        )
        block = unit * blocks[_sign(group.name, columns)]
        if group.what != "contrasts":
            sd = abs(float(block[0, 0]))
            spreads.append(PreferenceSpread(group.name, group.term, len(group.levels), sd))
            whole += sd**2 * np.eye(k) if group.what == "preferences" else 0.0
            continue
        full = True
        wide = np.zeros((k, k))
        wide[1:, 1:] = block @ block.T
        whole += wide
        sds = np.sqrt(np.diag(centre @ wide @ centre))
        spreads += [
            PreferenceSpread(group.name, group.term, len(group.levels), float(sd), name)
            for name, sd in zip(pairs.systems, sds, strict=True)
        ]
    own = np.diag(whole)
    apart = np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * whole, 0.0)) if full else None
    return tuple(spreads), apart


def _sign(name: str, columns: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    return name, tuple(columns)
