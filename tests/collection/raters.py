"""Raters in memory: studies made for a purpose, and a walk through their pages without a server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.models import (
    BackgroundPage,
    ConsentPage,
    EndPage,
    Page,
    PageQuestion,
    PracticePage,
    RatingPage,
    SoundPage,
)
from panelist.collection.pages.translations import Words
from panelist.collection.session.history import Memory
from panelist.collection.session.turn import Turn, TurnOutcome
from panelist.collection.session.visit_flow import next_page, submit
from panelist.design.make import plan_study
from panelist.scales.base import RatingScale
from panelist.study.model import StudyFile
from panelist.study.outputs import Outputs
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from panelist.web.rendering import Frame, render_page

TEMPLATES = Path(__file__).parents[2] / "src" / "panelist" / "study" / "templates"
TEMPLATE_NAMES = tuple(sorted(path.name for path in TEMPLATES.iterdir() if (path / "study.yaml").exists()))
SINGLE = {"type": "lists", "trials_per_rater": 6, "ratings_per_output": 2}
VERBAL = {"type": "verbal", "points": ["Bad", "So-so", "Good"], "numbered": True}
SCALES: dict[str, dict[str, Any]] = {
    "verbal": VERBAL,
    "likert": {"type": "likert", "points": 7},
    "vas": {"type": "vas", "low": "Worst of all", "high": "Best of all", "faces": True},
    "graphic": {"type": "graphic", "points": ["Hard", "So-so", "Easy"]},
    "binary": {"type": "binary", "labels": ["Plausible", "Not plausible"]},
    "magnitude": {"type": "magnitude", "reference": "It will rain.", "modulus": 100},
    "text": {"type": "text", "most": 50},
    "pairs": {"type": "pairs", "ties": True},
    "preference": {"type": "preference"},
    "choose-one": {"type": "choose-one", "none": True},
    "best-worst": {"type": "best-worst", "best": "Clearest", "worst": "Least clear"},
    "ranking": {"type": "ranking"},
}
DESIGNS: dict[str, dict[str, Any]] = {
    "pairs": {"type": "pairs", "trials_per_rater": 6, "ratings_per_output": 2},
    "preference": {"type": "pairs", "trials_per_rater": 6, "ratings_per_output": 2},
    "choose-one": {"type": "best-worst", "shown": 3, "trials_per_rater": 6, "ratings_per_output": 2},
    "best-worst": {"type": "best-worst", "shown": 4, "trials_per_rater": 6, "ratings_per_output": 2},
    "ranking": {"type": "best-worst", "shown": 3, "trials_per_rater": 6, "ratings_per_output": 2},
}


def make_study(
    scales: Mapping[str, Mapping[str, Any]] | None = None,
    design: Mapping[str, Any] = SINGLE,
    output: Callable[[int, int], str] = lambda item, system: f"Words of text {item} in version {system}.",
    **file: Any,
) -> Study:
    """Return a study of six items and four systems, with one criterion for each scale."""
    criteria = [
        {"name": name, "question": f"What of the {name}?", "scale": dict(scale)}
        for name, scale in (scales or {"ease": VERBAL}).items()
    ]
    rows = [(f"item{i}", f"system{s}", output(i, s)) for i in range(6) for s in range(4)]
    frame = pd.DataFrame(rows, columns=["item", "system", "output"], dtype="str")
    made = StudyFile.model_validate(
        {"title": "A study", "criteria": criteria, "design": dict(design), **file}
    )
    return Study(made, Outputs(frame, made.outputs))


def load_template(name: str) -> Study:
    return load_study(TEMPLATES / name)


@dataclass(frozen=True)
class Visit:
    """Where somebody is; as much of the store's visit as the session needs."""

    place: str | None = "r001"
    state: str = "invited"
    occasion: int = 1
    page: int = 1
    code: str = ""
    reason: str = ""
    outside_id: str | None = None


def answer(question: PageQuestion) -> str:
    """Return an answer to a question: the first choice, or something that fits."""
    if question.choices:
        return question.choices[0].value
    ranks = ",".join(str(rank) for rank in range(1, len(question.outputs) + 1))
    return {"line": "62.5", "number": "10", "words": "Fine.", "best_worst": "1,2", "rank": ranks}[
        question.widget
    ]


