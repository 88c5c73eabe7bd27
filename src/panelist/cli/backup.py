"""``panelist backup`` and ``panelist restore``: everything that was collected, in one file and back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.export import DatabaseUrl, StudyPlace
from panelist.cli.options import argument, option
from panelist.cli.terminal import say, tell
from panelist.core.prose import count


def backup(
    study: StudyPlace,
    output: Annotated[Path, option("FILE", "The file to write.", "--output", "-o")],
    db: DatabaseUrl = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
) -> None:
    """Back up what was collected, even while collecting continues."""
    from panelist.collection.store.database.backup import back_up
    from panelist.collection.store.store import find_database
    from panelist.study.reading.load import load_study

    database = find_database(db, load_study(study), create=False)
    try:
        done = back_up(database, output, force)
    finally:
        database.close()
    say(f"{_say_counts(done.counts)} written to {output}.")
    say("It holds the ids and links of raters: keep it where only you can read it.")


def restore(
    file: Annotated[Path, argument("FILE", "What panelist backup wrote.")],
    study: StudyPlace,
    db: DatabaseUrl = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace what the database holds, even answers.")
    ] = False,
) -> None:
    """Restore a backup; stop the server of the study first."""
    from panelist.collection.store.database import backup
    from panelist.collection.store.store import find_database
    from panelist.study.reading.load import load_study

    loaded = load_study(study)
    database = find_database(db, loaded)
    try:
        done = backup.restore(file, database, force)
        name = database.name
    finally:
        database.close()
    if done.hash != loaded.hash:
        tell(f"Note: the backup was made with another state of the study file (its title is {done.title!r}).")
    say(f"{_say_counts(done.counts)} restored to {name}.")


def _say_counts(counts: Mapping[str, int]) -> str:
    return f"{count(counts['answers'], 'answer')} of {count(counts['visits'], 'visit')}"
