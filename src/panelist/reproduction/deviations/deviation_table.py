"""The deviation table: what a repeat does differently from its original, key by key, and why.

A report of a reproduction needs it (parameter, original, repeat, reason): table 2 of Li et al. (2023), "Same
trends, different answers", and the contents that the ReproNLP shared task asks for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table
from panelist.study.differences import compare_decisions, list_decisions
from panelist.study.model import StudyFile
from panelist.study.sections.wages import find_wage
from panelist.study.study import Study


@dataclass(frozen=True)
class OpenQuestion:
    """A key of the study file that is blank, and the question to the authors."""

    key: str
    question: str


def list_open_questions(file: StudyFile) -> list[OpenQuestion]:
    """Return the questions that an original's study file leaves open, in the order of the file.

    A choice that has a default, such as the order of items, is open where the file does not make it.
    """
    return [
        OpenQuestion(key, question)
        for look in (_ask_about_criteria, _ask_about_raters, _ask_about_task, _ask_about_analysis)
        for key, question in look(file)
    ]


def _ask_about_criteria(file: StudyFile) -> Iterator[tuple[str, str]]:
    for one in file.criteria:
        key = f"criteria.{one.name}"
        if not one.definition:
            yield f"{key}.definition", f"Were raters given a definition of {one.name}? In which words?"
        if _lacks_labels(one.scale):
            yield f"{key}.scale", f"Which words were at the points or ends of the scale for {one.name}?"


def _lacks_labels(scale: object) -> bool:
    """Return whether a scale shows words, and the file does not say which."""
    fields: set[str] = getattr(type(scale), "model_fields", {}).keys() & {"labels", "low", "high", "poles"}
    return bool(fields) and not fields & getattr(scale, "model_fields_set", set())


def _ask_about_raters(file: StudyFile) -> Iterator[tuple[str, str]]:
    raters, design = file.raters, file.design
    counted = raters.count or any(group.raters for group in raters.groups)
    if not counted:
        yield "raters.count", "How many raters were there in all, and how many outputs did each judge?"
    if design.ratings_per_output is None and not design.facts.everything:
        yield "design.ratings_per_output", "How many raters judged each output?"
    if not raters.description:
        yield "raters.description", "Who were the raters: languages, country, training, age?"
    if not raters.recruitment:
        yield "raters.recruitment", "How were raters recruited, and who could take part?"
    for name, words in (
        ("experts", "Were the raters experts?"),
        ("known_to_authors", "Did the authors know the raters?"),
        ("authors_among_them", "Were authors among the raters?"),
    ):
        if getattr(raters, name) is None:
            yield f"raters.{name}", words
    if raters.paid == "money" and (file.pay is None or not find_wage(file.pay)):
        yield "pay", "What were raters paid, and how long did a task take them?"
    elif file.pay is not None and file.pay.minutes_per_trial is None:
        yield "pay.minutes_per_trial", "How long did a page take?"


def _ask_about_task(file: StudyFile) -> Iterator[tuple[str, str]]:
    if not file.instructions:
        yield "instructions", "What did raters read before they began, word for word?"
    if not file.examples and file.practice is None:
        yield "practice", "Were there worked examples, practice items or training?"
    if file.checks is None:
        yield "checks", "Were there attention checks, and what happened to raters who failed them?"
    for name, words in (
        ("order", "In which order did items come: the same for all, or random for each rater?"),
        ("criteria", "Were the criteria judged together, or one after the other?"),
    ):
        if name not in file.design.model_fields_set and (name != "criteria" or len(file.criteria) > 1):
            yield f"design.{name}", words
    if "positions" not in file.design.model_fields_set and file.design.facts.unit != "output":
        yield "design.positions", "In which order were outputs on a page?"
    if "forced" not in file.collecting.model_fields_set:
        yield "collecting.forced", "Could raters leave a question unanswered?"
    if not file.information.ethics:
        yield "information.ethics", "Who approved the study, and what did raters consent to?"


def _ask_about_analysis(file: StudyFile) -> Iterator[tuple[str, str]]:
    analysis = file.analysis
    if not analysis.exclude.model_fields_set:
        yield "analysis.exclude", "Were raters or ratings left out, or collected again, and by which rule?"
    if not analysis.aggregation:
        yield "analysis.aggregation", "How did single ratings become the scores that were printed?"
    if not analysis.findings:
        yield "analysis.findings", "Which findings does the paper claim from these ratings?"


NOT_COMPARED = ("title", "description", "outputs.texts")
"""Words about the study itself, and a hash: its meaning is given in words."""
BLANK = "–"


@dataclass(frozen=True)
class Deviation:
    """One parameter that differs; ``reason`` is empty where the repeat gives none."""

    parameter: str
    original: str
    repeat: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Deviations(Result):
    """All differences of a repeat from its original, and what the original leaves open."""

    original: str
    repeat: str
    n_same: int
    rows: tuple[Deviation, ...]
    questions: tuple[OpenQuestion, ...]
    idle_reasons: tuple[str, ...] = ()
    """Keys with a reason although nothing differs."""

    @property
    def without_reason(self) -> tuple[str, ...]:
        """The parameters whose difference nobody explained."""
        return tuple(row.parameter for row in self.rows if not row.reason)

    def sentence(self) -> str:
        """Return the outcome in a sentence."""
        if not self.rows:
            return f"The repeat does everything as the original: {self.n_same} parameters are the same."
        missing = len(self.without_reason)
        tail = f"{missing} of them without a reason" if missing else "each with its reason"
        differ = "parameter differs" if len(self.rows) == 1 else "parameters differ"
        return f"{len(self.rows)} {differ}, {tail}; {self.n_same} are the same."

    def title(self) -> str:
        """Return the heading."""
        return f"Deviations of {self.repeat} from {self.original}"

    def table(self) -> Table:
        """Return the table that a paper prints."""
        rows = [
            (row.parameter, row.original or BLANK, row.repeat or BLANK, row.reason or "(missing)")
            for row in self.rows
        ]
        return Table("Deviations from the original", ("parameter", "original", "repeat", "reason"), rows)

    def parts(self) -> list[Part]:
        """Return the outcome, the table, what lacks a reason, and the questions to the authors."""
        parts: list[Part] = [Sentence(self.sentence())]
        if self.rows:
            parts.append(self.table())
        if self.without_reason:
            parts.append(
                Sentence(
                    "Say why, under repeat: reasons: in the study file of the repeat, for: "
                    + ", ".join(self.without_reason)
                    + "."
                )
            )
        if self.idle_reasons:
            parts.append(Sentence(f"Reasons for what does not differ: {', '.join(self.idle_reasons)}."))
        if self.questions:
            parts.append(Sentence("The original's file leaves open, so ask its authors:"))
            parts.append(NamedValues([(one.key, one.question) for one in self.questions]))
        return parts

    def to_dict(self) -> dict[str, Any]:
        """Return the rows and the questions."""
        return {
            "original": self.original,
            "repeat": self.repeat,
            "same": self.n_same,
            "deviations": [asdict(row) for row in self.rows],
            "without_reason": list(self.without_reason),
            "idle_reasons": list(self.idle_reasons),
            "questions": [asdict(one) for one in self.questions],
        }


def find_deviations(original: Study, repeat: Study) -> Deviations:
    """Return every parameter under which the repeat differs from the original, with the repeat's reasons."""
    first, second = (
        {key: text for key, text in list_decisions(study).items() if key not in NOT_COMPARED}
        for study in (original, repeat)
    )
    first["outputs.texts"], second["outputs.texts"] = _compare_texts(original, repeat)
    reasons = repeat.file.repeat.reasons if repeat.file.repeat else {}
    used = set[str]()
    rows = []
    for one in compare_decisions(first, second):
        key = _find_reason(one.key, reasons)
        used |= {key} if key else set()
        rows.append(Deviation(one.key, one.first, one.second, reasons[key] if key else ""))
    return Deviations(
        original=original.title,
        repeat=repeat.title,
        n_same=len({*first, *second}) - len(rows),
        rows=tuple(rows),
        questions=tuple(list_open_questions(original.file)),
        idle_reasons=tuple(key for key in reasons if key not in used),
    )


def _find_reason(key: str, reasons: Mapping[str, str]) -> str:
    """Return the key of the reason for a parameter: its own, else that of the nearest section above it."""
    while key:
        if key in reasons:
            return key
        key = key.rpartition(".")[0]
    return ""


def _compare_texts(original: Study, repeat: Study) -> tuple[str, str]:
    """Return what the outputs of two studies are: the same word where they are the same."""
    first, second = (_read_texts(study) for study in (original, repeat))
    if first == second:
        return "the same", "the same"
    both = [cell for cell in first if cell in second]
    changed = sum(first[cell] != second[cell] for cell in both)
    new, gone = len(second) - len(both), len(first) - len(both)
    said = [
        f"{count:,} {words}"
        for count, words in ((changed, "changed"), (new, "new"), (gone, "left out"))
        if count
    ]
    return f"{len(first):,} outputs", f"{len(second):,} outputs: {', '.join(said)}"


def _read_texts(study: Study) -> dict[tuple[str, str], tuple[str, ...]]:
    frame = study.outputs.frame
    shown = [name for name in frame.columns if name not in ("item", "system")]
    cells = zip(frame["item"], frame["system"], strict=True)
    return dict(zip(cells, frame[shown].itertuples(index=False, name=None), strict=True))
