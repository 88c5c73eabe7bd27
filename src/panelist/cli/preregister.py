"""``panelist preregister``: what is declared before there are ratings, with its time and hashes."""

from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.export import StudyPlace
from panelist.cli.options import Json, option
from panelist.cli.terminal import say, show


def preregister(
    study: StudyPlace,
    power: Annotated[
        Path | None,
        option(
            "FILE",
            "A power analysis, as printed by power --json or size --json. Default: power.json by the study.",
        ),
    ] = None,
    form: Annotated[
        list[str] | None,
        option(
            "aspredicted|osf|recipe",
            "Show this form; may be given more than once. Default: all (the recipe only for repeats).",
        ),
    ] = None,
    output: Annotated[
        Path | None, option("FILE", "Also write it, as FILE.md, .html, .tex or .json.", "--output", "-o")
    ] = None,
    amend: Annotated[
        str, option("REASON", "Why the study is no longer as it was declared; adds an amendment.")
    ] = "",
    draft: Annotated[bool, typer.Option("--draft", help="Show it and keep nothing.")] = False,
    json: Json = False,
) -> None:
    """Preregister a study: the forms filled in, time-stamped and kept."""
    from panelist.core.errors import PanelistError
    from panelist.reports.preregistration.declare import draft_preregistration
    from panelist.reports.preregistration.declare import preregister as keep
    from panelist.reports.preregistration.draw import find_writer, write_preregistration
    from panelist.reports.preregistration.forms import find_form
    from panelist.study.preregistration import FILE

    if draft and amend:
        raise PanelistError("--draft keeps nothing, and --amend keeps an amendment; give one of them.")
    names = [find_form(name).name for name in form or []]
    if output is not None:
        find_writer(output)
    if draft:
        made = draft_preregistration(study, power=power, forms=names)
    else:
        made = keep(study, power=power, forms=names, reason=amend)
    if output is not None:
        write_preregistration(made, output)
    show(made, json)
    if json:
        return
    say()
    if draft:
        say("This is a draft: nothing was kept.")
    else:
        say(
            f"{made.kind()} of {made.time}, kept in {FILE} beside the study. Submit it to a registry "
            "yourself:"
        )
        say("  https://aspredicted.org, https://osf.io/prereg")
    if output is not None:
        say(f"Written: {output}.")
