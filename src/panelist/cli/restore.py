"""``panelist restore``: a backup restored into a study."""

from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.export import DatabaseUrl, StudyPlace
from panelist.cli.options import argument
from panelist.cli.terminal import say, tell


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
    say(f"{done.counts['answers']:,} answers of {done.counts['visits']:,} visits restored to {name}.")
