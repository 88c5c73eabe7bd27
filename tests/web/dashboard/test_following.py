"""The dashboard flags who follows a judge where judges.csv lies beside the study file, and only there."""

import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bench.judges_coverage import World, simulate
from panelist.collection.monitor.given_ratings import GivenRatings
from panelist.judges.match import JudgedRatings
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from panelist.study.study import Study
from panelist.web.dashboard.following import follow_so_far
from tests.judges.simulated_tables import honest, tables, with_copier


@pytest.fixture
def study(tmp_path: Path) -> Study:
    init_study(tmp_path / "study")
    return load_study(tmp_path / "study")


def give(beside: JudgedRatings) -> list[GivenRatings]:
    """Return ratings as the dashboard has them: visits from 100 on, an output as one name."""
    output = [
        f"{beside.items[i]}\x1f{beside.systems[s]}"
        for i, s in zip(beside.item.tolist(), beside.system.tolist(), strict=True)
    ]
    judged = pd.DataFrame({"rater": 100 + beside.rater, "item": output, "rating": beside.y})
    return [GivenRatings("fluency", "ordinal", judged, judged)]


def test_a_judges_table_beside_the_study_flags_who_follows_it(study: Study) -> None:
    beside = with_copier(honest())
    assert follow_so_far(give(beside), study) == {}, "there is no judges table"
    tables(beside)[1].to_csv(study.folder / "judges.csv", index=False)
    assert follow_so_far(give(beside), study) == {100: "judge"}


def test_a_table_that_cannot_be_read_goes_to_the_log_and_stops_nothing(
    study: Study, caplog: pytest.LogCaptureFixture
) -> None:
    (study.folder / "judges.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    beside = simulate(World("good", 6, 10, items=20), np.random.default_rng(1))[0]
    with caplog.at_level(logging.WARNING):
        assert follow_so_far(give(beside), study) == {}
    assert "judges.csv" in caplog.text
