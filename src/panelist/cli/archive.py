"""``panelist archive`` and ``panelist verify``: everything needed to repeat a study, in one zip file."""

from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.export import DatabaseUrl, StudyPlace
from panelist.cli.options import Columns, Json, argument, option
from panelist.cli.terminal import THE_ANSWER_IS_NO, say, show, tell


def archive(
    study: StudyPlace,
    output: Annotated[Path, option("FILE.zip", "Where to write it.", "--output", "-o")] = Path("study.zip"),
    ratings: Annotated[
        Path | None,
        option("FILE", "The ratings. Default: what was collected, or ratings.csv beside the study."),
    ] = None,
    ids: Annotated[
        bool, typer.Option("--ids", help="Include the ids that raters have elsewhere, not only pseudonyms.")
    ] = False,
    db: DatabaseUrl = None,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Pack a study with its plan, ratings, report, sheets and versions."""
    from panelist.core.errors import PanelistError
    from panelist.core.tables.columns import parse_columns
    from panelist.reports.archive.write_archive import write_archive

    if ratings is not None and db is not None:
        raise PanelistError("--ratings and --db both say where the ratings are; give one of them.")
    found = write_archive(
        study,
        output,
        ratings=ratings,
        db=db,
        ids=ids,
        columns=parse_columns(columns) or None,
        on_progress=lambda now: tell(f"Archiving: {now.what}"),
    )
    if ids:
        tell("Note: this archive says who the raters are. Keep it apart from what you share.")
    show(found, json)
    if json:
        return
    say()
    say(f"Written: {found.path}, {len(found.files):,} files. SHA-256: {found.sha256}")
    say(f"Check it with: panelist verify {found.path}")


def verify(
    archive: Annotated[Path, argument("ZIP", "An archive by panelist archive.")],
    analysis: Annotated[
        bool, typer.Option("--analysis/--no-analysis", help="Compute the analysis again and compare.")
    ] = True,
    tolerance: Annotated[
        float,
        option(
            "SHARE",
            "The largest relative difference allowed; other processors may round differently.",
            min=0.0,
            max=1.0,
        ),
    ] = 0.0,
    limit: Annotated[float, option("SECONDS", "After how many seconds to give up.", min=1.0)] = 1800.0,
    json: Json = False,
) -> None:
    """Verify an archive: checksums, hashes, no ids, the same analysis."""
    from panelist.reports.archive.verify import verify_archive

    found = verify_archive(
        archive,
        analysis=analysis,
        tolerance=tolerance,
        limit=limit,
        on_progress=lambda now: tell(f"Verifying: {now.what}"),
    )
    show(found, json)
    if not found.holds:
        raise typer.Exit(THE_ANSWER_IS_NO)