def fill(page: Page, answers: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the form that a willing rater sends; ``answers`` go before their own."""
    form = {"page": page.id}
    if isinstance(page, ConsentPage):
        form |= {f"box{n}": "1" for n in range(1, len(page.boxes) + 1)} | {"consent": "yes"}
    elif isinstance(page, BackgroundPage):
        form |= {asked.name: asked.options[0] if asked.options else "3" for asked in page.questions}
    elif isinstance(page, SoundPage):
        form["word"] = "lemon"
    elif isinstance(page, RatingPage):
        form |= {asked.name: answer(asked.question) for asked in page.asked}
    return form | dict(answers or {})


@dataclass
class Walk:
    """A rater who walks through a study; what is stored goes into a memory."""

    booklet: Booklet
    visit: Visit = field(default_factory=Visit)
    history: Memory = field(default_factory=Memory)
    now: float = 0.0
    pages: list[Page] = field(default_factory=list)
    outcomes: list[TurnOutcome] = field(default_factory=list)

    def turn(self, form: Mapping[str, str] = MappingProxyType({}), elapsed: float | None = None) -> Turn:
        """Return the turn of this rater, with a form if one is sent."""
        return Turn(self.booklet, self.visit, self.history, form, self.now, elapsed)

    def look(self) -> Page:
        """Return the page shown now."""
        return next_page(self.turn())

    def send(self, form: Mapping[str, str], elapsed: float | None = None) -> TurnOutcome:
        """Send a form, store what follows, and return it."""
        return self.store(submit(self.turn(form, elapsed)))

    def press_pause(self, form: Mapping[str, str]) -> TurnOutcome:
        return self.store(submit(self.turn(form), "pause"))

    def press_back(self, form: Mapping[str, str]) -> TurnOutcome:
        return self.store(submit(self.turn(form), "back"))

    def store(self, outcome: TurnOutcome) -> TurnOutcome:
        at = (self.visit.occasion, self.visit.page)
        for given in outcome.answers:
            self.history.given.setdefault(at, {})[given.name] = given.value
        self.history.happened += [(event.kind, event.detail) for event in outcome.events]
        if outcome.done is not None:
            took = self.history.took.get(self.visit.occasion, 0.0)
            self.history.took[self.visit.occasion] = took + (outcome.done.seconds or 0.0)
            self.history.done[self.visit.occasion] = self.now
        if (move := outcome.move) is not None:
            self.visit = replace(
                self.visit,
                state=move.state,
                occasion=move.occasion,
                page=move.page,
                reason=move.reason,
                code=move.code or self.visit.code,
            )
        self.outcomes.append(outcome)
        return outcome

    def go_on(self, answers: Mapping[str, str] | None = None) -> Page:
        """Answer the page shown and return it."""
        page = self.look()
        self.pages.append(page)
        self.send(fill(page, answers or self._learn(page)), 10.0)
        return page

    def _learn(self, page: Page) -> dict[str, str]:
        """Return the answers that pass, if it is practice: a willing rater reads the instructions."""
        practice = self.booklet.study.file.practice
        if not isinstance(page, PracticePage) or practice is None:
            return {}
        right = practice.items[page.n - 1].right
        names = {f"c{number}": name for name, number in self.booklet.numbers.items()}
        learnt = {}
        for asked in page.asked:
            name = names[asked.name.split("p")[0]]
            if name in right:
                several = asked.output and len(page.outputs) > 1
                words, scale = (
                    right[name][asked.output - 1 if several else 0],
                    self.booklet.criterion(name).scale,
                )
                if isinstance(scale, RatingScale):
                    words = scale.write(scale.recognise(words))
                learnt[asked.name] = words
        return learnt

    def go_to(self, *kinds: type[Page]) -> Page:
        """Answer pages until one of these kinds is shown, and return it unanswered."""
        for _ in range(500):
            page = self.look()
            if type(page) in kinds:
                return page
            assert not isinstance(page, EndPage), f"the walk ended at {page}"
            self.go_on()
        raise AssertionError("the walk never ends")

    def finish(self) -> EndPage:
        """Walk to the end and return its page."""
        page = self.go_to(EndPage)
        self.pages.append(page)
        assert isinstance(page, EndPage)
        return page

    def events(self) -> list[str]:
        """Return the kinds of the events so far."""
        return [kind for kind, _ in self.history.happened]


def walk_through(study: Study, words: Words | None = None, **visit: Any) -> Walk:
    """Return a walk that stands at the beginning of a study."""
    return Walk(Booklet(study, plan_study(study), words), Visit(**visit))


def render(page: Page, booklet: Booklet) -> str:
    """Return the HTML of a page as the rater of the link /r/TOKEN sees it."""
    return render_page(page, booklet.words, Frame(booklet.study.title, "/r/TOKEN", static="static", key="k"))
