"""Ratings so far: what raters who finished gave, read by its scale, as rows for the measures."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from panelist.collection.monitor.ledger import REASON, Folder
from panelist.collection.pages.agenda import Agenda
from panelist.scales.base import BadAnswer, ComparativeScale, RatingScale
from panelist.study.study import Study


@dataclass(frozen=True)
class GivenRatings:
    """The ratings of one criterion: one frame to measure agreement on, one to average by system."""

    criterion: str
    measurement: str
    judged: pd.DataFrame = field(repr=False)
    """rater (the number of the visit), item (what was judged, or compared) and rating."""
    scored: pd.DataFrame = field(repr=False)
    """rater, system and score: the value, or for comparisons 1 for best, 0 for worst, else a half."""
    compared: bool = False


def collect_ratings(folders: Iterable[Folder], agenda: Agenda, study: Study) -> list[GivenRatings]:
    """Return what finished, valid visits rated in their first sitting, criterion by criterion.

    Criteria that ask for words are left out. For comparisons the thing judged is a set of outputs, and the
    rating is which of its systems was called best, by its place in the alphabet: names without order.
    """
    drafts = {
        criterion.name: _CriterionDraft()
        for criterion in study.criteria
        if criterion.scale.measurement != "text"
    }
    scales = {criterion.name: criterion.scale for criterion in study.criteria}
    numbers = {f"c{place}": criterion.name for place, criterion in enumerate(study.criteria, start=1)}
    for folder in folders:
        visit = folder.visit
        if visit.state != "finished" or not visit.valid:
            continue
        sitting = agenda.sitting(visit.place, 1)
        for (occasion, order, name), given in list(folder.answers.items()):  # other scales may be added
            if occasion != 1 or given.phase != "trial" or not given.value or name.endswith(REASON):
                continue
            number, _, position = name.partition("p")
            page, draft = sitting.page(order), drafts.get(numbers.get(number, ""))
            if page is None or draft is None:
                continue
            scale = scales[numbers[number]]
            if isinstance(scale, ComparativeScale):
                draft.compare(visit.id, page.outputs, scale, given.value)
            elif isinstance(scale, RatingScale) and 0 < int(position or 1) <= len(page.outputs):
                draft.rate(visit.id, page.outputs[int(position or 1) - 1], scale, given.value)
    return [
        GivenRatings(
            name,
            "nominal" if scales[name].comparative else scales[name].measurement,
            pd.DataFrame(draft.judged, columns=["rater", "item", "rating"]),
            pd.DataFrame(draft.scored, columns=["rater", "system", "score"]),
            scales[name].comparative,
        )
        for name, draft in drafts.items()
    ]


class _CriterionDraft:
    """The rows of a criterion while they are read."""

    def __init__(self) -> None:
        self.judged: list[tuple[int, str, float]] = []
        self.scored: list[tuple[int, str, float]] = []
        self._values: dict[str, float] = {}

    def rate(self, rater: int, output: tuple[str, str], scale: RatingScale, text: str) -> None:
        value = self._values.get(text)
        if value is None:
            try:
                value = self._values[text] = float(scale.parse(text))
            except (BadAnswer, ValueError):
                value = self._values[text] = np.nan
        if not np.isnan(value):
            self.judged.append((rater, "\x1f".join(output), value))
            self.scored.append((rater, output[1], value))

    def compare(
        self, rater: int, outputs: tuple[tuple[str, str], ...], scale: ComparativeScale, text: str
    ) -> None:
        try:
            said = scale.parse(text, len(outputs))
        except BadAnswer:
            return
        ordered = sorted(outputs)
        best = next(
            (output for output, choice in zip(outputs, said.choices, strict=True) if choice in ("best", "1")),
            None,
        )
        name = "\x1e".join("\x1f".join(output) for output in ordered)
        self.judged.append((rater, name, float(ordered.index(best) + 1 if best in ordered else 0)))
        for output, choice in zip(outputs, said.choices, strict=True):
            self.scored.append((rater, output[1], _score(choice, len(outputs), said.answer)))


def _score(choice: str, shown: int, answer: str) -> float:
    """Return 1 for best, 0 for worst or for the other of a pair, a half for what was not singled out."""
    if choice.isdigit():
        return 1.0 - (int(choice) - 1) / (shown - 1)
    if choice or answer:
        return {"best": 1.0, "worst": 0.0}.get(choice, 0.5)
    return 0.0 if shown == 2 else 0.5
