"""The options of ``panelist heds``."""

from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.options import argument, option

Source = Annotated[
    Path,
    argument(
        "STUDY|CARD", "The study (its file or folder), or a datasheet that a HEDS form exported (JSON)."
    ),
]
Out = Annotated[
    list[Path] | None,
    option(
        "FILE",
        "Write it: .json for the official form, .html, .md or .tex; may be given more than once.",
        "--output",
        "-o",
    ),
]
Form = Annotated[str | None, option("3.0|2.x", "Which form a study's sheet is for; without it 3.0.")]
RatingsOf = Annotated[
    Path | None,
    option(
        "FILE", "The ratings. Without it: what was collected, else ratings.csv beside the study, else none."
    ),
]
PowerOf = Annotated[
    Path | None,
    option(
        "FILE",
        "What panelist power or size --json printed. Without it: power.json beside the study, if it exists.",
    ),
]
Ask = Annotated[bool, typer.Option("--ask", help="Ask for what is open; answers go into the study file.")]
SecondSource = Annotated[Path, argument("STUDY|CARD", "The one to compare it with.")]
Card = Annotated[Path, argument("CARD", "A datasheet that a HEDS form exported (JSON).")]
To = Annotated[str, option("3.0|2.x", "The version of the form.")]
