"""``panelist verify``: does an archive hold what it says?"""

from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.options import Json, argument, option
from panelist.cli.terminal import show, tell

THE_ANSWER_IS_NO = 1


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
