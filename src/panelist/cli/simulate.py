"""``panelist simulate``: ratings by simulated raters, to try the analysis before anybody is paid."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from panelist.cli.export import DatabaseUrl
from panelist.cli.options import option
from panelist.cli.plan import StudyPath
from panelist.cli.terminal import say, show_progress, tell
from panelist.core.prose import count
from panelist.study.file_names import DATABASE_FILE, RATINGS_FILE

if TYPE_CHECKING:
    import pandas as pd

    from panelist.collection.robots.record import Record
    from panelist.design.plan import Plan
    from panelist.study.study import Study


def simulate(
    study: StudyPath,
    out: Annotated[
        Path | None,
        option(
            "FILE",
            "Where to write them; the ending sets the format. Default: ratings.csv beside the study.",
            "--output",
            "-o",
        ),
    ] = None,
    seed: Annotated[int, option("N", "The seed of the simulated raters.", min=0)] = 1,
    careless: Annotated[float, option("SHARE", "The share of raters who do not read.")] = 0.04,
    web: Annotated[
        str | None,
        option(
            "URL", "Answer the pages of a running server instead, on this machine: http://127.0.0.1:8000."
        ),
    ] = None,
    raters: Annotated[
        int | None,
        option("N", "With --web: how many raters take part. Default: as many as the plan has places.", min=1),
    ] = None,
    think: Annotated[
        str | None,
        option("A-B", "With --web: least and most seconds on a page, such as 4-8. Default: no waiting."),
    ] = None,
    db: DatabaseUrl = None,
) -> None:
    """Simulate ratings: on the plan, or through the rating pages."""
    from panelist.core.files import check_place
    from panelist.core.tables.readers import find_ending
    from panelist.core.tables.writers import write_table
    from panelist.design.simulate import simulate_ratings
    from panelist.study.reading.load import load_study

    if web is not None and out is not None:
        raise typer.BadParameter(
            "answers given through the pages are collected by the server; use panelist export"
        )
    if web is None and (raters is not None or think is not None):
        raise typer.BadParameter("--raters and --think go with --web: a plan says how many rate")
    loaded = load_study(study)
    if web is not None:
        _visit_pages(loaded, web, raters, think, seed, careless, db)
        return
    path = out if out is not None else loaded.folder / RATINGS_FILE
    find_ending(check_place(path, "ratings"))  # before the work starts
    plan = _find_plan(loaded)
    ratings = simulate_ratings(loaded, plan, seed=seed, careless=careless)
    write_table(ratings, path)
    say(_say_counts(ratings, path))
    say("Nobody gave these ratings: use them to try things out, never to conclude anything.")
    say()
    say("Next, the analysis as the study declares it:")
    given = _name_input(loaded, study, path)
    if "rating" in ratings:
        say(f"  panelist agreement {given}")
    say(f"  panelist compare {given}")


def _name_input(study: "Study", given: Path, path: Path) -> str:
    """Return how to name the study with these ratings; its folder alone, where it finds them there."""
    found = path == study.folder / RATINGS_FILE and not (study.folder / DATABASE_FILE).is_file()
    return str(given) if found else f"{given} --ratings {path}"


def _find_plan(study: "Study") -> "Plan":
    """Return the plan beside the study, or make one and say so."""
    from panelist.design.make import plan_study
    from panelist.design.update import find_plan

    plan = find_plan(study)
    if plan is not None:
        return plan
    tell(
        f"There is no plan in {study.folder}: one is made for this run and not kept. panelist plan makes "
        "one that is kept."
    )
    return plan_study(study)


def _say_counts(ratings: "pd.DataFrame", path: Path) -> str:
    checks = int((ratings["check"] != "").sum()) if "check" in ratings else 0
    of_checks = f", {checks:,} of them checks" if checks else ""
    trials = f" ({(ratings['trial'].unique() != '').sum():,} pages compared)" if "trial" in ratings else ""
    criteria = sorted(ratings["criterion"].unique())
    return (
        f"{len(ratings):,} rows{trials} by {ratings['rater'].nunique():,} raters, on {', '.join(criteria)}"
        f"{of_checks}, written to {path}."
    )


def _visit_pages(
    study: "Study",
    url: str,
    raters: int | None,
    think: str | None,
    seed: int,
    careless: float,
    db: str | None,
) -> None:
    """Send simulated raters to a running server, and report how they fared."""
    from panelist.collection.robots.browser import find_server, read_address
    from panelist.collection.robots.fleet import Fleet, find_groups, send_robots
    from panelist.collection.robots.robot import Habits

    times = _read_times(think)
    plan = _find_plan(study)
    fleet = Fleet(
        raters=raters or len(plan.raters),
        groups=find_groups(plan),
        seed=seed,
        careless=careless,
        habits=Habits(think=times),
        secret=_find_secret(study, db),
    )
    find_server(read_address(url))  # later it may be restarted: robots are patient
    with show_progress("simulated raters") as report:
        record = send_robots(study, url, fleet, report)
    say(_say_visits(record))
    say("Nobody gave these ratings: use them to try things out, never to conclude anything.")
    if record.ends["finished"] + record.ends["waiting"] < fleet.raters:
        raise typer.Exit(1)


def _find_secret(study: "Study", db: str | None) -> str:
    """Return the key that signs links, for a study whose panel requires that; empty for all others."""
    from panelist.collection.recruiting.badges import PROVEN
    from panelist.collection.store.store import open_store
    from panelist.study.panels import find_panel

    if study.file.recruiting is None or find_panel(study.file.recruiting).ids not in PROVEN:
        return ""
    with open_store(db, study, create=False) as store:
        return store.study.secret


def _read_times(think: str | None) -> tuple[float, float] | None:
    if think is None:
        return None
    least, _, most = think.partition("-")
    try:
        times = float(least), float(most or least)
    except ValueError:
        times = (-1.0, -1.0)
    if not 0 <= times[0] <= times[1] <= 3600:
        raise typer.BadParameter(f"--think is a time or a span in seconds, such as 4-8. Got {think!r}.")
    return times


def _say_visits(record: "Record") -> str:
    finished = record.ends["finished"]
    others = [f"{count} {end.replace('_', ' ')}" for end, count in record.ends.items() if end != "finished"]
    lines = [
        f"{finished:,} of {len(record.stays):,} simulated raters finished"
        + (f" ({', '.join(others)})" if others else "")
        + f"; {record.answers:,} answers acknowledged, {record.retries:,} requests sent again."
    ]
    if record.refused:
        lines.append(
            f"{count(len(record.refused), 'answer was', 'answers were')} "
            f"refused; the first: {record.refused[0]}"
        )
    if record.unknown:
        lines.append(
            f"{count(record.unknown, 'text is', 'texts are')} not in the outputs file: judged as average. Is "
            "this the study that the server collects?"
        )
    return "\n".join(lines)
