"""Intervals: equal to copied and dropped rows, around their estimates, covering the truth, or none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.coefficient_intervals import find_limits
from panelist.agreement.coefficients.fleiss import fleiss_se
from panelist.agreement.criterion_table import RatingTable, from_matrix, make_table
from panelist.agreement.measure import measure_agreement
from panelist.agreement.statistics.resample import LeftOut, draw_items, leave_out_raters, resample
from panelist.agreement.statistics.unit_sums import UnitSums
from panelist.core.errors import PanelistError, UnknownName
from panelist.core.seeds import stream
from tests.examples import examples


def crowd(n: int = 60, raters: int = 8, each: int = 4, seed: int = 0) -> RatingTable:
    """Return ratings 1 to 5 of two outputs an item, each by some of the raters."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(n), each)
    rater = np.concatenate([rng.permutation(raters)[:each] for _ in range(n)])
    latent = rng.normal(size=n)[unit] + 0.4 * rng.normal(size=raters)[rater] + 0.7 * rng.normal(size=n * each)
    return make_table(unit, rater, np.clip(np.round(3 + latent), 1, 5), item=unit // 2)


def limits_of(table: RatingTable, name: str, how: str, **more: object) -> tuple[float, float]:
    one = COEFFICIENTS[name]
    prepared = {one.statistics: one.statistics.prepare(table, table.measurement)}
    found = find_limits(table, [one], table.measurement, prepared, {name: one(table)}, how=how, **more)[name]  # type: ignore[arg-type]
    return found.low, found.high


def test_items_are_drawn_with_all_their_outputs() -> None:
    table = crowd()
    units = draw_items(table, stream(1, "test"))
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
        units = draw_items(table, rng)
        copied = from_matrix(np.repeat(matrix, units.astype(int), axis=0), categories=[1, 2, 3, 4, 5])
        for name in names:
            assert drawn[name].values[step] == pytest.approx(COEFFICIENTS[name](copied, "ordinal"), abs=1e-12)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    first, again, other = (limits_of(crowd(), "spearman", "items", seed=s, resamples=50) for s in (1, 1, 2))
    assert first == again != other


def test_leaving_out_raters_equals_dropping_their_columns() -> None:
    table = crowd(raters=6)
    names = ["krippendorff_alpha_ordinal", "fleiss_kappa", "gwet_ac2", "spearman", "icc_1"]
    left = leave_out_raters(table, [COEFFICIENTS[name] for name in names], "ordinal")
    dropped = {name: [] for name in names}  # type: dict[str, list[float]]
    for r in range(6):
        fewer = from_matrix(np.delete(table.matrix(), r, axis=1), categories=[1, 2, 3, 4, 5])
        for name in names:
            dropped[name].append(COEFFICIENTS[name](fewer, "ordinal"))
    for name in names:
        assert sorted(left[name].values) == pytest.approx(sorted(dropped[name]), abs=1e-12), name


def test_very_many_raters_are_left_out_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("panelist.agreement.statistics.resample.MOST_GROUPS", 4)
    left = leave_out_raters(crowd(), [COEFFICIENTS["fleiss_kappa"]], "nominal")["fleiss_kappa"]
    assert len(left.values) == 4
    assert np.isfinite(left.values).all()


def test_raters_who_are_alike_leave_half_the_jackknife_and_raters_who_differ_most_of_it() -> None:
    rng = np.random.default_rng(3)
    latent = rng.normal(size=(60, 1)) + 0.8 * rng.normal(size=(60, 8))
    for shift, least, most in ((0.0, 0.5, 0.65), (1.5, 0.7, 1.0)):
        table = from_matrix(np.round(latent + shift * rng.normal(size=8)))
        one = leave_out_raters(table, [COEFFICIENTS["icc_a1"]], "interval")["icc_a1"]
        kept = (one.reach(0.95).down / LeftOut(one.values).reach(0.95).down) ** 2
        assert least <= kept <= most


@pytest.mark.slow
@pytest.mark.parametrize("how", ["items", "raters", "both"])
@examples(25)
@given(
    seed=st.integers(0, 10_000),
    raters=st.integers(3, 12),
    each=st.integers(2, 4),
    rare=st.sampled_from([0.02, 0.1, 0.5]),
)
def test_every_interval_holds_its_estimate(how: str, seed: int, raters: int, each: int, rare: float) -> None:
    """Few shared outputs and skewed categories: plain quantiles leave out kappa and Scott's pi here."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(40), min(each, raters))
    rater = np.concatenate([rng.permutation(raters)[: min(each, raters)] for _ in range(40)])
    quality = rng.random(40)[unit] < rare
    rating = np.where(rng.random(len(unit)) < 0.75, quality, rng.random(len(unit)) < rare) + 1.0
    table = make_table(unit, rater, rating, measurement="nominal", categories=[1, 2, 3])
    prepared = {one.statistics: one.statistics.prepare(table, "ordinal") for _, one in COEFFICIENTS.items()}
    values = {
        name: one.estimate(table, prepared=prepared[one.statistics]).value
        for name, one in COEFFICIENTS.items()
    }
    everyone = [one for _, one in COEFFICIENTS.items()]
    found = find_limits(table, everyone, "ordinal", prepared, values, how=how, resamples=40, seed=seed)  # type: ignore[arg-type]
    for name, value in values.items():
        ends = found[name]
        if np.isfinite(value):
            assert ends.low <= value <= ends.high or (np.isnan(ends.low) and ends.note), name


def test_plain_quantiles_would_leave_out_the_estimate_where_pairs_are_small() -> None:
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(60), 3)
    rater = np.concatenate([rng.permutation(12)[:3] for _ in range(60)])
    rating = np.where(rng.random(180) < 0.6, rng.integers(0, 5, 60)[unit], rng.integers(0, 5, 180)) + 1.0
    table = make_table(unit, rater, rating, measurement="nominal")
    scott = COEFFICIENTS["scott_pi"]
    drawn = resample(table, [scott], "nominal", resamples=200)["scott_pi"].values
    assert np.nanquantile(drawn, 0.975) < scott(table)
    found = measure_agreement(_frame(table.matrix()), measurement="nominal", resamples=50).criteria[0][
        "scott_pi"
    ]
    assert np.isnan(found.low)
    assert "half the pairs of raters share" in found.note


def test_other_raters_make_intervals_wider() -> None:
    table = crowd(200, raters=6)
    widths = [np.diff(limits_of(table, "icc_a1", how, resamples=300))[0] for how in ("items", "both")]
    assert widths[1] > widths[0]


def test_a_rater_who_counts_twice_is_not_compared_with_itself() -> None:
    rng = np.random.default_rng(5)
    table = from_matrix(rng.integers(1, 4, (300, 3)).astype(float))
    one = COEFFICIENTS["fleiss_kappa"]
    twice = one.evaluate(UnitSums.prepare(table, "nominal").weigh(None, np.array([2.0, 1.0, 1.0])))[0]
    assert twice == pytest.approx(0.0, abs=0.1)  # a copy would agree with itself: 0.17


def test_by_default_raters_vary_too_where_there_are_five_or_more() -> None:
    few, many = (
        measure_agreement(_frame(crowd(raters=n).matrix()), resamples=50).criteria[0] for n in (4, 5)
    )
    assert few.interval == "for other items rated by these 4 raters, bootstrap over items"
    assert many.interval.startswith("for other items and other raters")
    assert "jackknife over raters" in many["krippendorff_alpha_ordinal"].interval


def test_full_agreement_has_no_interval_and_says_so() -> None:
    found = measure_agreement(_frame(np.repeat(np.arange(1, 6), 3).reshape(5, 3)), measurement="ordinal")
    one = found.criteria[0]["krippendorff_alpha_ordinal"]
    assert one.estimate == 1
    assert np.isnan(one.low)
    assert "every resample gives the same value" in one.note


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


def test_95_percent_intervals_hold_for_other_raters_where_those_over_items_do_not() -> None:
    """Raters differ in level; percent agreement of six of them, 60 items."""
    shifts = 0.8

    def draw_table(n: int, raters: int, seed: int) -> RatingTable:
        rng = np.random.default_rng(seed)
        latent = (
            rng.normal(size=(n, 1)) + shifts * rng.normal(size=raters) + 0.7 * rng.normal(size=(n, raters))
        )
        return from_matrix(np.clip(np.round(latent), -2, 2), categories=[-2, -1, 0, 1, 2])

    truth = COEFFICIENTS["percent_agreement"](draw_table(2_000, 200, 0))
    held = {"items": 0, "both": 0}
    for seed in range(1, 81):
        table = draw_table(60, 6, seed)
        for how in held:
            low, high = limits_of(table, "percent_agreement", how, resamples=100)
            held[how] += low <= truth <= high
    assert held["both"] >= 69
    assert held["items"] <= 64


def test_too_little_to_draw_from_gives_no_interval_and_says_so() -> None:
    found = measure_agreement(
        _frame([[1, 2], [2, 2], [3, 1], [4, 4]]), measurement="ordinal", interval="raters"
    )
    one = found.criteria[0]["spearman"]
    assert np.isfinite(one.estimate)
    assert np.isnan(one.low)
    assert "three raters" in one.note


def test_very_many_pairs_cut_the_resamples_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("panelist.agreement.statistics.resample.MOST_MEETINGS", 1000)
    table = crowd()
    frame = _frame(table.matrix())
    found = measure_agreement(
        frame, measurement="ordinal", coefficients=["spearman"], resamples=200
    ).criteria[0]["spearman"]
    assert "60 resamples" in found.note
    assert found.low < found.estimate < found.high


def test_bad_options_are_answered_in_a_sentence() -> None:
    frame = _frame([[1, 2], [2, 2], [3, 1]])
    with pytest.raises(UnknownName, match=r"No interval is called 'item'\. Did you mean 'items'"):
        measure_agreement(frame, interval="item")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="No level of measurement is called 'ordnal'"):
        measure_agreement(frame, measurement="ordnal")
    with pytest.raises(UnknownName, match="No coefficient is called 'kappa'"):
        measure_agreement(frame, coefficients=["kappa"])
    with pytest.raises(PanelistError, match="between 0 and 1"):
        measure_agreement(frame, confidence=95)
    with pytest.raises(PanelistError, match="resamples must be a whole number, 2 or more"):
        measure_agreement(frame, resamples=1)


def _frame(rows: object) -> object:
    import pandas as pd

    x = np.asarray(rows, dtype=float)
    unit, rater = np.nonzero(~np.isnan(x))
    return pd.DataFrame(
        {"item": [f"i{u}" for u in unit], "rater": [f"r{r}" for r in rater], "rating": x[unit, rater]}
    )
