"""From a study to its plan, in four steps: kinds, sizes, lists, rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.core.errors import BadDesign
from panelist.design.allocate import Deal, allocate
from panelist.design.base import DESIGNS, Design, Ints, Kinds, Task
from panelist.design.extras import find_extras, name_specials
from panelist.design.pages_of_rater import count_short_repeats, lay_out
from panelist.design.plan import PHASES, Plan, make_table, name_places
from panelist.design.remarks import remark_carry_over, remark_lists
from panelist.design.rows import expand_rows
from panelist.design.sizes import Sizes, Stratum, find_sizes
from panelist.study.study import Study


def plan_study(study: Study, raters: int | None = None, seed: int | None = None) -> Plan:
    """Return the plan of a study: who sees what, in which order.

    ``raters`` is the number of raters in all; without it the study says or needs so many. ``seed`` is that of
    the study unless another is given. The same study, number and seed give the same plan on every machine.
    """
    return deal_plan(study, raters, study.file.design.seed if seed is None else seed)


def deal_plan(study: Study, raters: int | None, seed: int, trials: int | None = None) -> Plan:
    """Return the plan; ``trials`` holds the trials a rater gets to those of a plan that grows."""
    if not study.items or not study.systems:
        raise BadDesign("There is nothing to plan: the outputs hold no item, or no system.")
    choice = study.file.design
    design = DESIGNS[choice.type]
    task = Task(len(study.items), len(study.systems), choice, seed, ("design",))
    kinds = design.make_kinds(task)
    sizes = find_sizes(study, design, kinds, raters, trials)
    parts, remarks = [], []
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


def _deal_stratum(
    study: Study, stratum: Stratum, places: Ints, design: Design, kinds: Kinds, task: Task, trials: int
) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Return the columns of one part's table, and what could not be met exactly."""
    deal = Deal(task.n_items, kinds.n, trials, task.seed, task.names)
    lists = design.suit(allocate(deal, len(places)), kinds, task)
    shown = design.show(lists, kinds, task)
    extras, codes = find_extras(study, stratum.criteria)
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
            f"{short} repeat checks want more pages between two showings than the {trials} trials of a "
            "rater; they come as far apart as the list allows."
        )
    return columns, notes


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
    return Plan(table, study.file.design.type, seed, study.hash, names, sizes.trials, notes)
