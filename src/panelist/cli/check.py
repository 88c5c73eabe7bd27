"""``panelist check``: every problem of a study at once, or what the study is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from panelist.cli.options import Json, argument, option
from panelist.cli.terminal import THE_ANSWER_IS_NO, lead_on, say, show, show_all

if TYPE_CHECKING:
    from panelist.core.display.result import Result
    from panelist.study.check_summary import StudyCheck
    from panelist.study.study import Study


def check(
    study: Annotated[Path, argument("STUDY", "The study file, or its folder.")],
    against: Annotated[
        Path | None,
        option("ORIGINAL", "The study that this one repeats: show every deviation from it, with its reason."),
    ] = None,
    output: Annotated[
        Path | None,
        option(
            "FILE", "With --against: write the deviations as FILE.md, .tex, .csv or .json.", "--output", "-o"
        ),
    ] = None,
    redact: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a copy of the outputs in which names of systems and makers read [assistant].",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Check a study: all its problems at once, or a summary."""
    if redact is not None:
        _redact(study, redact)
        return
    if against is not None or output is not None:
        _compare(study, against, output, json)
        return
    from panelist.study.check_summary import check_study

    found, more = _try_plan(check_study(study))
    more |= _follow_repeat(found)
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
    if found.problems and not json:
        lead_on("bad-study")
    if found.problems:
        raise typer.Exit(THE_ANSWER_IS_NO)


def _redact(study: Path, path: Path) -> None:
    """Write the outputs with names masked; never over the file that they come from."""
    from panelist.core.errors import BadFile
    from panelist.core.prose import count
    from panelist.core.tables.writers import write_table
    from panelist.study.blindness import MASK, count_names, redact, say_names
    from panelist.study.reading.load import load_study

    outputs = load_study(study).outputs
    if path.exists():
        raise BadFile(f"{path} is there already; nothing was written. Name a new file.")
    masked, changed = redact(outputs)
    write_table(masked.frame, path)
    names = say_names(count_names(outputs))
    found = f" ({names})" if names else ""
    say(f"{count(changed, 'output')} of {len(outputs.frame):,} changed to {MASK}{found}.")
    say(f"Written to {path}. To show it to raters, name it in study.yaml under outputs.")


def _compare(study: Path, against: Path | None, output: Path | None, json: bool) -> None:
    """Show how a repeat deviates from its original."""
    from panelist.core.errors import PanelistError
    from panelist.reports.repeat.deviation_files import find_writer, write_deviations
    from panelist.reproduction.deviations.deviation_table import find_deviations
    from panelist.study.reading.load import load_study

    if against is None:
        raise PanelistError("-o goes with --against ORIGINAL, whose deviations it writes.")
    if output is not None:
        find_writer(output)
    found = find_deviations(load_study(against), load_study(study))
    if output is not None:
        write_deviations(found, output)
    show(found, json)
    if output is not None and not json:
        say()
        say(f"Written: {output}.")
    if found.without_reason:
        raise typer.Exit(THE_ANSWER_IS_NO)


def _follow_repeat(found: "StudyCheck") -> "dict[str, Result]":
    """Return how far a repeat has come, where the study is one."""
    if found.study is None or found.study.file.repeat is None:
        return {}
    from panelist.reports.repeat.steps import follow_repeat

    state = follow_repeat(found.study)
    return {"repeat": state} if state else {}


def _try_plan(found: "StudyCheck") -> "tuple[StudyCheck, dict[str, Result]]":
    """Return the check with what the design can estimate, or with why it cannot be planned."""
    if found.study is None:
        return found, {}
    from dataclasses import replace

    from panelist.core.errors import BadDesign
    from panelist.design.plan_summary import preview_estimates
    from panelist.study.problems import Problem

    try:
        estimates = preview_estimates(found.study)
        noted = _check_language(found, found.study)
        if found.study.file.hit is not None:  # what it can estimate depends on the form alone
            return _check_hit(noted, found.study), {}
        return noted, {"estimates": estimates}
    except BadDesign as error:
        clash = Problem(found.path.name, None, "design", str(error))
        return replace(found, study=None, problems=(*found.problems, clash)), {}


def _check_language(found: "StudyCheck", study: "Study") -> "StudyCheck":
    """Return the check with a note where there are no rating pages in the language of the study."""
    from dataclasses import replace

    from panelist.collection.pages.translations import load_words
    from panelist.core.errors import UnknownName
    from panelist.study.problems import Problem

    try:
        load_words(study.file.language)
    except UnknownName as error:
        note = Problem(found.path.name, None, "language", str(error), grave=False)
        return replace(found, notes=(*found.notes, note))
    return found


def _check_hit(found: "StudyCheck", study: "Study") -> "StudyCheck":
    """Return the check with what is wrong with the mapping of an old HIT."""
    from dataclasses import replace

    from panelist.collection.robots.hit_check import check_hit

    problems = check_hit(study)
    grave = tuple(problem for problem in problems if problem.grave)
    notes = tuple(problem for problem in problems if not problem.grave)
    return replace(
        found,
        study=None if grave else study,
        problems=(*found.problems, *grave),
        notes=(*found.notes, *notes),
    )
