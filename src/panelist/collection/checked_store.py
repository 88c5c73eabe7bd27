"""The store of a study, opened only where study, outputs, plan and database belong together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from panelist.collection.store.errors import BadStore
from panelist.collection.store.operations.plans import find_moved
from panelist.collection.store.store import Store, open_store
from panelist.collection.study_changes import Change, find_changes, find_gaps, list_changes, refuse_names
from panelist.core.errors import BadPlan
from panelist.core.prose import count
from panelist.design.make import plan_study
from panelist.design.plan import Plan
from panelist.design.plan_files import write_plan, write_sample
from panelist.design.update import find_plan, fits_study, say_wanted
from panelist.study.file_names import PLAN_TABLE
from panelist.study.study import Study


def open_checked(
    study: Study, database: str | None, notes: list[str], study_changed: tuple[str, ...] = ()
) -> Store:
    """Return the open store, with the plan in it that goes with the study; raise where they do not.

    ``study_changed`` names the parts of the study that may have changed since people came.
    """
    known = _look_inside(study, database)
    changed = known is not None and known.hash != study.hash
    if known is not None and known.plan is not None:
        _refuse_gaps(study, known, known.plan)
    if known is not None and changed and known.visits:
        changes = find_changes(known.declared, study)
        if refused := refuse_names(changes, study_changed):
            raise BadStore(_say_changed(known, refused))
        notes.append(
            "the study changed while people were taking part; that is on record now:\n"
            + list_changes(changes)
        )
    plan = _find_plan(study, known, notes)
    in_force = plan or (known.plan if known is not None else None)
    if in_force is not None and (short := say_wanted(study, len(in_force.places))):
        notes.append(short)
    return open_store(database, study, plan, allowed=study_changed)


@dataclass(frozen=True)
class _Known:
    database: str
    title: str
    hash: str
    visits: int
    plan: Plan | None
    declared: Mapping[str, Any]


def _look_inside(study: Study, database: str | None) -> _Known | None:
    """Return what the database already has of a study; None where there is nothing."""
    try:
        store = open_store(database, study, create=False)
    except BadStore:
        return None  # nothing there; what is really wrong is found when it is opened to write
    with store:
        try:
            plan = store.plan()
        except BadStore:
            plan = None
        versions = store.study_versions()
        return _Known(
            store.database.name,
            store.study.title,
            store.study.hash,
            len(store.visits()),
            plan,
            versions[-1].declared if versions else {},
        )


def _refuse_gaps(study: Study, known: _Known, plan: Plan) -> None:
    """Raise BadStore where the database asks raters to judge what the study does not have.

    Before anybody came, the plan of the same study is simply made again.
    """
    if not known.visits and known.title == study.title:
        return
    if gaps := find_gaps(plan, study):
        raise BadStore(
            f"{known.database} collects {known.title!r} (visits so far: {known.visits}) by a plan that asks "
            f"for what this study does not have:\n{list_changes(gaps)}\nPut the old study file and outputs "
            "back, or collect into another database (--db). This cannot be allowed: raters would see empty "
            "pages."
        )


def _say_changed(known: _Known, refused: list[Change]) -> str:
    names = ",".join(dict.fromkeys(one.name for one in refused))
    return (
        f"The study file or its outputs changed after collecting began (visits so far: {known.visits}):\n"
        f"{list_changes(refused)}\nPut the old files back, or collect into another database (--db). Where "
        f"you mean it, allow by name what changed: --study-changed {names}. It is then recorded permanently."
    )


def _find_plan(study: Study, known: _Known | None, notes: list[str]) -> Plan | None:
    """Return the plan to enter; None where the one in the database is in force."""
    in_force = known.plan if known is not None else None
    fresh = known is None or not known.visits
    plan = find_plan(study, stale=True)
    if plan is None:
        if in_force is not None and not (fresh and not fits_study(in_force, study)):
            return None
        plan = plan_study(study)
        write_plan(plan, study.folder)
        write_sample(plan, study)
        notes.append(
            f"there was no plan, so one was made: {count(len(plan.raters), 'rater')}, {PLAN_TABLE} "
            "beside the study"
        )
        return plan
    stale = not fits_study(plan, study)
    if in_force is not None and not (fresh and stale) and not find_moved(plan, in_force):
        return None  # the same, or it has grown since
    if stale and (fresh or find_gaps(plan, study)):
        raise BadPlan(
            f"{study.folder / PLAN_TABLE} belongs to another study, or to this one before it was changed. "
            f"Make it again: panelist plan {study.folder}"
        )
    return plan
