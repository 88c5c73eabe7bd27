"""``panelist reproduce`` and ``reproduce size``: an original and its repeats; how large one must be."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from panelist.cli.inputs import make_unpacked, name_unpacked
from panelist.cli.options import Columns, Confidence, Json, Where, argument, option
from panelist.cli.terminal import show, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from panelist.core.display.result import Result
    from panelist.core.progress import Progress

Studies = Annotated[
    list[Path] | None,
    argument(
        "ORIGINAL REPEAT…",
        "Ratings, choices, studies, archives, scores tables (criterion, system, score) or printed tables.",
    ),
]
ScaleMin = Annotated[
    list[str] | None,
    option(
        "X",
        "Where the scale begins: 0 for percentages, 1 for ratings from 1 up, -100 for best-worst scores. One "
        "number, or CRITERION=X; may be given more than once.",
    ),
]
ScaleMap = Annotated[
    list[str] | None,
    option("CRIT=A-B:C-D", "The original's scale and the repeats', where they differ: fluency=1-5:0-100."),
]
Map = Annotated[
    list[str] | None, option("ORIGINAL=REPEAT", "A system that has another name in the repeats.", "--map")
]
Match = Annotated[
    list[str] | None, option("ORIGINAL=REPEAT", "A criterion that has another name in the repeats.")
]
Aggregate = Annotated[
    str | None,
    option(
        "mean|median|votes|majority|five-step|best-worst|win-rate",
        "How answers become scores. Default: as the study says or the answers suggest.",
    ),
]
Printed = Annotated[
    Path | None, option("FILE", "What the original's paper printed, to compare with its raw data.")
]
Findings = Annotated[
    list[str] | None,
    option(
        "TEXT",
        "A finding to check, as 'fluency: tuned > rules'; may be given more than once. Default: "
        "those of the study.",
        "--finding",
    ),
]
Yes = Annotated[str, option("VALUE,…", "The answers that count as yes on yes-or-no criteria.")]
Unit = Annotated[str, option("output|slot", "What is labelled: an output, or one rating.")]
Margin = Annotated[
    float | None,
    option(
        "POINTS",
        "The smallest difference that matters, in points of the scale. Default: for findings what "
        "the original could detect, for changes 0.31 residual SDs.",
    ),
]
FitModels = Annotated[
    bool, typer.Option("--fit-models/--no-fit-models", help="Fit models: tests, intervals, the joint model.")
]
Qra = Annotated[Path | None, option("DIR", "Write the input files of the QRA3 tool there.")]
Sheets = Annotated[
    list[Path] | None,
    option(
        "STUDY|CARD",
        "The datasheet of the original, then that of each repeat (HEDS, JSON, or a study), to say how "
        "similar the experiments are; may be given more than once. Default: the sheets of the studies.",
        "--sheet",
    ),
]
Out = Annotated[
    Path | None, option("FILE", "Write the report to FILE.md, .html, .tex or .json.", "--output", "-o")
]


def reproduce(
    studies: Studies = None,
    scale_min: ScaleMin = None,
    scale_map: ScaleMap = None,
    map_: Map = None,
    match: Match = None,
    aggregate: Aggregate = None,
    yes: Yes = "1",
    unit: Unit = "output",
    printed: Printed = None,
    finding: Findings = None,
    confidence: Confidence = 0.95,
    margin: Margin = None,
    fit_models: FitModels = True,
    sheet: Sheets = None,
    qra: Qra = None,
    out: Out = None,
    where: Where = None,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Compare a study with its repeats: CV*, correlations, labels, findings upheld."""
    from panelist.core.files import check_folder
    from panelist.core.tables.columns import parse_columns, parse_where
    from panelist.reproduction.files.write_reproduction import check_report_path

    if out is not None:
        check_report_path(out)  # before the work starts
    if qra is not None:
        check_folder(qra, "files of QRA3")
    chosen, rows = parse_columns(columns) or None, parse_where(where or []) or None
    _check_number(studies or [])
    from panelist.reproduction.measures.common_scale import parse_scale_min
    from panelist.reproduction.reproduce import reproduce as compare

    with ExitStack() as places:
        given, sheets = ([make_unpacked(path, places) for path in paths or []] for paths in (studies, sheet))
        alike = _measure_similarity(given, sheets)
        found = compare(
            *name_unpacked(studies or [], given),
            scale_min=parse_scale_min(scale_min or []), scale_map=scale_map or [], columns=chosen,
            systems=_read_pairs(map_, "--map"), criteria=_read_pairs(match, "--match"), where=rows,
            aggregation=aggregate, yes=_read_numbers(yes), unit=unit, printed=printed, findings=finding or [],
            confidence=confidence, margin=margin, fit_models=fit_models, on_progress=_tell_step,
        )  # fmt: skip
    found = replace(found, similarity=alike)
    if qra is not None:
        from panelist.reproduction.files.qra import export_qra

        files = export_qra(found, qra)
        tell(f"Written for QRA3: {', '.join(str(path) for path in files)}.")
    hand_out(found, out, json)


