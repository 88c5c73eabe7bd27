"""Finding one person by what is known about them, and saying what is erased."""

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from panelist.collection.pseudonyms import make_pseudonym
from panelist.collection.store.operations.erasing import Forget, Traces, count_traces, is_forgotten
from panelist.collection.store.records import Visit
from panelist.collection.store.store import Store
from panelist.core.errors import PanelistError
from panelist.core.prose import count
from panelist.study.study import Study

_LINK = re.compile(r"(?:.*/r/)?([A-Z2-7]{26})(?:[/?#].*)?")


class NobodyFound(PanelistError):
    """Nobody is known by this id."""


@dataclass(frozen=True)
class Person:
    """A visit and what the database holds about it."""

    visit: Visit
    name: str
    """The pseudonym."""
    traces: Traces

    def lines(self) -> Iterator[str]:
        """Return what there is, in words."""
        visit, traces = self.visit, self.traces
        place = f"place {visit.place}, " if visit.place else ""
        yield f"Rater {self.name} ({place}{visit.state.replace('_', ' ')}):"
        yield f"  {count(traces.answers, 'answer')}, {count(traces.pages, 'page')} done"
        yield f"  {count(traces.events, 'event')}: consent, background, checks, comments, messages"
        yield f"  the id of the person: {'yes' if visit.outside_id else 'not known'}"
        yield f"  {count(len(visit.params), 'parameter')} of the link, the link itself, code and times"
        if traces.submissions:
            yield f"  {count(traces.submissions, 'submission')} to the panel"
        if traces.notes:
            yield f"  words about this rater in {count(traces.notes, 'action')} of researchers"


def find_person(store: Store, known_as: str) -> Person:
    """Return the person of an id, a pseudonym, or a link; raise NobodyFound where there is none."""
    wanted = known_as.strip()
    visits = [visit for visit in store.visits() if wanted and not is_forgotten(visit)]
    link = _LINK.fullmatch(wanted)
    for visit in visits:
        name = _name(store, visit)
        if wanted in (visit.outside_id, name, visit.token) or (link is not None and link[1] == visit.token):
            traces = store.database.read(lambda db, number=visit.id: count_traces(db, number))  # type: ignore[misc]
            return Person(visit, name, traces)
    raise NobodyFound(
        f"Nobody is known as {wanted!r} in {store.database.name}. Give the id of the panel, the pseudonym of "
        "an export (such as pk7qdm2xw9), or the rater's own link."
    )


def forget(store: Store, person: Person, who: str, keep: tuple[str, ...] = ()) -> Traces:
    """Erase a person; return what was there.

    The answers on the criteria ``keep`` stay, under a pseudonym that no id leads to.
    """
    return store.do(Forget(person.visit.id, who, keep))


def list_rated(study: Study) -> tuple[str, ...]:
    """Return the criteria of a study that are rated or chosen, not answered in words."""
    return tuple(one.name for one in study.criteria if one.scale.measurement != "text")


def wipe(store: Store) -> bool:
    """Empty the journal of a file, which still holds what was deleted; return whether that could be done now.

    PostgreSQL overwrites deleted rows when it vacuums, which it does automatically.
    """
    if store.database.file is None:
        return True
    connection = sqlite3.connect(store.database.file, timeout=5.0, isolation_level=None)
    try:
        ((busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return not busy
    except sqlite3.OperationalError:  # another process is writing all the time
        return False
    finally:
        connection.close()


def _name(store: Store, visit: Visit) -> str:
    return make_pseudonym(
        store.study.salt, f"id {visit.outside_id}" if visit.outside_id else f"visit {visit.token}"
    )
