"""Intervals: equal to a bootstrap that copies rows, covering the truth, honest where none can be made."""

import numpy as np
import pytest

from panelist.agreement.base import COEFFICIENTS
from panelist.agreement.fleiss import fleiss_se
from panelist.agreement.interval import find_limits
from panelist.agreement.measure import measure_agreement
from panelist.agreement.resample import draw, resample
from panelist.agreement.table import RatingTable, from_matrix, make_table
from panelist.agreement.unit_sums import UnitSums
from panelist.core.errors import PanelistError, UnknownName
from panelist.core.seeds import stream


def crowd(n: int = 60, raters: int = 8, each: int = 4, seed: int = 0) -> RatingTable:
    """Return ratings 1 to 5 of two outputs an item, each by some of the raters."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(n), each)
    rater = np.concatenate([rng.permutation(raters)[:each] for _ in range(n)])
    latent = rng.normal(size=n)[unit] + 0.4 * rng.normal(size=raters)[rater] + 0.7 * rng.normal(size=n * each)
    return make_table(unit, rater, np.clip(np.round(3 + latent), 1, 5), item=unit // 2)


def limits_of(table: RatingTable, name: str, how: str, **more: object) -> tuple[float, float]:
    one = COEFFICIENTS[name]
    prepared = {one.statistics: one.statistics.prepare(table, table.level)}
    found = find_limits(table, [one], table.level, prepared, {name: one(table)}, how=how, **more)[name]  # type: ignore[arg-type]
    return found.low, found.high


def test_items_are_drawn_with_all_their_outputs() -> None:
    table = crowd()
    units, raters = draw(table, "items", stream(1, "test"))
    assert raters is None
    assert units is not None
    assert units[0::2].tolist() == units[1::2].tolist()
    assert units[0::2].sum() == table.n_inputs == 30


def test_a_bootstrap_over_items_equals_the_one_that_copies_rows() -> None:
    table = crowd()
    names = [
        "krippendorff_alpha_ordinal",
        "fleiss_kappa",
        "gwet_ac2",
        "spearman",
        "goodman_kruskal_gamma",
        "icc_1",
    ]
    drawn = resample(table, [COEFFICIENTS[name] for name in names], "ordinal", resamples=5, seed=3)
    rng = stream(3, "agreement", "items")
    matrix = table.matrix()
    for step in range(5):
        units, _ = draw(table, "items", rng)
        assert units is not None
        copied = from_matrix(np.repeat(matrix, units.astype(int), axis=0), categories=[1, 2, 3, 4, 5])
        for name in names:
            assert drawn[name].values[step] == pytest.approx(COEFFICIENTS[name](copied, "ordinal"), abs=1e-12)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    first, again, other = (limits_of(crowd(), "spearman", "items", seed=s, resamples=50) for s in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("how", ["items", "raters", "both"])
def test_every_bootstrap_holds_its_estimate(how: str) -> None:
    table = crowd(120)
    for name in COEFFICIENTS:
        value = COEFFICIENTS[name](table)
        if np.isfinite(value):
            low, high = limits_of(table, name, how, resamples=200)
            assert low < value < high, name


def test_drawing_raters_too_makes_intervals_wider() -> None:
    table = crowd(200, raters=6)
    widths = [np.diff(limits_of(table, "icc_a1", how, resamples=300))[0] for how in ("items", "both")]
    assert widths[1] > widths[0]


def test_a_rater_drawn_twice_is_not_compared_with_itself() -> None:
    rng = np.random.default_rng(5)
    table = make_table(
        np.repeat(np.arange(300), 3), np.tile([0, 1, 2], 300), rng.integers(1, 4, 900).astype(float)
    )
    drawn = resample(table, [COEFFICIENTS["fleiss_kappa"]], "nominal", over="raters", resamples=200)
    assert np.nanmean(drawn["fleiss_kappa"].values) == pytest.approx(
        0.0, abs=0.03
    )  # copies would agree: 0.33


def test_bootstrap_and_standard_error_agree_on_many_items() -> None:
    rng = np.random.default_rng(2)
    quality = rng.integers(0, 3, (400, 1))
    x = np.where(rng.random((400, 4)) < 0.7, quality, rng.integers(0, 3, (400, 4))).astype(float)
    table = from_matrix(x)
    drawn = resample(table, [COEFFICIENTS["fleiss_kappa"]], "nominal", resamples=500)["fleiss_kappa"].values
    assert drawn.std(ddof=1) == pytest.approx(fleiss_se(UnitSums.prepare(table, "nominal").weigh()), rel=0.1)
    low, high = limits_of(table, "fleiss_kappa", "analytic")
    assert limits_of(table, "fleiss_kappa", "items", resamples=500) == pytest.approx((low, high), abs=0.01)


def test_95_percent_intervals_of_alpha_cover_the_truth_about_as_often() -> None:
    def draw_table(n: int, seed: int) -> RatingTable:
        rng = np.random.default_rng(seed)
        latent = rng.normal(size=(n, 1)) + rng.normal(size=(n, 3))
        return from_matrix(np.round(latent))

    truth = COEFFICIENTS["krippendorff_alpha_interval"](draw_table(20_000, 0))
    held = 0
    for seed in range(1, 81):
        low, high = limits_of(draw_table(80, seed), "krippendorff_alpha_interval", "items", resamples=200)
        held += low <= truth <= high
    assert held >= 69  # 80 at 0.95 gives fewer in one case of a thousand


def test_too_little_to_draw_from_gives_no_interval_and_says_so() -> None:
    found = measure_agreement(_frame([[1, 2], [2, 2], [3, 1], [4, 4]]), level="ordinal", interval="raters")
    one = found.criteria[0]["spearman"]
    assert np.isfinite(one.estimate)
    assert np.isnan(one.low)
    assert "three raters" in one.note


def test_very_many_pairs_cut_the_resamples_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("panelist.agreement.resample.MOST_MEETINGS", 1000)
    table = crowd()
    frame = _frame(table.matrix())
    found = measure_agreement(frame, level="ordinal", coefficients=["spearman"], resamples=200).criteria[0][
        "spearman"
    ]
    assert "60 resamples" in found.note
    assert found.low < found.estimate < found.high


def test_bad_options_are_answered_in_a_sentence() -> None:
    frame = _frame([[1, 2], [2, 2], [3, 1]])
    with pytest.raises(UnknownName, match=r"No interval is called 'item'\. Did you mean 'items'"):
        measure_agreement(frame, interval="item")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="No level of measurement is called 'ordnal'"):
        measure_agreement(frame, level="ordnal")
    with pytest.raises(UnknownName, match="No coefficient is called 'kappa'"):
        measure_agreement(frame, coefficients=["kappa"])
    with pytest.raises(PanelistError, match="between 0 and 1"):
        measure_agreement(frame, confidence=95)
    with pytest.raises(PanelistError, match="at least 2 resamples"):
        measure_agreement(frame, resamples=1)


def _frame(rows: object) -> object:
    import pandas as pd

    x = np.asarray(rows, dtype=float)
    unit, rater = np.nonzero(~np.isnan(x))
    return pd.DataFrame(
        {"item": [f"i{u}" for u in unit], "rater": [f"r{r}" for r in rater], "rating": x[unit, rater]}
    )
