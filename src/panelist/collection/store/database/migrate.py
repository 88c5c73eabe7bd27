"""Bringing a database to the present version: the migrations run automatically when a study is opened."""

import logging
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from panelist.collection.store.database.copies import keep_copy
from panelist.collection.store.database.engine import ADVISORY_LOCK, Database
from panelist.collection.store.errors import BadStore

FOLDER = Path(__file__).parents[1] / "migrations"

log = logging.getLogger("panelist.store")


def migrate(database: Database, folder: Path = FOLDER, to: str = "", keep: bool = True) -> tuple[str, str]:
    """Bring the database to a version, the newest unless ``to`` names one; return what it had and has.

    What it holds is copied before its tables change, unless ``keep`` says that it is a copy itself. Several
    processes may do so at once: the first does it, the others wait for it and find it done.
    """
    script = ScriptDirectory(str(folder))
    wanted = to or script.get_current_head() or ""
    found = read_version(database)
    if found == wanted:
        return found, wanted
    with database.engine.connect() as connection, connection.begin():
        if database.file is None:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
        else:  # nobody else writes from here on
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        found = find_version(connection)
        _refuse(database, connection, script, found)
        if found and found != wanted and keep:
            kept = keep_copy(database, connection, found)
            log.warning(
                "%s is migrated from tables %s to %s; a copy of it as it was is kept in %s.",
                *(database.name, found, wanted, kept),
            )
        config = Config()
        config.set_main_option("script_location", str(folder).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, wanted)
    return found, wanted


def read_version(database: Database) -> str:
    """Return the version of a database's tables, or nothing where there are none of ours."""
    with database.engine.connect() as connection:
        return find_version(connection)


def find_version(connection: Connection) -> str:
    """Return the version of the tables, or nothing where there are none of ours."""
    return MigrationContext.configure(connection).get_current_revision() or ""


def _refuse(database: Database, connection: Connection, script: ScriptDirectory, found: str) -> None:
    """Raise BadStore for a database that a newer Panelist made, or that another program uses."""
    known = {revision.revision for revision in script.walk_revisions()}
    if found and found not in known:
        raise BadStore(
            f"{database.name} was made by a newer version of Panelist (its tables are {found!r}, the newest "
            f"known here {max(known)!r}). Update Panelist; nothing was changed."
        )
    tables = set(inspect(connection).get_table_names())
    if not found and tables & {"studies", "visits", "answers"}:
        raise BadStore(
            f"{database.name} has tables of these names that Panelist did not make: "
            f"{', '.join(sorted(tables & {'studies', 'visits', 'answers'}))}. Give another database."
        )
