"""Comparative criteria: which rows are choices, and their comparison."""

from dataclasses import replace
from typing import Any

import pandas as pd

from panelist.agreement.reliability import CriterionReliability
from panelist.analysis.choices.choice_agreement import measure_choice_agreement
from panelist.analysis.choices.choice_comparison import ChoiceCriterion
from panelist.analysis.choices.compare_choices import compare_criterion
from panelist.analysis.choices.pair_files import find_sides
from panelist.analysis.spec import AnalysisSpec
from panelist.core.tables.ratings import Ratings
from panelist.study.sections.criteria import Criterion
from panelist.study.study import Study


def are_choices(frame: pd.DataFrame, criterion: Criterion | None) -> bool:
    """Return whether the rows of a criterion are choices between outputs rather than ratings of them."""
    if criterion is not None:
        return criterion.scale.comparative
    sides = find_sides(frame)
    if sides is not None and frame[[*sides]].notna().any(axis=None):
        return True  # whatever the column of the winner is called, rating included
    if "rating" in frame and frame["rating"].notna().any():
        return False
    return "choice" in frame or sides is not None


def order_systems(ratings: Ratings, study: Study | None) -> tuple[str, ...]:
    """Return the systems in a table, in the order of the study, others after them.

    In a table of pairs they are on both sides of its rows, whatever else is called system.
    """
    sides = find_sides(ratings.frame)
    found = (
        ratings.systems
        if sides is None
        else sorted({name for side in sides for name in ratings.levels(side)})
    )
    planned = [name for name in study.systems if name in found] if study else []
    return (*planned, *(name for name in found if name not in planned))


def agree_on_choices(ratings: Ratings, criterion: str, **options: Any) -> CriterionReliability:
    """Return how far raters agree in the choices of a criterion; what else was measured is in the notes."""
    first, *others = measure_choice_agreement(ratings, criterion, **options)
    return replace(first, notes=(*first.notes, *(other.sentence() for other in others)))


def analyse_choices(ratings: Ratings, criterion: str, spec: AnalysisSpec) -> ChoiceCriterion:
    """Return the comparison of one criterion's choices, by the model that suits them.

    The model and the formula of a study are those of its ratings.
    """
    return compare_criterion(ratings, criterion, replace(spec, model="auto", formula=None))
