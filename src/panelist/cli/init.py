"""``panelist init``: a study folder that runs as it is."""

from collections import Counter
from pathlib import Path
from typing import Annotated

from panelist.cli.options import Columns, argument, option
from panelist.cli.terminal import say, show


def init(
    folder: Annotated[Path, argument("DIR", "The folder to make; it must be new or empty.")],
    template: Annotated[
        str | None,
        option(
            "TEMPLATE",
            "What to start from: likert (the default), vas, binary, pairs, preference, best-worst, mixed, "
            "chat, speech or judged.",
            "--template",
            "-t",
        ),
    ] = None,
    repeat: Annotated[
        Path | None,
        option("ORIGINAL", "Begin a repeat of this study, archive, ratings table or HEDS sheet instead."),
    ] = None,
    columns: Columns = None,
) -> None:
    """Make a study folder from a template, or the repeat of a study."""
    if repeat is not None:
        _begin_repeat(folder, repeat, template, columns)
        return
    from panelist.core.errors import PanelistError
    from panelist.core.prose import count
    from panelist.study.start import init_study

    if columns is not None:
        raise PanelistError("--columns goes with --repeat and a table of ratings.")
    template = template or "likert"
    made = init_study(folder, template)
    say(f"A new study, {template}, in {folder}:")
    inside = Counter(path.parent for path in made if path.parent != folder)
    for path in made:
        if path.parent not in inside:
            say(f"  {path.name:<18}  {_WHAT.get(path.name, 'a file of the study')}")
    for place, files in inside.items():
        name = f"{place.relative_to(folder).as_posix()}/"
        say(f"  {name:<18}  {count(files, 'file')} that the outputs name")
    say()
    say("Next, once you have put your own outputs and questions in:")
    for command in ("check", "plan", "serve"):
        say(f"  panelist {command} {folder}")


def _begin_repeat(folder: Path, original: Path, template: str | None, columns: str | None) -> None:
    """Make the folder of a repeat, and show its steps."""
    from panelist.core.errors import PanelistError
    from panelist.core.tables.columns import parse_columns
    from panelist.reports.repeat.begin import begin_repeat
    from panelist.reports.repeat.steps import follow_repeat
    from panelist.study.reading.load import load_study

    if template is not None:
        raise PanelistError("--template and --repeat both say what to begin with; give one of them.")
    begun = begin_repeat(folder, original, parse_columns(columns) or None)
    say(f"A repeat of {original}, read as {begun.kind}, in {folder}:")
    for path in begun.files:
        name = path.relative_to(folder).as_posix()
        what = "the original, to compare with" if name.startswith("original/") else _WHAT.get(name, "")
        say(f"  {name:<22}  {what}".rstrip())
    say()
    for note in begun.notes:
        say(f"note: {note}")
    if begun.notes:
        say()
    state = follow_repeat(load_study(folder))
    if state is not None:
        show(state)
    say()
    say("What is done and what is next:")
    say(f"  panelist check {folder}")


_WHAT = {
    "study.yaml": "what is judged, by whom, how; edit this",
    "outputs.csv": "the outputs to judge: item, system, output",
    "outputs.jsonl": "the outputs to judge: item, system, output",
    "judges.csv": "a judge's scores, simulated here: put your own in their place",
    "study.schema.json": "lets editors complete study.yaml and mark mistakes",
}
