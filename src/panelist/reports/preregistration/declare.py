"""A preregistration: forms filled from study, plan and power analysis, time-stamped and kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import panelist
from panelist.collection.study_files import StudyFiles
from panelist.core.display.result import NamedValues, Part, Result, Sentence, pick
from panelist.core.errors import BadStudy, PanelistError
from panelist.design.assess.balance import count_planned
from panelist.design.plan import Plan
from panelist.reports.preregistration.forms import FORMS, Form, find_form
from panelist.reports.preregistration.topics import Known, answer_topics
from panelist.reproduction.deviations.deviation_table import find_deviations
from panelist.study.differences import compare_declared, list_decisions
from panelist.study.file_names import RATINGS_FILE
from panelist.study.preregistration import Registration, add_registration
from panelist.study.reading.load import load_study
from panelist.study.study import Study

OPEN = "(open)"
HINTS = {
    "hypotheses": "analysis: findings: in study.yaml",
    "sample_size": "panelist plan STUDY, or raters: count:",
    "sample_size_rationale": "panelist power … --json > power.json beside the study, or --power FILE",
    "source": "raters: recruitment: in study.yaml",
    "procedure": "raters: description: and recruitment: in study.yaml",
}
MOST_NAMED = 8


@dataclass(frozen=True)
class Entry:
    """A heading with its answer; an empty answer is open, unless the heading is optional."""

    section: str
    heading: str
    answer: str
    topic: str
    optional: bool = False


@dataclass(frozen=True)
class FilledForm:
    """A form with its answers."""

    name: str
    title: str
    source: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, kw_only=True)
class Preregistration(Result):
    """What is declared: the forms, when, and for which study and plan."""

    study: str
    time: str
    study_hash: str
    plan_hash: str | None
    forms: tuple[FilledForm, ...]
    number: int = 0
    """1 for the preregistration, 2 for its first amendment; 0 for a draft."""
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def open_topics(self) -> tuple[str, ...]:
        """What is not known, each topic once."""
        every = [one for form in self.forms for one in form.entries if not one.answer and not one.optional]
        return tuple(dict.fromkeys(one.topic for one in every))

    def kind(self) -> str:
        """Return what it is: a draft, the preregistration, or an amendment."""
        if not self.number:
            return "Draft of a preregistration"
        return (
            "Preregistration" if self.number == 1 else f"Amendment {self.number - 1} of the preregistration"
        )

    def facts(self) -> list[tuple[str, str]]:
        """Return time, hashes and reason."""
        rows = [("time (UTC)", self.time), ("study", self.study_hash), ("plan", self.plan_hash or "none yet")]
        return rows + ([("reason", self.reason)] if self.reason else [])

    def title(self) -> str:
        """Return the heading."""
        return f"{self.kind()}: {self.study}"

    def parts(self) -> list[Part]:
        """Return the facts, each form, and what is open."""
        parts: list[Part] = [NamedValues(self.facts())]
        for form in self.forms:
            parts.append(Sentence(f"\n{form.title} ({form.source})"))
            parts.append(NamedValues([(one.heading, show_answer(one)) for one in form.entries]))
        if self.open_topics:
            parts.append(Sentence("\nOpen; answer them in study.yaml and preregister again:"))
            parts.append(NamedValues([(topic, tell_where(topic)) for topic in self.open_topics]))
        return [*parts, *(Sentence(f"Note: {note}") for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name."""
        return {
            "kind": self.kind(),
            **pick(self, "number study time study_hash plan_hash reason"),
            "forms": list_forms(self.forms),
            "open": list(self.open_topics),
            "notes": list(self.notes),
        }


def show_answer(entry: Entry) -> str:
    """Return the answer as it is shown: open where it is missing."""
    return entry.answer or ("Nothing." if entry.optional else OPEN)


def tell_where(topic: str) -> str:
    """Return where in the study a topic is answered."""
    return HINTS.get(topic, f"preregistration: {topic}:")


def list_forms(forms: Sequence[FilledForm]) -> dict[str, list[dict[str, str]]]:
    """Return the forms as they are kept."""
    return {
        form.name: [
            {"section": one.section, "heading": one.heading, "answer": one.answer, "topic": one.topic}
            for one in form.entries
        ]
        for form in forms
    }


def draft_preregistration(
    study: Study | str | Path,
    *,
    power: str | Path | None = None,
    forms: Sequence[str] = (),
    now: datetime | None = None,
) -> Preregistration:
    """Return the preregistration as it would be now; nothing is kept.

    ``power`` is a file that ``panelist power --json`` or ``panelist size --json`` wrote; without it
    power.json beside the study. ``forms`` are names of forms; without them all that fit the study.
    """
    loaded = load_study(study)
    return _choose(_draft(loaded, power, now)[0], forms, loaded)


