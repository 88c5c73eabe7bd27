"""``panelist heds fill``: the datasheet of a study, from what it knows; what is open can be asked for."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from panelist.cli.heds import opening as given
from panelist.cli.options import Json
from panelist.cli.terminal import say, show

if TYPE_CHECKING:
    from panelist.reports.datasheet.sheet import Sheet


def heds_fill(
    study: given.Source,
    out: given.Out = None,
    version: given.Form = None,
    ratings: given.RatingsOf = None,
    power: given.PowerOf = None,
    ask: given.Ask = False,
    json: Json = False,
) -> None:
    """Fill in the Human Evaluation Datasheet (HEDS) of a study."""
    from panelist.reports.datasheet.heds_questions import NEWEST, read_version
    from panelist.reports.datasheet.write_datasheet import save_sheet

    if given.is_card(study) and (ask or version or ratings or power):
        raise typer.BadParameter(
            "--ask, --version, --ratings and --power go with a study; for another version of a card: "
            "panelist heds convert"
        )
    if ask and json:
        raise typer.BadParameter("--ask asks in the terminal, and does not go with --json")
    form = read_version(version or NEWEST)
    targets = given.check_targets(out)
    if ask:
        _ask(study, ratings, power)
    sheet = given.open_sheet(study, form, ratings, power)
    save_sheet(sheet, targets)
    _tell_sheet(sheet, study, targets, json)


def _tell_sheet(sheet: "Sheet", source: Path, targets: list[Path], json: bool) -> None:
    """Print what is filled, what should be read, and what is open."""
    from panelist.reports.datasheet.files.sheet_view import count_answers
    from panelist.reports.datasheet.sheet import describe_answer
    from panelist.reports.datasheet.sheet_summary import summarise_sheet

    if json:
        answered, drafts, _ = count_answers(sheet)
        answers = [
            {
                "number": question.number,
                "criterion": criterion,
                "answer": describe_answer(question, answer),
                "source": answer.source,
                "draft": answer.draft,
            }
            for question, criterion in sheet.places()
            if (answer := sheet.answer(question.number, criterion)).codes or answer.text
        ]
        whole = {"title": sheet.title, "version": sheet.version, "answered": answered, "drafts": drafts}
        given.print_json({**whole, "answers": answers, **given.list_open(sheet), "notes": list(sheet.notes)})
        return
    show(summarise_sheet(sheet))
    if sheet.open() and not given.is_card(source):
        say()
        say(f"Answer what is open: panelist heds fill {source} --ask, or under heds: in the study file.")
    for target in targets:
        say(f"Written: {target}")


def _ask(path: Path, ratings: Path | None, power: Path | None) -> None:
    """Ask for what is open, and say how many answers were written."""
    from dataclasses import replace

    from panelist.reports.datasheet.ask import ask_open

    folder = given.open_filled(path, ratings, power)
    asked = ask_open(folder.study, lambda one: replace(folder, study=one).datasheet(), input, say)
    say()
    answers = "answer" if asked.n_answered == 1 else "answers"
    kept = f"{asked.n_answered} {answers} written to {folder.study.path}."
    say(kept if asked.finished else f"Stopped. {kept}")
    say()
