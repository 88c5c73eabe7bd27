"""Two analyses side by side: the other kind of model, and the ratings without exclusions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.compare import compare_systems
from panelist.analysis.sensitivity.conclusions import conclude, find_disagreements
from panelist.analysis.sensitivity.side_by_side import compare_kinds
from panelist.analysis.sensitivity.with_without import set_side_by_side
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.core.errors import BadModel
from panelist.core.tables.ratings import Ratings, read_ratings
from tests.analysis.near_unanimity import nearly_unanimous
from tests.simulated import simulate_demo


def demo() -> Ratings:
    frame = simulate_demo()
    return read_ratings(frame[frame["criterion"] == "fluency"])


@pytest.fixture(scope="module")
def main() -> CriterionComparison:
    return compare_systems(demo()).criteria[0]


def turned(one: CriterionComparison) -> CriterionComparison:
    """Return a comparison with another p-value for its first pair, and another sign for its last."""
    first, *middle, last = one.pairs
    changed = (replace(first, p_adjusted=0.5), *middle, replace(last, difference=-last.difference))
    return replace(one, pairs=changed)


def test_an_ordinal_analysis_has_an_interval_analysis_beside_it(main: CriterionComparison) -> None:
    both = compare_kinds(demo(), main, None)
    assert (both.main.model, both.other.model) == ("clmm", "lmm")
    assert both.sentences() == [
        "On fluency, the ordinal mixed model and the linear mixed model agree about all 3 pairs."
    ]
    assert len(both.table().rows) == 3


def test_a_linear_analysis_of_few_values_has_an_ordinal_one_beside_it() -> None:
    linear = compare_systems(demo(), model="lmm").criteria[0]
    assert compare_kinds(demo(), linear, None).other.model == "clmm"


def test_ratings_on_a_line_have_no_ordinal_analysis() -> None:
    frame = demo().frame
    ratings = read_ratings(frame.assign(rating=frame["rating"] * 10 + np.arange(len(frame))))
    linear = compare_systems(ratings).criteria[0]
    with pytest.raises(BadModel, match="different values"):
        compare_kinds(ratings, linear, None)


def test_words_cannot_be_analysed_as_an_interval_scale() -> None:
    frame = demo().frame
    words = pd.Categorical(["abcdef"[x - 1] for x in frame["rating"]], list("abcdef"), ordered=True)
    ratings = read_ratings(frame.assign(rating=words))
    ordinal = compare_systems(ratings).criteria[0]
    with pytest.raises(BadModel, match="could not be fitted beside it"):
        compare_kinds(ratings, ordinal, None)


def test_disagreements_are_found_and_said(main: CriterionComparison) -> None:
    found = find_disagreements(main, turned(main))
    assert [(one.a, one.b) for one in found] == [("prompted", "rules"), ("rules", "tuned")]
    assert (found[0].first, found[0].second) == ("higher", "even")
    assert (found[1].first, found[1].second) == ("lower", "higher")
    said = found[0].sentence("The first says", "the second")
    assert said == (
        "The first says prompted is above rules (p < 0.001), the second prompted and rules cannot be told "
        "apart (p = 0.500)."
    )


def test_what_cannot_be_tested_is_unknown(main: CriterionComparison) -> None:
    assert conclude(replace(main.pairs[0], p_adjusted=float("nan")), 0.95) == "unknown"


def test_exclusions_that_matter_are_said(main: CriterionComparison) -> None:
    assert "no conclusion depends" in set_side_by_side(main, main).sentence()
    changed = set_side_by_side(main, turned(main))
    assert "change the conclusion about 2 pairs" in changed.sentence()
    assert len(changed.table().rows) == 3


def test_the_finding_and_the_side_by_side_speak_of_one_linear_model() -> None:
    ratings = nearly_unanimous()
    main = compare_systems(ratings).criteria[0]
    (against,) = (one for one in main.contradictions if one.code == "analyses")
    both = compare_kinds(ratings, main, None)
    assert both.other.formula == main.formula
    (differing,) = both.disagreements
    assert (
        differing.sentence("the ordinal mixed model says", "the linear mixed model") in f"{against.sentence}."
    )
