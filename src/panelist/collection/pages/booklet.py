"""The study and its plan made ready for pages: questions laid out, texts escaped, pages found by place."""

from functools import lru_cache
from math import ceil

from markupsafe import Markup

from panelist.collection.pages.agenda import Agenda, PlanPage
from panelist.collection.pages.models import PageQuestion
from panelist.collection.pages.questions import make_question
from panelist.collection.pages.spoiling import spoil_output
from panelist.collection.pages.translations import Words, load_words
from panelist.core.prose import capitalise
from panelist.design.plan import Plan
from panelist.formats import Stimulus
from panelist.formats.base import ShownTurn
from panelist.study.sections.briefing import Shown
from panelist.study.sections.checks import Check, DegradedCheck, InstructedCheck, choose_spoilt
from panelist.study.sections.criteria import Criterion
from panelist.study.study import Study

TEXTS_KEPT = 50_000


class Booklet:
    """Everything that pages are made of. It is made once for a plan and never changes.

    ``study``, ``agenda`` and ``words`` are what it was made of; ``noun`` is what raters call an output, with
    a capital letter; ``numbers`` gives the number of each criterion, from 1; ``checks`` gives each check by
    the name that it has in the plan; ``lettered`` says whether outputs are named by letters, because the
    study compares them, and ``mixed`` whether it also rates each; ``in_parts`` says whether each turn of a
    dialogue is judged.
    """

    def __init__(self, study: Study, plan: Plan, words: Words | None = None) -> None:
        self.study = study
        self.agenda = Agenda(plan, [one.name for one in study.criteria if one.scale.comparative])
        kinds = {one.scale.comparative for one in study.criteria}
        self.lettered, self.mixed = True in kinds, len(kinds) == 2
        self.words = words or load_words(study.file.language)
        noun = study.file.noun
        self.noun = capitalise(noun)
        self.numbers = {criterion.name: place for place, criterion in enumerate(study.criteria, start=1)}
        self.checks = _name_checks(study.file.checks.items if study.file.checks else ())
        frame = study.outputs.frame
        pairs = zip(frame["item"].tolist(), frame["system"].tolist(), strict=True)
        self._rows = {pair: row for row, pair in enumerate(pairs)}
        self._columns = {
            name: frame[name].tolist() for name in frame.columns
        }  # cells of a frame are slow to reach
        self._questions: dict[tuple[str, int], PageQuestion] = {}
        self._show = lru_cache(TEXTS_KEPT)(self._render)
        self._split = lru_cache(TEXTS_KEPT)(self._split_cell)
        self.in_parts = study.outputs.in_parts

    def criterion(self, name: str) -> Criterion:
        """Return the criterion of this name."""
        return self.study.criteria[self.numbers[name] - 1]

    def question(self, name: str, shown: int) -> PageQuestion:
        """Return the question of a criterion about so many outputs."""
        found = self._questions.get((name, shown))
        if found is None:
            found = make_question(self.criterion(name), shown, self.noun)
            self._questions[name, shown] = found
        return found

    def field(self, item: str, system: str, name: str) -> str:
        """Return a cell of the outputs file; empty where there is no such column or output."""
        row = self._rows.get((item, system))
        return str(self._columns[name][row]) if row is not None and name in self._columns else ""

    def practice_item(self, page: PlanPage) -> Shown:
        """Return what a practice page shows."""
        practice = self.study.file.practice
        assert practice is not None, "a plan has practice only where its study has"
        return practice.items[int(page.outputs[0][0].rpartition("-")[2]) - 1]

    def texts(self, page: PlanPage) -> tuple[str, ...]:
        """Return the texts of a page, in the order shown."""
        if page.phase == "practice":
            item = self.practice_item(page)
            return item.outputs or (item.output,)
        check = self.checks.get(page.check)
        if isinstance(check, InstructedCheck):
            return (check.text,) * len(page.outputs)
        texts = [self.field(item, system, "output") for item, system in page.outputs]
        if isinstance(check, DegradedCheck):
            place = self.spoilt_place(page)
            texts[place] = spoil_output(self.study, texts[place], check.how, *page.outputs[place])
        return tuple(texts)

    def spoilt_place(self, page: PlanPage) -> int:
        """Return which of the outputs of a degraded check is spoilt, from 0."""
        return page.outputs.index(choose_spoilt(self.study.file.design.seed, page.outputs))

    def beside(self, page: PlanPage, name: str) -> str:
        """Return what stands beside the texts of a page: their context or reference."""
        if page.phase == "practice":
            return self.practice_item(page).context if name == "context" else ""
        found = (self.field(item, system, name) for item, system in page.outputs)
        return next((text for text in found if text.strip()), "")

    def image(self, page: PlanPage, place: int) -> str:
        """Return the path of a picture in the study folder, by its place on the page; empty if none."""
        if page.phase == "practice" or not 1 <= place <= len(page.outputs):
            return ""
        return self.field(*page.outputs[place - 1], "image")

    def minutes(self, place: str | None) -> int | None:
        """Return how long a sitting takes, in minutes, where the study says how long a page does."""
        pay = self.study.file.pay
        if pay is None or pay.minutes_per_trial is None:
            return None
        known = place or (self.agenda.places[0] if self.agenda.places else None)
        return ceil(pay.minutes_before + pay.minutes_per_trial * len(self.agenda.sitting(known, 1).pages))

    def show(self, text: str, column: str = "output") -> Markup:
        """Return a text of a column (output, context or reference) as HTML, rendered once."""
        return self._show(Stimulus(text), column)

    def split(self, text: str) -> tuple[ShownTurn, ...]:
        """Return the turns of an output; none where it is no dialogue."""
        return self._split(Stimulus(text))

    def count_parts(self, page: PlanPage) -> tuple[int, ...]:
        """Return how many parts of each output of a page are judged separately; 0 where it is one."""
        if not self.in_parts:
            return (0,) * len(page.outputs)
        return tuple(self.study.outputs.parts(text) for text in self.texts(page))

    def _split_cell(self, cell: Stimulus) -> tuple[ShownTurn, ...]:
        outputs = self.study.outputs
        return outputs.format("output").split(cell, outputs.options, self.words.say)

    def _render(self, cell: Stimulus, column: str) -> Markup:
        outputs = self.study.outputs
        return outputs.format(column).show(cell, outputs.options, self.words.say)


def _name_checks(checks: tuple[Check, ...]) -> dict[str, Check]:
    """Return each check under the name that the plan gives it: ``repeat-1``, ``instructed-1``."""
    named: dict[str, Check] = {}
    counts: dict[str, int] = {}
    for check in checks:
        for _ in range(1 if isinstance(check, InstructedCheck) else check.count):
            counts[check.kind] = counts.get(check.kind, 0) + 1
            named[f"{check.kind}-{counts[check.kind]}"] = check
    return named
