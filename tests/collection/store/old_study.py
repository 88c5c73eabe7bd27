"""The study whose database, as the first version of the tables had it, is kept in study-v001.db.gz.

``python -m tests.collection.store.old_study FILE.gz`` makes such a file with the tables of today; one that is
kept is never made again.
"""

import gzip
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from panelist.collection.store.database.backup import back_up
from panelist.collection.store.operations.ops import AddEvent, MoveVisit, SaveAnswers
from panelist.collection.store.operations.saving import Move, PageDone
from panelist.collection.store.store import open_store
from panelist.design.make import plan_study
from panelist.study.study import Study
from tests.collection.store.studies import RATED, answer, write_study


def write(folder: Path) -> Study:
    """Return the study, in a folder."""
    return write_study(folder, RATED)


def collect(folder: Path) -> Path:
    """Return a database with a finished, a running, a released and an invited visit in it."""
    study = write(folder)
    with open_store(None, study, plan_study(study)) as store:
        done, running, gone = (store.join(outside_id=f"PID {number}") for number in (1, 2, 3))
        store.do(AddEvent(done.id, "consent", {"boxes": [True]}))
        for page in (1, 2):
            both = (answer("4", f"a{page}"), answer("=1+1", f"b{page}", "c2p1", "remarks"))
            store.do(SaveAnswers(done.id, 1, page, both, PageDone(1.0, 2.5)))
        store.do(SaveAnswers(done.id, 1, 1, (answer("2", "changed"),)))
        store.do(MoveVisit(done.id, Move("finished", 1, 2, code="CODE")))
        store.do(SaveAnswers(running.id, 1, 1, (answer("5", "k"),)))
        store.release(gone.id, "returned", who="A. Researcher")
        store.do(SaveAnswers(gone.id, 1, 1, (answer("1", "late"),)))
        back_up(store.database, folder / "backup.db")
    return folder / "backup.db"


def read_everything(connection: sqlite3.Connection) -> dict[str, list[dict[str, Any]]]:
    """Return every row of the tables of the first version, as SQLite itself gives them."""
    connection.row_factory = sqlite3.Row
    order = {"pages_done": "visit, occasion, page"}
    return {
        name: [
            dict(row) for row in connection.execute(f"SELECT * FROM {name} ORDER BY {order.get(name, 'id')}")
        ]
        for name in ("visits", "answers", "pages_done", "events", "actions")
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        made = collect(Path(place) / "study")
        with closing(sqlite3.connect(made)) as opened:
            opened.execute("VACUUM")
        Path(sys.argv[1]).write_bytes(gzip.compress(made.read_bytes(), mtime=0))
