"""Plans that change without moving anyone: more raters at the end, or a new rater for unfinished pages."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.core.errors import BadDesign, BadPlan, did_you_mean
from panelist.core.prose import quoted
from panelist.design.make import deal_plan
from panelist.design.plan import COLUMNS, Plan, join_tables
from panelist.study.study import Study

PAGES = 2**32  # more than an occasion has
SAME = tuple(name for name in COLUMNS if name not in ("rater", "list"))


def grow_plan(plan: Plan, study: Study, raters: int) -> Plan:
    """Return the plan with places added until there are ``raters`` of them; nobody who is in it moves.

    The places are assigned as if there had been ``raters`` of them from the start. It is checked, place by
    place, that earlier assignments come out the same; where they do not, the study has changed in a way that
    matters.
    """
    before = len(plan.places)
    if raters <= before:
        raise BadDesign(
            f"The plan has {before} places already; a plan grows to more of them, not to {raters}. Ask for "
            f"{before + 1} or more."
        )
    if plan.design != study.file.design.type:
        raise BadPlan(
            f"The plan is of design {plan.design}, and the study now says {study.file.design.type}. Make a "
            "new plan, or set the design back."
        )
    _refuse_systems(plan, study)
    whole = deal_plan(study, raters, plan.seed, plan.trials)
    check_unmoved(plan, whole)
    names = _name_next(plan, raters - before)
    new = whole.table[(whole.table["rater"].cat.codes >= before).to_numpy()]
    renamed = dict(zip(whole.places[before:], names, strict=True))
    step = {"step": "grown", "places": [before, raters], "study_hash": study.hash}
    return replace(
        plan,
        table=join_tables([plan.table, _rename(new, renamed)]),
        places=(*plan.places, *names),
        notes=whole.notes,
        study_hash=study.hash,
        sample=whole.sample,
        history=(*plan.history, step),
    )


def replace_rater(plan: Plan, rater: str, done: Collection[tuple[int, int]] = ()) -> Plan:
    """Return the plan with a new rater for the pages that this one has not done; ``done`` names the others.

    A page is an occasion and an order. The new rater gets the practice, then exactly the missing trials in
    their old order, and the checks that were missing, except copies of trials that only the old rater saw.
    What is done stays with the old rater, under its old numbers.
    """
    table = plan.table
    if rater not in plan.raters:
        raise BadPlan(f"The plan has no rater {rater!r}. {did_you_mean(rater, plan.raters)}")
    own = (table["rater"] == rater).to_numpy()
    pages = set(zip(table["occasion"][own].tolist(), table["order"][own].tolist(), strict=True))
    finished = {(int(occasion), int(order)) for occasion, order in done}
    if unknown := sorted(finished - pages):
        occasion, order = unknown[0]
        raise BadPlan(
            f"Rater {rater} has no page {order} in occasion {occasion} ({len(unknown)} such); there are "
            f"pages 1 to {max(order for _, order in pages)}. Give the pages of the plan that were done."
        )
    keys = _page_keys(table)
    undone = own & ~np.isin(keys, [occasion * PAGES + order for occasion, order in finished])
    missing = undone & (table["phase"] == "trial").to_numpy()
    if not missing.any():
        raise BadPlan(f"Rater {rater} has done all trials; there is nothing left for another rater.")
    lost = undone & _find_lost_copies(table, own, missing)
    practice = own & (table["phase"] == "practice").to_numpy()
    taken = (undone & ~lost) | (practice & np.isin(table["occasion"], table["occasion"][missing].unique()))
    (name,) = _name_next(plan, 1)
    new = _renumber(table[taken].assign(rater=pd.Categorical([name] * int(taken.sum()))))
    step = {
        "step": "replaced",
        "rater": rater,
        "by": name,
        "trials": len(set(keys[missing].tolist())),
        "checks_left_out": len(set(keys[lost].tolist())),
    }
    joined = join_tables([_tidy(table[~undone]), _tidy(new)])
    return replace(plan, table=joined, history=(*plan.history, step))


def _refuse_systems(plan: Plan, study: Study) -> None:
    """Raise BadPlan where the study has systems that the plan does not: raters of both would differ."""
    known = {str(name) for name in plan.table["system"].cat.categories}
    if new := [name for name in study.systems if name not in known]:
        raise BadPlan(
            f"The plan does not have {quoted(new)}. A plan in use does not take on systems: only raters who "
            "come later would judge them, so that a system could not be told from its raters. Make a second "
            "study, with the new systems and at least one of the old ones on the same items, or a new plan."
        )


def _find_lost_copies(
    table: pd.DataFrame, own: NDArray[np.bool_], missing: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which rows are copies, for a check, of trials that are not among the missing ones."""
    columns = ["occasion", "item", "system"]
    cells = set(table.loc[missing, columns].astype(object).itertuples(index=False, name=None))
    copies = own & (table["phase"] == "check").to_numpy() & (table["system"] != "").to_numpy()
    found = np.zeros(len(table), dtype=bool)
    rows = np.flatnonzero(copies)
    listed = table.iloc[rows][columns].astype(object).itertuples(index=False, name=None)
    found[rows] = [cell not in cells for cell in listed]
    return found


def _renumber(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the pages of each occasion numbered from 1 again."""
    keys = _page_keys(table)
    order = np.empty(len(table), dtype=np.int32)
    for occasion in table["occasion"].unique():
        rows = (table["occasion"] == occasion).to_numpy()
        order[rows] = np.unique(keys[rows], return_inverse=True)[1] + 1
    return table.assign(order=order)


def _page_keys(table: pd.DataFrame) -> NDArray[np.int64]:
    return np.asarray(table["occasion"].to_numpy(np.int64) * PAGES + table["order"].to_numpy(np.int64))


def _tidy(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table without categories that no row has."""
    return join_tables([table])


def _rename(table: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """Return the rows of new places under their new names, and their lists after them."""
    lists = {f"list-{old[1:]}": f"list-{new[1:]}" for old, new in names.items()}
    tidy = _tidy(table)
    return tidy.assign(
        rater=tidy["rater"].cat.rename_categories(names), list=tidy["list"].cat.rename_categories(lists)
    )


def _name_next(plan: Plan, n: int) -> list[str]:
    """Return names that nobody in the plan has had, continuing from the highest number."""
    used = len(plan.places) + sum(step["step"] == "replaced" for step in plan.history)
    width = max((len(name) - 1 for name in plan.places), default=3)
    return [f"r{number:0{width}d}" for number in range(used + 1, used + n + 1)]


def check_unmoved(plan: Plan, whole: Plan) -> None:
    """Raise BadPlan if a place that was assigned before, and not replaced since, would now differ."""
    replaced = {str(step["rater"]) for step in plan.history if step["step"] == "replaced"}
    kept = [(old, new) for old, new in zip(plan.places, whole.places, strict=False) if old not in replaced]
    before = plan.table[plan.table["rater"].isin([old for old, _ in kept]).to_numpy()]
    after = whole.table[whole.table["rater"].isin([new for _, new in kept]).to_numpy()]
    same = len(before) == len(after) and all(
        np.array_equal(before[name].astype(object), after[name].astype(object)) for name in SAME
    )
    if not same:
        raise BadPlan(
            "The study has changed since the plan was made, so the places of the plan would be assigned "
            "differently (items, systems, criteria, design, practice, checks or groups). Set it back, or "
            "make a new plan."
        )
