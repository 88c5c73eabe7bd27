"""``panelist size``: the smallest study that finds a difference, and what others would cost."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from panelist.cli.inputs import was_given
from panelist.cli.options import Columns, Json
from panelist.cli.power import options as given
from panelist.cli.power.from_study import say_taken, take_analysis
from panelist.cli.power.power import check_files
from panelist.cli.power.progress import show_power_progress
from panelist.cli.terminal import show, tell

if TYPE_CHECKING:
    from panelist.analysis.spec import AnalysisSpec
    from panelist.power.design_cost import Tariff
    from panelist.power.judged import JudgedDesign, PlannedJudge
    from panelist.power.search.sample_size import SampleSize
    from panelist.power.search.search_space import SearchSpace, Target
    from panelist.power.truth.base import Truth
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
    judge_r: given.JudgeR = None,
    judge_items: given.JudgeItems = None,
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
    check_files(figure, None)
    judge = given.plan_judge(judge_r, judge_items)
    with show_power_progress() as report:  # from here on: reading and loading take time too
        from panelist.analysis.spec import AnalysisSpec
        from panelist.power.run import Run
        from panelist.power.search.search_space import SearchSpace, Target
        from panelist.power.search.size import search_sizes

        truth = given.make_truths(
            preset, points, thresholds, rater_sd, item_sd, pilot, uncertain, criterion, columns
        )[0]
        loads: list[int] | list[None] = [None]
        if outputs_per_rater is not None:
            loads = given.parse_wholes(outputs_per_rater, "--outputs-per-rater")
        loaded = None if study is None else _load_study(study)
        space = SearchSpace(
            tuple(given.parse_wholes(ratings_per_item, "--ratings-per-item")),
            tuple(loads),
            max_items,
            max_raters,
            _find_tariff(loaded, pay_per_hour, minutes_per_rating),
            budget,
            smallest,
        )
        target = Target(_find_effect(effect, truth), power, len(truth.systems) or systems, pattern)
        spec = AnalysisSpec(model=model, adjust=adjust, confidence=1 - alpha)
        run = Run(sims, None, seed, engine, workers, journal, report)
        said: tuple[str, ...] = ()
        if loaded is not None:
            truth, target, space, spec, said = _take_study(
                context, loaded, criterion, truth, target, space, spec
            )
        found = search_sizes(target, truth, space, spec, run)
    saved = () if judge is None else _judge_best(found, truth, target.systems, judge)
    found = replace(found, notes=(*said, *found.notes), judge=saved)
    _draw(found, figure)
    show(found, json)
    if found.best is None:
        raise typer.Exit(NO)


def _draw(found: "SampleSize", figure: Path | None) -> None:
    """Draw the trade-off, where a figure was asked for."""
    if figure is None:
        return
    from panelist.reports.figures.power_figures import draw_sizes

    draw_sizes(found, figure)
    tell(f"Figure written to {figure}.")


def _judge_best(
    found: "SampleSize", truth: "Truth", systems: int, judge: "PlannedJudge"
) -> "tuple[JudgedDesign, ...]":
    """Return what a judge saves of the smallest design; nothing where there is none."""
    from panelist.power.judged import replace_items

    best = found.best
    return () if best is None else replace_items(truth, systems, best.items, best.ratings_per_item, judge)


def _find_effect(effect: float | None, truth: "Truth") -> float:
    """Return the effect asked for, or the one that a pilot of two systems found."""
    from panelist.core.errors import PanelistError

    if effect is not None:
        return effect
    if truth.effects is not None and len(truth.effects) == 2:
        return float(truth.effects[1] / truth.unit)
    raise PanelistError(
        "Say how large a difference the study should find: --effect 0.5 (threshold distances)."
    )


def _load_study(study: Path) -> "Study":
    """Return the study."""
    from panelist.study.reading.load import load_study

    return load_study(study)


def _take_study(
    context: typer.Context,
    study: "Study",
    criterion: str | None,
    truth: "Truth",
    target: "Target",
    space: "SearchSpace",
    spec: "AnalysisSpec",
) -> "tuple[Truth, Target, SearchSpace, AnalysisSpec, tuple[str, ...]]":
    """Return the systems, scale, pages per rater and analysis of a study unless options give them."""
    from panelist.power.layouts.from_plan import check_sizable, find_cuts

    check_sizable(study, criterion)
    asked = criterion
    if criterion is None:  # the first that is rated
        criterion = next(one.name for one in study.criteria if not one.scale.comparative)
    spec, declared = take_analysis(context, study, criterion, spec)
    if not any(was_given(context, name) for name in ("points", "thresholds", "pilot")):
        truth = replace(truth, cuts=find_cuts(study, criterion))
    pages = study.file.design.trials_per_rater
    if pages is not None and not was_given(context, "outputs_per_rater"):
        space = replace(space, outputs_per_rater=(pages,))
    own = not (was_given(context, "systems") or was_given(context, "pilot"))
    if own:
        target = replace(target, systems=len(study.systems))
    said = (say_taken(study, criterion, systems=own, chosen=asked is not None), declared)
    return truth, target, space, spec, said


def _find_tariff(
    study: "Study | None", pay_per_hour: float | None, minutes_per_rating: float | None
) -> "Tariff | None":
    """Return pay and minutes: those of the study, unless they are given; none where it states no pay."""
    from panelist.power.design_cost import make_tariff

    pay = None if study is None else study.file.pay
    return make_tariff(pay, pay_per_hour, minutes_per_rating)
