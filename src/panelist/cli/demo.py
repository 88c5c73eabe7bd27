"""``panelist demo``: a small study from ratings to figures, on data simulated here."""

from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from panelist.cli.terminal import say

FORMULA = "rating ~ system + (1 | rater) + (1 | item)"


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="The folder for the ratings and figures.")
    ] = Path("panelist-demo"),
    seed: Annotated[int, typer.Option(metavar="N", help="The seed of the simulated raters.")] = 7,
) -> None:
    """Simulate a small study, fit it, compare it, draw it."""
    folder = _make_folder(out)
    from panelist.analysis.compare import compare_systems
    from panelist.analysis.demo import ITEMS, RATERS, SYSTEMS, simulate_demo
    from panelist.core.formats import P_VALUE
    from panelist.core.ratings import read_ratings
    from panelist.core.writers import write_table
    from panelist.models.fit import fit
    from panelist.reports.figures import draw_shares, draw_systems

    table = folder / "ratings.csv"
    frame = simulate_demo(seed)
    write_table(frame, table)
    ratings = read_ratings(table)
    say(
        f"1. {len(frame):,} ratings simulated: {RATERS} raters judge {len(SYSTEMS)} systems on {ITEMS} "
        f"items, for {' and '.join(ratings.criteria)}, from 1 to 6.\n"
    )

    fitted = fit(FORMULA, ratings.only("fluency"), model="clmm")
    say(f"2. One model of fluency. Its coefficients are steps on the latent scale, away from {SYSTEMS[0]}.\n")
    say(f"   {fitted.title()}")
    for row in fitted.to_dict()["coefficients"]:
        p = P_VALUE.write(row["p"])
        sign = "" if p.startswith("<") else "= "
        say(f"   {row['term']:<18} {row['estimate']:5.2f}, standard error {row['se']:.2f}, p {sign}{p}")

    compared = compare_systems(ratings)
    say("\n3. All systems compared, on both criteria; p-values allow for three pairs.\n")
    for criterion in compared.criteria:
        say(fill(criterion.sentence(), 96, initial_indent="   ", subsequent_indent="   "))

    draw_systems(compared, folder / "systems.svg")
    draw_systems(compared, folder / "systems.png")
    draw_shares(ratings, folder / "shares.svg")
    say(f"\n4. Written to {out}: ratings.csv, systems.svg, systems.png, shares.svg.\n")
    say("Now try:")
    say(f"   panelist compare {table}")
    say(f"   panelist fit {table} --criterion fluency --formula '{FORMULA}'")


def _make_folder(out: Path) -> Path:
    from panelist.core.errors import BadFile

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(
            f"The folder {str(out)!r} cannot be made: {error.strerror}. Name another with --out."
        ) from error
    return out
