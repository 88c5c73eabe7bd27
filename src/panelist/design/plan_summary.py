"""A plan on one page: the design in a sentence, the balance table, what can be estimated, time and cost."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from panelist.core.display.result import Part, Result, Sentence
from panelist.core.prose import count
from panelist.design.assess.balance import Balance, measure_balance
from panelist.design.assess.estimable import Estimability, find_estimable
from panelist.design.assess.media_load import MediaLoad, measure_load
from panelist.design.assess.pilot_time import PilotTime
from panelist.design.assess.plan_cost import Cost, cost_plan
from panelist.design.make import plan_study
from panelist.design.plan import Plan
from panelist.study.sections.design_choice import DESIGNS
from panelist.study.study import Study


@dataclass(frozen=True, eq=False)
class PlanSummary(Result):
    """What to know about a plan before anybody is invited."""

    study_title: str
    sentence: str
    plan: Plan
    balance: Balance
    cost: Cost
    load: MediaLoad | None = None
    """What raters download, where the outputs are pictures, sound or film."""

    def title(self) -> str:
        """Return the title of the study."""
        return self.study_title

    def parts(self) -> list[Part]:
        """Return the design, its balance, time and cost, and the notes."""
        parts: list[Part] = [Sentence(self.sentence), *self.balance.parts()]
        parts += [Sentence(f"\n{self.cost.title()}"), *self.cost.parts()]
        if self.load is not None:
            parts.append(Sentence(str(self.load)))
        if self.plan.notes:
            parts += [Sentence("\nNotes"), *(Sentence(note) for note in self.plan.notes)]
        return parts

    def to_dict(self) -> dict[str, Any]:
        """Return the record of the plan, with balance and cost under their names."""
        return {
            "title": self.study_title,
            "sentence": self.sentence,
            **self.plan.to_dict(),
            "balance": self.balance.to_dict(),
            "cost": self.cost.to_dict(),
            **({"media": asdict(self.load)} if self.load is not None else {}),
        }


def summarise_plan(plan: Plan, study: Study, pilot: PilotTime | None = None) -> PlanSummary:
    """Return the plan of a study on one page."""
    balance = measure_balance(plan, study)
    cost = cost_plan(plan, study, pilot)
    return PlanSummary(study.title, _say_design(plan, study), plan, balance, cost, measure_load(plan, study))


def preview_estimates(study: Study) -> Estimability:
    """Return what the plan of a study could estimate; the plan is made and discarded."""
    table, turns = plan_study(study).table, study.outputs.in_parts
    return Estimability(find_estimable(table, study.criteria, study.systems, turns))


def _say_design(plan: Plan, study: Study) -> str:
    """Return the design in one sentence: its kind, its size per rater, its criteria and sittings."""
    choice = study.file.design
    title = DESIGNS[plan.design].title
    said = f"{title[0].upper()}{title[1:]} ({plan.design}): {count(len(plan.raters), 'rater')}"
    if study.file.raters.groups:
        _, first = np.unique(plan.table["rater"].cat.codes.to_numpy(), return_index=True)
        groups = plan.table["group"].iloc[first].value_counts(sort=False)
        listed = ", ".join(f"{n:,} {name}" for name, n in groups.items() if n)
        said += f" ({listed})"
    if len(study.criteria) > 1:
        said += f"; {len(study.criteria)} criteria {choice.criteria}"
    if choice.rated == "alone":
        said += "; outputs rated alone"
    if choice.occasions > 1:
        said += f"; {choice.occasions} sittings, at least {choice.days_between} days apart"
    return f"{said}; seed {plan.seed}."
