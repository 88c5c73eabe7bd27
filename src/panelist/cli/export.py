"""``panelist export``: what was collected, as files."""

from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

import typer

from panelist.cli.options import argument, option
from panelist.cli.terminal import say, tell
from panelist.core.errors import PanelistError
from panelist.core.prose import count

DATABASE_VARIABLE = "PANELIST_DATABASE_URL"


class BadSecret(PanelistError):
    """A secret in a place where others can read it."""


def _keep_secret(context: typer.Context, given: typer.CallbackParam, value: str | None) -> str | None:
    """Return the database; refuse a password on the command line, where everybody can read it."""
    source = context.get_parameter_source(given.name or "")
    if value and "://" in value and source is not None and source.name == "COMMANDLINE":
        from panelist.collection.store.database.engine import SECRETS

        try:
            parts = urlsplit(value)
            secret = bool(parts.password) or any(name in SECRETS for name, _ in parse_qsl(parts.query))
        except ValueError:  # what is wrong with it is reported where it is opened
            secret = False
        if secret:
            raise BadSecret(
                "A password on the command line can be read by everybody on this machine. Put the whole "
                f"address into the environment, as {DATABASE_VARIABLE}, and leave --db out; or leave the "
                "password out of the address and keep it in ~/.pgpass."
            )
    return value


StudyPlace = Annotated[Path, argument("STUDY", "The study file, or its folder.")]
DatabaseUrl = Annotated[
    str | None,
    option(
        "URL",
        "The database, if it is not study.db beside the study: a file or postgresql://… without a "
        f"password; with one, set {DATABASE_VARIABLE}.",
        "--db",
        envvar=DATABASE_VARIABLE,
        show_envvar=False,
        callback=_keep_secret,
    ),
]
StudyChanged = Annotated[
    str,
    option(
        "NAME,…",
        "Continue although these parts of the study changed since people came: criteria, outputs, design, "
        "raters, practice, checks, wording (everything else) or all. This is recorded.",
    ),
]


def read_allowed(text: str) -> tuple[str, ...]:
    """Return the parts of a study that may have changed, or raise UnknownName."""
    from panelist.collection.study_changes import NAMES
    from panelist.core.errors import UnknownName, did_you_mean

    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in NAMES:
            raise UnknownName(f"--study-changed: a study has no part {name!r}. {did_you_mean(name, NAMES)}")
    return names


def export(
    study: StudyPlace,
    output: Annotated[Path, option("FILE", "FILE.csv, .tsv, .jsonl, .parquet or .xlsx.", "--output", "-o")],
    what: Annotated[
        str,
        option(
            "ratings|visits|answers|events|actions|batch",
            "The table: ratings, or the visits, all answers, what happened, what researchers did; for an old "
            "HIT also its batch results.",
        ),
    ] = "ratings",
    ids: Annotated[
        bool, typer.Option("--ids", help="Include the ids that raters have elsewhere, not only pseudonyms.")
    ] = False,
    db: DatabaseUrl = None,
    study_changed: StudyChanged = "",
) -> None:
    """Export what was collected, even while collecting continues."""
    from panelist.collection.export.tables_of_study import find_exporter, is_allowed, write_export
    from panelist.collection.store.store import open_store
    from panelist.core.files import check_place
    from panelist.core.tables.readers import find_ending
    from panelist.study.reading.load import load_study

    make, _ = find_exporter(what), find_ending(check_place(output, "export"))  # before the work starts
    loaded = load_study(study)
    allowed = read_allowed(study_changed)
    with open_store(db, loaded, create=False) as store:
        snapshot, plan = store.snapshot(), store.plan()
    if allowed and is_allowed(snapshot, loaded, plan, allowed):
        # Recorded before anything is exported: from here on it is a version of the study like the others.
        with open_store(db, loaded, allowed=allowed) as store:
            snapshot = store.snapshot()
    made = make(snapshot, loaded, plan, ids=ids)
    changed = write_export(made.frame, output, private=ids)
    for note in made.notes:
        tell(f"Note: {note}.")
    if changed:
        tell(
            f"Note: {count(changed, 'text begins', 'texts begin')} "
            "like a formula and got an apostrophe before it, so that no "
            "spreadsheet runs it. Files .jsonl and .parquet have them as they were given."
        )
    if ids:
        tell("Note: this file says who the raters are. Keep it apart from what you share.")
    rows = count(len(made.frame), "row")
    say(f"{rows} of {what} written to {output} ({count(len(snapshot.visits), 'visit')}).")
