"""``panelist scales``: two rating scales for the same outputs, compared."""

from pathlib import Path
from typing import Annotated

from panelist.cli.options import Columns, Confidence, Json, Where, argument, option
from panelist.cli.terminal import open_ratings, show


def scales(
    a: Annotated[Path, argument("A", "Ratings on the first scale.")],
    b: Annotated[Path, argument("B", "Ratings of the same outputs on the second.")],
    validity: Annotated[
        Path | None, option("FILE", "An outside measure of the systems: a table with system and a number.")
    ] = None,
    measure: Annotated[
        str | None, option("COL", "The column of FILE that is the measure, if it has several.")
    ] = None,
    match: Annotated[
        list[str] | None,
        option("A=B", "Criterion A of the first file is B of the second; may be given more than once."),
    ] = None,
    names: Annotated[
        str | None, option("A,B", "What to call the scales. Default: the names of the files.")
    ] = None,
    confidence: Confidence = 0.95,
    resamples: Annotated[int, option("N", "Resamples of the bootstrap over items.")] = 1000,
    seed: Annotated[int, option("N", "Seed of the bootstrap.")] = 0,
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
