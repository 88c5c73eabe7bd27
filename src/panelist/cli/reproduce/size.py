"""``panelist reproduce size``: how large a repeat must be."""

from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.options import Columns, Confidence, Json, Where
from panelist.cli.reproduce.reproduce import Out, hand_out

Original = Annotated[
    Path | None,
    typer.Argument(
        metavar="ORIGINAL",
        help="Its ratings, choices or study. Without it, --n and --p say what its paper printed.",
        show_default=False,
    ),
]
Units = Annotated[
    int | None,
    typer.Option("--n", metavar="N", help="Units behind one comparison, as printed.", show_default=False),
]
PValue = Annotated[
    float | None,
    typer.Option("--p", metavar="P", help="The p-value of the finding, as printed.", show_default=False),
]
Design = Annotated[
    str | None, typer.Option(metavar="two-sample|paired", help="The comparison.", show_default=False)
]
Sims = Annotated[int, typer.Option(metavar="N", min=1, help="Simulated repeats.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="The seed of the simulation.")]


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
    """Say how large a repeat must be, from the original's data or from what its paper printed."""
    from panelist.core.tables.columns import parse_columns, parse_where
    from panelist.reproduction.files.write_reproduction import check_report_path
    from panelist.reproduction.size.all_criteria import size_original

    if out is not None:
        check_report_path(out)  # before the work starts
    sized = size_original(
        original, n=n, p=p, design=design, columns=parse_columns(columns) or None,
        where=parse_where(where or []) or None, confidence=confidence, sims=sims, seed=seed,
    )  # fmt: skip
    hand_out(sized, out, json)
