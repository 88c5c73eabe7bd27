"""Labels across studies: difference rates that were printed, alpha and kappa against brute force."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadReproduction
from panelist.reproduction.measures.label_changes import compare_labels, difference_rate
from panelist.reproduction.reproduce import reproduce
from panelist.reproduction.sources import Given, read_source
from tests.reproduction.published import LI_DIFFERENT, LI_RATES
from tests.reproduction.small_studies import make_ratings, needs_shared
from tests.shared_cases import SHARED


def given(frame: pd.DataFrame) -> Given:
    return read_source(frame, "study").given[0]


def brute_alpha(rows: list[list[int]]) -> float:
    """Return Krippendorff's nominal alpha from all ordered pairs, as the definition has it."""
    observed = np.mean([a != b for row in rows for a, b in permutations(row, 2)])
    values = [value for row in rows for value in row]
    expected = np.mean([a != b for a, b in permutations(values, 2)])
    return float(1 - observed / expected)


@needs_shared
@pytest.mark.parametrize("task", LI_RATES)
def test_the_difference_rates_of_li_et_al(task: str) -> None:
    votes = pd.read_csv(SHARED / f"fig_narrative_{task}_original_votes.csv")
    again = votes.copy()
    for slot, n in zip(dict.fromkeys(votes["slot"]), LI_DIFFERENT[task], strict=True):
        rows = again.index[again["slot"] == slot][:n]  # which ones turned red does not matter for the rate
        again.loc[rows, "rating"] = 1 - again.loc[rows, "rating"]
    found = reproduce(votes, again, fit_models=False)["plausible"]
    assert found.difference_rate == pytest.approx(LI_RATES[task], abs=5e-4)
    assert found.labels is not None
    rates = {one.system: one.rate for one in found.labels.systems}
    assert rates["gpt2xl"] == pytest.approx(100 * LI_DIFFERENT[task][0] / 25)


def test_a_mean_over_columns_is_that_over_labels() -> None:
    assert np.mean([36, 40, 52, 32, 44, 28]) == pytest.approx(LI_RATES["idiom"], abs=5e-4)
    assert np.mean([40, 28, 36, 40, 48, 20, 12, 48]) == pytest.approx(LI_RATES["simile"])
    assert difference_rate([1, 1, 0], [1, 0, 0]) == pytest.approx(100 / 3)
    with pytest.raises(BadReproduction):
        difference_rate([1], [1, 2])


def test_alpha_and_kappa_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2, (40, 2)).tolist()
    frames = [
        pd.DataFrame(
            {
                "item": [f"i{i}" for i in range(40)],
                "system": "a",
                "rater": "r",
                "rating": [row[s] for row in rows],
            }
        )
        for s in range(2)
    ]
    found = compare_labels([given(frame) for frame in frames])
    assert found.alpha == pytest.approx(brute_alpha(rows))
    agree = np.mean([a == b for a, b in rows])
    share = np.mean(rows)
    chance = share**2 + (1 - share) ** 2
    assert found.kappa == pytest.approx((agree - chance) / (1 - chance))
    assert found.difference_rate == pytest.approx(100 * (1 - agree))
    assert found.alpha - found.kappa == pytest.approx(0, abs=2 / 40)


def test_majority_and_median_make_the_label() -> None:
    votes = pd.DataFrame(
        {
            "rater": ["x", "y", "z"] * 2,
            "item": ["i"] * 3 + ["j"] * 3,
            "system": "a",
            "rating": [1, 1, 0, 0, 1, 0],
        }
    )
    single = pd.DataFrame({"rater": "q", "item": ["i", "j"], "system": "a", "rating": [1, 0]})
    assert compare_labels([given(votes), given(single)]).difference_rate == 0
    points = votes.assign(rating=[5, 1, 3, 2, 4, 5])
    medians = single.assign(rating=[3, 4])
    found = compare_labels([given(points), given(medians)])
    assert (found.measurement, found.difference_rate, found.n_units) == ("ordinal", 0, 2)


def test_single_ratings_are_the_unit_when_asked_for() -> None:
    first = make_ratings(1)
    second = first.assign(rating=first["rating"].where(first["rater"] != "r0", 6 - first["rating"]))
    found = compare_labels([given(first), given(second)], "slot")
    expected = 100 * float((first["rating"] != second["rating"]).mean())
    assert found.n_units == len(first)
    assert found.difference_rate == pytest.approx(expected)
    assert "rater" in found.unit
    strangers = second.assign(rater="new " + second["rater"])
    assert "its place" in compare_labels([given(first), given(strangers)], "slot").unit


def test_three_studies_are_averaged_over_their_pairs() -> None:
    frames = [make_ratings(seed) for seed in (1, 2, 3)]
    whole = compare_labels([given(frame) for frame in frames])
    pairs = [compare_labels([given(frames[a]), given(frames[b])]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert whole.difference_rate == pytest.approx(np.mean([pair.difference_rate for pair in pairs]))
    turned = compare_labels([given(frame) for frame in frames[::-1]])
    assert (turned.alpha, turned.kappa) == pytest.approx((whole.alpha, whole.kappa))


@needs_shared
def test_choices_have_the_majority_winner_as_their_label() -> None:
    coherence = read_source(SHARED / "reprohum_d2t_coherence.csv", "original").given[0]
    found = compare_labels([coherence, coherence])
    assert (found.n_units, found.difference_rate, found.alpha) == (199, 0, 1)
    assert any("no majority" in note for note in found.notes)


def test_what_holds_no_common_labels_says_why() -> None:
    first = make_ratings(1)
    cases = [
        (first.assign(item="x" + first["item"]), "no output was judged in two"),
        (first.assign(rating=first["rating"] + 0.5), "measurements and not labels"),
        (first.drop(columns="item"), "no column item"),
    ]
    for frame, part in cases:
        with pytest.raises(BadReproduction, match=part):
            compare_labels([given(first), given(frame)])
    with pytest.raises(BadReproduction, match="output or slot"):
        compare_labels([given(first), given(first)], "page")
