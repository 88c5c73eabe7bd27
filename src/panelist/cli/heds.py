"""``panelist heds``: the Human Evaluation Datasheet of a study; datasheets checked, converted, compared."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from panelist.cli.heds_options import (
    Ask,
    ConvertOf,
    DiffOf,
    Form,
    LintOf,
    Out,
    PowerOf,
    RatingsOf,
    Source,
    To,
)
from panelist.cli.inputs import find_ratings
from panelist.cli.options import Json
from panelist.cli.terminal import say, show, tell

if TYPE_CHECKING:
    from panelist.reports.heds.convert import Converted
    from panelist.reports.heds.questions import Version
    from panelist.reports.heds.sheet import Sheet
    from panelist.study.study import Study

FAILED = 1


def heds(
    study: Source = None,
    out: Out = None,
    version: Form = None,
    ratings: RatingsOf = None,
    power: PowerOf = None,
    ask: Ask = False,
    lint: LintOf = None,
    convert: ConvertOf = None,
    to: To = None,
    diff: DiffOf = None,
    json: Json = False,
) -> None:
    """Fill in the Human Evaluation Datasheet (HEDS); check, convert and compare such sheets."""
    from panelist.reports.heds.questions import NEWEST, read_version

    _check_mode(study, lint, convert, diff, to)
    if study is not None and _is_card(study) and (ask or version or ratings or power):
        raise typer.BadParameter(
            "--ask, --version, --ratings and --power go with a study; another version of a card: --convert"
        )
    if ask and (study is None or json):
        raise typer.BadParameter("--ask goes with a study, and not with --json")
    if out and (lint is not None or diff is not None):
        raise typer.BadParameter("-o goes with a study or with --convert; --json prints the rest for a file")
    form = read_version(version or NEWEST)
    targets = _check_targets(out or [])
    if diff is not None:
        from panelist.reports.heds.diff import compare_sheets

        first, second = (_open(path, form, ratings, power) for path in diff)
        show(compare_sheets(first, second), json)
    elif lint is not None:
        from panelist.reports.heds.lint import lint_sheet

        found = lint_sheet(_open(lint, form, ratings, power))
        show(found, json)
        if not found.passed:
            raise typer.Exit(FAILED)
    elif convert is not None:
        _convert(convert, str(to), targets, json)
    elif study is not None:
        if ask:
            _ask(study, ratings, power)
        sheet = _open(study, form, ratings, power)
        _save(sheet, targets)
        _tell_sheet(sheet, study, targets, json)


def _check_mode(
    study: Path | None,
    lint: Path | None,
    convert: Path | None,
    diff: tuple[Path, Path] | None,
    to: str | None,
) -> None:
    """Refuse what cannot be meant together."""
    asked = [
        name
        for name, one in (("STUDY", study), ("--lint", lint), ("--convert", convert), ("--diff", diff))
        if one
    ]
    if not asked:
        raise typer.BadParameter(
            "name a study, or one of --lint CARD, --convert CARD --to VERSION, --diff A B"
        )
    if len(asked) > 1:
        raise typer.BadParameter(f"{' and '.join(asked)} are different things; ask for one at a time")
    if (convert is None) != (to is None):
        raise typer.BadParameter("--convert CARD and --to 3.0|2.x go together")
    if convert is not None and not _is_card(convert):
        raise typer.BadParameter(
            "--convert takes a JSON file of a HEDS form; of a study, --version says which"
        )


def _is_card(path: Path) -> bool:
    return path.suffix.casefold() == ".json" and not path.is_dir()


def _check_targets(out: list[Path]) -> list[Path]:
    from panelist.core.errors import BadFile
    from panelist.reports.heds.datasheet import check_target

    targets = [check_target(path) for path in out]
    if len({path.resolve() for path in targets}) < len(targets):
        raise BadFile("One file is named twice with -o.")
    return targets


def _open(path: Path, version: "Version", ratings: Path | None, power: Path | None) -> "Sheet":
    """Return the sheet of a card as it is, or that of a study in a version."""
    if _is_card(path):
        from panelist.reports.heds.read import read_sheet

        return read_sheet(path)
    from panelist.reports.heds.fill import fill_sheet
    from panelist.study.load import load_study

    study = load_study(path)
    table, collected = _find_ratings(study, ratings)
    return fill_sheet(study, _find_plan(study), table, version, power=power, collected=collected)


def _find_plan(study: "Study") -> Any:
    from panelist.design.keep import find_plan

    plan = find_plan(study)
    if plan is None:
        tell(f"There is no plan in {study.folder}: what it would tell stays open (panelist plan makes one).")
    return plan


def _find_ratings(study: "Study", ratings: Path | None) -> tuple[Any, bool]:
    """Return the ratings, None if there are none yet, and whether Panelist's own pages collected them."""
    found = find_ratings(study, ratings)
    if found is None:
        return None, False
    empty = found.collected and not len(found.ratings)
    return (None if empty else found.ratings), found.collected


