"""``panelist size``: the smallest study that finds a difference, and what others would cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panelist.cli.options import Columns, Json
from panelist.cli.power_options import (
    Adjust,
    Alpha,
    Criterion,
    Engine,
    Figure,
    ItemSd,
    Pattern,
    Pilot,
    Points,
    RaterSd,
    Seed,
    Systems,
    Thresholds,
    Uncertain,
    Workers,
    make_truths,
    parse_wholes,
    show_power_progress,
)
from panelist.cli.terminal import show, tell

if TYPE_CHECKING:
    from panelist.power.cost import Tariff

NO = 1

Effect = Annotated[
    float | None,
    typer.Option(
        metavar="D", help="The difference worth finding, in threshold distances.", show_default=False
    ),
]
Power = Annotated[float, typer.Option("--power", metavar="SHARE", help="The target power.")]
Preset = Annotated[str, typer.Option(metavar="NAME", help="How much raters and items differ.")]
Model = Annotated[str, typer.Option(metavar="NAME", help="The analysis: clmm, lmm, …")]
RatingsPerItem = Annotated[
    str, typer.Option(metavar="K,…", help="Numbers of ratings of each output to look at.")
]
Loads = Annotated[
    str | None,
    typer.Option(
        "--outputs-per-rater",
        metavar="N,…",
        help="Numbers of outputs a rater sees to look at; 25 without it.",
        show_default=False,
    ),
]
Study = Annotated[
    Path | None,
    typer.Option(metavar="STUDY", help="Take pay and minutes from a study file.", show_default=False),
]
PayPerHour = Annotated[
    float | None, typer.Option(metavar="AMOUNT", help="What an hour is paid.", show_default=False)
]
MinutesPerRating = Annotated[
    float | None, typer.Option(metavar="MINUTES", help="How long a rating takes.", show_default=False)
]
Budget = Annotated[
    float | None, typer.Option(metavar="AMOUNT", help="What it may cost in all.", show_default=False)
]
MaxItems = Annotated[int, typer.Option(metavar="N", help="The most items there can be.")]
MaxRaters = Annotated[
    int | None, typer.Option(metavar="N", help="The most raters there can be.", show_default=False)
]
Goal = Annotated[
    str | None,
    typer.Option(
        "--smallest",
        metavar="cost|ratings|raters|items",
        help="What shall be small; cost where a wage is known, else ratings.",
        show_default=False,
    ),
]
Sims = Annotated[int, typer.Option(metavar="N", help="Data sets that confirm the answer.")]


def size(
    effect: Effect = None,
    power: Power = 0.8,
    preset: Preset = "general",
    model: Model = "clmm",
    ratings_per_item: RatingsPerItem = "2,3,5,10",
    outputs_per_rater: Loads = None,
    systems: Systems = 2,
    pattern: Pattern = "steps",
    points: Points = None,
    thresholds: Thresholds = None,
    rater_sd: RaterSd = None,
    item_sd: ItemSd = None,
    pilot: Pilot = None,
    uncertain: Uncertain = False,
    criterion: Criterion = None,
    alpha: Alpha = 0.05,
    adjust: Adjust = "tukey",
    study: Study = None,
    pay_per_hour: PayPerHour = None,
    minutes_per_rating: MinutesPerRating = None,
    budget: Budget = None,
    max_items: MaxItems = 2000,
    max_raters: MaxRaters = None,
    smallest: Goal = None,
    sims: Sims = 400,
    seed: Seed = 1,
    engine: Engine = "local",
    workers: Workers = None,
    figure: Figure = None,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Find the smallest study for a target power, and its cost."""
    if figure is not None:
        from panelist.reports.figures import check_figure_path

        check_figure_path(figure)
    truths, names = make_truths(
        preset, points, thresholds, rater_sd, item_sd, pilot, uncertain, criterion, columns
    )
    options: dict[str, Any] = {"truth": truths[0], "model": model, "pattern": pattern, "alpha": alpha}
    options |= {"systems": len(names) or systems, "adjust": adjust, "budget": budget, "goal": smallest}
    options |= {"max_items": max_items, "max_raters": max_raters, "sims": sims, "seed": seed}
    options |= {"engine": engine, "workers": workers}
    options["ratings_per_item"] = parse_wholes(ratings_per_item, "--ratings-per-item")
    if outputs_per_rater is not None:
        options["outputs_per_rater"] = parse_wholes(outputs_per_rater, "--outputs-per-rater")
    options["tariff"] = _find_tariff(study, pay_per_hour, minutes_per_rating)
    from panelist.power.size import find_sample_size

    with show_power_progress() as report:
        found = find_sample_size(_find_effect(effect, truths[0]), power, on_progress=report, **options)
    if figure is not None:
        from panelist.reports.power_figures import draw_sizes

        draw_sizes(found, figure)
        tell(f"Figure written to {figure}.")
    show(found, json)
    if found.best is None:
        raise typer.Exit(NO)


def _find_effect(effect: float | None, truth: Any) -> float:
    """Return the effect asked for, or the one that a pilot of two systems found."""
    from panelist.core.errors import PanelistError

    if effect is not None:
        return effect
    if truth.effects is not None and len(truth.effects) == 2:
        return float(truth.effects[1] / truth.unit)
    raise PanelistError("Say how large a difference shall be found: --effect 0.5 (threshold distances).")


def _find_tariff(
    study: Path | None, pay_per_hour: float | None, minutes_per_rating: float | None
) -> "Tariff | None":
    from panelist.power.cost import make_tariff

    if study is None:
        return make_tariff(None, pay_per_hour, minutes_per_rating)
    from panelist.study.load import load_study

    return make_tariff(load_study(study).file.pay, pay_per_hour, minutes_per_rating)
