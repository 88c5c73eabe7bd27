"""The study and its plan made ready for pages: questions laid out, texts escaped, pages found by place."""

from functools import cached_property
from math import ceil

from markupsafe import Markup

from panelist.collection.pages.agenda import Agenda, PlanPage
from panelist.collection.pages.models import PageQuestion
from panelist.collection.pages.questions import make_question, name_output
from panelist.collection.pages.renderings import Renderings, place_media
from panelist.collection.pages.translations import Words, load_words
from panelist.core.prose import capitalise
from panelist.design.plan import Plan
from panelist.formats import Stimulus
from panelist.formats.base import ShownTurn
from panelist.study.sections.briefing import Shown
from panelist.study.sections.checks import Check, DegradedCheck, InstructedCheck, choose_spoilt
from panelist.study.sections.criteria import Criterion
from panelist.study.study import Study


class Booklet:
    """Everything that pages are made of. It is made once for a plan and never changes.

    ``study``, ``agenda`` and ``words`` are what it was made of; ``noun`` is what raters call an output, with
    a capital letter; ``numbers`` gives the number of each criterion, from 1; ``checks`` gives each check by
    the name that it has in the plan; ``lettered`` says whether outputs are named by letters, because the
    study compares them, and ``mixed`` whether it also rates each; ``in_parts`` says whether each turn of a
    dialogue is judged.
    """

    def __init__(
        self, study: Study, plan: Plan, words: Words | None = None, renderings: Renderings | None = None
    ) -> None:
        self.study = study
        self.agenda = Agenda(plan, [one.name for one in study.criteria if one.scale.comparative])
        kinds = {one.scale.comparative for one in study.criteria}
        self.lettered, self.mixed = True in kinds, len(kinds) == 2
        self.words = words or load_words(study.file.language)
        noun = study.file.noun
        self.noun = capitalise(noun)
        self.nothing = Markup("<p><em>{}</em></p>").format(self.words.say("nothing"))
        self.numbers = {criterion.name: place for place, criterion in enumerate(study.criteria, start=1)}
        self.checks = _name_checks(study.file.checks.items if study.file.checks else ())
        frame = study.outputs.frame
        pairs = zip(frame["item"].tolist(), frame["system"].tolist(), strict=True)
        self._rows = {pair: row for row, pair in enumerate(pairs)}
        self._columns = {
            name: frame[name].tolist() for name in frame.columns
        }  # cells of a frame are slow to reach
        self._questions: dict[tuple[str, int], PageQuestion] = {}
        self._renderings = renderings or Renderings(study.outputs, self.words)
        self.in_parts = study.outputs.in_parts
        self.underlines = study.outputs.options.differences == "shown"

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

    def cells(self, page: PlanPage) -> tuple[Stimulus, ...]:
        """Return what a page shows to be judged, in the order shown."""
        if page.phase == "practice":
            item = self.practice_item(page)
            return tuple(
                self.study.outputs.make_cell("output", text) for text in item.outputs or (item.output,)
            )
        check = self.checks.get(page.check)
        if isinstance(check, InstructedCheck):
            return (Stimulus(check.text),) * len(page.outputs)
        cells = [self._cell(*output, "output") for output in page.outputs]
        if isinstance(check, DegradedCheck):
            place = self.spoilt_place(page)
            cells[place] = self._renderings.spoil(
                cells[place], check.how, self.study.file.design.seed, page.outputs[place]
            )
        return tuple(cells)

    def texts(self, page: PlanPage) -> tuple[str, ...]:
        """Return the texts of a page as they are written, in the order shown."""
        return tuple(cell.text for cell in self.cells(page))

    def _cell(self, item: str, system: str, column: str) -> Stimulus:
        outputs = self.study.outputs
        return outputs.make_cell(column, self.field(item, system, column), (item, system))

    def spoilt_place(self, page: PlanPage) -> int:
        """Return which of the outputs of a degraded check is spoilt, from 0."""
        return page.outputs.index(choose_spoilt(self.study.file.design.seed, page.outputs))

    def is_plain(self, column: str) -> bool:
        """Return whether a column (output, context or reference) is plain text."""
        return not self.study.outputs.format(column).blocks

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

    def show(self, cell: Stimulus | str, column: str = "output", where: str = "") -> Markup:
        """Return a text of a column (output, context or reference) as HTML, rendered once.

        ``where`` is the page and the place on it, under which its media have their addresses.
        """
        made = self.study.outputs.make_cell(column, cell) if isinstance(cell, str) else cell
        return place_media(self._renderings.show(made, column), where)

    def is_told(self, page: PlanPage) -> bool:
        """Return whether a page is a check that tells what to answer."""
        return isinstance(self.checks.get(page.check), InstructedCheck)

    def list_media(self, page: PlanPage, part: str) -> tuple[str, ...]:
        """Return the media files of a part of a page: an output by its place, ``context``, ``reference``."""
        media = self.study.outputs.media
        if part in ("context", "reference"):
            return media.list_files(self.study.outputs.make_cell(part, self.beside(page, part)), part)
        texts = () if self.is_told(page) else self.texts(page)
        place = int(part) if part.isdecimal() and len(part) < 5 else 0
        if not 1 <= place <= len(texts):
            return ()
        return media.list_files(self.cells(page)[place - 1])

    def list_examples(self, part: str) -> tuple[str, ...]:
        """Return the media files of an output or context among the worked examples, numbered through."""
        media, parts = self.study.outputs.media, self.example_parts
        found = parts.get(part)
        return media.list_files(media.cell(*found), found[0]) if found is not None else ()

    @cached_property
    def example_parts(self) -> dict[str, tuple[str, str]]:
        """The column and text of each output and context of the worked examples: ``2o1``, ``2context``."""
        parts = {}
        for number, example in enumerate(self.study.file.examples, start=1):
            parts[f"{number}context"] = ("context", example.context)
            for place, text in enumerate(example.outputs or (example.output,), start=1):
                parts[f"{number}o{place}"] = ("output", text)
        return parts

    def list_ahead(self, page: PlanPage | None, occasion: int) -> str:
        """Return the addresses of the media of a page, as the page before it fetches them."""
        if page is None or not self.study.outputs.media.columns:
            return ""
        parts = [*map(str, range(1, len(self.texts(page)) + 1)), "context", "reference"]
        return " ".join(
            f"{occasion}-{page.order}-{part}-{n}"
            for part in parts
            for n in range(1, len(self.list_media(page, part)) + 1)
        )

    def name_output(self, place: int) -> str:
        """Return what a page calls one of several outputs."""
        return name_output(self.noun, place, self.lettered)

    def split(self, cell: Stimulus) -> tuple[ShownTurn, ...]:
        """Return the turns of an output, rendered once; none where it is no dialogue."""
        return self._renderings.split(cell)

    def mark(self, texts: tuple[str, str]) -> tuple[Markup, Markup]:
        """Return two plain outputs with the words underlined in which they differ, compared once."""
        return self._renderings.mark(texts)

    def count_parts(self, page: PlanPage) -> tuple[int, ...]:
        """Return how many parts of each output of a page are judged separately; 0 where it is one."""
        if not self.in_parts:
            return (0,) * len(page.outputs)
        return tuple(self.study.outputs.parts(text) for text in self.texts(page))


def _name_checks(checks: tuple[Check, ...]) -> dict[str, Check]:
    """Return each check under the name that the plan gives it: ``repeat-1``, ``instructed-1``."""
    named: dict[str, Check] = {}
    counts: dict[str, int] = {}
    for check in checks:
        for _ in range(1 if isinstance(check, InstructedCheck) else check.count):
            counts[check.kind] = counts.get(check.kind, 0) + 1
            named[f"{check.kind}-{counts[check.kind]}"] = check
    return named
