"""The whole life of a study, as ``panelist demo`` shows it: Study → Plan → Ratings → Analysis → Report.

Everything is what it would be with people: the power analysis uses the study's own design, the raters
use the real pages of a real server, and the report is about what was exported. Only the raters are simulated.
"""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from panelist.core.progress import OnProgress
from panelist.study.file_names import POWER_FILE, RATINGS_FILE, STUDY_FILE

if TYPE_CHECKING:
    import pandas as pd

    from panelist.analysis.analysis_result import Analysis
    from panelist.collection.robots.record import Record
    from panelist.design.plan import Plan
    from panelist.power.curve import PowerCurve
    from panelist.study.study import Study
    from panelist.web.server import Ready

EFFECTS = (0.5, 1.0)  # threshold distances between neighbouring systems
GUESTS = 3  # places for people, where the server stays: one more round of the Latin square
SALT = "00"  # nobody is behind these pseudonyms, and the same seed must give the same names

Bar = Callable[[str], AbstractContextManager[OnProgress]]


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """How the demo is run."""

    folder: Path
    seed: int = 90
    raters: int | None = None
    """How many simulated raters take part; None takes the study's own number."""
    sims: int = 100
    resamples: int = 1000
    port: int = 0
    keep_serving: bool = False


def live(options: DemoOptions, bar: Bar) -> Generator[str, None, None]:
    """Yield what each step found, once it is done; with ``keep_serving``, go on until the server ends."""
    from panelist.numerics.compile_ahead import list_parts, prepare
    from panelist.web.server import ServeOptions
    from panelist.web.subprocess_server import serve_beside

    study = start_study(options.folder / "study")
    yield _tell_study(study)
    prepare(*list_parts("clmm", "clm"), "agreement")  # compile all that the demo needs at once
    with bar("power") as report:
        power = find_power(study, options, report)
    (study.folder / POWER_FILE).write_text(power.to_json() + "\n", encoding="utf-8")
    yield _tell_power(power)
    plan = make_plan(study, options)
    make_database(study, plan, options)
    yield _tell_plan(plan, study)
    asked = ServeOptions(study=study.folder, port=options.port, joins_a_minute=0)
    with serve_beside(asked) as server:
        yield f"Server: {server.ready.config.url}, collecting in {server.ready.database}."
        with bar("raters") as report:
            record = send_raters(study, server.ready, options, report)
        yield _tell_raters(record)
        table = options.folder / RATINGS_FILE
        yield _tell_export(export(study, table), table)
        with bar("analysis") as report:
            analysis = find_results(study, table, options, report)
        yield _tell_agreement(analysis)
        yield f"Models: {' '.join(analysis.sentences())}"
        with bar("report"):
            yield _write_report(analysis, options.folder / "report.html")
        with bar("datasheet"):
            yield _write_datasheet(study, plan, options)
        if options.keep_serving:
            yield _invite(server.ready)
            with suppress(KeyboardInterrupt):
                server.wait()
            yield f"The server has ended. For a report with your own ratings: panelist report {study.folder}"


def start_study(folder: Path) -> "Study":
    """Return the example study, in a folder of its own."""
    from panelist.study.reading.load import load_study
    from panelist.study.start import init_example

    init_example(folder)
    return load_study(folder)


def find_power(study: "Study", options: DemoOptions, report: OnProgress) -> "PowerCurve":
    """Return how often the study's own design would find a small and a large difference."""
    from panelist.design.make import plan_study
    from panelist.power.curve import simulate_power
    from panelist.power.layouts.from_plan import find_cuts, lay_out_plan
    from panelist.power.truth.base import Truth

    layout = lay_out_plan(plan_study(study, raters=options.raters), study, None)
    return simulate_power(
        effects=EFFECTS,
        sims=options.sims,
        models="clmm",
        truth=Truth.preset("general", find_cuts(study, None)),
        layout=layout,
        on_progress=report,
    )


def make_plan(study: "Study", options: DemoOptions) -> "Plan":
    """Return the plan, kept beside the study; where the server stays, with places for people as well."""
    from panelist.design.make import plan_study
    from panelist.design.plan_files import write_plan

    plan = plan_study(study, raters=options.raters)
    if options.keep_serving:
        plan = plan_study(study, raters=len(plan.raters) + GUESTS)
    write_plan(plan, study.folder)
    return plan


def make_database(study: "Study", plan: "Plan", options: DemoOptions) -> None:
    """Make study.db; where all raters are simulated, their names follow from the seed."""
    from panelist.collection.store.store import open_store

    open_store(None, study, plan, salt=None if options.keep_serving else SALT).close()


