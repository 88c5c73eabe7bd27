"""From a study to its plan, in four steps: kinds, sizes, lists, rows."""

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.core.errors import BadDesign
from panelist.core.prose import count, listing
from panelist.design.base import Design, Kinds, Task, find_design
from panelist.design.dealing.allocate import Allocation, Deal, allocate
from panelist.design.dealing.carry_over import count_carry_over
from panelist.design.dealing.cells import allocate_cells, find_longest
from panelist.design.dealing.sizes import Sizes, Stratum, find_sizes
from panelist.design.plan import PHASES, Plan, make_table, name_places
from panelist.design.sheets.pages_of_rater import TRIAL, RaterPages, count_short_repeats, lay_out
from panelist.design.sheets.plan_rows import expand_rows
from panelist.design.sheets.practice_and_checks import find_extras, name_specials
from panelist.numerics.arrays import Longs
from panelist.scales.base import ComparativeScale
from panelist.study.sections.design_choice import say_wants_all
from panelist.study.study import Study


def plan_study(study: Study, raters: int | None = None, seed: int | None = None) -> Plan:
    """Return the plan of a study: who sees what, in which order.

    ``raters`` is the number of raters in all; without it, the number that the study states or needs. ``seed``
    is that of the study unless another is given. The same study, number and seed give the same plan on every
    machine.
    """
    return deal_plan(study, raters, study.file.design.seed if seed is None else seed)


def count_wanted(study: Study) -> int:
    """Return how many raters the study asks for, or needs for the ratings that it asks for."""
    choice = study.file.design
    design = find_design(choice.type)
    kinds = _make_kinds(design, _make_task(study, choice.seed))
    return len(find_sizes(study, design, kinds, None, None).places)


def deal_plan(study: Study, raters: int | None, seed: int, trials: int | None = None) -> Plan:
    """Return the plan; ``trials`` fixes the trials per rater to those of a plan that grows."""
    if not study.items or not study.systems:
        raise BadDesign("There is nothing to plan: the outputs hold no item, or no system.")
    choice = study.file.design
    design = find_design(choice.type)
    task = _make_task(study, seed)
    kinds = _make_kinds(design, task)
    sizes = find_sizes(study, design, kinds, raters, trials)
    parts, remarks = [], [*remark_left_out(kinds, task), *remark_often(task)]
    for number, stratum in enumerate(sizes.strata):
        places = np.flatnonzero(np.array(sizes.places) == number)
        if len(places):
            own = replace(
                task, names=("design", stratum.group, *(study.criteria[c].name for c in stratum.criteria))
            )
            columns, notes = _deal_stratum(study, stratum, places, design, kinds, own, sizes.trials)
            parts.append(columns)
            remarks += notes
    return _finish(study, sizes, parts, (*sizes.notes, *dict.fromkeys(remarks)), seed)


def _make_task(study: Study, seed: int) -> Task:
    scales = [one.scale for one in study.criteria if isinstance(one.scale, ComparativeScale)]
    return Task(
        len(study.items),
        len(study.systems),
        study.file.design,
        seed,
        ("design",),
        study.there,
        max((scale.least_shown for scale in scales), default=1),
        tuple(study.systems),
    )


def _make_kinds(design: Design, task: Task) -> Kinds:
    """Return the kinds of trials; BadDesign where outputs are missing that the design cannot do without."""
    if task.there is None:
        return design.make_kinds(task)
    if not design.does_without:
        raise BadDesign(say_wants_all(task.choice, int((~task.there).sum()), task.there.size))
    kinds = design.make_kinds(task)
    if kinds.there is None or not kinds.there.any():
        raise BadDesign(
            f"No item has {count(max(task.least_shown, 2), 'output')} that exist, so there is no "
            f"{design.unit} to show. Add outputs."
        )
    return kinds


def _deal_stratum(
    study: Study, stratum: Stratum, places: Longs, design: Design, kinds: Kinds, task: Task, trials: int
) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Return the columns of one part's table, and what could not be met exactly."""
    deal = Deal(task.n_items, kinds.n, trials, task.seed, task.names)
    lists = _allocate(deal, kinds, task, len(places))
    lists = design.suit(lists, kinds, task)
    shown = design.show(lists, kinds, task)
    extras, codes = find_extras(study, stratum.criteria)
    if (shown < 0).any() and any(turn.alone for turn in extras.turns):
        raise BadDesign(
            "Outputs that are rated alone need pages of equally many outputs, and some items lack outputs. "
            "Set design.rated to side by side, design.type to pairs, or leave those items out."
        )
    pages = lay_out(lists, shown, stratum.criteria, design, task, extras)
    columns = expand_rows(pages, lists, shown, codes)
    columns["list"] = places[columns["rater"]].astype(np.int32)
    columns["rater"] = columns["list"]
    group = (
        [group.name for group in study.file.raters.groups].index(stratum.group) + 1 if stratum.group else 0
    )
    columns["group"] = np.full(len(columns["rater"]), group, dtype=np.int32)
    notes = remark_lists(shown, task)
    notes += remark_carry_over(pages, shown, task)
    if short := count_short_repeats(extras.checks, pages.order.shape[1]):
        notes.append(
            f"{short} repeat checks need more pages between two showings than the {trials} trials of a "
            "rater allow; they are as far apart as the list permits."
        )
    return columns, notes


