"""``panelist size``: the smallest study that finds a difference, and what others would cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from panelist.cli import power_options as given
from panelist.cli.options import Columns, Json
from panelist.cli.terminal import show, tell

if TYPE_CHECKING:
    from panelist.power.cost import Tariff

NO = 1


def size(
    effect: given.Effect = None,
    power: given.TargetPower = 0.8,
    preset: given.OnePreset = "general",
    model: given.Model = "clmm",
    ratings_per_item: given.RatingsToTry = "2,3,5,10",
    outputs_per_rater: given.LoadsToTry = None,
    systems: given.Systems = 2,
    pattern: given.Pattern = "steps",
    points: given.Points = None,
    thresholds: given.Thresholds = None,
    rater_sd: given.RaterSd = None,
    item_sd: given.ItemSd = None,
    pilot: given.Pilot = None,
    uncertain: given.Uncertain = False,
    criterion: given.Criterion = None,
    alpha: given.Alpha = 0.05,
    adjust: given.Adjust = "tukey",
    study: given.PayStudy = None,
    pay_per_hour: given.PayPerHour = None,
    minutes_per_rating: given.MinutesPerRating = None,
    budget: given.Budget = None,
    max_items: given.MaxItems = 2000,
    max_raters: given.MaxRaters = None,
    smallest: given.Goal = None,
    sims: given.ConfirmSims = 400,
    seed: given.Seed = 1,
    engine: given.Engine = "local",
    workers: given.Workers = None,
    journal: given.JournalFile = None,
    figure: given.Figure = None,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Find the smallest study for a target power, and its cost."""
    if figure is not None:
        from panelist.reports.figures import check_figure_path

        check_figure_path(figure)
    truths, names = given.make_truths(
        preset, points, thresholds, rater_sd, item_sd, pilot, uncertain, criterion, columns
    )
    options: dict[str, Any] = {"truth": truths[0], "model": model, "pattern": pattern, "alpha": alpha}
    options |= {"systems": len(names) or systems, "adjust": adjust, "budget": budget, "goal": smallest}
    options |= {"max_items": max_items, "max_raters": max_raters, "sims": sims, "seed": seed}
    options |= {"engine": engine, "workers": workers, "journal": journal}
    options["ratings_per_item"] = given.parse_wholes(ratings_per_item, "--ratings-per-item")
    if outputs_per_rater is not None:
        options["outputs_per_rater"] = given.parse_wholes(outputs_per_rater, "--outputs-per-rater")
    options["tariff"] = _find_tariff(study, criterion, pay_per_hour, minutes_per_rating)
    from panelist.power.size import find_sample_size

    with given.show_power_progress() as report:
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
    study: Path | None, criterion: str | None, pay_per_hour: float | None, minutes_per_rating: float | None
) -> "Tariff | None":
    from panelist.power.cost import make_tariff

    if study is None:
        return make_tariff(None, pay_per_hour, minutes_per_rating)
    from panelist.power.plan_layouts import check_sizable
    from panelist.study.load import load_study

    known = load_study(study)
    check_sizable(known, criterion)
    return make_tariff(known.file.pay, pay_per_hour, minutes_per_rating)