def preregister(
    study: Study | str | Path,
    *,
    power: str | Path | None = None,
    forms: Sequence[str] = (),
    reason: str = "",
    now: datetime | None = None,
) -> Preregistration:
    """Return the preregistration, kept in preregistration.json beside the study.

    What was declared before stays: where anything has changed since, a ``reason`` is needed and an amendment
    is added; where nothing has, the last declaration comes back.
    """
    loaded = load_study(study)
    if loaded.path is None:
        raise BadStudy("Only a study that is in a file can be preregistered. Write it to study.yaml first.")
    made, known = _draft(loaded, power, now)
    before = StudyFiles(loaded).registrations()
    declared = _declare(_choose(made, (), loaded), known, reason.strip())
    if before and (changes := _find_changes(before[-1], declared, loaded)):
        if not reason.strip():
            named = "; ".join(changes[:MOST_NAMED]) + ("; …" if len(changes) > MOST_NAMED else "")
            raise PanelistError(
                f"This study was preregistered on {before[-1].time}, and since then has changed: {named}. "
                "What was declared stays; say why it changes with --amend 'REASON' to add an amendment."
            )
    elif before:
        same = replace(made, number=len(before), time=before[-1].time, reason=before[-1].reason)
        note = f"nothing has changed since {before[-1].time}, so nothing was added."
        return replace(_choose(same, forms, loaded), notes=(*made.notes, note))
    add_registration(loaded.folder, declared)
    return _choose(replace(made, number=len(before) + 1, reason=reason.strip()), forms, loaded)


def _draft(study: Study, power: str | Path | None, now: datetime | None) -> tuple[Preregistration, Known]:
    """Return the preregistration with every form, and what it was filled from."""
    files = StudyFiles(study, power_file=None if power is None else Path(power))
    plan, notes = _find_plan(files)
    collected, said = _count_collected(files)
    known = Known(
        study=study,
        plan=plan,
        power=files.find_power(),
        collected=collected,
        deviations=_find_deviations(study),
    )
    answers = answer_topics(known)
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    made = Preregistration(
        study=study.title,
        time=moment.isoformat(timespec="seconds").replace("+00:00", "Z"),
        study_hash=study.hash,
        plan_hash=plan.hash if plan else None,
        forms=tuple(_fill(form, answers) for form in FORMS.values()),
        notes=(*notes, *said),
    )
    return made, known


def _choose(made: Preregistration, forms: Sequence[str], study: Study) -> Preregistration:
    """Return it with the forms asked for; without any, the recipe is for repeats only."""
    if forms:
        wanted = {find_form(name).name for name in forms}
    else:
        wanted = set(FORMS) if study.file.repeat else set(FORMS) - {"recipe"}
    return replace(made, forms=tuple(form for form in made.forms if form.name in wanted))


def _fill(form: Form, answers: Mapping[str, str]) -> FilledForm:
    entries = tuple(
        Entry(one.section, one.words, answers.get(one.topic, ""), one.topic, one.optional)
        for one in form.headings
    )
    return FilledForm(form.name, form.title, form.source, entries)


def _find_plan(files: StudyFiles) -> tuple[Plan | None, list[str]]:
    plan = files.find_plan(stale=True)
    if plan is None:
        return None, [
            "there is no plan yet; panelist plan STUDY makes one, and says how many raters it takes."
        ]
    if plan.study_hash != files.study.hash:
        return plan, ["the study file was changed after its plan was made; the plan is of the older one."]
    return plan, []


def _count_collected(files: StudyFiles) -> tuple[int, list[str]]:
    """Return how many answers the database beside the study holds, and a note on a table of ratings there."""
    if files.is_collected:
        with files.store() as store:
            return len(store.snapshot().answers), []
    if files.beside(RATINGS_FILE):
        return 0, [
            f"{RATINGS_FILE} is beside the study. If people gave those ratings, say so under "
            "preregistration: existing_data: in study.yaml."
        ]
    return 0, []


def _find_deviations(study: Study) -> Any:
    """Return what a repeat does differently, where its original is a study file."""
    repeat = study.file.repeat
    if repeat is None or study.path is None or not (study.folder / repeat.of).is_file():
        return None
    try:
        return find_deviations(load_study(study.folder / repeat.of), study)
    except PanelistError:
        return None  # the original is a sheet or a table; check says what it is


def _declare(made: Preregistration, known: Known, reason: str) -> Registration:
    """Return what is kept: all forms, and every decision that a later analysis is compared with."""
    plan = known.plan
    planned: dict[str, int] = {}
    if plan is not None:
        planned = {"raters": len(plan.raters), "ratings": count_planned(plan, known.study)[0]}
    return Registration(
        time=made.time,
        panelist=panelist.__version__,
        study_hash=made.study_hash,
        plan_hash=made.plan_hash,
        reason=reason,
        answers_before=known.collected,
        decisions=list_decisions(known.study),
        planned=planned,
        forms=list_forms(made.forms),
        open=made.open_topics,
    )


def _find_changes(before: Registration, now: Registration, study: Study) -> list[str]:
    """Return what differs between two declarations, in words."""
    said = [
        f"{one.key} ({one.first or 'none'} → {one.second or 'none'})"
        for one in compare_declared(before.decisions, study)
    ]
    if before.plan_hash != now.plan_hash:
        said.append("the plan")
    if said:
        return said
    mine, other = (
        {(form, row["heading"]): row["answer"] for form, rows in one.forms.items() for row in rows}
        for one in (before, now)
    )
    skipped = {"data_collected", "existing_data"}
    topics = {(form, row["heading"]): row["topic"] for form, rows in now.forms.items() for row in rows}
    return [
        f"the answer under {heading!r}"
        for (form, heading), answer in other.items()
        if mine.get((form, heading)) != answer and topics[form, heading] not in skipped
    ]