def _save(sheet: "Sheet", targets: list[Path]) -> None:
    from panelist.reports.heds.datasheet import save_sheet

    save_sheet(sheet, targets)


def _convert(path: Path, to: str, targets: list[Path], json: bool) -> None:
    from panelist.reports.heds.convert import convert_sheet
    from panelist.reports.heds.questions import read_version
    from panelist.reports.heds.read import read_sheet
    from panelist.reports.heds.write import write_json

    made: Converted = convert_sheet(read_sheet(path), read_version(to))
    _save(made.sheet, targets)
    for note in made.sheet.notes:
        tell(f"Note: {note}")
    if json:
        _print_json(
            {
                "version": made.sheet.version,
                "changed": [vars(one) for one in made.lost],
                **_list_open(made.sheet),
            }
        )
        return
    if not targets:
        say(write_json(made.sheet).decode("utf-8", "replace"))
    told = say if targets else tell
    if made.lost:
        told("Not carried over as it was:")
    for one in made.lost:
        told(f"  {one}")
    open_ = made.sheet.open()
    if open_:
        told(f"Open in HEDS {made.sheet.version}:")
    for blank in open_:
        told(f"  {blank}  {blank.question.title}")
    for target in targets:
        say(f"Written: {target}")


def _list_open(sheet: "Sheet") -> dict[str, Any]:
    return {
        "open": [
            {
                "number": one.question.number,
                "criterion": one.criterion,
                "question": one.question.title,
                "missing": one.missing,
            }
            for one in sheet.open()
        ]
    }


def _tell_sheet(sheet: "Sheet", source: Path, targets: list[Path], json: bool) -> None:
    """Print what is filled, what should be read, and what is open."""
    from panelist.reports.heds.sheet import describe_answer
    from panelist.reports.heds.summary import summarise_sheet
    from panelist.reports.heds.view import count_answers

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
        _print_json({**whole, "answers": answers, **_list_open(sheet), "notes": list(sheet.notes)})
        return
    show(summarise_sheet(sheet))
    if sheet.open() and not _is_card(source):
        say()
        say(f"Answer what is open: panelist heds {source} --ask, or under heds: in the study file.")
    for target in targets:
        say(f"Written: {target}")


def _print_json(data: dict[str, Any]) -> None:
    import json

    say(json.dumps(data, ensure_ascii=False))


def _ask(path: Path, ratings: Path | None, power: Path | None) -> None:
    """Ask for what is open, and say what came of it."""
    from panelist.reports.heds.ask import ask_open
    from panelist.reports.heds.fill import fill_sheet
    from panelist.study.load import load_study

    loaded = load_study(path)
    plan = _find_plan(loaded)
    table, collected = _find_ratings(loaded, ratings)
    asked = ask_open(
        loaded, lambda one: fill_sheet(one, plan, table, power=power, collected=collected), input, say
    )
    say()
    kept = f"{asked.n_answered} {'answer' if asked.n_answered == 1 else 'answers'} written to {loaded.path}."
    say(kept if asked.finished else f"Stopped. {kept}")
    say()
