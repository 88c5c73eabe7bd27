"""What the cells of a judges table say: a number, a side of a pair, or no answer, with its reason."""

from typing import Any

import numpy as np
import pandas as pd

from panelist.core.tables.cells import MISSING_WORDS
from panelist.core.tables.pair_answers import find_side
from panelist.numerics.arrays import Floats

MISSING, REFUSED, UNREADABLE, OFF_SCALE = "missing", "refused", "unreadable", "off the scale"
TWO, FAILED, NO_LINE = "two values", "failed request", "no line"
REASONS = (MISSING, REFUSED, OFF_SCALE, UNREADABLE, TWO, FAILED, NO_LINE)
"""Why there is no score, in the order in which reasons are listed."""
NO_ANSWER = "no_answer"
"""The column that says why a score is missing, in one of these words."""
_REFUSALS = frozenset(
    {"refused", "refuse", "refusal", "declined", "cannot say", "can't say", "no opinion", "unable"}
)
HUGE = 1e100  # a score beyond it is a slip, and its square no number
_WINS = {"first": 1.0, "second": 0.0, "tie": 0.5}


def read_scores(column: pd.Series, decimal: str = ".") -> tuple[Floats, Any]:
    """Return the scores as numbers, nan where there is no answer, and the reason of each (empty: answered).

    >>> scores, reasons = read_scores(pd.Series(["4", "", "refused", "good", "2.5"]))
    >>> scores.tolist(), reasons.tolist()
    ([4.0, nan, nan, nan, 2.5], ['', 'missing', 'refused', 'unreadable', ''])
    """
    if pd.api.types.is_numeric_dtype(column):
        scores = column.to_numpy(dtype=np.float64, na_value=np.nan)
        usable = np.abs(scores) < HUGE  # nan is not
        reasons = np.where(usable, "", np.where(np.isnan(scores), MISSING, UNREADABLE)).astype(object)
        return np.where(usable, scores, np.nan), reasons
    words = column.astype(object).where(column.notna(), "").astype(str).str.strip()
    plain = words.str.replace(",", ".", regex=False) if decimal == "," else words
    scores = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64)
    scores = np.where(np.abs(scores) < HUGE, scores, np.nan)
    return scores, _name_reasons(words, np.isnan(scores))


def name_gaps(reasons: Any, column: pd.Series) -> Any:
    """Return the reasons, those of empty answers by the words of the column ``no_answer`` where it has them.

    >>> name_gaps(np.array(["", "missing", "missing"]), pd.Series(["refused", "refused", None])).tolist()
    ['', 'refused', 'missing']
    """
    said = column.astype(object).where(column.notna(), "").astype(str).str.strip().str.casefold()
    told = said.isin(REASONS).to_numpy() & (reasons == MISSING)
    return np.where(told, said.to_numpy(dtype=object), reasons)


def read_winners(column: pd.Series, first: pd.Series, second: pd.Series) -> tuple[Floats, Any]:
    """Return 1 where the first system of the pair won, 0 the second, ½ a tie; nan and a reason otherwise.

    >>> pairs = pd.Series(["X", "X", "X"]), pd.Series(["Y", "Y", "Y"])
    >>> scores, reasons = read_winners(pd.Series(["Y", "tie", ""]), *pairs)
    >>> scores.tolist(), reasons.tolist()
    ([0.0, 0.5, nan], ['', '', 'missing'])
    """
    words = column.astype(object).where(column.notna(), "").astype(str).str.strip()
    sides = {word: _WINS.get(find_side(word) or "", np.nan) for word in words.unique()}
    scores = words.map(sides).to_numpy(dtype=np.float64, copy=True)
    plain, open_ = words.str.casefold(), np.isnan(scores)
    for value, side in ((1.0, first.astype(str)), (0.0, second.astype(str))):
        scores[(words == side).to_numpy()] = value  # a name precedes a side, where it is written alike
        scores[open_ & (plain == side.str.casefold()).to_numpy()] = value
    return scores, _name_reasons(words, np.isnan(scores))


def _name_reasons(words: pd.Series, silent: Any) -> Any:
    plain = words.str.casefold()
    reasons = np.where(silent, UNREADABLE, "").astype(object)
    reasons[silent & plain.isin(_REFUSALS).to_numpy()] = REFUSED
    reasons[silent & plain.isin(MISSING_WORDS).to_numpy()] = MISSING
    return reasons
