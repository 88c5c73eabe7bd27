"""What counts as one answer: a rating, or a comparison, however many outputs it showed and rows it fills."""

import numpy as np
import pandas as pd

from panelist.analysis.choices.choice_criteria import are_choices
from panelist.analysis.choices.pair_files import is_pair_file
from panelist.numerics.arrays import Longs
from panelist.study.study import Study

TRIAL = ("rater", "item", "occasion", "criterion", "trial")


def number_answers(frame: pd.DataFrame, study: Study | None = None) -> Longs:
    """Return the number of the answer that each row belongs to.

    A rating is one answer. The outputs that were shown together and compared are one answer.
    """
    number = np.arange(len(frame), dtype=np.int64)
    chosen = _find_choices(frame, study)
    keys = [name for name in TRIAL if name in frame]
    if chosen.any() and "trial" in keys and not is_pair_file(frame):
        of_trial = frame[chosen].groupby(keys, dropna=False, sort=False, observed=True).ngroup().to_numpy()
        number[chosen] = len(frame) + of_trial
    return number


def name_answers(frame: pd.DataFrame, study: Study | None = None) -> str:
    """Return the noun for an answer: rating, comparison, or answer where there are both."""
    chosen = _find_choices(frame, study)
    if not chosen.any():
        return "rating"
    return "comparison" if chosen.all() else "answer"


def _find_choices(frame: pd.DataFrame, study: Study | None) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which rows belong to comparative criteria."""
    planned = {one.name: one for one in study.criteria} if study else {}
    if "criterion" not in frame:
        only = next(iter(planned.values())) if len(planned) == 1 else None
        return np.full(len(frame), are_choices(frame, only))
    chosen = np.zeros(len(frame), dtype=np.bool_)
    for name in frame["criterion"].dropna().unique():
        mine = (frame["criterion"] == name).to_numpy(dtype=bool, na_value=False)
        chosen[mine] = are_choices(frame[mine], planned.get(str(name)))
    return chosen
