"""Plans that change without moving anyone: more raters at the end, new systems for them, a new rater for
unfinished pages."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.core.errors import BadDesign, BadPlan, did_you_mean
from panelist.core.prose import quoted
from panelist.core.seeds import stream
from panelist.design.make import count_wanted, deal_plan
from panelist.design.plan import COLUMNS, SYSTEMS, Plan, join_tables, name_places
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
    _check_design(plan, study)
    if unknown := find_new_systems(plan, study):
        raise BadPlan(
            f"The plan does not have {quoted(unknown)}. Raters who come later can judge old and new systems: "
            "panelist plan extend STUDY --add-systems. Or make a new plan."
        )
    whole = deal_again(plan, study, raters)
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


def add_systems(plan: Plan, study: Study, raters: int | None = None) -> Plan:
    """Return the plan with places for systems that the study has now and the plan has not: a new wave.

    The new raters get a plan of their own, in the study's design, of all systems on all items: so old and new
    systems are judged by the same people on the same items, and the waves are connected by all old systems.
    ``raters`` is how many join; without it, as many as the study asks for, or needs for the ratings of each
    output that it asks for. Nobody who is in the plan moves.
    """
    _check_design(plan, study)
    new = find_new_systems(plan, study)
    if not new:
        raise BadPlan(
            "There is no system to add: the plan has all that the outputs have. Add the outputs of a new "
            "system first; for more raters: panelist plan extend STUDY --add N"
        )
    check_unmoved(plan, deal_again(plan, study))
    before = len(plan.places)
    wave = 2 + sum(step["step"] == SYSTEMS for step in plan.history)
    seed = int(stream(plan.seed, "wave", wave).integers(2**31))
    made = deal_plan(study, count_wanted(study) if raters is None else raters, seed)
    judged = set(made.table.loc[(made.table["phase"] == "trial").to_numpy(), "system"].astype(str))
    if unseen := [name for name in study.systems if name not in judged]:
        raise BadDesign(
            f"{len(made.places)} new raters with {made.trials} trials each would not judge {quoted(unseen)}: "
            "old and new systems are compared only if the same people judge both. Ask for more raters."
        )
    names = _name_next(plan, len(made.places))
    step = {
        "step": SYSTEMS,
        "wave": wave,
        "systems": new,
        "places": [before, before + len(names)],
        "seed": seed,
        "trials": made.trials,
        "study_hash": study.hash,
    }
    return replace(
        plan,
        table=join_tables([plan.table, _rename(made.table, dict(zip(made.places, names, strict=True)))]),
        places=(*plan.places, *names),
        notes=tuple(dict.fromkeys((*plan.notes, *made.notes))),
        study_hash=study.hash,
        history=(*plan.history, step),
    )


def find_new_systems(plan: Plan, study: Study) -> list[str]:
    """Return the systems of the study that nobody in the plan judges."""
    known = {str(name) for name in plan.table["system"].cat.categories}
    return [name for name in study.systems if name not in known]


@dataclass(frozen=True)
class _Wave:
    """The places of a plan that were assigned at once: of which systems, how many, from which seed."""

    without: frozenset[str]
    places: int
    seed: int
    trials: int


def deal_again(plan: Plan, study: Study, raters: int | None = None) -> Plan:
    """Return the plan as the study would assign it today, wave by wave; further raters join the last one."""
    waves = _list_waves(plan, study, raters or len(plan.places))
    if len(waves) == 1 and not waves[0].without:
        return deal_plan(study, waves[0].places, plan.seed, plan.trials)
    total = sum(wave.places for wave in waves)
    names = name_places(1, total, max(3, len(str(total))))
    parts, first, notes = [], 0, tuple[str, ...]()
    for wave in waves:
        made = deal_plan(_leave_out(study, wave.without), wave.places, wave.seed, wave.trials)
        parts.append(
            _rename(made.table, dict(zip(made.places, names[first : first + wave.places], strict=True)))
        )
        first, notes = first + wave.places, (*notes, *made.notes)
    return replace(plan, table=join_tables(parts), places=names, notes=tuple(dict.fromkeys(notes)))


def _list_waves(plan: Plan, study: Study, raters: int) -> list[_Wave]:
    steps = [step for step in plan.history if step["step"] == SYSTEMS]
    starts = [0, *(int(step["places"][0]) for step in steps), raters]
    seeds = [plan.seed, *(int(step["seed"]) for step in steps)]
    trials = [plan.trials, *(int(step["trials"]) for step in steps)]
    later: set[str] = set(find_new_systems(plan, study))
    waves = []
    for at in reversed(range(len(seeds))):
        waves.append(_Wave(frozenset(later), starts[at + 1] - starts[at], seeds[at], trials[at]))
        later |= set(steps[at - 1]["systems"]) if at else set()
    return waves[::-1]


def _leave_out(study: Study, systems: Collection[str]) -> Study:
    """Return the study as it was before it had these systems."""
    outputs = study.outputs
    frame = outputs.frame[~outputs.frame["system"].isin(list(systems)).to_numpy()].reset_index(drop=True)
    lacking = tuple(one for one in outputs.lacking if one[1] not in systems)
    kept = tuple(one for one in study.file.systems if one.name not in systems)
    return replace(
        study,
        file=study.file.model_copy(update={"systems": kept}),
        outputs=replace(outputs, frame=frame, lacking=lacking),
    )


def _check_design(plan: Plan, study: Study) -> None:
    if plan.design != study.file.design.type:
        raise BadPlan(
            f"The plan is of design {plan.design}, and the study now says {study.file.design.type}. Make a "
            "new plan, or set the design back."
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
