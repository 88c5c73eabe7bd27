"""``panelist report``: the analysis of a study, or of a table of ratings, as a page and its files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panelist.cli.inputs import StudyRatings, is_archive, open_folder
from panelist.cli.options import (
    AcrossCriteria,
    Better,
    By,
    Columns,
    Drop,
    Json,
    JudgeScale,
    Margin,
    argument,
    option,
)
from panelist.cli.terminal import THE_ANSWER_IS_NO, say, show, tell
from panelist.core.prose import count
from panelist.study.file_names import is_study

if TYPE_CHECKING:
    from contextlib import ExitStack

    from panelist.analysis.analysis_result import Analysis
    from panelist.study.study import Study

CheckOnly = Annotated[
    bool,
    typer.Option("--check", help="Write nothing; check the study against published lists of what to report."),
]
MANY = 30  # systems × criteria from which drawing takes a while


def report(
    source: Annotated[
        Path,
        argument("STUDY|RATINGS|ZIP", "A study (its file or folder), a table of ratings, or an archive."),
    ],
    out: Annotated[Path, option("FILE.html", "Where to write the page.", "--output", "-o")] = Path(
        "report.html"
    ),
    ratings: StudyRatings = None,
    resamples: Annotated[
        int, option("N", "Bootstrap samples of the reliability coefficients.", min=2)
    ] = 1000,
    seed: Annotated[int, option("N", "The seed of the bootstrap.", min=0)] = 0,
    files: Annotated[
        bool, typer.Option("--files/--no-files", help="Also figures, tables, texts and references as files.")
    ] = True,
    margin: Margin = None,
    better: Better = None,
    across_criteria: AcrossCriteria = None,
    by: By = None,
    judge: Annotated[
        list[Path] | None,
        option("JUDGES", "Add a section beside these judges' scores; may be given more than once."),
    ] = None,
    judge_scale: JudgeScale = "auto",
    sample: Annotated[
        Path | None,
        option("FILE", "With a judge: the items that could be drawn, with probability and stratum."),
    ] = None,
    check: CheckOnly = False,
    columns: Columns = None,
    drop: Drop = None,
    json: Json = False,
) -> None:
    """Write the report: one page, with figures, tables and paragraphs to paste."""
    from contextlib import ExitStack

    from panelist.analysis.analyse import analyse
    from panelist.core.tables.columns import parse_columns
    from panelist.reports.report.write_report import check_report_path, write_report

    if check:
        _check_reporting(source, ratings, json=json)
        return
    check_report_path(out, files=files)  # before the work starts
    with ExitStack() as places:
        study, table, origin = _find_input(source, ratings, places)
        analysis = analyse(
            study,
            table,
            columns=parse_columns(columns) or None,
            drop=drop or (),
            by=by,
            source=origin,
            resamples=resamples,
            seed=seed,
            on_progress=lambda now: tell(f"Analysing {now.what}"),
            margin=margin,
            better=better,  # type: ignore[arg-type]  # analyse checks it
            across_criteria=across_criteria,
        )
        if judge or sample is not None or judge_scale != "auto":
            mapped = {"columns": parse_columns(columns) or None, "drop": drop or ()}
            analysis = _add_judges(analysis, table, judge, sample=sample, judge_scale=judge_scale, **mapped)
    if len(analysis.data.systems) * len(analysis.criteria) > MANY:
        tell("Drawing the page and its files")
    written = write_report(analysis, out, files=files)
    if json:
        say(analysis.to_json())
        return
    for sentence in analysis.sentences():
        say(sentence)
    say()
    beside = (
        f", and {count(len(written) - 1, 'file', 'files')} in {written[1].parent.name}/"
        if len(written) > 1
        else ""
    )
    say(f"Written: {out}{beside}.")


def _check_reporting(source: Path, ratings: Path | None, *, json: bool) -> None:
    """Print what a report of the study states and lacks; the answer is no where something is missing."""
    from panelist.core.errors import BadFile
    from panelist.reports.reporting.check import check_reporting

    if not is_study(source):
        raise BadFile(
            f"--check needs a study, because only its file says how the ratings came about; {source} is not "
            "one. Name the study's folder, or describe the study in a new one: panelist init FOLDER."
        )
    folder = open_folder(source, ratings)
    found = folder.find_ratings()
    rated = found is not None and not found.empty
    checked = check_reporting(folder.study, folder.analyse(resamples=50) if rated else None)
    show(checked, json)
    if checked.missing:
        raise typer.Exit(THE_ANSWER_IS_NO)


def _add_judges(analysis: "Analysis", table: object, judges: list[Path] | None, **choices: Any) -> "Analysis":
    """Return the analysis with what judges add to it."""
    from panelist.core.errors import BadModel
    from panelist.reports.report.beside_judge import add_judges

    if not judges:
        raise BadModel("A sample and a judge's scale go with a judge: name a judges table (--judge).")
    tell("Beside the judges")
    return add_judges(analysis, table, judges, **choices)


def _find_input(
    source: Path, ratings: Path | None, places: "ExitStack"
) -> "tuple[Study | None, object, str | None]":
    """Return the study (None for a table), the ratings or where they are, and what to call them.

    ``places`` keeps the folder into which an archive is unpacked.
    """
    from panelist.core.errors import BadFile

    if is_archive(source):
        if ratings is not None:
            raise BadFile(f"--ratings goes with a study, and {source} is an archive with ratings of its own.")
        return _unpack(source, places)
    if not is_study(source):
        if ratings is not None:
            raise BadFile(f"--ratings goes with a study, and {source} is a table of ratings by its ending.")
        return None, source, None
    folder = open_folder(source, ratings)
    found = folder.ask_ratings()
    return folder.study, found.table, found.name


def _unpack(archive: Path, places: "ExitStack") -> "tuple[Study, Path, None]":
    """Return the study and the ratings of an archive."""
    from tempfile import TemporaryDirectory

    from panelist.reports.archive.verify import open_archive

    folder = places.enter_context(TemporaryDirectory(prefix="panelist-report-"))
    study, ratings = open_archive(archive, Path(folder))
    return study, ratings, None
