"""The options of ``panelist heds``."""

from pathlib import Path
from typing import Annotated

import typer

Source = Annotated[
    Path,
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
        help="Write it: .json for the official form, .html, .md or .tex; may be given more than once.",
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
        help="What panelist power or size --json printed. Without it: power.json beside the study, if it "
        "exists.",
        show_default=False,
    ),
]
Ask = Annotated[bool, typer.Option("--ask", help="Ask for what is open; answers go into the study file.")]
SecondSource = Annotated[
    Path, typer.Argument(metavar="STUDY|CARD", help="The one to compare it with.", show_default=False)
]
Card = Annotated[
    Path,
    typer.Argument(metavar="CARD", help="A datasheet that a HEDS form exported (JSON).", show_default=False),
]
To = Annotated[str, typer.Option(metavar="3.0|2.x", help="The version of the form.", show_default=False)]
