"""What the planner knows about the study that is served: its scale, its size, its pay, and where ratings to
simulate from may come from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from panelist.core.errors import BadRatings
from panelist.core.prose import spell
from panelist.power.design_cost import Tariff
from panelist.power.layouts.base import OUTPUTS_PER_RATER, Layout
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import DrawnCuts, Slider
from panelist.power.truth.spread import PRESETS
from panelist.scales.points import PointScale
from panelist.study.sections.wages import find_pay, find_wage
from panelist.web.planner import query as form
from panelist.web.planner.query import PlannerQuery

if TYPE_CHECKING:
    from panelist.collection.store.store import Store
    from panelist.design.plan import Plan
    from panelist.study.study import Study

PILOT_FILE = "pilot.csv"
COLLECTED, PILOT = "collected", "pilot"
LEAST_RATERS = 2
PRESET_WORDS = {
    "extra-low": "Very much alike",
    "low": "Alike",
    "general": "General",
    "high": "Rather different",
    "extra-high": "Very different",
}
SIGNS = {"GBP": "£", "EUR": "€", "USD": "$"}
MODELS = {"clmm": "Ordinal mixed model (clmm)", "lmm": "Linear mixed model (lmm)"}


@dataclass(frozen=True)
class Setting:
    """The study as the planner sees it."""

    study: "Study"
    store: "Store" = field(repr=False)
    plan: "Plan" = field(repr=False)
    cuts: Mapping[str, DrawnCuts | Slider]
    """How each criterion that can be planned cuts judgements; empty where outputs are only compared."""
    extra_pages: int
    """Pages of practice and checks that each rater gets besides the texts."""

    def choices(self, criterion: str) -> dict[str, dict[str, str]]:
        """Return what can be chosen from lists, with the labels."""
        cuts = self.find_cuts(criterion)
        scale = "a line" if isinstance(cuts, Slider) else f"{spell(cuts.points)} points"
        sources = {name: f"{PRESET_WORDS[name]}, {scale}" for name in PRESETS}
        if not isinstance(cuts, Slider) and self.cuts:
            if self.count_finished() >= LEAST_RATERS:
                sources[COLLECTED] = "The ratings collected so far"
            if self.find_pilot() is not None:
                sources[PILOT] = f"The ratings in {PILOT_FILE}"
        models = {name: words for name, words in MODELS.items() if name != "clmm" or scale != "a line"}
        return {"preset": sources, "model": models, "criterion": self.criteria}

    @property
    def criteria(self) -> dict[str, str]:
        """The criteria to choose from, with their headings; one unnamed where there is none."""
        return {name: self.study.criterion(name).heading for name in self.cuts} or {"": "six points"}

    @property
    def usual(self) -> PlannerQuery:
        """The study's own design, as far as the form can say it."""
        criterion = next(iter(self.criteria))
        design = self.study.file.design
        trials = self.plan.table[(self.plan.table["phase"] == "trial").to_numpy()]
        outputs = len(self.study.items) * len(self.study.systems) * max(1, len(self.study.criteria))
        each = design.ratings_per_output or round(len(trials) / outputs / design.occasions)
        texts = design.trials_per_rater or len(self.study.items)
        return PlannerQuery(
            preset="general",
            criterion=criterion,
            effect=0.5,
            systems=_hold(len(self.study.systems), form.SYSTEMS),
            items=_hold(len(self.study.items), form.ITEMS),
            ratings_per_item=_hold(each, form.RATINGS),
            outputs_per_rater=_hold(min(texts, OUTPUTS_PER_RATER), form.TEXTS),
            model=next(iter(self.choices(criterion)["model"])),
            power=0.8,
            pay=None,
        )

    def find_cuts(self, criterion: str) -> DrawnCuts | Slider:
        """Return how a criterion cuts judgements; six points where the study has none that is rated."""
        return self.cuts.get(criterion, DrawnCuts())

    def find_truth(self, query: PlannerQuery) -> Truth:
        """Return where the ratings of a query are simulated from; fits a model where they are a pilot's."""
        if query.preset in PRESETS:
            return Truth.preset(query.preset, self.find_cuts(query.criterion))
        if query.preset == COLLECTED:
            truth = Truth.from_pilot(self._read_collected(), query.criterion)
            return replace(truth, name=COLLECTED, effects=None)  # never what was found about the systems
        path = self.find_pilot()
        if path is None:
            raise BadRatings(f"There is no longer a {PILOT_FILE} beside the study. Choose another source.")
        from panelist.core.tables.ratings import read_ratings

        ratings = read_ratings(path)
        several = len(ratings.criteria) > 1
        truth = Truth.from_pilot(ratings, query.criterion if several else None)
        return replace(truth, effects=None)

    def find_pilot(self) -> Path | None:
        """Return the ratings file of a pilot beside the study."""
        path = self.study.folder / PILOT_FILE
        return path if path.is_file() else None

    def count_finished(self) -> int:
        """Return how many have finished and count."""
        return sum(visit.state == "finished" and visit.valid for visit in self.store.visits())

    def _read_collected(self) -> object:
        from panelist.collection.export.tables_of_study import export_ratings

        frame = export_ratings(self.store.snapshot(), self.study, self.plan).frame
        counted = (frame["excluded"].fillna("") == "") & frame["finished"].astype(bool)
        counted &= frame["phase"].astype(str) == "trial"
        return frame[counted & (frame["occasion"] == 1)].reset_index(drop=True)

    @property
    def sign(self) -> str:
        """The currency, as written before an amount."""
        pay = self.study.file.pay
        return "" if pay is None else SIGNS.get(pay.currency, f"{pay.currency} ")

    @property
    def tariff(self) -> Tariff | None:
        """The pay rule of the study; None where it has no wage or no time."""
        pay = self.study.file.pay
        if pay is None or pay.minutes_per_trial is None or not find_wage(pay):
            return None
        return Tariff(pay, pay.minutes_per_trial) if self.study.file.raters.paid == "money" else None

    def find_pay(self, query: PlannerQuery) -> float | None:
        """Return what one rater gets by the pay rule; None where there is none."""
        tariff = self.tariff
        if tariff is None:
            return None
        pages = query.load + self.extra_pages
        return float(find_pay(tariff.pay, tariff.pay.minutes_before + pages * tariff.minutes_per_rating))

    def find_cost(self, query: PlannerQuery, layout: Layout) -> float | None:
        """Return what a design costs, the panel's fee included; None where no pay is known."""
        fee = self.study.file.pay.fee_percent if self.study.file.pay is not None else 0.0
        if query.pay is not None:
            return layout.n_raters * query.pay * (1 + fee / 100)
        tariff = self.tariff
        if tariff is None:
            return None
        loads = np.bincount(layout.rater, minlength=layout.n_raters) + self.extra_pages
        return tariff.find_cost([int(load) for load in loads])


def make_setting(study: "Study", store: "Store") -> Setting:
    """Return what the planner knows about a study."""
    plan = store.plan()
    cuts: dict[str, DrawnCuts | Slider] = {}
    for criterion in study.criteria:
        if isinstance(criterion.scale, PointScale):
            cuts[criterion.name] = DrawnCuts(int(criterion.scale.size()))
        elif criterion.scale.measurement == "interval" and not criterion.scale.comparative:
            cuts[criterion.name] = Slider()
    return Setting(study, store, plan, cuts, _count_extra(plan))


def _count_extra(plan: "Plan") -> int:
    """Return how many pages of practice and checks a rater gets, the median."""
    table = plan.table[(plan.table["phase"] != "trial").to_numpy() & (plan.table["occasion"] == 1).to_numpy()]
    pages = table[["rater", "order"]].drop_duplicates().groupby("rater", observed=False).size()
    return int(np.median(pages)) if len(pages) else 0


def _hold(number: int, allowed: form.Number) -> int:
    return int(min(max(number, allowed.low), allowed.high))
