"""``panelist fit``: one model."""

from typing import TYPE_CHECKING, Annotated

import typer

from panelist.cli.options import Columns, Df, Drop, Json, Link, Model, RatingsFile, Where
from panelist.cli.terminal import open_ratings, show_all, show_progress

if TYPE_CHECKING:
    from panelist.core.result import Result


def fit(
    ratings: RatingsFile,
    formula: Annotated[
        str,
        typer.Option(
            "--formula",
            "-f",
            metavar="FORMULA",
            help="As in lme4: 'rating ~ system + (system | rater) + (1 | item)'.",
        ),
    ],
    model: Model = "auto",
    link: Link = "probit",
    threshold: Annotated[
        str,
        typer.Option(metavar="flexible|symmetric|equidistant", help="The thresholds of an ordinal model."),
    ] = "flexible",
    method: Annotated[
        str, typer.Option(metavar="REML|ML", help="How a linear mixed model is estimated.")
    ] = "REML",
    quadrature: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Points of adaptive quadrature, at least, for a clmm with one scalar random effect or two "
            "nested ones; 1 is Laplace.",
        ),
    ] = 1,
    df: Df = "t",
    criterion: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Use the ratings of this criterion.", show_default=False),
    ] = None,
    intervals: Annotated[
        str | None,
        typer.Option(
            metavar="wald|profile|bootstrap",
            help="Add intervals of the parameters; the bootstrap takes 500 simulated sets.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[float, typer.Option(metavar="SHARE", help="The level of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(metavar="N", help="The seed of the bootstrap.")] = 0,
    where: Where = None,
    columns: Columns = None,
    drop: Drop = None,
    json: Json = False,
) -> None:
    """Fit one model, ordinal or linear, mixed or not."""
    table = open_ratings(ratings, columns, where, drop)
    if criterion is not None:
        table = table.only(criterion)
    from panelist.models.fit import fit as fit_model

    fitted = fit_model(
        formula,
        table,
        model=model,
        link=link,
        threshold=threshold,
        method=method.upper(),
        quadrature=quadrature,
        df=df,
    )
    results: dict[str, Result] = {"fit": fitted}
    if intervals is not None:
        from panelist.models.inference.intervals import find_intervals

        with show_progress("Bootstrap") as progress:
            results["intervals"] = find_intervals(fitted, intervals, level, seed=seed, progress=progress)
    show_all(results, json)
