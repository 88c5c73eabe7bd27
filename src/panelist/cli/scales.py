"""``panelist scales``: two rating scales for the same outputs, compared."""

from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.options import Columns, Confidence, Json, Where
from panelist.cli.terminal import open_ratings, show


def scales(
    a: Annotated[Path, typer.Argument(metavar="A", help="Ratings on the first scale.", show_default=False)],
    b: Annotated[
        Path,
        typer.Argument(metavar="B", help="Ratings of the same outputs on the second.", show_default=False),
    ],
    validity: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="An outside measure of the systems: a table with system and a number.",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="The column of FILE that is the measure, if it has several.",
            show_default=False,
        ),
    ] = None,
    match: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A=B",
            help="Criterion A of the first file is B of the second; may be given more than once.",
            show_default=False,
        ),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="What to call the scales; without it, the names of the files.",
            show_default=False,
        ),
    ] = None,
    confidence: Confidence = 0.95,
    resamples: Annotated[
        int, typer.Option(metavar="N", help="Resamples of the bootstrap over items.")
    ] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the bootstrap.")] = 0,
    where: Where = None,
    columns: Columns = None,
    json: Json = False,
) -> None:
    """Compare two scales: interchangeable, reliable, stable, sensitive, valid."""
    from panelist.analysis.scales.compare_scales import compare_scales
    from panelist.analysis.scales.matching import parse_match

    pairs = parse_match(match or [])
    labels = _read_names(names)
    found = compare_scales(
        open_ratings(a, columns, where),
        open_ratings(b, columns, where),
        validity=validity,
        measure=measure,
        match=pairs,
        labels=labels,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )
    show(found, json)


def _read_names(text: str | None) -> tuple[str, str] | None:
    """Return the two names, or say how they are written."""
    from panelist.core.errors import PanelistError

    if text is None:
        return None
    given = [name.strip() for name in text.split(",")]
    if len(given) != 2 or not all(given) or given[0] == given[1]:
        raise PanelistError(f"--names takes two different names with a comma, as VDS-7,VAS. Got {text!r}.")
    return given[0], given[1]
