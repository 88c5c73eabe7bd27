"""``panelist fit``: one model."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from panelist.cli import options as given
from panelist.cli.inputs import StudyRatings, open_planned, refuse_options
from panelist.cli.terminal import open_ratings, show_planned, show_progress

if TYPE_CHECKING:
    from panelist.analysis.planned import Planned
    from panelist.core.display.result import Result


DECIDED = ("model", "link", "test", "prior", "confidence", "where", "drop")
"""Options that a study decides,"""
OF_FORMULAS = ("threshold", "method", "quadrature", "family", "scale", "nominal")
"""and those that go with a formula given by the user."""


Test = Annotated[
    str,
    given.option(
        "t|z|lrt",
        "How an ordinal model is tested: t allows for few raters and items, z does not, lrt is by likelihood "
        "ratios.",
    ),
]


def fit(
    context: typer.Context,
    source: given.RatingsOrStudy,
    ratings: StudyRatings = None,
    formula: Annotated[
        str | None,
        given.option(
            "FORMULA",
            "As in lme4: 'rating ~ system + (system | rater) + (1 | item)'. Default for a study: the "
            "model that compare and report use for the criterion.",
            "--formula",
            "-f",
        ),
    ] = None,
    model: given.Model = "auto",
    link: given.Link = "probit",
    threshold: Annotated[
        str, given.option("flexible|symmetric|equidistant|mirrored", "The thresholds of an ordinal model.")
    ] = "flexible",
    method: Annotated[str, given.option("REML|ML", "How a linear mixed model is estimated.")] = "REML",
    quadrature: Annotated[
        int,
        given.option(
            "N",
            "Points of adaptive quadrature, at least, for a clmm with one scalar random effect or two "
            "nested ones; 1 is Laplace.",
        ),
    ] = 1,
    test: Test = "t",
    prior: given.Prior = None,
    family: given.Family = "cumulative",
    scale: Annotated[
        str | None,
        given.option("'~ system'", "Let the residual spread differ; '~ (1 | rater)': at random over raters."),
    ] = None,
    nominal: Annotated[str | None, given.option("'~ system'", "Let the thresholds differ.")] = None,
    criterion: Annotated[str | None, given.option("NAME", "Use the ratings of this criterion.")] = None,
    intervals: Annotated[
        str | None,
        given.option(
            "wald|profile|bootstrap",
            "Add intervals of the parameters; the bootstrap takes 500 simulated sets.",
        ),
    ] = None,
    confidence: given.Confidence = 0.95,
    seed: Annotated[int, given.option("N", "The seed of the bootstrap.")] = 0,
    where: given.Where = None,
    columns: given.Columns = None,
    drop: given.Drop = None,
    json: given.Json = False,
) -> None:
    """Fit one model, ordinal or linear, mixed or not."""
    planned = open_planned(source, ratings, columns)
    if planned is not None:
        refuse_options(context, (*DECIDED, *(OF_FORMULAS if formula is None else ())))
        model, link, confidence = planned.spec.model, planned.spec.link, planned.spec.confidence
        prior = planned.spec.prior
        family = planned.spec.family if family == "cumulative" else family
        criterion = _choose(planned, criterion)
    if planned is not None and formula is None:
        fitted = _fit_planned(planned, criterion)
    else:
        table = open_ratings(source, columns, where, drop) if planned is None else planned.ratings
        if criterion is not None and (planned is None or table.criteria):
            table = table.only(criterion)
        from panelist.models.fit import fit as fit_model

        how: dict[str, Any] = {"threshold": threshold, "method": method.upper(), "quadrature": quadrature}
        how |= {"family": family, "scale": scale, "nominal": nominal, "prior": prior}
        fitted = fit_model(_ask_formula(formula), table, model=model, link=link, test=test, **how)
    results: dict[str, Result] = {"fit": fitted}
    if intervals is not None:
        from panelist.models.inference.intervals import find_intervals

        with show_progress("Bootstrap") as progress:
            results["intervals"] = find_intervals(
                fitted, intervals, confidence, seed=seed, on_progress=progress
            )
    show_planned(planned, results, json)


def _ask_formula(formula: str | None) -> str:
    from panelist.core.errors import PanelistError

    if formula is None:
        raise PanelistError(
            "Say which model: --formula 'rating ~ system + (1 | rater) + (1 | item)'. A study needs none."
        )
    return formula


def _choose(planned: "Planned", criterion: str | None) -> str:
    """Return the criterion asked for, or the only one."""
    from panelist.core.errors import PanelistError

    if criterion is None and len(planned.criteria) > 1:
        names = ", ".join(planned.criteria)
        raise PanelistError(
            f"The study has several criteria, and one model is for one of them. Add --criterion: {names}."
        )
    return planned.choose(None if criterion is None else [criterion])[0]


def _fit_planned(planned: "Planned", criterion: str | None) -> Any:
    """Return the fit by which the systems are compared on a criterion."""
    from panelist.analysis.planned import compare_planned
    from panelist.core.errors import PanelistError

    fitted = compare_planned(planned, [str(criterion)]).criteria[0].fit
    if fitted is None or not hasattr(fitted, "thresholds"):
        raise PanelistError(
            f"{criterion!r} holds choices between outputs, which have a model of their own: panelist compare."
        )
    return fitted
