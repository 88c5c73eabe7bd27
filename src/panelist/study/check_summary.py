"""What ``panelist check`` answers: the problems, the notes, and the study in a few lines."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from panelist.core.display.result import NamedValues, Part, Result
from panelist.core.prose import count
from panelist.study.blindness import find_names
from panelist.study.file_names import STUDY_FILE
from panelist.study.problems import Problem
from panelist.study.reading.load import examine_study, find_study_file
from panelist.study.sections.wages import find_wage
from panelist.study.study import Study


@dataclass(frozen=True, eq=False)
class StudyCheck(Result):
    """The outcome of a check; ``study`` is None where a problem prevents reading it."""

    path: Path
    study: Study | None
    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]

    def title(self) -> str:
        """Return the title of the study, or its path where it cannot be read."""
        return self.study.title if self.study else str(self.path)

    def sentence(self) -> str:
        """Return the answer in a sentence."""
        notes = f" ({count(len(self.notes), 'note')})" if self.notes else ""
        if not self.problems:
            return f"{self.path} is fine{notes}."
        them = "it" if len(self.problems) == 1 else "them"
        return (
            f"{self.path} has {count(len(self.problems), 'problem')}{notes}. Correct {them} and check again."
        )

    def parts(self) -> list[Part]:
        """Return the study in a few lines; nothing where it has problems."""
        return [NamedValues(_summarise(self.study))] if self.study else []

    def to_dict(self) -> dict[str, Any]:
        """Return the answer, the problems, the notes and the summary."""
        answer: dict[str, Any] = {
            "study": str(self.path),
            "ok": not self.problems,
            "problems": [problem.to_dict() for problem in self.problems],
            "notes": [note.to_dict() for note in self.notes],
        }
        if self.study is None:
            return answer
        return answer | {
            "hash": self.study.hash,
            "title": self.study.title,
            "items": len(self.study.items),
            "systems": list(self.study.systems),
            "criteria": [
                {
                    "criterion": one.name,
                    "scale": getattr(one.scale, "type", ""),
                    "measurement": one.scale.measurement,
                }
                for one in self.study.criteria
            ],
            "design": self.study.file.design.model_dump(mode="json"),
            "raters": self.study.file.raters.model_dump(mode="json"),
        }


def check_study(source: str | Path) -> StudyCheck:
    """Return the problems, the notes and the summary of a study; raise BadFile where it cannot be read."""
    study, found = examine_study(source)
    return StudyCheck(
        path=find_study_file(Path(source)),
        study=study,
        problems=tuple(problem for problem in found if problem.grave),
        notes=(*(one for one in found if not one.grave), *(find_omissions(study) if study else ())),
    )


def _summarise(study: Study) -> list[tuple[str, str]]:
    if (hit := study.file.hit) is not None:
        shared = f"each to {count(hit.assignments, 'rater')}, {hit.hits_per_rater} per rater"
        read = (
            f"read by {hit.mapping}" if hit.mapping else "kept as they are; no mapping says how to read them"
        )
        what = f"{count(len(study.items), 'HIT')} of {hit.template}, {shared}"
        return [("HITs", what), ("answers", read), ("raters", _describe_raters(study))]
    systems, items = count(len(study.systems), "system"), count(len(study.items), "item")
    total = count(study.n_outputs, "output")
    sign = "=" if study.there is None else "less what is missing:"
    rows = [("outputs", f"{systems} × {items} {sign} {total}: {', '.join(study.systems)}")]
    rows += [("sample", study.draw.sentence())] if study.draw is not None else []
    rows += [(criterion.name, criterion.scale.describe()) for criterion in study.criteria]
    return [*rows, ("design", _describe_design(study)), ("raters", _describe_raters(study))]


def _describe_design(study: Study) -> str:
    design = study.file.design
    words: list[str] = [design.type]
    if design.trials_per_rater:
        apart = design.rated == "alone" or (
            len(study.criteria) > 1 and design.criteria in ("in turn", "in blocks")
        )
        unit = design.facts.unit if apart else "page"
        words.append(f"{count(design.trials_per_rater, unit)} per rater")
    if design.ratings_per_output:
        words.append(f"{count(design.ratings_per_output, 'rating')} per {design.facts.unit}")
    if len(study.criteria) > 1:
        words.append(f"criteria {design.criteria}")
    if design.rated == "alone":
        words.append("outputs rated alone")
    if design.occasions > 1:
        words.append(f"{design.occasions} occasions")
    return ", ".join([*words, f"seed {design.seed}"])


def _describe_raters(study: Study) -> str:
    raters = study.file.raters
    wanted = "as many as the design needs" if raters.count is None else f"{raters.count:,}"
    groups = [f"{one.name} ({one.raters:,})" if one.raters else one.name for one in raters.groups]
    if raters.count is None and groups and all(one.raters for one in raters.groups):
        wanted = f"{sum(one.raters or 0 for one in raters.groups):,}"
    return wanted + (f", in groups: {', '.join(groups)}" if groups else "")


NOBODY = ("@example.org", "@example.com", "@example.net")  # reserved for examples (RFC 2606)


def find_omissions(study: Study) -> tuple[Problem, ...]:
    """Return what the first page lacks and what the outputs give away; an old HIT has its own first page."""
    if study.file.hit is not None:
        return ()
    name = study.path.name if study.path is not None else STUDY_FILE
    return tuple(
        Problem(name, None, key, message, grave=False)
        for key, message in (*_check_information(study), *_check_pay(study))
    ) + tuple(
        Problem(study.file.outputs.file, None, "output", message, grave=False)
        for message in find_names(study.outputs)
    )


def _check_information(study: Study) -> Iterator[tuple[str, str]]:
    information, contact = study.file.information, study.file.information.contact.strip()
    if not information.consent:
        yield (
            "information.consent",
            "is missing: raters are not asked to agree to anything. Add what they agree to, one line each.",
        )
    if not contact:
        yield "information.contact", "is missing: raters do not learn whom to ask. Add an address."
    elif contact.casefold().endswith(NOBODY):
        yield "information.contact", f"{contact} is only an example: put your own address here."


def _check_pay(study: Study) -> Iterator[tuple[str, str]]:
    if study.file.raters.paid != "money":
        return
    pay = study.file.pay
    if pay is None:
        yield (
            "pay",
            "is missing, so neither pay nor cost is known. Add it, or set raters.paid to other or no.",
        )
    elif not find_wage(pay):
        yield (
            "pay",
            "gives no wage: add hourly, minimum_wage or living_wage, or set raters.paid to other or no.",
        )
