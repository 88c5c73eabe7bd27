"""What a command is given: a table of ratings, or a study with its ratings in its folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panelist.cli.options import option
from panelist.cli.terminal import tell
from panelist.study.file_names import is_study

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import ExitStack

    from panelist.analysis.planned import Planned
    from panelist.reports.study_folder import StudyFolder
    from panelist.reproduction.sources import UnpackedStudy

ARCHIVE_ENDING = ".zip"
StudyRatings = Annotated[
    Path | None,
    option(
        "FILE",
        "The ratings of a study. Default: what was collected, or ratings.csv beside the study.",
        "--ratings",
    ),
]


def is_archive(path: Path) -> bool:
    """Return whether a path names an archive, by its ending."""
    return path.suffix.casefold() == ARCHIVE_ENDING and not path.is_dir()


def make_unpacked(path: Path, places: "ExitStack") -> Path:
    """Return the folder of an archive, which ``places`` keeps; any other path as it is."""
    if not is_archive(path):
        return path
    from tempfile import TemporaryDirectory

    from panelist.reports.archive.verify import unpack_archive

    folder = Path(places.enter_context(TemporaryDirectory(prefix="panelist-archive-")))
    unpack_archive(path, folder)
    return folder


def name_unpacked(given: "Iterable[Path]", folders: "Iterable[Path]") -> "list[Path | UnpackedStudy]":
    """Return what was given, for each archive its folder with the name that the archive had."""
    from panelist.reproduction.sources import UnpackedStudy

    pairs = zip(given, folders, strict=True)
    return [UnpackedStudy(folder, str(path)) if is_archive(path) else path for path, folder in pairs]


def open_folder(source: Path, ratings: Path | None = None, power: Path | None = None) -> "StudyFolder":
    """Return the study with everything in its folder; print what is worth knowing about it."""
    from panelist.reports.study_folder import open_study

    return open_study(source, ratings=ratings, power=power, on_note=lambda note: tell(f"Note: {note}."))


def open_planned(source: Path, ratings: Path | None, columns: str | None, **options: Any) -> "Planned | None":
    """Return the study's ratings, to be analysed as it declares; None where a table was given."""
    from panelist.core.errors import BadFile

    if not is_study(source):
        if ratings is not None:
            raise BadFile(f"--ratings goes with a study, and {source} is a table of ratings by its ending.")
        return None
    from panelist.core.tables.columns import parse_columns

    return open_folder(source, ratings).planned(columns=parse_columns(columns) or None, **options)


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
    """Return whether an option was given on the command line, rather than having its default."""
    where = context.get_parameter_source(name)
    return where is not None and where.name == "COMMANDLINE"


def split_names(text: str | None) -> list[str]:
    """Return the names in a list with commas; none where there is no list."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def parse_scale(text: str | None) -> list[float] | None:
    """Return the points of a scale: ``1:5`` is its whole numbers, ``0,1,2,4`` these.

    >>> parse_scale("1:4"), parse_scale("0, 0.5, 1")
    ([1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 1.0])
    """
    if text is None:
        return None
    from panelist.core.errors import PanelistError

    try:
        if ":" in text:
            low, high = (int(part) for part in text.split(":"))
            points = [float(point) for point in range(low, high + 1)]
        else:
            points = [float(part) for part in text.split(",")]
    except ValueError:
        points = []
    if len(points) < 2:
        raise PanelistError(
            f"--scale takes LOW:HIGH, two whole numbers (1:5), or the points (0,1,2,4). Got {text!r}."
        )
    return points


def find_ends(scale: str | None) -> tuple[float, float] | None:
    """Return the ends of the scale that ``--scale`` names; None where it names none."""
    points = parse_scale(scale)
    return None if points is None else (min(points), max(points))
