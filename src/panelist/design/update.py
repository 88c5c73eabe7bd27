"""The plan beside its study: made once, kept, grown at its end, and never replaced by accident."""

from dataclasses import dataclass, replace
from typing import Any

from panelist.core.errors import BadDesign, BadPlan, PanelistError
from panelist.core.prose import count, quoted
from panelist.design.grow import (
    add_systems,
    check_unmoved,
    deal_again,
    find_new_systems,
    grow_plan,
    replace_rater,
)
from panelist.design.make import count_wanted, deal_plan, plan_study
from panelist.design.plan import Plan
from panelist.design.plan_files import read_plan
from panelist.study.file_names import PLAN_RECORD, PLAN_TABLE
from panelist.study.study import Study


@dataclass(frozen=True, eq=False)
class UpdatedPlan:
    """A plan to be written beside its study, and in words what happened to the one that was there."""

    plan: Plan
    said: str


def find_plan(study: Study, *, stale: bool = False) -> Plan | None:
    """Return the plan beside the study, None if there is none; BadPlan if it is another study's.

    With ``stale``, a plan that no longer belongs to the study comes back as it is.
    """
    if study.path is None or not (study.folder / PLAN_TABLE).is_file():
        return None
    plan = read_plan(study.folder)
    if not stale and not fits_study(plan, study):
        raise BadPlan(
            f"The study has changed since the plan in {study.folder} was made, and the two no longer belong "
            "together. Plan it again (panelist plan STUDY), or restore the study."
        )
    return plan


def fits_study(plan: Plan, study: Study) -> bool:
    """Return whether the study would get the same plan today: then the changes do not affect it."""
    if plan.study_hash == study.hash:
        return True
    grown = any(step["step"] == "grown" for step in plan.history)  # it keeps the trials of its first places
    try:
        if plan.waves and not find_new_systems(plan, study):
            today = deal_again(plan, study)
        else:
            today = deal_plan(study, len(plan.places), plan.seed, plan.trials if grown else None)
        check_unmoved(plan, today)
    except (BadDesign, BadPlan):
        return False
    return plan.design == today.design and plan.sample == today.sample


def keep_plan(
    study: Study, raters: int | None = None, seed: int | None = None, force: bool = False
) -> UpdatedPlan:
    """Return the plan of a study as it should be kept beside it.

    The one that is there stays if it is the same, and grows if more raters are wanted. One that differs is
    replaced only by ``force``: a plan that raters are working on must not change.
    """
    existing = None if force or not _is_there(study) else _read_existing(study)
    if existing is None:
        return UpdatedPlan(plan_study(study, raters, seed), "Written.")
    here = len(existing.places)
    same_seed = seed in (None, existing.seed)
    if existing.study_hash == study.hash and same_seed and raters in (None, here):
        return UpdatedPlan(
            existing, "The plan was there already, and stays as it is." + _say_short(study, raters, here)
        )
    if same_seed and raters is not None and raters > here:
        return UpdatedPlan(grow_plan(existing, study, raters), _say_grown(raters - here))
    if existing.waves and same_seed and raters in (None, here) and fits_study(existing, study):
        return UpdatedPlan(
            replace(existing, study_hash=study.hash),
            "The study has changed in words only: the plan stays as it is.",
        )
    wanted = here if raters is None else raters
    made = plan_study(study, wanted, existing.seed if seed is None else seed)
    if made.hash == existing.hash:
        short = _say_short(study, raters, here)
        what = "in its numbers" if short else "in words only"
        return UpdatedPlan(made, f"The study has changed {what}: the plan stays as it is.{short}")
    changed = "" if existing.study_hash == study.hash else "; the study has changed since"
    raise BadPlan(
        f"There is another plan in {study.folder} ({existing.design}, {here:,} raters, seed {existing.seed}"
        f"{changed}) than the one asked for ({made.design}, {wanted:,} raters, seed {made.seed}). A plan "
        "that raters are working on must not change. If nobody has begun, --force puts the new one in its "
        f"place; to add raters: panelist plan extend {study.folder} --add N, or a larger --raters."
    )


def say_wanted(study: Study, here: int) -> str:
    """Return what to say where the study asks for more raters than its plan has, else nothing."""
    try:
        wanted = count_wanted(study)
    except BadDesign:
        return ""
    if wanted <= here:
        return ""
    return (
        f"The study asks for {wanted:,} raters, and the plan has {here:,}. To add the others, so that nobody "
        f"moves: panelist plan {study.folder} --raters {wanted}"
    )


def change_plan(
    study: Study, add: int | None = None, replace: str | None = None, systems: bool = False
) -> UpdatedPlan:
    """Return the plan beside the study with raters added, or with a new one for one who dropped out.

    With ``systems`` the raters who are added judge the systems that the plan does not have yet, too.
    """
    if not _is_there(study):
        raise BadPlan(f"There is no plan in {study.folder} to change. Make it first: panelist plan STUDY")
    existing = _read_existing(study)
    if (add is None and not systems) == (replace is None):
        raise PanelistError("Either add raters (or systems) or replace one, not both at once.")
    if systems:
        made = add_systems(existing, study, add)
        return UpdatedPlan(made, _say_systems(made.history[-1]))
    if add is not None:
        return UpdatedPlan(grow_plan(existing, study, len(existing.places) + add), _say_grown(add))
    made = replace_rater(existing, str(replace))
    step = made.history[-1]
    return UpdatedPlan(made, f"{step['by']} takes over all {step['trials']:,} trials of {replace}.")


def _is_there(study: Study) -> bool:
    return any((study.folder / name).exists() for name in (PLAN_RECORD, PLAN_TABLE))


def _read_existing(study: Study) -> Plan:
    try:
        return read_plan(study.folder)
    except BadPlan as error:
        raise BadPlan(f"{error} (--force makes a new plan in its place.)") from None


def _say_short(study: Study, raters: int | None, here: int) -> str:
    said = say_wanted(study, here) if raters is None else ""
    return f" {said}." if said else ""


def _say_grown(raters: int) -> str:
    return f"{count(raters, 'rater')} added; nobody who was in the plan moved."


def _say_systems(step: dict[str, Any]) -> str:
    first, last = step["places"]
    return (
        f"{quoted(step['systems'])} added, for {count(last - first, 'new rater')} who judge all systems "
        f"(wave {step['wave']}); nobody who was in the plan moved. Once collecting has begun, the server "
        "asks you to allow the new outputs: panelist serve STUDY --study-changed outputs."
    )
