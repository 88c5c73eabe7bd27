"""``panelist judges worth``: what a judge is worth beside people."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.inputs import StudyRatings, find_ends, open_planned, refuse_options, split_names
from panelist.cli.options import (
    Columns,
    Confidence,
    Drop,
    Json,
    JudgeColumns,
    JudgeScale,
    RatingsOrStudy,
    ScalePoints,
    Where,
)
from panelist.cli.terminal import open_ratings, show_planned

Judges = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="JUDGES…",
        help="Judges' scores: judge, item, system, criterion, rating; for pairs system_a, system_b, choice; "
        "a column per judge; or .seg.score files.",
        show_default=False,
    ),
]
DECIDED = ("where", "drop")
"""Options that a study decides."""


def judges_worth(
    context: typer.Context,
    source: RatingsOrStudy,
    judges: Judges = None,
    ratings: StudyRatings = None,
    judge_columns: JudgeColumns = None,
    criterion: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this criterion; may be given more than once. Default: all.",
            show_default=False,
        ),
    ] = None,
    interval: Annotated[
        str,
        typer.Option(
            metavar="items|raters|both", help="What intervals are about: other items, raters, or both."
        ),
    ] = "items",
    epsilon: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Of the alt-test, chosen beforehand: what a person's cost is worth (.2 experts, .15 trained "
            ".1 crowd).",
        ),
    ] = 0.1,
    outputs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The outputs (item, system, output or words), for the bias by length.",
            show_default=False,
        ),
    ] = None,
    families: Annotated[
        str | None,
        typer.Option(
            metavar="SYSTEM=FAMILY,…",
            help="Which family of models a system is of; the judges table names a judge's own in the column "
            "family. A study states it under systems.",
            show_default=False,
        ),
    ] = None,
    judge_scale: JudgeScale = "auto",
    scale: ScalePoints = None,
    confidence: Confidence = 0.95,
    where: Where = None,
    columns: Columns = None,
    drop: Drop = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print every table of every judge, however many there are.")
    ] = False,
    json: Json = False,
) -> None:
    """Compare the scores of judges (models, metrics) with people's ratings."""
    planned = open_planned(source, ratings, columns)
    if planned is not None:
        refuse_options(context, DECIDED)
    table = planned.ratings if planned is not None else open_ratings(source, columns, where, drop)
    from panelist.core.tables.columns import parse_columns
    from panelist.judges.scale import find_ends_of
    from panelist.judges.worth.measure import measure_judges

    given = {system: family for system, family in parse_columns(families).items() if family}
    found = measure_judges(
        table,
        list(judges or []) or None,
        judge_columns=split_names(judge_columns),
        criteria=criterion,
        confidence=confidence,
        interval=interval,
        epsilon=epsilon,
        outputs=outputs,
        judge_scale=judge_scale,
        points=find_ends(scale) or (find_ends_of(planned.study) if planned is not None else None),
        families=given or (planned.study.families if planned is not None else None),
    )
    show_planned(planned, {"worth": replace(found, detailed=details)}, json)
