"""Agreement on choices: sides aligned, ties in and out, by rater and with the majority."""

from collections.abc import Sequence
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.criterion_table import make_table
from panelist.analysis.choices.choice_agreement import (
    align_choices,
    find_majority_agreement,
    measure_any_agreement,
    measure_choice_agreement,
)
from panelist.core.errors import BadRatings
from panelist.core.tables.ratings import read_ratings
from tests.analysis.choices.choices import make_sets, needs_shared, trials_of
from tests.shared_cases import SHARED

QUICK: dict[str, Any] = {"interval": "none"}
ROWS = [
    ("r1", "i1", "x", "y", "x"),
    ("r2", "i1", "y", "x", "B"),  # the same answer from the other side
    ("r1", "i2", "x", "y", "y"),
    ("r2", "i2", "y", "x", "A"),
    ("r1", "i3", "x", "y", "tie"),
    ("r2", "i3", "x", "y", "x"),
]


def pairs(rows: Sequence[tuple[str, str, str, str, str | int]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["rater", "item", "system_a", "system_b", "winner"])


def test_sides_are_aligned_and_ties_are_a_label_of_their_own() -> None:
    with_ties, without = measure_choice_agreement(read_ratings(pairs(ROWS)), "choice", **QUICK)
    assert with_ties["percent_agreement"].estimate == pytest.approx(2 / 3)
    assert without["percent_agreement"].estimate == pytest.approx(1.0)
    assert without.criterion == "choice, ties left out"
    assert "6 comparisons by 2 raters of 3 pairs" in with_ties.sentence()


def test_turning_pairs_round_changes_nothing() -> None:
    frame = pairs([(f"r{r}", f"i{i}", "x", "y", "xy"[(r * i) % 3 == 0]) for r in range(4) for i in range(9)])
    turned = frame.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    one, two = (measure_choice_agreement(read_ratings(f), "choice", **QUICK)[0] for f in (frame, turned))
    assert [c.estimate for c in one.coefficients] == pytest.approx([c.estimate for c in two.coefficients])


def test_labels_are_places_where_pairs_differ_so_that_chance_is_one_half() -> None:
    rng = np.random.default_rng(5)
    frame = make_sets(dict.fromkeys("abcde", 0.0), 2, raters=1, items=300, kind="pairs")
    raters = [
        frame.assign(rater=f"r{r}", trial=frame["trial"] + f"-{r}").assign(
            choice=np.where(rng.permuted(np.tile([[True, False]], (300, 1)), axis=1), "best", "worst").ravel()
        )
        for r in range(4)
    ]
    whole = measure_choice_agreement(read_ratings(pd.concat(raters, ignore_index=True)), "choice", **QUICK)[0]
    assert whole["percent_agreement"].estimate == pytest.approx(0.5, abs=0.05)
    assert abs(whole["krippendorff_alpha_nominal"].estimate) < 0.1  # with five names it would be near 0.4


def test_best_and_worst_are_measured_apart_and_ranks_as_ordinal() -> None:
    sets = make_sets({"a": 1.0, "b": 0.0, "c": -1.0}, 3, raters=5, items=12, kind="best-worst")
    best, worst = measure_choice_agreement(read_ratings(sets), "use", **QUICK)
    assert (best.criterion, worst.criterion) == ("use, best", "use, worst")
    assert best.n_ratings == 60
    ranks = make_sets({"a": 1.0, "b": 0.0, "c": -1.0}, 3, raters=5, items=12, kind="ranking")
    order, first = measure_choice_agreement(read_ratings(ranks), "use", **QUICK)
    assert (order.measurement, first.measurement) == ("ordinal", "nominal")
    assert 0 < order["kendall_w"].estimate < 1
    aligned = align_choices(trials_of(ranks), np.ones(60, dtype=bool))
    table = make_table(aligned["item"], aligned["rater"], aligned["rating"], measurement="nominal")
    assert first["fleiss_kappa"].estimate == pytest.approx(COEFFICIENTS["fleiss_kappa"](table))


def test_the_majority_is_that_of_the_others() -> None:
    rows = [(f"r{r}", "i", "x", "y", winner) for r, winner in enumerate(["x", "x", "x", "y"])]
    aligned = align_choices(trials_of(pairs(rows)), np.ones(4, dtype=bool))
    found = find_majority_agreement(aligned)
    assert found["agrees"].tolist() == [True, True, True, False]
    even = align_choices(trials_of(pairs(rows[1:])), np.ones(3, dtype=bool))
    assert find_majority_agreement(even)["rater"].tolist() == ["r3"]  # for the others x and y are even


def test_ratings_and_choices_of_one_table_are_each_measured_as_they_are() -> None:
    chosen = make_sets({"a": 0.5, "b": 0.0}, 2, raters=3, items=8, kind="pairs").assign(criterion="clarity")
    rated = pd.DataFrame(
        [(f"r{r}", f"i{i}", "a", (i + r) % 5 + 1, "fluency") for r in range(3) for i in range(8)],
        columns=["rater", "item", "system", "rating", "criterion"],
    )
    found = measure_any_agreement(pd.concat([chosen, rated], ignore_index=True), **QUICK)
    assert [(one.criterion, one.measurement) for one in found.criteria] == [
        ("clarity", "nominal"),
        ("fluency", "ordinal"),
    ]


def test_what_choices_cannot_have_is_refused() -> None:
    table = read_ratings(pairs(ROWS))
    with pytest.raises(BadRatings, match="--scale has no meaning"):
        measure_choice_agreement(table, "choice", scale=[1, 2], **QUICK)
    with pytest.raises(BadRatings, match="no column item"):
        measure_choice_agreement(read_ratings(pairs(ROWS).drop(columns="item")), "choice", **QUICK)


@needs_shared
def test_people_of_a_published_table_agree_as_its_labels_do() -> None:
    frame = pd.read_csv(SHARED / "judges" / "pandalm_pairs.csv")
    people = frame[frame["kind"] == "person"]
    whole = measure_choice_agreement(read_ratings(people), "choice", **QUICK)[0]
    said = [mine.sort_values("item")["winner"].to_numpy() for _, mine in people.groupby("rater")]
    same = np.mean([(said[i] == said[j]).mean() for i, j in ((0, 1), (0, 2), (1, 2))])
    assert whole["percent_agreement"].estimate == pytest.approx(same)


@pytest.mark.parametrize("graded", [True, False])
def test_agreement_does_not_depend_on_what_systems_are_called(graded: bool) -> None:
    rng = np.random.default_rng(3)
    strength = {"a": 1.5, "b": 0.0, "c": -1.5}
    rows = []
    for item, (one, two) in product(range(12), combinations(strength, 2)):
        for rater in range(4):
            lead = strength[one] - strength[two] + rng.normal()
            grade = int(np.sign(lead)) * (1 + (abs(lead) > 1.5))
            rows.append((f"r{rater}", f"i{item:02d}", one, two, grade if graded else "AB"[grade < 0]))
    found = []
    for names in permutations("xyz"):
        new = dict(zip(strength, names, strict=True))
        frame = pairs([(r, i, new[one], new[two], said) for r, i, one, two, said in rows])
        whole = measure_choice_agreement(read_ratings(frame), "choice", **QUICK)[0]
        assert whole.measurement == ("ordinal" if graded else "nominal")
        found.append([c.estimate for c in whole.coefficients])
        assert whole.margins.most_share < 0.6  # of two labels, chance is near one half
    assert np.ptp(np.array(found), axis=0) == pytest.approx(0.0, abs=1e-9, nan_ok=True)