def _allocate(deal: Deal, kinds: Kinds, task: Task, n_raters: int) -> Allocation:
    """Return the lists of a part: of all cells, or of those that exist."""
    if kinds.there is None:
        return allocate(deal, n_raters)
    systems = kinds.find_systems(task.n_items, task.n_systems)
    returning = deal.n_trials > find_longest(kinds.there) and task.choice.items_may_return
    return allocate_cells(deal, kinds.there, systems, n_raters, returning)


def _finish(
    study: Study, sizes: Sizes, parts: list[dict[str, NDArray[Any]]], notes: tuple[str, ...], seed: int
) -> Plan:
    """Return the plan of all parts, raters in the order of their places."""
    columns = (
        {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        if len(parts) > 1
        else parts[0]
    )
    if len(parts) > 1:
        order = np.argsort(columns["rater"], kind="stable")
        columns = {name: column[order] for name, column in columns.items()}
    n = len(sizes.places)
    names = name_places(1, n, max(3, len(str(n))))
    checks, items = name_specials(study)
    words = {
        "rater": names,
        "list": [f"list-{name[1:]}" for name in names],
        "phase": PHASES,
        "item": items,
        "system": [*study.systems, ""],
        "criterion": [criterion.name for criterion in study.criteria],
        "check": ["", *checks],
        "group": ["", *(group.name for group in study.file.raters.groups)],
    }
    table = make_table(columns, words)
    drawn = study.draw.hash if study.draw is not None else ""
    made = Plan(table, study.file.design.type, seed, study.hash, names, sizes.trials, notes)
    return replace(made, sample=drawn)


def remark_lists(shown: Longs, task: Task) -> list[str]:
    """Return the note on how often a rater meets each system, where that is not always equally often."""
    n_raters, s = len(shown), task.n_systems
    codes = (np.repeat(np.arange(n_raters), shown[0].size) * s + shown.reshape(-1))[shown.reshape(-1) >= 0]
    counts = np.bincount(codes, minlength=n_raters * s).reshape(n_raters, s)
    spread = int((counts.max(axis=1) - counts.min(axis=1)).max())
    if spread == 0:
        return []
    k, m = shown.shape[1:]
    most = " or fewer" if (shown < 0).any() else ""
    makes = f"{k:,} trials" + (f" of {m}{most} outputs" if m > 1 else "")
    return [
        f"{makes} over {s} systems: a rater meets a system {counts.min():,} to {counts.max():,} times; for "
        f"one rater the systems differ by {spread:,} at most."
    ]


def remark_left_out(kinds: Kinds, task: Task) -> list[str]:
    """Return the note on items that no page can be made of, because too few of their outputs exist."""
    if task.there is None or kinds.there is None or kinds.there.any(axis=1).all():
        return []
    left = int((~kinds.there.any(axis=1)).sum())
    least = max(task.least_shown, 2)
    return [
        f"{count(left, 'item is', 'items are')} shown to nobody: a page compares {least} outputs or more, "
        f"and fewer exist of {'it' if left == 1 else 'them'}."
    ]


def remark_often(task: Task) -> list[str]:
    """Return with which probability a page shows each pair that is shown more often, and any other."""
    weights = task.choice.weigh(task.systems)
    if not weights:
        return []
    total = comb(task.n_systems, 2) - len(weights) + sum(weights.values())
    named = listing([f"{a} and {b} {times / total:.3f}" for (a, b), times in weights.items()], 8)
    return [
        "Pairs have known probabilities, which do not depend on answers: that a page shows "
        f"{named}, any other pair {1 / total:.3f}."
    ]


def remark_carry_over(pages: RaterPages, shown: Longs, task: Task) -> list[str]:
    """Return how often each system follows each other, where the design promises something about it."""
    if not task.choice.facts.carries_over or shown.shape[1] < 2:
        return []
    first = (pages.occasion == 1) & (pages.phase == TRIAL)
    n_raters, k = len(shown), shown.shape[1]
    cells = pages.cell[first].reshape(n_raters, -1)
    if task.choice.criteria == "in turn":
        cells = cells[:, :: cells.shape[1] // k]
    sequences = np.take_along_axis(shown[:, :, 0], cells[:, :k], axis=1)
    counts = count_carry_over(sequences, task.n_systems)
    others = counts[~np.eye(task.n_systems, dtype=bool)]
    low, high = int(others.min()), int(others.max())
    if low == high:
        return [
            f"Carry-over: every system follows every other {low:,} times, itself {counts.trace():,} times."
        ]
    return [
        f"Carry-over: a system follows another {low:,} to {high:,} times, itself "
        f"{counts.trace():,} times in all."
    ]
