"""The options of ``panelist heds``."""

from pathlib import Path
from typing import Annotated

import typer

Source = Annotated[
    Path | None,
    typer.Argument(
        metavar="STUDY|CARD",
        help="The study (its file or folder), or a datasheet that a HEDS form exported (JSON).",
        show_default=False,
    ),
]
Out = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write it: .json for the official form, .html, .md or .tex; may be given again.",
        show_default=False,
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        metavar="3.0|2.x", help="Which form a study's sheet is for; without it 3.0.", show_default=False
    ),
]
RatingsOf = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The ratings. Without it: what was collected, else ratings.csv beside the study, else none.",
        show_default=False,
    ),
]
PowerOf = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What panelist power --json printed. Without it: power.json beside the study, if there.",
        show_default=False,
    ),
]
Ask = Annotated[bool, typer.Option("--ask", help="Ask for what is open; answers go into the study file.")]
LintOf = Annotated[
    Path | None,
    typer.Option(
        metavar="CARD|STUDY",
        help="Check whether the answers of a sheet fit each other; ends with 1 if they do not.",
        show_default=False,
    ),
]
ConvertOf = Annotated[
    Path | None,
    typer.Option(metavar="CARD", help="Convert a sheet to the version in --to.", show_default=False),
]
To = Annotated[str | None, typer.Option(metavar="3.0|2.x", help="With --convert.", show_default=False)]
DiffOf = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        metavar="A B", help="Compare two sheets, cards or studies, question by question.", show_default=False
    ),
]
