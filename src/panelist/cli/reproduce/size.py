"""``panelist reproduce size``: how large a repeat must be."""

from pathlib import Path
from typing import Annotated

from panelist.cli.options import Columns, Confidence, Json, Where, argument, option
from panelist.cli.reproduce.reproduce import Out, hand_out

Original = Annotated[
    Path | None,
    argument(
        "ORIGINAL", "Its ratings, choices or study. Without it, --n and --p say what its paper printed."
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
