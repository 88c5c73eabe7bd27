"""A recruiter is opened: the study's database, the repository and the client of the panel together."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from panelist.collection.checked_store import open_checked
from panelist.collection.recruiting.errors import BadRecruiting
from panelist.collection.recruiting.outcomes import NOT_YET
from panelist.collection.recruiting.panel import check_panel
from panelist.collection.recruiting.prolific.client import find_url, open_client
from panelist.collection.recruiting.prolific.dry_run import DryRunClient
from panelist.collection.recruiting.prolific.endpoints import Api
from panelist.collection.recruiting.recruiter import Recruiter, say_none
from panelist.collection.recruiting.repository import DryRunRepository, RecruitingRepository
from panelist.collection.store.errors import BadStore
from panelist.collection.store.operations.recruits import read_campaigns
from panelist.collection.store.store import Store, open_store
from panelist.design.make import plan_study
from panelist.design.update import find_plan
from panelist.study.file_names import DATABASE_FILE
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
            client = open_client(api)
            stack.callback(client.close)
            store = stack.enter_context(_open(study, database, create, notes if notes is not None else []))
            yield Recruiter(study, RecruitingRepository(store), Api(client), who, store.study.secret, group)
            return
        store, secret = stack.enter_context(_open_dry(study, database))
        repository = stack.enter_context(DryRunRepository(store))
        dry = DryRunClient(
            show, repository.read(read_campaigns), repository.recruits(), repository.visits(), find_url(api)
        )
        yield Recruiter(study, repository, Api(dry), who, secret, group, lambda _: None)


def _open(study: Study, database: str | None, create: bool, notes: list[str]) -> Store:
    if not create:
        try:
            open_store(database, study, create=False).close()
        except BadStore:
            raise BadRecruiting(say_none()) from None
    return open_checked(study, database, notes)


@contextmanager
def _open_dry(study: Study, database: str | None) -> Iterator[tuple[Store, str]]:
    """Open the study's database, or one that vanishes where there is none yet."""
    try:
        store = open_store(database, study, create=False)
    except BadStore:
        plan = find_plan(study) or plan_study(study)
        with (
            tempfile.TemporaryDirectory(prefix="panelist-") as folder,
            open_store(Path(folder) / DATABASE_FILE, study, plan) as store,
        ):
            yield store, NOT_YET
        return
    with store:
        yield store, store.study.secret
