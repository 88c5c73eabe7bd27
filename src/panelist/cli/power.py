"""``panelist power``: how often a study of this size would find the difference."""

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
    from panelist.power.curve import PowerCurve
    from panelist.power.layouts import Layout
    from panelist.power.truth import Truth
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
    pilot: given.Pilot = None,
    uncertain: given.Uncertain = False,
    study: given.StudyPlan = None,
    criterion: given.Criterion = None,
    as_released: given.AsReleased = False,
    alpha: given.Alpha = 0.05,
    adjust: given.Adjust = "tukey",
    formula: given.Formula = "maximal",
    df: given.Degrees = "t",
    precision: given.Precision = None,
    engine: given.Engine = "local",
    workers: given.Workers = None,
    journal: given.JournalFile = None,
    paper: given.Paper = False,
    out: given.Out = Path("howcroft-rieser"),
    figure: given.Figure = None,
    table: given.TableFile = None,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Simulate how often a study of this size finds the difference."""
    _check_files(figure, table)
    said: tuple[str, ...] = ()
    options: dict[str, Any] = {"seed": seed, "engine": engine, "workers": workers}
    if paper:
        found = _run_paper(out, as_released, sims, options)
    else:
        options |= {"sims": sims, "pattern": pattern, "alpha": alpha}
        options |= {
            "adjust": adjust,
            "formula": formula,
            "df": df,
            "precision": precision,
            "journal": journal,
        }
        options["effects"] = None if effects is None else given.parse_numbers(effects, "--effects")
        truths, names = given.make_truths(
            preset, points, thresholds, rater_sd, item_sd, pilot, uncertain, criterion, columns
        )
        if study is not None:
            loaded = _load_study(context, study)
            told = points or thresholds or pilot
            options["layout"], truths = _read_study(loaded, criterion, truths, told)
            taken, declared = take_analysis(context, loaded, criterion)
            models = taken.pop("model", models)
            options |= taken
            said = (say_systems(loaded, criterion), declared)
        else:
            options |= {
                "items": given.parse_wholes(items, "--items"),
                "ratings_per_item": given.parse_wholes(ratings_per_item, "--ratings-per-item"),
                "raters": None if raters is None else given.parse_wholes(raters, "--raters"),
                "outputs_per_rater": outputs_per_rater,
                "systems": len(names) or systems,
                "as_released": as_released,
            }
        options |= {"truth": truths, "models": parse_models(models, truths[0], options.get("layout"))}
        found = _run(options)
        found = replace(found, notes=(*said, *found.notes))
    _write_files(found, figure, table)
    show(found, json)


def parse_models(text: str | None, truth: "Truth", layout: "Layout | None") -> list[str]:
    """Return the names of analyses: those named, all that can read the answers, or the usual ones."""
    from panelist.power.analyses import ANALYSES
    from panelist.power.cuts import Slider

    compared = layout is not None and layout.page is not None
    kind = "choices" if compared else "slider" if isinstance(truth.cuts, Slider) else "points"
    if text is None:
        return {"choices": ["bradley_terry"], "slider": ["lmm"]}.get(kind, ["clmm", "lmm"])
    if text.strip() == "all":
        return [name for name, one in ANALYSES.items() if kind in one.reads]
    return [part.strip() for part in text.split(",") if part.strip()]


def _run(options: dict[str, Any]) -> "PowerCurve":
    from panelist.power.curve import simulate_power

    with show_power_progress() as report:
        return simulate_power(**options, on_progress=report)


def _run_paper(out: Path, as_released: bool, sims: int | None, options: dict[str, Any]) -> "PowerCurve":
    from panelist.core.errors import BadFile
    from panelist.power.paper import SIMS, simulate_paper
    from panelist.reports.power_figures import write_paper

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(
            f"The folder {str(out)!r} cannot be made: {error.strerror}. Name another with --output."
        ) from None
    with show_power_progress() as report:
        found = simulate_paper(
            sims=SIMS if sims is None else sims,
            journal=out / "journal.jsonl",
            as_released=as_released,
            on_progress=report,
            **options,
        )
    names = write_paper(found, out)
    tell(f"Written to {out}: {', '.join(names)}.")
    return found


def _load_study(context: typer.Context, study: Path) -> "Study":
    """Return the study; options about a design of one's own are refused, for the study has one."""
    from panelist.core.errors import PanelistError
    from panelist.study.load import load_study

    for name in ("items", "ratings_per_item", "raters", "outputs_per_rater", "systems", "as_released"):
        if was_given(context, name):
            raise PanelistError(
                f"--{name.replace('_', '-')} and --study do not go together: the study's plan says who rates "
                "what. Change design: in the study file, or leave --study out."
            )
    return load_study(study)


def _read_study(
    loaded: "Study", criterion: str | None, truths: "list[Truth]", told: object
) -> "tuple[Layout, list[Truth]]":
    """Return the layout of a study's plan, and the truths on its scale unless the options name another."""
    from panelist.design.make import plan_study
    from panelist.power.plan_layouts import find_cuts, lay_out_plan

    layout = lay_out_plan(plan_study(loaded), loaded, criterion)
    if told is None:
        cuts = find_cuts(loaded, criterion)
        truths = [replace(truth, cuts=cuts) for truth in truths]
    return layout, truths


def _check_files(figure: Path | None, table: Path | None) -> None:
    """Refuse what cannot be written, before the work."""
    if figure is not None:
        from panelist.reports.figures import check_figure_path

        check_figure_path(figure)
    if table is not None:
        from panelist.core.readers import find_ending
        from panelist.core.replacing import check_place

        if table.suffix.lower() != ".tex":
            find_ending(table)
        check_place(table, "table")


def _write_files(found: "PowerCurve", figure: Path | None, table: Path | None) -> None:
    if figure is not None:
        from panelist.reports.power_figures import draw_power

        draw_power(found, figure)
        tell(f"Figure written to {figure}.")
    if table is None:
        return
    if table.suffix.lower() == ".tex":
        table.write_text(found.to_latex() + "\n", encoding="utf-8")
    else:
        from panelist.core.writers import write_table

        write_table(found.table, table)
    tell(f"Table written to {table}.")
