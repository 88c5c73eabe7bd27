"""Comparative criteria: which rows are choices, and their comparison."""

import pandas as pd

from panelist.analysis.comparative.choice_comparison import ChoiceCriterion
from panelist.analysis.comparative.compare_choices import compare_criterion
from panelist.analysis.comparative.pair_files import is_pair_file
from panelist.core.ratings import Ratings
from panelist.study.criteria import Criterion


def are_choices(frame: pd.DataFrame, criterion: Criterion | None) -> bool:
    """Return whether the rows of a criterion are choices between outputs rather than ratings of them."""
    if criterion is not None:
        return criterion.scale.comparative
    if "rating" in frame and frame["rating"].notna().any():
        return False
    return "choice" in frame or is_pair_file(frame)


def analyse_choices(ratings: Ratings, criterion: str, adjust: str, level: float) -> ChoiceCriterion:
    """Return the comparison of one criterion's choices."""
    return compare_criterion(ratings, criterion, adjust=adjust, level=level)
