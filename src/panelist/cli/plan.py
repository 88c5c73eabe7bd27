"""``panelist plan`` and ``panelist plan extend``: who sees what, how balanced it is, and what it costs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from panelist.cli.options import Json, argument, option
from panelist.cli.terminal import say, show, tell

if TYPE_CHECKING:
    from panelist.design.assess.pilot_time import PilotTime
    from panelist.design.update import UpdatedPlan
    from panelist.study.study import Study

StudyPath = Annotated[Path, argument("STUDY", "The study file, or its folder.")]

Pilot = Annotated[
    Path | None,
    option("RATINGS", "Take the minutes per page from the seconds in these ratings, for time and cost."),
]


def plan(
    study: StudyPath,
    raters: Annotated[
        int | None,
        option(
            "N",
            "The number of raters; those beyond an existing plan are added to it, and nobody moves.",
            min=1,
        ),
    ] = None,
    seed: Annotated[int | None, option("N", "Another seed than the study file's.", min=0)] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace a plan that differs. Never while raters are working on it."),
    ] = False,
    pilot: Pilot = None,
    json: Json = False,
) -> None:
    """Plan a study: who sees what, its balance, its cost."""
    from panelist.design.update import keep_plan
    from panelist.study.reading.load import load_study

    loaded = load_study(study)
    _hand_out(study, loaded, keep_plan(loaded, raters, seed, force), pilot, json)


def plan_extend(
    study: StudyPath,
    add: Annotated[int | None, option("N", "Add this many raters to the plan.", min=1)] = None,
    replace: Annotated[str | None, option("RATER", "Give the pages of this rater to a new one.")] = None,
    add_systems: Annotated[
        bool,
        typer.Option(
            "--add-systems",
            help="Add the systems that the outputs have and the plan has not; new raters judge all systems, "
            "--add N of them, or as many as the study asks for.",
        ),
    ] = False,
    pilot: Pilot = None,
    json: Json = False,
) -> None:
    """Add raters or systems to a plan, or replace a rater; nobody else moves."""
    from panelist.design.update import change_plan
    from panelist.study.reading.load import load_study

    if (add is None and not add_systems) == (replace is None):
        raise typer.BadParameter("say --add N, --add-systems or --replace RATER, which goes with neither")
    loaded = load_study(study)
    _hand_out(study, loaded, change_plan(loaded, add, replace, add_systems), pilot, json)


def _hand_out(path: Path, study: "Study", kept: "UpdatedPlan", pilot: Path | None, json: bool) -> None:
    """Write the plan, and print its balance, its cost and what comes next."""
    from panelist.design.plan_files import write_plan, write_sample
    from panelist.design.plan_summary import summarise_plan
    from panelist.study.file_names import PLAN_RECORD, PLAN_TABLE, SAMPLE_FILE

    summary = summarise_plan(kept.plan, study, None if pilot is None else _measure_pilot(pilot))
    extra = {"balance": summary.balance.to_dict(), "cost": summary.cost.to_dict()}
    write_plan(kept.plan, study.folder, extra)
    drawn = f" The sample is in {SAMPLE_FILE}." if write_sample(kept.plan, study) else ""
    said = f"{kept.said} The plan is in {study.folder / PLAN_TABLE}, its record in {PLAN_RECORD}.{drawn}"
    if json:
        tell(said)
        show(summary, as_json=True)
        return
    show(summary)
    say()
    say(said)
    say("Next:")
    say(f"  panelist simulate {path}   tries the analysis on simulated ratings")
    say(f"  panelist serve {path}   opens the rating pages")


def _measure_pilot(path: Path) -> "PilotTime":
    """Return the time per page in these ratings."""
    from panelist.core.tables.ratings import read_ratings
    from panelist.design.assess.pilot_time import measure_minutes

    return measure_minutes(read_ratings(path))
