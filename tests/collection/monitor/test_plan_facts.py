"""What a plan asks of each place, against a count of its rows one by one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panelist.collection.monitor.plan_facts import count_plan
from panelist.collection.pages.reading_pace import count_words
from panelist.design.grow import grow_plan, replace_rater
from panelist.design.make import plan_study
from panelist.design.plan import Plan
from panelist.study.study import Study
from tests.collection.store.studies import COMPARED, GROUPED, RATED, write_study

PRACTISED = RATED + (
    "practice:\n  items:\n"
    '    - {output: We opens on nine., right: {fluency: ["1", "2"]}, why: It is broken}\n'
    "pay: {living_wage: 12.60, minutes_per_trial: 0.5}\n"
)


@pytest.mark.parametrize("text", [RATED, PRACTISED, COMPARED, GROUPED])
def test_places_hold_what_their_rows_say(text: str, tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", text)
    plan = plan_study(study)
    grown = grow_plan(plan, study, len(plan.places) + 3)
    for one in (plan, grown, replace_rater(grown, grown.raters[1], [(1, 1)])):
        check_facts(one, study)


def check_facts(plan: Plan, study: Study) -> None:
    """Assert that the facts are those of the rows, each row looked at by itself."""
    facts = count_plan(plan, study)
    frame = study.outputs.frame
    texts = dict(zip(zip(frame["item"], frame["system"], strict=True), frame["output"], strict=True))
    assert tuple(facts.places) == plan.raters
    for name, place in facts.places.items():
        rows = plan.table[(plan.table["rater"] == name).to_numpy()]
        phases: dict[tuple[int, int], str] = {}
        shown: dict[tuple[int, int], dict[int, int]] = {}
        trials = 0
        listed: list[Any] = list(rows.itertuples(index=False))
        for row in listed:
            page = (row.occasion, row.order)
            phases[page] = row.phase
            shown.setdefault(page, {})[row.position] = count_words(texts.get((row.item, row.system), ""))
            trials += row.phase == "trial" and row.occasion == 1
        practice = {page for page, phase in phases.items() if phase == "practice"}
        assert place.practice == practice
        assert place.pages == len(phases) - len(practice)
        assert (place.list, place.group) == (rows["list"].iloc[0], rows["group"].iloc[0])
        assert len(place.cells) == trials
        assert list(place.words.items()) == [
            (page, sum(outputs.values())) for page, outputs in shown.items() if page not in practice
        ]
    every = np.concatenate([place.cells for place in facts.places.values()])
    assert np.array_equal(np.bincount(every, minlength=len(facts.wanted)), facts.wanted)
