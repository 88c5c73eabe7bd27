"""``panelist reproduce``: an original and its repeats, compared."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from panelist.cli.options import Columns, Json, Where
from panelist.cli.terminal import show, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from panelist.core.result import Result

Studies = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="ORIGINAL REPEAT…",
        help="Ratings, choices, studies, scores tables (criterion, system, score) or printed tables.",
        show_default=False,
    ),
]
ScaleMin = Annotated[
    list[str] | None,
    typer.Option(
        metavar="X",
        help="Where the scale begins: 0 for percentages, 1 for ratings from 1 up, -100 for best-worst "
        "scores. "
        "One number, or CRITERION=X; may be given again.",
        show_default=False,
    ),
]
ScaleMap = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CRIT=A-B:C-D",
        help="The original's scale and the repeats', where they differ: fluency=1-5:0-100.",
        show_default=False,
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="ORIGINAL=REPEAT",
        help="A system that the repeats call otherwise.",
        show_default=False,
    ),
]
Match = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ORIGINAL=REPEAT", help="A criterion that the repeats call otherwise.", show_default=False
    ),
]
Aggregate = Annotated[
    str | None,
    typer.Option(
        metavar="mean|median|votes|majority|five-step|best-worst|win-rate",
        help="How single answers become scores; without it, as the study says or the answers suggest.",
        show_default=False,
    ),
]
Printed = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What the original's paper printed, to set against its raw data.",
        show_default=False,
    ),
]
Findings = Annotated[
    list[str] | None,
    typer.Option(
        "--finding",
        metavar="TEXT",
        help="A finding to check, as 'fluency: tuned > rules'; may be given again. Without it, the study's.",
        show_default=False,
    ),
]
Yes = Annotated[
    str, typer.Option(metavar="VALUE,…", help="The answers that count as yes, of yes-or-no criteria.")
]
Unit = Annotated[str, typer.Option(metavar="output|slot", help="What has a label: an output, or one rating.")]
Level = Annotated[float, typer.Option(metavar="SHARE", help="The level of the intervals.")]
Margin = Annotated[
    float | None,
    typer.Option(
        metavar="POINTS",
        help="The smallest difference that matters, in points of the scale. Without it, for findings what "
        "the original could see, for changes 0.31 residual SDs.",
        show_default=False,
    ),
]
Models = Annotated[
    bool, typer.Option("--models/--no-models", help="Fit models: tests, intervals, the joint model.")
]
Size = Annotated[bool, typer.Option("--size", help="Also say how large a repeat must be.")]
OriginalN = Annotated[
    int | None,
    typer.Option(metavar="N", help="For --size: units behind one comparison, printed.", show_default=False),
]
OriginalP = Annotated[
    float | None,
    typer.Option(metavar="P", help="For --size: the p-value of the finding, printed.", show_default=False),
]
Design = Annotated[
    str | None,
    typer.Option(metavar="two-sample|paired", help="For --size: the comparison.", show_default=False),
]
Sims = Annotated[int, typer.Option(metavar="N", min=1, help="For --size: simulated repeats.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="The seed of the simulation.")]
Qra = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write the input files of the QRA3 tool there.", show_default=False),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the report to FILE.md, .html, .tex or .json.",
        show_default=False,
    ),
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
    level: Level = 0.95,
    margin: Margin = None,
    models: Models = True,
    size: Size = False,
    original_n: OriginalN = None,
    original_p: OriginalP = None,
    design: Design = None,
    sims: Sims = 200,
    seed: Seed = 1,
    qra: Qra = None,
    out: Out = None,
    where: Where = None,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Compare a study with its repeats: CV*, correlations, labels, findings upheld; how large to repeat."""
    from panelist.core.columns import parse_columns, parse_where
    from panelist.core.replacing import check_folder
    from panelist.reproduction.write import check_report_path

    if out is not None:
        check_report_path(out)  # before the work, not after it
    if qra is not None:
        check_folder(qra, "files of QRA3")
    given = studies or []
    chosen, rows = parse_columns(columns) or None, parse_where(where or []) or None
    if size and len(given) < 2:
        from panelist.reproduction.sizes import size_original

        sized = size_original(
            *given, n=original_n, p=original_p, design=design, columns=chosen, where=rows, level=level,
            sims=sims, seed=seed,
        )  # fmt: skip
        _hand_out(sized, out, json)
        return
    _check_number(given)
    from panelist.reproduction.common_scale import parse_scale_min
    from panelist.reproduction.reproduce import reproduce as compare

    found = compare(
        *given, scale_min=parse_scale_min(scale_min or []), scale_map=scale_map or [], columns=chosen,
        systems=_read_pairs(map_, "--map"), criteria=_read_pairs(match, "--match"), where=rows,
        aggregation=aggregate, yes=_read_numbers(yes), unit=unit, printed=printed, findings=finding or [],
        level=level, margin=margin, models=models, size=size, original_n=original_n, original_p=original_p,
        design=design, sims=sims, seed=seed, on_step=_tell_step,
    )  # fmt: skip
    if qra is not None:
        from panelist.reproduction.qra_files import export_qra

        files = export_qra(found, qra)
        tell(f"Written for QRA3: {', '.join(str(path) for path in files)}.")
    _hand_out(found, out, json)


def _hand_out(result: "Result", out: Path | None, json: bool) -> None:
    """Write the report, if asked for, and print the result."""
    if out is not None:
        from panelist.reproduction.write import write_result

        tell(f"Report written to {write_result(result, out)}.")
    show(result, json)


def _tell_step(name: str) -> None:
    """Say in a terminal what is being done: models of several criteria take their time."""
    import sys

    if sys.stderr.isatty():
        tell(f"Comparing {name} …")


def _check_number(given: "Sequence[Path]") -> None:
    from panelist.core.errors import BadReproduction

    if len(given) < 2:
        raise BadReproduction(
            "Name the original and at least one repeat: panelist reproduce ORIGINAL REPEAT. With --size the "
            "original alone is enough."
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