def _measure_similarity(given: "Sequence[Path]", sheets: "Sequence[Path]") -> "tuple[Result, ...]":
    """Return how alike the original and each repeat are; nothing where there are no datasheets."""
    from panelist.cli.heds.opening import open_sheet
    from panelist.core.errors import BadReproduction
    from panelist.reports.datasheet.convert.similarity import measure_similarity
    from panelist.reports.datasheet.heds_questions import NEWEST
    from panelist.study.file_names import is_study

    if sheets and len(sheets) != len(given):
        raise BadReproduction(
            f"--sheet is given once for each study, in their order: there are {len(given)} studies and "
            f"{len(sheets)} sheets."
        )
    if not sheets and not all(is_study(path) for path in given):
        return ()
    original, *repeats = (open_sheet(path, NEWEST, None, None) for path in sheets or given)
    return tuple(measure_similarity(original, one) for one in repeats)


def hand_out(result: "Result", out: Path | None, json: bool) -> None:
    """Write the report, if asked for, and print the result."""
    if out is not None:
        from panelist.reproduction.files.write_reproduction import write_result

        tell(f"Report written to {write_result(result, out)}.")
    show(result, json)


def _tell_step(now: "Progress") -> None:
    """Say in a terminal what is being done: models of several criteria take their time."""
    import sys

    if sys.stderr.isatty():
        tell(f"Comparing {now.what} …")


def _check_number(given: "Sequence[Path]") -> None:
    from panelist.core.errors import BadReproduction

    if len(given) < 2:
        raise BadReproduction(
            "Name the original and at least one repeat: panelist reproduce ORIGINAL REPEAT. To find how "
            "large a repeat must be, the original is enough: panelist reproduce size ORIGINAL."
        )


def _read_pairs(texts: "Sequence[str] | None", option: str) -> dict[str, str]:
    """Return what ``A=B`` says, or how it is written."""
    from panelist.core.errors import BadReproduction

    pairs = {}
    for text in texts or []:
        first, sign, second = (part.strip() for part in text.partition("="))
        if not (first and sign and second):
            raise BadReproduction(f"{option} takes ORIGINAL=REPEAT, two names. Got {text!r}.")
        pairs[first] = second
    return pairs


def _read_numbers(text: str) -> tuple[float, ...]:
    """Return the numbers in a list with commas."""
    from panelist.core.errors import BadReproduction

    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise BadReproduction(f"--yes takes numbers with commas, as 1 or 1,2. Got {text!r}.") from None


Original = Annotated[
    Path | None,
    argument(
        "ORIGINAL",
        "Its ratings, choices, study or archive; if you have none, use --n and --p from its paper.",
    ),
]
Units = Annotated[int | None, option("N", "Units behind one comparison, as printed.", "--n")]
PValue = Annotated[float | None, option("P", "The p-value of the finding, as printed.", "--p")]
Design = Annotated[str | None, option("two-sample|paired", "The comparison.")]
Sims = Annotated[int, option("N", "Simulated repeats.", min=1)]
Seed = Annotated[int, option("N", "The seed of the simulation.", min=0)]


def reproduce_size(
    original: Original = None,
    n: Units = None,
    p: PValue = None,
    design: Design = None,
    confidence: Confidence = 0.95,
    sims: Sims = 200,
    seed: Seed = 1,
    out: Out = None,
    where: Where = None,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Find how large a repeat must be, from the original's data or its paper."""
    from panelist.core.tables.columns import parse_columns, parse_where
    from panelist.reproduction.files.write_reproduction import check_report_path
    from panelist.reproduction.size.replication import size_original

    if out is not None:
        check_report_path(out)  # before the work starts
    with ExitStack() as places:
        given = [original] if original else []
        sized = size_original(
            *name_unpacked(given, [make_unpacked(path, places) for path in given]), n=n, p=p, design=design,
            columns=parse_columns(columns) or None, where=parse_where(where or []) or None,
            confidence=confidence, sims=sims, seed=seed,
        )  # fmt: skip
    hand_out(sized, out, json)
