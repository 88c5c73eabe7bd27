"""``panelist power`` and ``power paper``: how often a study of this size would find the difference."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from panelist.cli.inputs import was_given
from panelist.cli.options import Columns, Json
from panelist.cli.power import options as given
from panelist.cli.power.from_study import name_criterion, say_taken, say_turns, take_analysis
from panelist.cli.power.progress import show_power_progress
from panelist.cli.terminal import show, tell

if TYPE_CHECKING:
    from panelist.analysis.spec import AnalysisSpec
    from panelist.power.cells import Cell
    from panelist.power.curve import PowerCurve
    from panelist.power.judged import PlannedJudge
    from panelist.power.layouts.base import Layout
    from panelist.power.run import Run
    from panelist.power.truth.base import Truth
    from panelist.study.study import Study


def power(
    context: typer.Context,
    preset: given.Preset = "general",
    items: given.Items = "50,100",
    ratings_per_item: given.RatingsPerItem = "3",
    effects: given.Effects = None,
    sims: given.Sims = None,
    models: given.Models = None,
    seed: given.Seed = 1,
    raters: given.Raters = None,
    outputs_per_rater: given.OutputsPerRater = None,
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
    study: given.StudyPlan = None,
    criterion: given.Criterion = None,
    as_released: given.AsReleased = False,
    alpha: given.Alpha = 0.05,
    adjust: given.Adjust = "tukey",
    formula: given.Formula = "maximal",
    test: given.Test = "t",
    claim: given.Claim = None,
    margin: given.ClaimedMargin = None,
    looks: given.Looks = None,
    spending: given.Spending = "obrien-fleming",
    precision: given.Precision = None,
    engine: given.Engine = "local",
    workers: given.Workers = None,
    journal: given.JournalFile = None,
    judge_r: given.JudgeR = None,
    judge_items: given.JudgeItems = None,
    judge: given.JudgeOfPilot = None,
    figure: given.Figure = None,
    table: given.TableFile = None,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Simulate how often a study of this size finds the difference."""
    check_files(figure, table)
    planned, of_pilot = given.plan_judge(context)
    with show_power_progress() as report:  # from here on: reading and loading take time too
        from panelist.analysis.spec import AnalysisSpec
        from panelist.power.curve import make_cells
        from panelist.power.run import Run

        spec = AnalysisSpec(
            model=models or "", formula=formula, adjust=adjust, confidence=1 - alpha, test=test
        )
        run = Run(sims, precision, seed, engine, workers, journal, report)
        truths = given.make_truths(context)
        said: tuple[str, ...] = ()
        if study is not None:
            told = points or thresholds or pilot
            truths, layouts, spec, said = _take_study(context, study, criterion, truths, told, spec)
        else:
            layouts = _lay_out(context, len(truths[0].systems) or systems)
            spec = spec.as_released() if as_released else spec
        spec = given.claim_by(spec, claim, margin)
        asked = None if effects is None else given.parse_numbers(effects, "--effects")
        names = parse_models(spec.model or None, truths[0], layouts[0])
        cells = make_cells(truths, layouts, asked, pattern, spec)
        if looks is not None:
            _show_looks(context, cells, names, replace(spec, model="auto"), run)
            return
        found = _simulate(cells, names, replace(spec, model="auto"), run, planned, asked is not None)
    found = replace(found, notes=(*of_pilot, *said, *found.notes))
    write_files(found, figure, table)
    show(found, json)


def _simulate(
    cells: "list[Cell]",
    names: list[str],
    spec: "AnalysisSpec",
    run: "Run",
    judge: "PlannedJudge | None",
    stated: bool,
) -> "PowerCurve":
    """Return the powers of the grid, and with a judge what it adds, by variances and simulated."""
    from panelist.power.curve import simulate_cells

    if judge is None:
        return simulate_cells(cells, names, spec, run, given=stated)
    from panelist.power.judged import judge_cells
    from panelist.power.judged_power import simulate_cells_judged

    given.refuse_judged_claim(spec)
    judged = judge_cells(cells, judge)  # before the work: a design may not allow it
    found = simulate_cells(cells, names, spec, run, given=stated)
    return replace(found, judge=judged, judge_power=simulate_cells_judged(cells, judge, spec, run))


def _show_looks(
    context: typer.Context, cells: "list[Cell]", names: list[str], spec: "AnalysisSpec", run: "Run"
) -> None:
    """Print the power of a study with looks; what does not go with them is refused."""
    from panelist.core.errors import PanelistError
    from panelist.power.looks import simulate_looks

    asked = context.params
    for name in ("claim", "judge_r", "judge", "figure", "table", "as_released"):
        if was_given(context, name):
            raise PanelistError(f"--{name.replace('_', '-')} and --looks do not go together: leave one out.")
    numbers = given.parse_wholes(asked["looks"], "--looks")
    show(simulate_looks(cells, names, spec, run, numbers, asked["spending"]), asked["json"])


