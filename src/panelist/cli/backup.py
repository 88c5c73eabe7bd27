"""``panelist backup``: everything that was collected, in one file."""

from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.export import DatabaseUrl, StudyPlace
from panelist.cli.options import option
from panelist.cli.terminal import say


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
    say(f"{done.counts['answers']:,} answers of {done.counts['visits']:,} visits written to {output}.")
    say("It holds the ids and links of raters: keep it where only you can read it.")
