"""``panelist size``: the smallest study that finds a difference, and what others would cost."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from panelist.cli import power_options as given
from panelist.cli.inputs import was_given
from panelist.cli.options import Columns, Json
from panelist.cli.progress import show_power_progress
from panelist.cli.study_power import say_systems, take_analysis
from panelist.cli.terminal import show, tell

if TYPE_CHECKING:
    from panelist.power.cost import Tariff
    from panelist.study.study import Study

NO = 1


def size(
    context: typer.Context,
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
    loaded = None if study is None else _load_study(study)
    options["tariff"] = _find_tariff(loaded, pay_per_hour, minutes_per_rating)
    said: tuple[str, ...] = ()
    if loaded is not None:
        taken, said = _take_study(context, loaded, criterion)
        if "cuts" in taken:
            options["truth"] = replace(options["truth"], cuts=taken.pop("cuts"))
        options |= taken
    from panelist.power.size import find_sample_size

    with show_power_progress() as report:
        found = find_sample_size(_find_effect(effect, truths[0]), power, on_progress=report, **options)
    found = replace(found, notes=(*said, *found.notes))
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


def _load_study(study: Path) -> "Study":
    """Return the study."""
    from panelist.study.load import load_study

    return load_study(study)


def _take_study(
    context: typer.Context, study: "Study", criterion: str | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return systems, scale, pages a rater and analysis of a study where no option gives them."""
    from panelist.power.plan_layouts import check_sizable, find_cuts

    check_sizable(study, criterion)
    if criterion is None:  # the first that is rated
        criterion = next(one.name for one in study.criteria if not one.scale.comparative)
    taken, declared = take_analysis(context, study, criterion)
    if not any(was_given(context, name) for name in ("points", "thresholds", "pilot")):
        taken["cuts"] = find_cuts(study, criterion)
    pages = study.file.design.trials_per_rater
    if pages is not None and not was_given(context, "outputs_per_rater"):
        taken["outputs_per_rater"] = pages
    if was_given(context, "systems") or was_given(context, "pilot"):
        return taken, (declared,)
    taken["systems"] = len(study.systems)
    return taken, (say_systems(study, criterion), declared)


def _find_tariff(
    study: "Study | None", pay_per_hour: float | None, minutes_per_rating: float | None
) -> "Tariff | None":
    """Return pay and minutes: those of the study, unless they are given; none where it says no pay."""
    from panelist.power.cost import make_tariff

    pay = None if study is None else study.file.pay
    return make_tariff(pay, pay_per_hour, minutes_per_rating)
