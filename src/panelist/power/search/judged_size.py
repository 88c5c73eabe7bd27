"""How many items people must rate beside a judge: the closed form starts the search, simulation ends it."""

from dataclasses import replace
from math import ceil

from panelist.analysis.spec import AnalysisSpec
from panelist.power.cells import Cell
from panelist.power.judged import JudgedDesign, JudgedPower, PlannedJudge, replace_items
from panelist.power.judged_power import simulate_judged
from panelist.power.layouts.base import Sampling
from panelist.power.run import Run
from panelist.power.search.sample_size import DesignOption
from panelist.power.search.search_space import Target
from panelist.power.truth.base import Truth, find_effects

ROUNDS = 3  # of simulation for a correlation, after the first
CLOSE = 0.01  # widths that differ by less are the same
FEWEST = 10  # items


def search_judged(
    best: DesignOption, target: Target, truth: Truth, judge: PlannedJudge, spec: AnalysisSpec, run: Run
) -> tuple[tuple[JudgedDesign, ...], tuple[JudgedPower, ...]]:
    """Return how many rated items with a judge do what the smallest design does without, and the powers.

    It is as good where intervals are as wide: widths need far fewer data sets than powers. The raters are the
    same, and people alone are analysed by the same model.
    """

    def simulate(items: int, r: float, *, alone: bool = False) -> tuple[JudgedPower, ...]:
        sampling = Sampling(items, round(best.ratings_per_item), target.systems, None, best.raters)
        effects = truth.effects or find_effects(target.effect, target.systems, truth.unit, target.pattern)
        cell = Cell(truth, sampling.lay_out(run.seed), target.effect, effects)
        return simulate_judged(cell, PlannedJudge(judge.items, (r,)), spec, run, alone=alone)

    people, useless = simulate(best.items, 0.0, alone=True)
    designs, powers = [], [people]
    for row in replace_items(truth, target.systems, best.items, best.ratings_per_item, judge):
        items, found = best.items, useless
        if row.r > 0:
            items, found = row.items, simulate(row.items, row.r)[0]
            for _ in range(ROUNDS):
                better = max(FEWEST, min(best.items, ceil(items * (found.width / people.width) ** 2)))
                if better == items or abs(found.width / people.width - 1) < CLOSE:
                    break
                items, found = better, simulate(better, row.r)[0]
        saved = round((best.items - items) * row.ratings * target.systems)
        designs.append(replace(row, items=items, saved=saved))
        powers.append(found)
    return tuple(designs), tuple(powers)
