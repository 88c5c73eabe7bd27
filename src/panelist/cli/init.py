"""``panelist init``: a study folder that runs as it is."""

from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.terminal import say


def init(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="The folder to make; it must be new or empty.", show_default=False
        ),
    ],
    template: Annotated[
        str,
        typer.Option(
            "--template", "-t", metavar="likert|vas|binary|pairs|best-worst", help="What to begin with."
        ),
    ] = "likert",
) -> None:
    """Make a study folder from a template."""
    from panelist.study.start import init_study

    made = init_study(folder, template)
    say(f"A new study, {template}, in {folder}:")
    for path in made:
        say(f"  {path.relative_to(folder).as_posix():<18}  {_WHAT.get(path.name, 'a file of the study')}")
    say()
    say("Next, once you have put your own outputs and questions in:")
    for command in ("check", "plan", "serve"):
        say(f"  panelist {command} {folder}")


_WHAT = {
    "study.yaml": "what is judged, by whom, how; edit this",
    "outputs.csv": "the outputs to judge: item, system, output",
    "study.schema.json": "lets editors complete study.yaml and mark mistakes",
}