def send_raters(study: "Study", ready: "Ready", options: DemoOptions, report: OnProgress) -> "Record":
    """Return what simulated raters did at the pages of the server."""
    from panelist.collection.robots.fleet import Fleet, send_robots

    count = ready.places - (GUESTS if options.keep_serving else 0)
    fleet = Fleet(raters=count, seed=options.seed, careless=0.04, in_turn=True, name="simulated")
    return send_robots(study, ready.config.url, fleet, report)


def export(study: "Study", path: Path) -> "pd.DataFrame":
    """Return what was collected, as a table that is also written to a file."""
    from panelist.collection.export.tables_of_study import export_ratings, write_export
    from panelist.collection.store.store import open_store

    with open_store(None, study, create=False) as store:
        frame = export_ratings(store.snapshot(), study, store.plan()).frame
    write_export(frame, path)
    return frame


def find_results(study: "Study", table: Path, options: DemoOptions, report: OnProgress) -> "Analysis":
    """Return the analysis that the study file plans, of the ratings in the exported file."""
    from panelist.analysis.analyse import analyse

    return analyse(study, table, resamples=options.resamples, on_progress=report)


def _tell_study(study: "Study") -> str:
    systems, items = len(study.systems), len(study.items)
    criteria = " and ".join(criterion.name for criterion in study.criteria)
    return (
        f"Study: {study.title}. {systems} systems × {items} items = {systems * items} outputs, judged for "
        f"{criteria}: {study.folder / STUDY_FILE}."
    )


def _tell_power(power: "PowerCurve") -> str:
    found = []
    for one in power.cells:
        shares = sorted(pair.power for pair in one.pairs)
        found.append(
            f"{100 * shares[0]:.0f} to {100 * shares[-1]:.0f} % of the time "
            f"if systems are {one.effect:g} apart"
        )
    first = power.cells[0]
    return (
        f"Power: {first.raters} raters find the difference between two systems {' and '.join(found)} "
        f"(threshold distances; {first.sims} simulated studies each)."
    )


def _tell_plan(plan: "Plan", study: "Study") -> str:
    from panelist.design.assess.plan_cost import cost_plan

    first = cost_plan(plan, study).occasions[0]
    trials = plan.table[(plan.table["phase"] == "trial").to_numpy()]
    said = f"Plan: {len(plan.raters)} raters with {first.pages[1]} pages each, {len(trials):,} ratings"
    if first.minutes is not None and first.total is not None:
        currency = study.file.pay.currency if study.file.pay else ""
        said += f"; for people, {first.minutes[1]:.0f} minutes each and {first.total} {currency} in all"
    return said + "."


def _tell_raters(record: "Record") -> str:
    return (
        f"Raters: {record.ends['finished']} of {len(record.stays)} simulated ones finished at the pages; "
        f"{record.answers:,} answers saved, in {record.requests:,} requests."
    )


def _tell_export(frame: "pd.DataFrame", path: Path) -> str:
    trials = int((frame["check"] == "").sum())
    return f"Ratings: {trials:,}, and {len(frame) - trials:,} answers to practice and checks, in {path}."


def _tell_agreement(analysis: "Analysis") -> str:
    from panelist.analysis.missing import Missing

    told = []
    for one in analysis.criteria:
        if isinstance(one.reliability, Missing):
            told.append(f"{one.criterion}: {one.reliability.reason}")
        else:
            alpha = one.reliability["krippendorff_alpha_ordinal"]
            told.append(f"{alpha.estimate:.2f} ({alpha.low:.2f} to {alpha.high:.2f}) on {one.criterion}")
    dropped = f" {analysis.exclusions.sentence()}"
    return f"Agreement: Krippendorff's alpha, ordinal, is {', '.join(told)}.{dropped}"


def _write_report(analysis: "Analysis", path: Path) -> str:
    from panelist.reports.report.write_report import write_report

    written = write_report(analysis, path)
    return f"Report: {path}, with {len(written) - 1} figures, tables and texts in {written[1].parent}."


def _write_datasheet(study: "Study", plan: "Plan", options: DemoOptions) -> str:
    from panelist.reports.datasheet.write_datasheet import save_sheet, write_datasheet

    path = options.folder / "heds.json"
    sheet = write_datasheet(study, plan, options.folder / RATINGS_FILE, path, resamples=options.resamples)
    page = path.with_suffix(".html")
    save_sheet(sheet, [page])
    asked, left = len(list(sheet.places())), len(sheet.open())
    return f"Datasheet: HEDS {sheet.version}, {asked - left} of {asked} questions answered, in {page}."


def _invite(ready: "Ready") -> str:
    url, password = ready.config.url, ready.password or "as in PANELIST_PASSWORD"
    return (
        f"The server keeps running, with {GUESTS} free places. To rate: {url}/join . Dashboard: "
        f"{url}/dashboard (password {password}). Ctrl+C ends it."
    )
