"""``panelist forget``: erase what was collected about one person."""

import getpass
from typing import Annotated

import typer

from panelist.cli.export import DatabaseUrl, StudyPlace
from panelist.cli.options import option
from panelist.cli.terminal import say, tell
from panelist.core.errors import UnknownName


def forget(
    study: StudyPlace,
    rater: Annotated[
        str,
        option("ID", "The person: their id on the panel, their pseudonym in an export, or their own link."),
    ],
    ratings: Annotated[
        str | None,
        option("WHAT", "What happens to the ratings: erase or keep. Default: what the study declares."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Erase it. Without --yes, only show what is stored.")
    ] = False,
    db: DatabaseUrl = None,
) -> None:
    """Erase what is stored about a person who withdraws."""
    from panelist.collection.forgetting import find_person, list_rated, wipe
    from panelist.collection.forgetting import forget as erase
    from panelist.collection.store.store import open_store
    from panelist.study.reading.load import load_study

    loaded = load_study(study)
    keep = _keeps(ratings, loaded.file.information.withdrawal)
    with open_store(db, loaded, create=False) as store:
        person = find_person(store, rater)
        for line in person.lines():
            say(line)
        if person.traces.payments:
            tell("Note: what was paid for which submission stays in the journal of payments.")
        if not yes:
            if keep:
                say("The ratings will be kept, without the id, the link, words and background.")
            say("Nothing is erased yet. Add --yes to erase it; that cannot be undone.")
            return
        erase(store, person, _find_name(), list_rated(loaded) if keep else ())
        wiped = wipe(store)
    if keep:
        say("The person is erased. The ratings are kept under a new pseudonym, which no id leads to.")
    else:
        say("All of that is erased. The place is free again, and the record says that one person withdrew.")
    if not wiped:
        tell(
            "Note: other programs are using the database. What was deleted is gone from its journal "
            "(study.db-wal) once they have ended."
        )
    matched = ", and show by place, times and answers whose ratings are kept" if keep else ""
    tell(f"Note: backups, exports and archives made before still hold it{matched}: delete them.")


def _keeps(asked: str | None, declared: str) -> bool:
    if asked not in (None, "erase", "keep"):
        raise UnknownName(f"--ratings takes erase or keep. Found {asked!r}.")
    return asked == "keep" if asked is not None else declared == "keep_ratings"


def _find_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # an account without a name, as in some containers
        return ""
