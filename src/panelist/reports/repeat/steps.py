"""The twelve steps of a repeat, and how far each has come: looked up where a program can, else as ticked.

They are the steps that labs of the ReproHum project take, in our words: as Li et al. (2023), "Same trends,
different answers", describe theirs (original, materials, questions to authors, pay, the sheet that was filled
in beforehand, running, comparing), with the fair-pay rule of the project and what the call of the ReproNLP
shared task asks authors to report (findings, size, deviations, measures of reproducibility, datasheets).
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from panelist.collection.study_files import StudyFiles
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.errors import PanelistError
from panelist.core.prose import count
from panelist.reports.datasheet.fill import fill_sheet
from panelist.reports.repeat.from_ratings import TO_FILL_IN
from panelist.reproduction.deviations.deviation_table import Deviations, find_deviations
from panelist.study.differences import compare_declared
from panelist.study.file_names import POWER_FILE, RATINGS_FILE
from panelist.study.reading.load import load_study
from panelist.study.sections.repeating import StepName
from panelist.study.sections.wages import explain_wage, find_wage
from panelist.study.study import Study

REPRODUCTION = "reproduction.json"
Found = tuple[bool, str]
"""Whether a step is done, and what was found."""


@dataclass(frozen=True)
class StepState:
    """A step, its state, who says so, and what was found or is to be done."""

    number: int
    name: str
    what: str
    state: str
    by: str
    note: str


@dataclass(frozen=True, kw_only=True)
class RepeatState(Result):
    """How far a repeat has come."""

    of: str
    steps: tuple[StepState, ...]

    def next_step(self) -> StepState | None:
        """Return the first step that is open, None at the end."""
        return next((step for step in self.steps if step.state == "open"), None)

    def title(self) -> str:
        """Return the heading."""
        return f"Repeat of {self.of}"

    def parts(self) -> list[Part]:
        """Return the steps and which is next."""
        rows = [
            (f"{step.number}. {step.name}", step.state, step.what if step.state == "open" else "", step.note)
            for step in self.steps
        ]
        next_ = self.next_step()
        if next_ is None:
            said = "All twelve steps are done."
        else:
            said = (
                f"Next: {next_.number}. {next_.name}. What only you can know is ticked in study.yaml: "
                f"repeat: steps: {{{next_.name}: {{state: done, note: …}}}}"
            )
        return [Table("The twelve steps", ("step", "state", "to do", "seen"), rows), Sentence(said)]

    def to_dict(self) -> dict[str, Any]:
        """Return each step."""
        next_ = self.next_step()
        return {
            "of": self.of,
            "steps": [asdict(step) for step in self.steps],
            "next": next_.name if next_ else None,
        }


@dataclass(frozen=True, eq=False)
class Scene:
    """What the steps are looked up in."""

    study: Study
    original: Study | None
    deviations: Deviations | None

    @property
    def files(self) -> StudyFiles:
        """The files of the repeat,"""
        return StudyFiles(self.study)

    @property
    def folder(self) -> Path:
        """and their folder."""
        return self.study.folder


def follow_repeat(study: Study) -> RepeatState | None:
    """Return how far a repeat has come, None where the study is not a repeat."""
    repeat = study.file.repeat
    if repeat is None:
        return None
    original = find_original(study)
    scene = Scene(study, original, find_deviations(original, study) if original else None)
    steps = []
    for number, name in enumerate(get_args(StepName), start=1):
        what, look = STEPS[name]
        done, seen = _look(look, scene)
        ticked = repeat.steps.get(name)
        if done:
            steps.append(StepState(number, name, what, "done", "found", seen))
        elif ticked is not None and ticked.state != "open":
            steps.append(StepState(number, name, what, ticked.state, "said", ticked.note or seen))
        else:
            note = "; ".join(text for text in (seen, ticked.note if ticked else "") if text)
            steps.append(StepState(number, name, what, "open", "", note))
    return RepeatState(of=repeat.of, steps=tuple(steps))


def find_original(study: Study) -> Study | None:
    """Return the study that a repeat repeats, where it is a study file beside it that can be read."""
    repeat = study.file.repeat
    if repeat is None or study.path is None or not repeat.of.casefold().endswith((".yaml", ".yml")):
        return None
    try:
        return load_study(study.folder / repeat.of)
    except PanelistError:
        return None


def _look(look: Callable[[Scene], Found], scene: Scene) -> Found:
    try:
        return look(scene)
    except PanelistError as error:
        return False, " ".join(str(error).replace(f"{scene.folder}/", "").split())[:200]


def _find_original(scene: Scene) -> Found:
    of = scene.study.file.repeat.of if scene.study.file.repeat else ""
    if scene.original is not None:
        return True, f"{of}: {scene.original.title}"
    return (scene.folder / of).is_file(), f"{of} is there" if (scene.folder / of).is_file() else ""


def _find_materials(scene: Scene) -> Found:
    blank = sum(text.startswith(TO_FILL_IN) for text in scene.study.outputs.frame["output"])
    if blank:
        return (
            False,
            f"{count(blank, 'text in outputs.csv is', 'texts in outputs.csv are')} to be filled in",
        )
    if scene.deviations is None:
        return False, ""
    other = [row for row in scene.deviations.rows if row.parameter.startswith("outputs.")]
    return not other, "the outputs are the original's" if not other else "; ".join(
        row.repeat for row in other
    )


def _find_questions(scene: Scene) -> Found:
    if scene.deviations is None:
        return False, ""
    n = len(scene.deviations.questions)
    of = scene.study.file.repeat.of if scene.study.file.repeat else "ORIGINAL"
    return not n, f"the original leaves {n} open, see panelist check --against {of}" if n else "none is open"


def _find_findings(scene: Scene) -> Found:
    findings = scene.study.file.analysis.findings
    return bool(findings), "; ".join(findings)


def _find_size(scene: Scene) -> Found:
    there = scene.files.find_power() is not None
    return there, f"{POWER_FILE} says what power it has" if there else ""


def _find_pay(scene: Scene) -> Found:
    file = scene.study.file
    if file.raters.paid == "no":
        return True, "raters are not paid"
    pay = file.pay
    if pay is None or not find_wage(pay) or not (pay.minimum_wage or pay.living_wage):
        return False, ""
    if scene.original is not None and scene.original.file.pay == pay:
        return False, "as in the original; put in today's wages, and what the original paid"
    known = pay.original_wage is not None and pay.original_minimum_wage is not None
    return True, explain_wage(pay) + ("" if known else " The original's wage is not given.")


def _find_ethics(scene: Scene) -> Found:
    text = scene.study.file.information.ethics
    if text and scene.original is not None and scene.original.file.information.ethics == text:
        return False, "this is the original's approval"
    return bool(text), text


def _find_datasheet(scene: Scene) -> Found:
    blanks = fill_sheet(scene.study, scene.files.find_plan(stale=True)).open()
    if not blanks:
        return True, "every question of HEDS is answered"
    return False, f"{count(len(blanks), 'question')} of HEDS still open"


def _find_registration(scene: Scene) -> Found:
    found = scene.files.registrations()
    if not found:
        return False, ""
    changed = compare_declared(found[-1].decisions, scene.study)
    if changed:
        return False, f"changed since {found[-1].time}: {', '.join(one.key for one in changed[:4])}"
    return True, f"of {found[-1].time}"


def _find_ratings(scene: Scene) -> Found:
    if scene.files.is_collected:
        with scene.files.store() as store:
            seen = store.overview()
        return seen.filled >= seen.places, f"{seen.filled:,} of {seen.places:,} places are filled"
    there = scene.files.beside(RATINGS_FILE) is not None
    return there, f"{RATINGS_FILE} is there" if there else ""


def _find_reproduction(scene: Scene) -> Found:
    path = scene.folder / REPRODUCTION
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False, ""
    whole = isinstance(found, dict) and isinstance(found.get("criteria"), list)
    return (
        whole,
        f"{REPRODUCTION} is there" if whole else f"{REPRODUCTION} is not output of panelist reproduce",
    )


def _find_report(scene: Scene) -> Found:
    if scene.deviations is not None and (missing := scene.deviations.without_reason):
        return False, f"{count(len(missing), 'deviation')} without a reason"
    return False, ""


STEPS: dict[str, tuple[str, Callable[[Scene], Found]]] = {
    "original": ("Read the original; put its study file, ratings or sheet into original/.", _find_original),
    "materials": ("Get the outputs, instructions and pages that raters saw.", _find_materials),
    "questions": (
        "Ask the authors what the paper leaves open; write down who answered what.",
        _find_questions,
    ),
    "findings": ("List the results to repeat and the findings claimed: analysis: findings:", _find_findings),
    "size": (
        "Find the power of a repeat of the same size: panelist power --study … --json > power.json",
        _find_size,
    ),
    "pay": ("Find the fair wage: pay: minimum_wage, living_wage, original_wage.", _find_pay),
    "ethics": ("Have the repeat approved: information: ethics:", _find_ethics),
    "datasheet": ("Fill in the datasheet before you start: panelist heds fill STUDY --ask", _find_datasheet),
    "preregistration": ("Declare the plan: panelist preregister STUDY", _find_registration),
    "ratings": ("Collect the ratings, exactly as declared: panelist serve STUDY", _find_ratings),
    "reproduction": (
        "Compare with the original: panelist reproduce ORIGINAL REPEAT --json > reproduction.json",
        _find_reproduction,
    ),
    "report": ("Report every deviation with its reason, and share all: panelist archive STUDY", _find_report),
}
"""Each step: what is to be done, and the function that checks whether it is."""
