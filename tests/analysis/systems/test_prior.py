"""Systems compared with a prior: what is kept, what is marked, and what every output says."""

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.analysis_result import _tell_size
from panelist.analysis.checks.predicted_shares import predict_shares
from panelist.analysis.checks.threshold_spacing import measure_spacing
from panelist.analysis.compare import compare_systems
from panelist.analysis.missing import Missing
from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.analysis.systems.effects import measure_effects
from panelist.core.display.result import Table
from panelist.core.errors import BadModel
from tests.analysis.systems.end_ratings import make_ratings


def compare(frame: pd.DataFrame, **options: object) -> CriterionComparison:
    (only,) = compare_systems(frame, **options).criteria  # type: ignore[arg-type]
    return only


def test_the_largest_random_part_is_kept_and_that_is_said() -> None:
    frame = make_ratings(2, {})
    plain, weak = compare(frame), compare(frame, prior="weak")
    largest = "rating ~ system + (system | rater) + (system | item)"
    assert plain.formula != largest  # the variances of slopes are zero here
    assert weak.formula == largest
    assert any("kept as it is with a weak prior" in note for note in weak.notes)
    assert weak.pairs[0].difference == pytest.approx(plain.pairs[0].difference, abs=0.1)
    assert weak.pairs[0].se > plain.pairs[0].se
    assert weak.pairs[0].p > plain.pairs[0].p
    assert "ordinal mixed model with a weak prior" in weak.sentence()
    assert weak.to_dict()["prior"] == "weak"
    assert plain.to_dict()["prior"] is None
    assert "prior" not in str(plain).replace("--prior weak", "")


def test_a_separated_system_gets_a_size_that_is_marked_and_no_p() -> None:
    frame = make_ratings(3, {1: 4})
    weak = compare(frame, prior="weak")
    by_pair = {(pair.a, pair.b): pair for pair in weak.pairs}
    for pair in weak.pairs:
        assert pair.prior == ("s1" in (pair.a, pair.b))
        assert np.isnan(pair.p_adjusted) == pair.prior
        assert np.isfinite([pair.difference, pair.low, pair.high]).all()
    assert by_pair["s0", "s1"].difference < 0 < by_pair["s1", "s2"].difference
    marked = {one.system: one.prior for one in weak.systems}
    assert marked == {"s0": False, "s1": True, "s2": False}
    assert weak.systems[0].system == "s1"
    text = str(weak)
    assert text.count("*prior*") >= 5
    assert "s1 is ahead of s0 and s2 by a distance that only the prior limits" in weak.sentence()
    assert any("half and double that SD give" in note for note in weak.notes)
    assert "Bayesian" not in text
    assert weak.sentence().startswith("On rating, s2 and s0 cannot be told apart; s1 is ahead")
    assert not weak.contradictions  # the linear model tests these pairs, and that is no disagreement
    assert str(measure_effects(weak)).count("none") == 2
    rows = weak.to_dict()["pairs"]
    assert [row["prior"] for row in rows] == [pair.prior for pair in weak.pairs]


def test_every_table_that_a_prior_touches_names_it() -> None:
    weak = compare(make_ratings(3, {1: 4}), prior="weak", margin=0.5)
    effects = measure_effects(weak)
    shares = predict_shares(weak.fit, "rating", Missing("none"))
    tables = [part for part in (*weak.parts(), *effects.parts()) if isinstance(part, Table)]
    tables += [measure_spacing(weak.fit, "rating").table(), shares.table(), effects.show_chances()]
    assert len(tables) >= 8
    assert all("with a weak prior" in table.note.lower() for table in tables)
    assert "3.9" in str(effects.parts()[0])
    assert "*prior*" in str(effects.parts()[0]).split("With a weak prior")[0]
    plain = compare(make_ratings(3, {}))
    assert measure_spacing(plain.fit, "rating").table().note == "distance: to the threshold before"


def test_a_finding_limits_the_differences_that_the_data_limit() -> None:
    """What only the prior limits is not among the differences that are below something."""
    three, two = (compare(make_ratings(systems, {1: 4}), prior="weak") for systems in (3, 2))
    assert _tell_size(three, measure_effects(three)).startswith("; if s2 and s0 differ, it is by less than ")
    assert not _tell_size(two, measure_effects(two))
    plain = compare(make_ratings(2, {}))
    assert _tell_size(plain, measure_effects(plain)).startswith("; if there is a difference, it is below ")


def test_without_a_prior_the_message_names_it() -> None:
    separated, collapsed = compare(make_ratings(3, {1: 4}), model="clmm"), compare(make_ratings(2, {}))
    assert any("--prior weak" in note for note in separated.notes)
    stepped = [note for note in collapsed.notes if "The next smaller model was taken" in note]
    assert stepped
    assert all("--prior weak" in note for note in stepped)
    linear = compare(make_ratings(2, {}), model="lmm")
    assert not any("--prior" in note for note in linear.notes)  # which takes none


def test_a_prior_of_spreads_alone_leaves_separated_systems_as_they_are() -> None:
    only = compare(make_ratings(3, {1: 4}), prior="wishart")
    assert not any(pair.prior for pair in only.pairs)
    assert any(np.isinf(pair.difference) for pair in only.pairs)


def test_equivalence_is_not_claimed_of_what_only_the_prior_limits() -> None:
    weak = compare(make_ratings(3, {1: 4}), prior="weak", margin=3.0)
    for pair, test in zip(weak.pairs, weak.equivalence, strict=True):
        assert np.isnan(test.p) == pair.prior
        assert not pair.prior or test.outcome == "undecided"


def test_a_prior_goes_with_ordinal_models_alone() -> None:
    frame = make_ratings(2, {})
    with pytest.raises(BadModel, match="belongs to the ordinal models"):
        compare(frame, model="lmm", prior="weak")
    with pytest.raises(BadModel, match="Did you mean 'weak'"):
        compare(frame, prior="waek")
    sliders = frame.assign(rating=np.linspace(0, 99.5, len(frame)))
    only = compare(sliders, prior="weak")
    assert only.prior is None
    assert any("belongs to ordinal models: this one has none" in note for note in only.notes)


def test_settings_have_the_prior_and_none_is_none() -> None:
    assert AnalysisSpec().to_dict()["prior"] is None
    assert AnalysisSpec(prior="none").prior is None
    assert AnalysisSpec(prior="t(3, 2.5), wishart").to_dict()["prior"] == "t(3, 2.5), wishart"
