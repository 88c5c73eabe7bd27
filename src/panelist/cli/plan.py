"""``panelist plan``: who sees what in which order; what is balanced, what can be estimated, what it costs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from panelist.cli.options import Json
from panelist.cli.terminal import say, show, tell

if TYPE_CHECKING:
    from panelist.design.pilot_time import PilotTime

StudyPath = Annotated[
    Path, typer.Argument(metavar="STUDY", help="The study file, or its folder.", show_default=False)
]


def plan(
    study: StudyPath,
    raters: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="So many raters; more than an existing plan has are added to it, and nobody moves.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Another seed than the study file's.", show_default=False),
    ] = None,
    add: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Add so many raters to the plan.", show_default=False),
    ] = None,
    replace: Annotated[
        str | None,
        typer.Option(metavar="RATER", help="Give the pages of this rater to a new one.", show_default=False),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a plan that differs. Never while raters are at it.")
    ] = False,
    pilot: Annotated[
        Path | None,
        typer.Option(
            metavar="RATINGS",
            help="Take the minutes of a page from the seconds in these ratings, for time and cost.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Plan a study: who sees what, its balance, its cost."""
    _refuse_clashes(raters=raters, seed=seed, add=add, replace=replace, force=force)
    from panelist.design.files import RECORD, TABLE, write_plan
    from panelist.design.keep import change_plan, keep_plan
    from panelist.design.summary import summarise_plan
    from panelist.study.load import load_study

    loaded = load_study(study)
    time = None if pilot is None else _measure_pilot(pilot)
    changing = add is not None or replace is not None
    kept = change_plan(loaded, add, replace) if changing else keep_plan(loaded, raters, seed, force)
    summary = summarise_plan(kept.plan, loaded, time)
    extra = {"balance": summary.balance.to_dict(), "cost": summary.cost.to_dict()}
    write_plan(kept.plan, loaded.folder, extra)
    said = f"{kept.said} The plan is in {loaded.folder / TABLE}, its record in {RECORD}."
    if json:
        tell(said)
        show(summary, as_json=True)
        return
    show(summary)
    say()
    say(said)
    say("Next:")
    say(f"  panelist simulate {study}   tries the analysis on simulated ratings")
    say(f"  panelist serve {study}   opens the rating pages")


def _measure_pilot(path: Path) -> "PilotTime":
    """Return the time of a page in these ratings."""
    from panelist.core.ratings import read_ratings
    from panelist.design.pilot_time import measure_minutes

    return measure_minutes(read_ratings(path))


def _refuse_clashes(**options: object) -> None:
    """Raise where two options ask for different things."""
    from panelist.core.errors import PanelistError

    for change in ("add", "replace"):
        others = [name for name, value in options.items() if name != change and value not in (None, False)]
        if options[change] is not None and others:
            raise PanelistError(
                f"--{change} changes the plan that is there; --{others[0]} cannot go with it."
            )
