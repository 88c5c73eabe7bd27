import pandas as pd
import pytest

from panelist.core.errors import BadRatings
from panelist.core.tables.ratings import read_ratings
from panelist.design.assess.pilot_time import measure_minutes
from panelist.design.assess.plan_cost import cost_plan
from panelist.design.make import plan_study
from tests.design.small_studies import make_study

PILOT = pd.DataFrame(
    {
        "rater": ["a", "a", "a", "b", "c", "c"],
        "item": ["1", "1", "2", "1", "1", "2"],
        "system": ["x"] * 6,
        "criterion": ["fluency", "clarity", "fluency", "fluency", "fluency", "fluency"],
        "order": [1, 1, 2, 1, 1, 2],
        "seconds": [20, 30, 60, 90, 3600, 3600],
        "rating": [1, 2, 3, 4, 5, 1],
    }
)


def test_answers_of_one_page_share_its_time_and_the_median_rater_counts() -> None:
    found = measure_minutes(read_ratings(PILOT))
    assert found.minutes == pytest.approx(1.5)  # means 45, 90 and 3,600 seconds
    assert (found.n_raters, found.n_pages) == (3, 5)


def test_the_pilot_goes_before_the_study_file() -> None:
    pay = {"currency": "GBP", "hourly": 12, "minutes_per_trial": 9, "minutes_before": 0}
    study = make_study(4, pay=pay, design={"type": "full"})
    plan = plan_study(study)
    cost = cost_plan(plan, study, measure_minutes(read_ratings(PILOT)))
    assert cost.occasions[0].minutes == (12.0, 12.0)  # 8 pages of 1.5 minutes
    assert cost.notes[0].startswith("1.50 minutes per page, measured in the pilot: 5 pages by 3 raters")
    assert cost_plan(plan, study).occasions[0].minutes == (72.0, 72.0)


@pytest.mark.parametrize("column", ["seconds", "rater"])
def test_a_pilot_without_times_or_raters_is_refused(column: str) -> None:
    with pytest.raises(BadRatings, match=f"no column {column}"):
        measure_minutes(read_ratings(PILOT.drop(columns=column)))


def test_times_of_zero_are_no_times() -> None:
    with pytest.raises(BadRatings, match="no time above 0"):
        measure_minutes(read_ratings(PILOT.assign(seconds=0)))
