"""Rules about media outside the outputs file: in examples, practice and checks, and what they are called."""

from collections.abc import Iterator

from panelist.core.prose import capitalise
from panelist.formats.media_types import refuse_name
from panelist.study.media import examine_files
from panelist.study.model import StudyFile
from panelist.study.problems import Path, Problem
from panelist.study.rules.base import Facts, rule


@rule("outputs", "examples", "practice")
def shown_files_exist(facts: Facts) -> Iterator[Problem]:
    """Examples and practice name files of the formats of the outputs, and those are there."""
    outputs = facts.outputs
    if outputs is None or not (outputs.media.kinds("output") or outputs.media.kinds("context")):
        return
    practice = facts.file.practice.items if facts.file.practice else ()
    shown: list[tuple[Path, str, str]] = []
    for section, items in (("examples", facts.file.examples), ("practice", practice)):
        for place, item in enumerate(items):
            path: Path = (section, place) if section == "examples" else (section, "items", place)
            texts = item.outputs or (item.output,)
            shown += [((*path, "output"), "output", text) for text in texts]
            shown.append(((*path, "context"), "context", item.context))
    for path, column, text in shown:
        if not text.strip() or not outputs.media.kinds(column):
            continue
        cell = outputs.media.cell(column, text)
        if problem := outputs.format(column).find_problem(cell, outputs.options):
            yield facts.problem(path, problem)
            continue
        named = dict.fromkeys(outputs.media.list_files(cell, column), "named here")
        for words, grave in examine_files(outputs.media.folder, named):
            yield facts.problem(path, words, grave)


@rule("outputs", "sound_check")
def sound_check_can_be_heard(facts: Facts) -> Iterator[Problem]:
    """The sound check names a sound that is there."""
    check, outputs = facts.file.sound_check, facts.outputs
    if check is None or outputs is None:
        return
    path: Path = ("sound_check", "file")
    if problem := refuse_name(check.file, frozenset({"sound"})):
        yield facts.problem(path, problem)
        return
    for words, grave in examine_files(outputs.media.folder, {check.file: "named here"}):
        yield facts.problem(path, words, grave)


@rule("outputs", "checks.items")
def media_are_not_spoilt(facts: Facts) -> Iterator[Problem]:
    """Only words can be spoilt for a degraded check."""
    if facts.outputs is None or not facts.outputs.media.kinds("output"):
        return
    for place, check in enumerate(facts.file.checks.items if facts.file.checks else ()):
        if check.kind == "degraded":
            yield facts.problem(
                ("checks", "items", place, "kind"),
                "degraded spoils words, and the outputs are files. Use repeat or instructed, or add a "
                "system whose files are worse on purpose.",
            )


@rule("outputs", "noun")
def files_are_not_called_texts(facts: Facts) -> Iterator[Problem]:
    """Raters do not read "Text 1" above a picture, a sound or a film."""
    if facts.outputs is None or facts.file.noun != StudyFile.model_fields["noun"].default:
        return
    kinds = facts.outputs.media.kinds("output")
    if kinds and facts.text.data.get("noun") is None:
        kind = next(iter(sorted(kinds)))
        yield facts.note(
            ("noun",),
            f"is missing, so raters read {capitalise(facts.file.noun)!r} above what is a {kind}. Say what "
            f"they shall read, noun: {kind} for example.",
        )
