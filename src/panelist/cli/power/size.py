"""``panelist size``: the smallest study that finds a difference, and what others would cost."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from panelist.cli.inputs import was_given
from panelist.cli.options import Columns, Json
from panelist.cli.power import options as given
from panelist.cli.power.from_study import say_taken, say_turns, take_analysis
from panelist.cli.power.power import check_files
from panelist.cli.power.progress import show_power_progress
from panelist.cli.terminal import show, tell

if TYPE_CHECKING:
    from panelist.analysis.spec import AnalysisSpec
    from panelist.power.design_cost import Tariff
    from panelist.power.judged import PlannedJudge
    from panelist.power.run import Run
    from panelist.power.search.sample_size import SampleSize
    from panelist.power.search.search_space import SearchSpace, Target
    from panelist.power.truth.base import Truth
    from panelist.study.study import Study

NO = 1
COMPARISONS = (1, 2, 3, 5)  # ratings of each pair, tuple or page to consider


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
    system_scale: given.SystemScale = None,
    rater_scale: given.RaterScale = None,
    category_effects: given.CategoryEffects = None,
    pilot: given.Pilot = None,
    uncertain: given.Uncertain = False,
    criterion: given.Criterion = None,
    alpha: given.Alpha = 0.05,
    adjust: given.Adjust = "tukey",
    claim: given.Claim = None,
    margin: given.ClaimedMargin = None,
    study: given.PayStudy = None,
    pay_per_hour: given.PayPerHour = None,
    minutes_per_rating: given.MinutesPerRating = None,
    budget: given.Budget = None,
    max_items: given.MaxItems = 2000,
    max_raters: given.MaxRaters = None,
    smallest: given.Goal = None,
    judge_r: given.JudgeR = None,
    judge_items: given.JudgeItems = None,
    judge: given.JudgeOfPilot = None,
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
    planned, of_pilot = given.plan_judge(context)
    with show_power_progress() as report:  # from here on: reading and loading take time too
        from panelist.analysis.spec import AnalysisSpec
        from panelist.power.run import Run
        from panelist.power.search.search_space import Target
        from panelist.power.search.size import search_claim, search_sizes

        truth = given.make_truths(context)[0]
        loaded = None if study is None else _load_study(study)
        space = _make_space(context, _find_tariff(loaded, pay_per_hour, minutes_per_rating))
        spec = AnalysisSpec(model=model, adjust=adjust, confidence=1 - alpha)
        claimed = bool(claim or (loaded is not None and loaded.file.analysis.claim))
        target = Target(
            _find_effect(effect, truth, claimed), power, len(truth.systems) or systems, pattern, claimed
        )
        run = Run(sims, None, seed, engine, workers, journal, report)
        said: tuple[str, ...] = ()
        if loaded is not None:
            truth, target, space, spec, said = _take_study(
                context, loaded, criterion, truth, target, space, spec
            )
        spec = given.claim_by(spec, claim, margin)
        if planned is not None:
            given.refuse_judged_claim(spec)
        found = (search_claim if claimed else search_sizes)(target, truth, space, spec, run)
        if planned is not None:
            found = _add_judge(found, target, truth, planned, spec, run)
    found = replace(found, notes=(*of_pilot, *said, *found.notes))
    if figure is not None:
        _draw(found, figure)
    show(found, json)
    if found.best is None:
        raise typer.Exit(NO)


def _make_space(context: typer.Context, tariff: "Tariff | None") -> "SearchSpace":
    """Return where the options say to look."""
    from panelist.power.search.search_space import SearchSpace

    asked = context.params
    loads = asked["outputs_per_rater"]
    return SearchSpace(
        tuple(given.parse_wholes(asked["ratings_per_item"], "--ratings-per-item")),
        (None,) if loads is None else tuple(given.parse_wholes(loads, "--outputs-per-rater")),
        asked["max_items"],
        asked["max_raters"],
        tariff,
        asked["budget"],
        asked["smallest"],
    )


def _draw(found: "SampleSize", figure: Path) -> None:
    from panelist.reports.figures.power_figures import draw_sizes

    draw_sizes(found, figure)
    tell(f"Figure written to {figure}.")


def _add_judge(
    found: "SampleSize",
    target: "Target",
    truth: "Truth",
    judge: "PlannedJudge",
    spec: "AnalysisSpec",
    run: "Run",
) -> "SampleSize":
    """Return the sizes with what a judge saves of the smallest design; nothing where there is none."""
    from panelist.power.search.judged_size import search_judged

    if found.best is None:
        return found
    saved, powers = search_judged(found.best, target, truth, judge, spec, run)
    return replace(found, judge=saved, judge_power=powers)


def _find_effect(effect: float | None, truth: "Truth", claimed: bool) -> float:
    """Return the effect asked for, or the one that a pilot of two systems found; a claim has its own."""
    from panelist.core.errors import PanelistError

    if claimed:
        if effect is not None:
            raise PanelistError(
                "--effect is the difference to find, and a claim is to show that there is none to speak of: "
                "leave it out. Sizes are for no true difference and for a third of --margin."
            )
        return 0.0
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
    from panelist.power.layouts.from_plan import find_cuts

    asked = criterion
    if criterion is None:  # the first that is rated, as sizes are in ratings; else the first
        rated = [one.name for one in study.criteria if not one.scale.comparative]
        criterion = (rated or [study.criteria[0].name])[0]
    compared = study.criterion(criterion).scale.comparative
    spec, declared = take_analysis(context, study, criterion, spec)
    if not any(was_given(context, name) for name in ("points", "thresholds", "pilot")):
        truth = replace(truth, cuts=find_cuts(study, criterion))
    pages = study.file.design.trials_per_rater
    if pages is not None and not was_given(context, "outputs_per_rater"):
        space = replace(space, outputs_per_rater=(pages,))
    shown: tuple[str, ...] = ()
    if compared:
        space, shown = _take_pages(context, study, criterion, space)
    elif study.outputs.in_parts:
        space, shown = _take_turns(study, space)
    own = compared or not (was_given(context, "systems") or was_given(context, "pilot"))
    if own:
        target = replace(target, systems=len(study.systems))
    said = (say_taken(study, criterion, systems=own, chosen=asked is not None), declared)
    return truth, target, space, spec, (*said, *shown)


def _take_turns(study: "Study", space: "SearchSpace") -> "tuple[SearchSpace, tuple[str, ...]]":
    """Return the space with the turns of a dialogue that are rated each, and what is said about them."""
    texts = study.outputs.frame["output"].tolist()
    turns = max(1, round(sum(study.outputs.parts(text) for text in texts) / len(texts)))
    return replace(space, turns=turns), say_turns(turns)


def _take_pages(
    context: typer.Context, study: "Study", criterion: str, space: "SearchSpace"
) -> "tuple[SearchSpace, tuple[str, ...]]":
    """Return the space with the pages on which a study compares outputs, and what is said about them."""
    from panelist.core.errors import PanelistError
    from panelist.power.layouts.pages import read_pages

    if was_given(context, "systems"):
        raise PanelistError(
            f"--systems and the comparisons of {criterion!r} do not go together: the study's own systems are "
            "compared, in its own design. Leave --systems out."
        )
    pages = read_pages(study, criterion)
    each = space.ratings_per_item if was_given(context, "ratings_per_item") else COMPARISONS
    said = [f"Outputs are compared as in the study: {pages.design.title}, {pages.shown} on a page."]
    if study.there is not None:
        said.append("The study lacks some outputs; sizes are for items that have them all.")
    return replace(space, pages=pages, ratings_per_item=each), tuple(said)


def _find_tariff(
    study: "Study | None", pay_per_hour: float | None, minutes_per_rating: float | None
) -> "Tariff | None":
    """Return pay and minutes: those of the study, unless they are given; none where it states no pay."""
    from panelist.power.design_cost import make_tariff

    pay = None if study is None else study.file.pay
    return make_tariff(pay, pay_per_hour, minutes_per_rating)
