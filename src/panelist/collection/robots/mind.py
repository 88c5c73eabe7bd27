"""What simulated raters think of what they see: the same judgements as ``panelist simulate -o`` draws.

The effects of systems, raters and items come from design/simulate.py under the same seed, so that what is
collected through the pages carries the effects that a file of simulated ratings would. A robot has the number
of a rater; it need not get that rater's place.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.collection.robots.hits import fill_hit
from panelist.collection.robots.recognition import Recognition, Seen, View
from panelist.core.seeds import stream
from panelist.design.simulate import (
    CARELESS,
    SECONDS,
    SPOILT,
    Rows,
    draw_latent,
    find_asked,
    find_effects,
)
from panelist.scales.base import ComparativeScale, RatingScale
from panelist.study.criteria import Criterion
from panelist.study.study import Study

Floats = NDArray[np.float64]


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

    def judge(self, criterion: str, rater: int, seen: Seen) -> float:
        """Return what a rater thinks of an output, before the noise of a single rating."""
        if seen.system < 0:
            return 0.0
        of_raters, of_items = self.levels[criterion]
        latent = of_raters[rater][seen.system] + of_items[seen.item][seen.system]
        return latent - SPOILT if seen.spoilt else latent


def _lay_out(count: int, systems: int, what: str) -> Rows:
    """Return rows for every rater, or every item, with every system, and nothing else known of them."""
    number, system = (grid.ravel() for grid in np.mgrid[0:count, 0:systems])
    nobody = np.full(count * systems, -1)
    rater, item = (number, nobody) if what == "rater" else (nobody, number)
    check = np.full(count * systems, "", dtype=object)
    return Rows(pd.DataFrame(index=range(count * systems)), rater, item, system, nobody, check, check == "?")


@dataclass(eq=False)
class Mind:
    """One robot's: how it answers what a page asks."""

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

    def answer(self, name: str, view: View) -> str:
        """Return the answer to a field of a page (``c1p2``: criterion 1, output 2), as the form sends it."""
        number, _, place = name[1:].partition("p")
        criterion = self.world.study.criteria[int(number) - 1]
        if view.practice:
            return self._practise(criterion, view, int(place or 0))
        asked = self.world.asked[criterion.name].get(view.told)
        if asked is not None and not self.careless:
            return _write_asked(criterion, asked)
        if isinstance(criterion.scale, ComparativeScale):
            return self._compare(criterion, view.outputs)
        seen = view.outputs[int(place) - 1] if len(view.outputs) >= int(place) else Seen()
        return self._rate(criterion, self._judge(criterion.name, seen))

    def fill_hit(self, html: str, key: str) -> str:
        """Return the fields of an old HIT's form, filled in."""
        return fill_hit(self.world.study, html, key, self.rng, careless=self.careless)

    def introduce(self, number: int, options: list[str]) -> str:
        """Return the answer to a question about the rater, by its number: one that leads to the own group."""
        question = self.world.study.file.background[number - 1]
        if not options:
            return "30" if question.type == "number" else "I am simulated."
        own = [option for option in options if question.groups.get(option) == self.group]
        among = own if self.group and own else options
        return among[int(self.rng.integers(len(among)))]

    def understand(self, number: int, options: list[str]) -> str:
        """Return the answer to a question about the instructions, by its number; the careless guess."""
        comprehension = self.world.study.file.comprehension
        assert comprehension is not None, "the page comes from the study"
        if self.careless:
            return options[int(self.rng.integers(len(options)))]
        return comprehension.questions[number - 1].right[0]

    def _judge(self, criterion: str, seen: Seen) -> float:
        if self.careless:
            return float(self.rng.normal())
        return self.world.judge(criterion, self.rater, seen)

    def _rate(self, criterion: Criterion, latent: float) -> str:
        scale = criterion.scale
        assert isinstance(scale, RatingScale)
        value = scale.simulate(np.array([latent]), self.rng)[0].item()
        return scale.write(value)

    def _compare(self, criterion: Criterion, outputs: tuple[Seen, ...]) -> str:
        scale = criterion.scale
        assert isinstance(scale, ComparativeScale)
        latent = np.array([[self._judge(criterion.name, seen) for seen in outputs]])
        return scale.write(scale.simulate(latent, self.rng)[0])

    def _practise(self, criterion: Criterion, view: View, place: int) -> str:
        """Return an answer that passes: whoever reads the instructions gives it."""
        practice = self.world.study.file.practice
        assert practice is not None, "a page of practice comes from the study"
        item = practice.items[view.practice - 1]
        if (right := item.right.get(criterion.name)) is not None:
            several = len(item.outputs) > 1 and place > 0
            return _write_asked(criterion, right[place - 1] if several else right[0])
        if criterion.scale.comparative:
            return self._compare(criterion, view.outputs)
        return self._rate(criterion, 0.0)


def _write_asked(criterion: Criterion, asked: str) -> str:
    """Return an answer of the study file as the form sends it; there it may stand in words."""
    scale = criterion.scale
    return scale.write(scale.recognise(asked)) if isinstance(scale, RatingScale) else asked
