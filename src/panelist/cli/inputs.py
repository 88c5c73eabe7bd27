"""What a command is given: a table of ratings, or a study with its ratings in its folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from panelist.cli.terminal import tell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from panelist.analysis.planned import Planned
    from panelist.study.study import Study

STUDY_ENDINGS = {".yaml", ".yml"}
DATABASE, TABLE = "study.db", "ratings.csv"

StudyRatings = Annotated[
    Path | None,
    typer.Option(
        "--ratings",
        metavar="FILE",
        help="The ratings of a study. Without it: what was collected, else ratings.csv beside it.",
        show_default=False,
    ),
]


class Found(NamedTuple):
    """The ratings of a study, or where they are; what to call them; whether our own pages collected them."""

    ratings: Any
    origin: str | None = None
    collected: bool = False


def is_study(path: Path) -> bool:
    """Return whether a path means a study: a folder, or a file of YAML."""
    return path.is_dir() or path.suffix.casefold() in STUDY_ENDINGS


def find_ratings(study: "Study", ratings: Path | None) -> Found | None:
    """Return the ratings of a study: the file named, else what was collected, else ratings.csv beside it."""
    if ratings is not None:
        return Found(ratings)
    if (study.folder / DATABASE).is_file():
        frame = _read_collected(study)
        if len(frame) or not (study.folder / TABLE).is_file():
            return Found(frame, DATABASE, collected=True)
    beside = study.folder / TABLE
    return Found(beside) if beside.is_file() else None


def ask_ratings(study: "Study", ratings: Path | None) -> Found:
    """Return the ratings of a study, or say how to come by some."""
    from panelist.core.errors import BadFile

    found = find_ratings(study, ratings)
    if found is None:
        raise BadFile(
            f"The study has no ratings yet: there is neither {DATABASE} nor {TABLE} in {study.folder}. "
            "Collect some (panelist serve), simulate some (panelist simulate), or name a file with --ratings."
        )
    return found


def open_planned(source: Path, ratings: Path | None, columns: str | None, **options: Any) -> "Planned | None":
    """Return the study's ratings as it declares that they are analysed; None where a table was given."""
    from panelist.core.errors import BadFile

    if not is_study(source):
        if ratings is not None:
            raise BadFile(f"--ratings goes with a study, and {source} is a table of ratings by its ending.")
        return None
    from panelist.analysis.planned import read_planned
    from panelist.core.columns import parse_columns
    from panelist.study.load import load_study

    study = load_study(source)
    found = ask_ratings(study, ratings)
    mapping = parse_columns(columns) or None
    return read_planned(study, found.ratings, columns=mapping, source=found.origin, **options)


def refuse_options(context: typer.Context, names: "Iterable[str]") -> None:
    """Raise PanelistError where an option was given that the study file decides."""
    from panelist.core.errors import PanelistError

    for name in names:
        if was_given(context, name):
            option = next((one.opts[0] for one in context.command.params if one.name == name), f"--{name}")
            raise PanelistError(
                f"{option} goes with a table of ratings: a study is analysed as its file declares. Change "
                "analysis: in the study file, or name the table of ratings in place of the study."
            )


def was_given(context: typer.Context, name: str) -> bool:
    """Return whether an option stands on the command line, rather than having its default."""
    where = context.get_parameter_source(name)
    return where is not None and where.name == "COMMANDLINE"


def _read_collected(study: "Study") -> Any:
    """Return the ratings in the database beside the study."""
    from panelist.collection.export import export_ratings
    from panelist.collection.store.store import open_store

    with open_store(None, study, create=False) as store:
        snapshot, plan = store.snapshot(), store.plan()
    frame = export_ratings(snapshot, study, plan)
    for note in frame.attrs.get("notes", ()):
        tell(f"Note: {note}.")
    frame.attrs = {}
    return frame