def _lay_out(context: typer.Context, systems: int) -> "list[Layout]":
    """Return the designs that the options of the command describe."""
    from panelist.power.curve import lay_out
    from panelist.power.layouts.base import list_samplings

    asked = context.params
    samplings = list_samplings(
        given.parse_wholes(asked["items"], "--items"),
        given.parse_wholes(asked["ratings_per_item"], "--ratings-per-item"),
        systems,
        asked["outputs_per_rater"],
        None if asked["raters"] is None else given.parse_wholes(asked["raters"], "--raters"),
    )
    return lay_out(samplings, asked["seed"], asked["as_released"])


def parse_models(text: str | None, truth: "Truth", layout: "Layout") -> list[str]:
    """Return the names of analyses: those named, all that can read the answers, or the usual ones."""
    import numpy as np

    from panelist.power.analyses import ANALYSES
    from panelist.power.truth.cuts import Slider

    kind = "choices" if layout.page is not None else "slider" if isinstance(truth.cuts, Slider) else "points"
    if text is None:
        return {"choices": ["bradley_terry"], "slider": ["lmm"]}.get(kind, ["clmm", "lmm"])
    if text.strip() == "all":
        pairs = layout.page is not None and int(np.bincount(layout.page).max()) == 2
        return [
            name
            for name, one in ANALYSES.items()
            if kind in one.reads and (pairs or not name.startswith("pairs_"))
        ]
    return [part.strip() for part in text.split(",") if part.strip()]


def _load_study(context: typer.Context, study: Path) -> "Study":
    """Return the study; options that describe another design are refused, because the study has one."""
    from panelist.core.errors import PanelistError
    from panelist.study.reading.load import load_study

    for name in ("items", "ratings_per_item", "raters", "outputs_per_rater", "systems", "as_released"):
        if was_given(context, name):
            raise PanelistError(
                f"--{name.replace('_', '-')} and --study do not go together: the study's plan says who rates "
                "what. Change design: in the study file, or leave --study out."
            )
    return load_study(study)


def _take_study(
    context: typer.Context,
    path: Path,
    criterion: str | None,
    truths: "list[Truth]",
    told: object,
    spec: "AnalysisSpec",
) -> "tuple[list[Truth], list[Layout], AnalysisSpec, tuple[str, ...]]":
    """Return the truths on a study's scale unless an option names another, plan and analysis, in words."""
    from panelist.design.make import plan_study
    from panelist.power.layouts.from_plan import find_cuts, lay_out_plan

    study = _load_study(context, path)
    spec, declared = take_analysis(context, study, criterion, spec)
    layout = lay_out_plan(plan_study(study), study, criterion)
    if told is None:
        cuts = find_cuts(study, criterion)
        truths = [replace(truth, cuts=cuts) for truth in truths]
    said = say_taken(study, name_criterion(study, criterion), chosen=criterion is not None)
    return truths, [layout], spec, (said, *say_turns(layout), declared)


def check_files(figure: Path | None, table: Path | None) -> None:
    """Refuse what cannot be written, before the work."""
    if figure is not None:
        from panelist.reports.figures.style import check_figure_path

        check_figure_path(figure)
    if table is not None:
        from panelist.core.files import check_place
        from panelist.core.tables.readers import find_ending

        if table.suffix.lower() != ".tex":
            find_ending(table)
        check_place(table, "table")


def write_files(found: "PowerCurve", figure: Path | None, table: Path | None) -> None:
    """Write the figure and the table that were asked for."""
    if figure is not None:
        from panelist.reports.figures.power_figures import draw_power

        draw_power(found, figure)
        tell(f"Figure written to {figure}.")
    if table is None:
        return
    if table.suffix.lower() == ".tex":
        table.write_text(found.to_latex() + "\n", encoding="utf-8")
    else:
        from panelist.core.tables.writers import write_table

        write_table(found.table, table)
    tell(f"Table written to {table}.")


def power_paper(
    out: given.Out = Path("howcroft-rieser"),
    as_released: given.AsReleased = False,
    sims: given.PaperSims = 100,
    seed: given.Seed = 1,
    engine: given.Engine = "local",
    workers: given.Workers = None,
    figure: given.Figure = None,
    table: given.TableFile = None,
    json: Json = False,
) -> None:
    """Run the power study of Howcroft & Rieser (2021) again."""
    from panelist.core.errors import BadFile
    from panelist.power.paper import simulate_paper
    from panelist.power.run import Run
    from panelist.reports.figures.power_figures import write_paper

    check_files(figure, table)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(
            f"The folder {str(out)!r} cannot be made: {error.strerror}. Name another with --output."
        ) from None
    with show_power_progress() as report:
        run = Run(sims, None, seed, engine, workers, out / "journal.jsonl", report)
        found = simulate_paper(run, as_released=as_released)
    names = write_paper(found, out)
    tell(f"Written to {out}: {', '.join(names)}.")
    write_files(found, figure, table)
    show(found, json)
