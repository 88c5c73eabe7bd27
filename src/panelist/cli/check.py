"""``panelist check``: every problem of a study at once, or what the study is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from panelist.cli.options import Json
from panelist.cli.terminal import say, show, show_all

if TYPE_CHECKING:
    from panelist.core.result import Result
    from panelist.study.summary import StudyCheck

THE_ANSWER_IS_NO = 1


def check(
    study: Annotated[
        Path, typer.Argument(metavar="STUDY", help="The study file, or its folder.", show_default=False)
    ],
    json: Json = False,
) -> None:
    """Check a study: all its problems at once, or a summary."""
    from panelist.study.summary import check_study

    found, more = _try_plan(check_study(study))
    if json:
        show_all({"check": found, **more}, as_json=True)
    else:
        for problem in found.problems:
            say(str(problem))
        if found.problems and found.notes:
            say()
        for note in found.notes:
            say(f"note: {note}")
        if found.problems or found.notes:
            say()
        if found.study is not None:
            show(found)
            for result in more.values():
                say()
                show(result)
            say()
        say(found.sentence())
    if found.problems:
        raise typer.Exit(THE_ANSWER_IS_NO)


def _try_plan(found: "StudyCheck") -> "tuple[StudyCheck, dict[str, Result]]":
    """Return the check with what the design can estimate, or with why it cannot be planned."""
    if found.study is None:
        return found, {}
    from dataclasses import replace

    from panelist.core.errors import BadDesign
    from panelist.design.summary import preview_estimates
    from panelist.study.problems import Problem

    try:
        return found, {"estimates": preview_estimates(found.study)}
    except BadDesign as error:
        clash = Problem(found.path.name, None, "design", str(error))
        return replace(found, study=None, problems=(*found.problems, clash)), {}
