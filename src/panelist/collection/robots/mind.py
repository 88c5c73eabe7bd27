"""What simulated raters think of what they see: the same judgements as ``panelist simulate -o`` draws.

The effects of systems, raters and items come from design/simulate.py under the same seed, so that what is
collected through the pages carries the effects that a file of simulated ratings would. A robot has the number
of a rater; it need not get that rater's place.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.collection.pages.renderings import Renderings
from panelist.collection.pages.spoiling import spoil_output
from panelist.collection.pages.translations import load_words
from panelist.collection.robots.hit_forms import fill_hit
from panelist.collection.robots.page_reader import PageContent, read_text, squash
from panelist.core.seeds import stream
from panelist.design.simulate import (
    CARELESS,
    SECONDS,
    SPOILT,
    SimulatedRows,
    draw_latent,
    find_asked,
    find_effects,
    find_turn_level,
)
from panelist.formats import Stimulus
from panelist.formats.base import Say
from panelist.scales.base import ComparativeScale, RatingScale
from panelist.study.media import read_sent
from panelist.study.sections.checks import DegradedCheck, InstructedCheck
from panelist.study.sections.criteria import Criterion
from panelist.study.study import Study

NOBODY = -1
FIELD = re.compile(r"c(\d+)(?:p(\d+))?(?:s(\d+))?")


@dataclass(frozen=True, slots=True)
class Seen:
    """An output as a robot knows it: the number of its item and of its system, -1 where it knows neither."""

    item: int = NOBODY
    system: int = NOBODY
    spoilt: bool = False


@dataclass(frozen=True, slots=True)
class RobotView:
    """How a robot understands a page."""

    outputs: tuple[Seen, ...] = ()
    told: str = ""
    """The name of the instructed check that the page is, if it is one."""
    practice: int = 0
    """The number of the practice item; 0 where it is not one."""


@dataclass(eq=False)
class Recognition:
    """The outputs of a study by their texts; made once for all robots."""

    study: Study
    _renderings: Renderings = field(init=False, repr=False)
    _outputs: dict[str, list[Seen]] = field(default_factory=dict, repr=False)
    _contexts: dict[str, set[int]] = field(default_factory=dict, repr=False)
    _told: dict[str, str] = field(default_factory=dict, repr=False)
    _practice: dict[str, int] = field(default_factory=dict, repr=False)
    _scenery: frozenset[str] = frozenset()
    _say: Say = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._say = load_words(self.study.file.language).say
        file = self.study.file
        self._renderings = Renderings(self.study.outputs, load_words(file.language))
        self._read_outputs()
        told = [one for one in (file.checks.items if file.checks else ()) if isinstance(one, InstructedCheck)]
        self._told = {self._read(check.text): f"instructed-{n}" for n, check in enumerate(told, start=1)}
        words, count = load_words(file.language), len(file.practice.items) if file.practice else 0
        self._practice = {words.say("practice_where", n, total=count): n for n in range(1, count + 1)}
        self._scenery = frozenset(squash(text) for one in self.study.criteria for text in one.scale.scenery)

    def look(self, sheet: PageContent, heard: Mapping[int, str] | None = None) -> RobotView:
        """Return what a page shows; ``heard`` has the media of its outputs, by their places."""
        texts = [text for text in sheet.texts if text not in self._scenery]
        if heard:
            texts = [heard[place] for place in sorted(heard)]
        if len(texts) > 1 and texts[0] not in self._outputs and texts[0] in self._contexts:
            texts = texts[1:]  # a long context above several outputs
        practice = self._practice.get(sheet.heading, 0)
        told = self._told.get(texts[0], "") if texts else ""
        if practice or told:
            return RobotView((Seen(),) * len(texts), told, practice)
        return RobotView(self._name(texts, sheet.beside))

    def _name(self, texts: Sequence[str], beside: Sequence[str]) -> tuple[Seen, ...]:
        """Return the output behind each text; of several that read the same, one that fits the page."""
        fitting: set[int] | None = None
        for text in beside:
            here = self._contexts.get(text)
            fitting = here if fitting is None or here is None else fitting & here
        chosen: list[Seen] = []
        for text in texts:
            known = self._outputs.get(text, ())
            near = [one for one in known if fitting is None or one.item in fitting] or list(known)
            new = [one for one in near if one not in chosen] or near
            chosen.append(new[0] if new else Seen())
            if fitting is None and len(known) == 1:
                fitting = {known[0].item}  # outputs side by side are mostly of one item
        return tuple(chosen)

    def _read_outputs(self) -> None:
        study = self.study
        items = {name: number for number, name in enumerate(study.items)}
        systems = {name: number for number, name in enumerate(study.systems)}
        checks = study.file.checks.items if study.file.checks else ()
        ways = sorted({check.how for check in checks if isinstance(check, DegradedCheck)})
        frame = study.outputs.frame
        nothing = squash(load_words(study.file.language).say("nothing"))
        rows = zip(frame["item"].tolist(), frame["system"].tolist(), study.outputs.cells(), strict=True)
        media = study.outputs.media
        for item, system, cell in rows:
            if system not in systems or item not in items:
                continue
            seen = Seen(items[item], systems[system])
            if media.kinds("output"):
                named = media.list_files(Stimulus(cell.text))  # without captions, which are not played
                paths = [path for name in named if (path := media.find(name)) is not None]
                known_by = join_hashes(hash_bytes(read_sent(path)) for path in paths)
                self._outputs.setdefault(known_by, []).append(seen)
                continue
            self._outputs.setdefault(self._read(cell) or nothing, []).append(seen)
            for how in ways:
                worse = spoil_output(study.outputs, cell, how, study.file.design.seed, item, system)
                spoilt = Seen(seen.item, seen.system, spoilt=True)
                self._outputs.setdefault(self._read(worse), []).append(spoilt)
        for name in ("context", "reference"):
            if name in frame:
                for item, text in zip(frame["item"].tolist(), frame[name].tolist(), strict=True):
                    if item in items:
                        self._contexts.setdefault(self._read(text, name), set()).add(items[item])

    def _read(self, cell: Stimulus | str, column: str = "output") -> str:
        """Return what is read on a page that shows a cell: of a dialogue, what the assistant says."""
        outputs = self.study.outputs
        cell = outputs.make_cell(column, cell) if isinstance(cell, str) else cell
        if not outputs.format(column).blocks:
            return squash(cell.text)
        if column == "output" and (turns := self._renderings.split(cell)):
            return "".join(read_text(turn.html) for turn in turns if turn.role == "assistant")
        return read_text(self._renderings.render(cell, column))


def hash_bytes(content: bytes) -> str:
    """Return what a file is known by."""
    return hashlib.sha256(content).hexdigest()


def join_hashes(hashes: Iterable[str]) -> str:
    """Return what an output of several files is known by."""
    return " ".join(hashes)


@dataclass(eq=False)
class World:
    """What is true of the study and its raters, before anybody rates; shared by all robots."""

    study: Study
    n_raters: int
    seed: int = 1
    careless: float = CARELESS
    recognition: Recognition = field(init=False)
    levels: dict[str, tuple[list[list[float]], list[list[float]]]] = field(init=False, repr=False)
    """For each criterion: rater by system, and item by system without the system's effect."""
    lazy: NDArray[np.bool_] = field(init=False, repr=False)
    asked: dict[str, dict[str, str]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.recognition = Recognition(self.study)
        effects = find_effects(self.study, self.seed, None)
        self.levels = {}
        for criterion in self.study.criteria:
            mine = effects[criterion.name]
            raters = _lay_out(self.n_raters, len(mine), "rater")
            items = _lay_out(len(self.study.items), len(mine), "item")
            of_raters = draw_latent(raters, criterion.name, mine, self.seed).reshape(-1, len(mine))
            of_items = draw_latent(items, criterion.name, mine, self.seed).reshape(-1, len(mine)) - mine
            self.levels[criterion.name] = (of_raters.tolist(), of_items.tolist())
        self.lazy = stream(self.seed, "simulate", "careless").random(self.n_raters) < self.careless
        self.asked = {one.name: find_asked(self.study, one) for one in self.study.criteria}

    def judge(self, criterion: str, rater: int, seen: Seen, turn: int = 0) -> float:
        """Return what a rater thinks of an output or a turn of it, before the noise of a single rating."""
        if seen.system < 0:
            return 0.0
        of_raters, of_items = self.levels[criterion]
        latent = of_raters[rater][seen.system] + of_items[seen.item][seen.system]
        if turn:
            latent += find_turn_level(self.seed, criterion, (rater, seen.item, seen.system), turn)
        return latent - SPOILT if seen.spoilt else latent


def _lay_out(count: int, systems: int, what: str) -> SimulatedRows:
    """Return rows for every rater, or every item, with every system, with nothing else known about them."""
    number, system = (grid.ravel() for grid in np.mgrid[0:count, 0:systems])
    nobody = np.full(count * systems, -1)
    rater, item = (number, nobody) if what == "rater" else (nobody, number)
    check = np.full(count * systems, "", dtype=object)
    return SimulatedRows(
        pd.DataFrame(index=range(count * systems)), rater, item, system, nobody, check, check == "?"
    )


@dataclass(eq=False)
class Mind:
    """How one robot answers what a page asks."""

    world: World
    rater: int
    group: str = ""
    rng: np.random.Generator = field(init=False, repr=False)
    careless: bool = field(init=False)

    def __post_init__(self) -> None:
        self.rng = stream(self.world.seed, "robot", self.rater)
        self.careless = bool(self.world.lazy[self.rater])
        pay = self.world.study.file.pay
        middle = SECONDS if pay is None or pay.minutes_per_trial is None else 60 * pay.minutes_per_trial
        self._middle = middle * float(np.exp(self.rng.normal(0.0, 0.3))) * (0.25 if self.careless else 1.0)

    def take_seconds(self) -> float:
        """Return how long a person would have looked at a page: log-normal around the rater's own pace."""
        return round(max(0.5, self._middle * float(np.exp(self.rng.normal(0.0, 0.4)))), 1)

    def answer(self, name: str, view: RobotView) -> str:
        """Return the answer to a field of a page (``c1p2s3``: criterion 1, output 2, turn 3), as sent."""
        found = FIELD.fullmatch(name)
        assert found is not None, f"{name} is a field of a page"
        number, place, turn = (int(part or 0) for part in found.groups())
        criterion = self.world.study.criteria[number - 1]
        if view.practice:
            return self._practise(criterion, view, place, turn)
        asked = self.world.asked[criterion.name].get(view.told)
        if asked is not None and not self.careless:
            return _write_asked(criterion, asked)
        if isinstance(criterion.scale, ComparativeScale):
            return self._compare(criterion, view.outputs, turn)
        seen = view.outputs[place - 1] if len(view.outputs) >= place else Seen()
        return self._rate(criterion, self._judge(criterion.name, seen, turn))

    def fill_hit(self, html: str, key: str) -> str:
        """Return the fields of an old HIT's form, filled in."""
        return fill_hit(self.world.study, html, key, self.rng, careless=self.careless)

    def introduce(self, number: int, options: list[str]) -> str:
        """Return the answer to a question about the rater, by its number: one that leads to its own group."""
        question = self.world.study.file.background[number - 1]
        if not options:
            return "30" if question.type == "number" else "I am simulated."
        own = [option for option in options if question.groups.get(option) == self.group]
        among = own if self.group and own else options
        return among[int(self.rng.integers(len(among)))]

    def hear(self) -> str:
        """Return the word of the sound check."""
        check = self.world.study.file.sound_check
        assert check is not None, "the page comes from the study"
        return check.words[0]

    def understand(self, number: int, options: list[str]) -> str:
        """Return the answer to a question about the instructions, by its number; the careless guess."""
        comprehension = self.world.study.file.comprehension
        assert comprehension is not None, "the page comes from the study"
        if self.careless:
            return options[int(self.rng.integers(len(options)))]
        return comprehension.questions[number - 1].right[0]

    def _judge(self, criterion: str, seen: Seen, turn: int = 0) -> float:
        if self.careless:
            return float(self.rng.normal())
        return self.world.judge(criterion, self.rater, seen, turn)

    def _rate(self, criterion: Criterion, latent: float) -> str:
        scale = criterion.scale
        assert isinstance(scale, RatingScale)
        value = scale.simulate(np.array([latent]), self.rng)[0].item()
        return scale.write(value)

    def _compare(self, criterion: Criterion, outputs: tuple[Seen, ...], turn: int = 0) -> str:
        scale = criterion.scale
        assert isinstance(scale, ComparativeScale)
        latent = np.array([[self._judge(criterion.name, seen, turn) for seen in outputs]])
        return scale.write(scale.simulate(latent, self.rng)[0])

    def _practise(self, criterion: Criterion, view: RobotView, place: int, turn: int) -> str:
        """Return an answer that passes, as anyone who reads the instructions would give."""
        practice = self.world.study.file.practice
        assert practice is not None, "a page of practice comes from the study"
        item = practice.items[view.practice - 1]
        if (right := item.right.get(criterion.name)) is not None:
            parts = [max(self.world.study.outputs.parts(text), 1) for text in item.outputs or (item.output,)]
            at = (sum(parts[: place - 1]) if place else 0) + max(turn, 1) - 1
            several = (sum(parts) > 1 and place > 0) or turn > 0
            return _write_asked(criterion, right[at] if several else right[0])
        if criterion.scale.comparative:
            return self._compare(criterion, view.outputs)
        return self._rate(criterion, 0.0)


def _write_asked(criterion: Criterion, asked: str) -> str:
    """Return an answer of the study file as the form sends it; in the file it may be in words."""
    scale = criterion.scale
    return scale.write(scale.recognise(asked)) if isinstance(scale, RatingScale) else asked
