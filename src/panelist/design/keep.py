"""The plan beside its study: made once, kept, grown at its end, and never replaced by accident."""

from dataclasses import dataclass

from panelist.core.errors import BadPlan, PanelistError
from panelist.design.files import RECORD, TABLE, read_plan
from panelist.design.grow import grow_plan, replace_rater
from panelist.design.make import plan_study
from panelist.design.plan import Plan
from panelist.study.study import Study


@dataclass(frozen=True, eq=False)
class Kept:
    """A plan to be written beside its study, and in words what became of the one that was there."""

    plan: Plan
    said: str


def find_plan(study: Study) -> Plan | None:
    """Return the plan beside the study, None if there is none; BadPlan if it is another study's."""
    if not _is_there(study):
        return None
    plan = read_plan(study.folder)
    if plan.study_hash != study.hash and plan_study(study, len(plan.places), plan.seed).hash != plan.hash:
        raise BadPlan(
            f"The study has changed since the plan in {study.folder} was made, and the two no longer belong "
            "together. Plan it again (panelist plan STUDY), or bring the study back."
        )
    return plan


def keep_plan(study: Study, raters: int | None = None, seed: int | None = None, force: bool = False) -> Kept:
    """Return the plan of a study as it should stand beside it.

    The one that is there stays if it is the same, and grows if more raters are wanted. One that differs is
    replaced only by ``force``: a plan that raters are working on must not change.
    """
    existing = None if force or not _is_there(study) else _read_existing(study)
    if existing is None:
        return Kept(plan_study(study, raters, seed), "Written.")
    here = len(existing.places)
    same_seed = seed in (None, existing.seed)
    if existing.study_hash == study.hash and same_seed and raters in (None, here):
        return Kept(existing, "The plan was there already, and stays as it is.")
    if same_seed and raters is not None and raters > here:
        return Kept(grow_plan(existing, study, raters), _say_grown(raters - here))
    wanted = here if raters is None else raters
    made = plan_study(study, wanted, existing.seed if seed is None else seed)
    if made.hash == existing.hash:
        return Kept(made, "The study has changed in words only: the plan stays as it is.")
    changed = "" if existing.study_hash == study.hash else "; the study has changed since"
    raise BadPlan(
        f"There is another plan in {study.folder} ({existing.design}, {here:,} raters, seed {existing.seed}"
        f"{changed}) than the one asked for ({made.design}, {wanted:,} raters, seed {made.seed}). A plan "
        "that raters are working on must not change. If nobody has begun, --force puts the new one in its "
        "place; to add raters, use --add or a larger --raters."
    )


def change_plan(study: Study, add: int | None = None, replace: str | None = None) -> Kept:
    """Return the plan beside the study with raters added, or with a new one for one who dropped out."""
    if not _is_there(study):
        raise BadPlan(f"There is no plan in {study.folder} to change. Make it first: panelist plan STUDY")
    existing = _read_existing(study)
    if (add is None) == (replace is None):
        raise PanelistError("Either add raters or replace one, not both at once.")
    if add is not None:
        return Kept(grow_plan(existing, study, len(existing.places) + add), _say_grown(add))
    made = replace_rater(existing, str(replace))
    step = made.history[-1]
    return Kept(made, f"{step['by']} takes over all {step['trials']:,} trials of {replace}.")


def _is_there(study: Study) -> bool:
    return any((study.folder / name).exists() for name in (RECORD, TABLE))


def _read_existing(study: Study) -> Plan:
    try:
        return read_plan(study.folder)
    except BadPlan as error:
        raise BadPlan(f"{error} (--force makes a new plan in its place.)") from None


def _say_grown(raters: int) -> str:
    return f"{raters:,} {'rater' if raters == 1 else 'raters'} added; nobody who was in the plan moved."
