"""The desk of a recruiter: the study's database, its books and the way to the panel, opened together."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from panelist.collection.crowd.books import Books, DryBooks
from panelist.collection.crowd.errors import BadRecruiting
from panelist.collection.crowd.outcomes import NOT_YET
from panelist.collection.crowd.panel import check_panel
from panelist.collection.crowd.prolific.api import Api
from panelist.collection.crowd.prolific.dry_run import DryWire
from panelist.collection.crowd.prolific.wire import find_url, open_wire
from panelist.collection.crowd.recruiter import Recruiter, say_none
from panelist.collection.store.errors import BadStore
from panelist.collection.store.recruits import read_campaigns
from panelist.collection.store.store import Store, open_store
from panelist.collection.web.launch import Wishes, open_checked
from panelist.design.files import TABLE, read_plan
from panelist.design.make import plan_study
from panelist.study.study import Study


@contextmanager
def open_desk(
    study: Study,
    *,
    database: str | None = None,
    api: str | None = None,
    group: str = "",
    who: str = "command line",
    create: bool = False,
    show: Callable[[str], None] | None = None,
    notes: list[str] | None = None,
) -> Iterator[Recruiter]:
    """Open everything for recruiting on Prolific; with ``create``, the database is made where there is none.

    With ``show``, nothing is sent or kept: it is shown.
    """
    check_panel(study)
    with ExitStack() as stack:
        if show is None:
            wire = open_wire(api)
            stack.callback(wire.close)
            store = stack.enter_context(_open(study, database, create, notes if notes is not None else []))
            yield Recruiter(study, Books(store), Api(wire), who, store.study.secret, group)
            return
        store, secret = stack.enter_context(_open_dry(study, database))
        books = stack.enter_context(DryBooks(store))
        dry = DryWire(show, books.read(read_campaigns), books.recruits(), books.visits(), find_url(api))
        yield Recruiter(study, books, Api(dry), who, secret, group, lambda _: None)


def _open(study: Study, database: str | None, create: bool, notes: list[str]) -> Store:
    if not create:
        try:
            open_store(database, study, create=False).close()
        except BadStore:
            raise BadRecruiting(say_none()) from None
    return open_checked(study, Wishes(study=study.path or Path(), database=database), notes)


@contextmanager
def _open_dry(study: Study, database: str | None) -> Iterator[tuple[Store, str]]:
    """Open the study's database, or one that vanishes where there is none yet."""
    try:
        store = open_store(database, study, create=False)
    except BadStore:
        plan = read_plan(study.folder) if (study.folder / TABLE).exists() else plan_study(study)
        with (
            tempfile.TemporaryDirectory(prefix="panelist-") as folder,
            open_store(Path(folder) / "study.db", study, plan) as store,
        ):
            yield store, NOT_YET
        return
    with store:
        yield store, store.study.secret
