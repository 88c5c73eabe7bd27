"""Tables of pairs as they are published: votes of arenas, grades, style, and mixed models of them."""

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.choices.choice_agreement import measure_choice_agreement
from panelist.analysis.choices.compare_choices import compare_choices
from panelist.analysis.choices.models.mixed import grade_pairs
from panelist.analysis.choices.pair_files import take_long
from panelist.analysis.compare import compare_systems
from panelist.core.errors import BadModel, BadRatings
from panelist.core.tables.ratings import read_ratings
from tests.analysis.choices.choices import make_pairs, make_sets, trials_of
from tests.analysis.choices.votes import draw_votes

GRADES = ["A is much better", "A is slightly better", "About the same", "B slightly better", "B much better"]


def test_votes_without_raters_or_items_are_compared_and_the_notes_say_so() -> None:
    votes = draw_votes().drop(columns=["rater", "item", "latent"])
    votes.loc[:9, "winner"] = "tie (bothbad)"
    found = compare_choices(votes)["choice"]
    notes = " ".join(found.notes)
    assert found.model == "bradley-terry"
    assert "no column rater" in notes
    assert "no column item" in notes
    assert "10 ties say that both are bad" in notes
    assert found.counts == {"decided": 290, "tie": 10}


def test_a_column_for_each_answer_is_read_as_one() -> None:
    votes = draw_votes(40).drop(columns=["words_a", "words_b", "latent"])
    votes.loc[:4, "winner"] = "tie"
    votes = votes.replace({"x": "B", "y": "A"})  # names that could be sides
    flags = pd.get_dummies(votes.pop("winner"), prefix="winner", dtype=int)
    found = compare_choices(votes.join(flags))["choice"]
    assert found.counts == {"decided": 35, "tie": 5}
    plain = votes.assign(winner=[str(name).removeprefix("winner_") for name in flags.idxmax(axis=1)])
    assert found.strengths.theta == pytest.approx(compare_choices(plain)["choice"].strengths.theta)
    flags.loc[7] = 1
    with pytest.raises(BadRatings, match=r"In row 8, winner_model_a '1'.*: one of these columns is 1"):
        compare_choices(votes.join(flags))


def test_one_tie_is_one_tie_and_a_pair_needs_both_systems() -> None:
    votes = draw_votes()
    votes.loc[0, "winner"] = "tie (bothbad)"
    text = " ".join(str(compare_choices(votes)["choice"]).split())
    for said in ("1 tie.", "1 tie says that both are bad", "1 pair without a preference enters as a tie"):
        assert said in text
    votes.loc[[3, 5], "model_b"] = [None, ""]
    with pytest.raises(
        BadRatings, match=r"In row 4, model_b is empty, though winner says .* 1 more row lacks"
    ):
        compare_choices(votes)
    votes.loc[[3, 5], "winner"] = None  # nothing was asked there, nothing is lacking
    assert compare_choices(votes)["choice"].counts["tie"] == 1


def test_where_nobody_knows_which_stood_first_a_note_says_so() -> None:
    votes = draw_votes()
    notes = " ".join(compare_choices(votes)["choice"].notes)
    assert "does not say for every pair which output stood first" in notes
    known = compare_choices(votes.assign(first="a"))["choice"]
    assert "which output stood first" not in " ".join(known.notes)
    mixed = known.strengths.mixed
    assert mixed is not None
    (slope,) = mixed.slopes
    odds = np.exp(slope.estimate)  # two answers: the log-odds of the first of two equal outputs
    assert f"is preferred with odds of {odds:.2f} to 1" in " ".join(str(known).split())


def test_what_one_answer_says_is_said_in_the_singular() -> None:
    one = make_pairs([("r", "x", "y", "x"), ("r", "x", "x", "x"), ("r", "x", "y", "skipped")])
    text = " ".join(str(compare_choices(one)["choice"]).split())
    for said in ("1 of 3 pairs shows one system twice: it compares", "1 of 3 pairs has no answer in winner"):
        assert said in text
    assert "model, 1 pair by 1 rater" in " ".join(str(compare_choices(one[:1])["choice"]).split())


def test_choices_do_not_lack_ratings() -> None:
    frame = make_sets({"a": 1.0, "b": 0.0}, 2, raters=4, items=6, kind="pairs").assign(rating=np.nan)
    assert "rating is missing" not in str(compare_choices(frame))


def test_a_comparison_that_takes_seconds_is_announced() -> None:
    votes = make_pairs([(f"r{i % 7}", f"s{i % 40}", f"s{(i + 1 + i % 3) % 40}", "A") for i in range(260)])
    long = make_sets(dict.fromkeys("abcd", 0.0), 2, raters=5, items=8, kind="pairs")
    assert (take_long(votes), take_long(votes[:200]), take_long(long)) == (True, False, False)
    said: list[str] = []
    compare_systems(votes, model="bradley-terry", on_progress=lambda now: said.append(now.what))
    compare_systems(votes[:40], model="bradley-terry", on_progress=lambda now: said.append(now.what))
    assert said == ["rating"]


def test_few_degrees_of_freedom_are_told() -> None:
    notes = compare_choices(draw_votes(), model="mixed")["choice"].notes
    assert not any("degrees of freedom" in note for note in notes)
    rng = np.random.default_rng(4)
    names = rng.choice(["ann", "bob", "cy"], 300, p=[0.9, 0.05, 0.05])
    taste = {"ann": 1.0, "bob": -1.0, "cy": 0.2}
    wins = rng.random(300) < 1 / (1 + np.exp(-np.vectorize(taste.get)(names)))
    pairs = make_pairs([(who, "x", "y", "x" if won else "y") for who, won in zip(names, wins, strict=True)])
    (said,) = [note for note in compare_choices(pairs)["choice"].notes if "degrees of freedom" in note]
    assert "few gave most answers" in said


def test_votes_counted_by_pair_give_the_estimates_and_errors_of_single_votes() -> None:
    votes = draw_votes(120)
    once = compare_choices(votes, model="bradley-terry")["choice"]
    twice = compare_choices(
        pd.concat([votes, votes], ignore_index=True), model="bradley-terry", cluster="rater"
    )["choice"]
    alone = compare_choices(votes, model="bradley-terry", cluster="rater")["choice"]
    assert twice.strengths.theta == pytest.approx(once.strengths.theta, abs=1e-9)
    assert twice.strengths.loglik == pytest.approx(2 * once.strengths.loglik)
    # Each answer twice by the same rater: clusters of raters do not take it for more than it is.
    assert twice.strengths.covariance == pytest.approx(alone.strengths.covariance, rel=1e-9)


@pytest.mark.parametrize(
    "words", [GRADES, ["2", "1", "0", "-1", "-2"], [2.0, 1.0, 0.0, -1.0, -2.0], ["5", "4", "3", "2", "1"]]
)
def test_grades_are_read_from_words_and_numbers(words: list[str]) -> None:
    frame = make_pairs([("r", "x", "y", word) for word in words]).rename(columns={"winner": "preference"})
    trials = trials_of(frame)
    assert trials.grade is not None
    assert trials.grade[::2].tolist() == [2, 1, 0, -1, -2]
    assert trials.grade[1::2].tolist() == [-2, -1, 0, 1, 2]
    assert grade_pairs(trials, {})[0].points == 5
    assert trials.counts() == {"decided": 4, "tie": 1}
    assert any("1, the second is much better, to 5" in note for note in trials.notes) == (words[0] == "5")


def test_signs_between_the_sides_are_grades() -> None:
    words = ["A>>B", "A > B", "A=B", "B>A", "A<<B", "[[A>B]]"]
    frame = make_pairs([("r", "x", "y", word) for word in words[:5]])
    assert trials_of(frame).grade[::2].tolist() == [2, 1, 0, -1, -2]  # type: ignore[index]
    plain = make_pairs([("r", "x", "y", word) for word in ("A>B", "B>A", "A=B", "A~B")])
    assert trials_of(plain).counts() == {"decided": 2, "tie": 2}
    assert trials_of(plain).grade is None
    with pytest.raises(BadRatings, match="names neither of the systems"):
        trials_of(make_pairs([("r", "x", "y", words[5])]))


def test_whole_numbers_need_a_middle() -> None:
    rows = [("r", "x", "y", word) for word in "123"]
    trials = trials_of(make_pairs(rows).rename(columns={"winner": "rating"}))
    assert trials.grade is not None
    assert trials.grade[::2].tolist() == [-1, 0, 1]
    assert any("1, the second is better, to 3, the first is better" in note for note in trials.notes)
    for words, high in (("123", 3), ("1243", 4), ("61", 6)):  # 3 may be a tie
        with pytest.raises(BadRatings, match=f"whole numbers from 1 to {high}, which does not say"):
            trials_of(make_pairs([("r", "x", "y", word) for word in words]))


def test_three_grades_are_named_by_their_model() -> None:
    votes = draw_votes()
    grade = np.digitize(votes.pop("latent"), [-0.5, 0.5]) - 1
    found = compare_choices(votes.assign(winner=grade))["choice"]
    assert "mixed Bradley-Terry model with Rao and Kupper's ties" in found.sentence()


def test_where_answers_are_nearly_unanimous_the_clustered_model_leads() -> None:
    rng = np.random.default_rng(23)
    rows = []
    for a, b in (("x", "y"), ("y", "z"), ("x", "z")):
        for won in rng.random(20) < 0.95:
            sides = [a, b] if rng.random() < 0.5 else [b, a]
            rows.append((f"r{rng.integers(6)}", f"i{rng.integers(10)}", *sides, a if won else b))
    frame = pd.DataFrame(rows, columns=["rater", "item", "system_a", "system_b", "winner"])
    found = compare_choices(frame)["choice"]
    assert found.model == "bradley-terry"
    assert np.abs(found.strengths.theta).max() < 5
    assert any("No mixed model: preferences of items would have a standard" in note for note in found.notes)
    with pytest.raises(BadModel, match="nearly all answers about some pairs are the same"):
        compare_choices(frame, model="mixed")


def test_a_long_table_has_a_grade_for_each_output() -> None:
    rows = [
        ("r", "i", trial, name, grade)
        for trial, g in (("1", 2), ("2", -1))
        for name, grade in (("x", g), ("y", -g))
    ]
    frame = pd.DataFrame(rows, columns=["rater", "item", "trial", "system", "grade"])
    frame["choice"] = np.where(frame["grade"] > 0, "best", "worst")
    trials = trials_of(frame)
    assert trials.grade is not None
    assert trials.grade.tolist() == [2, -2, -1, 1]


def test_grades_that_nobody_gave_are_left_out_of_the_scale() -> None:
    frame = make_pairs([("r", "x", "y", word) for word in ("3", "-1", "3", "-3", "1")])
    pairs, _ = grade_pairs(trials_of(frame), {})
    assert pairs.points == 4  # ±1 and ±3, no tie and no ±2
    assert pairs.answer.tolist() == [3, 1, 3, 0, 2]


def test_pairs_lead_with_the_mixed_model_and_turn_back_to_clusters_where_asked() -> None:
    votes = draw_votes()
    found = compare_choices(votes)["choice"]
    assert found.model == "mixed"
    assert found.beside is not None
    assert found.beside.model == "bradley-terry"
    assert "mixed Bradley-Terry model" in found.sentence()
    assert found.systems[0].system == "z"
    whole = found.to_dict()
    assert {one["group"] for one in whole["mixed"]["random"]} == {"rater", "item"}
    assert whole["mixed"]["free_pairs"]["df"] == 1
    assert sum(whole["mixed"]["wins"].values()) == pytest.approx(1.5)
    assert len(whole["consistency"]) == 10
    assert compare_choices(votes, cluster="rater")["choice"].model == "bradley-terry"
    assert compare_choices(votes, model="bradley-terry")["choice"].beside is None


def test_style_is_shown_with_and_without() -> None:
    found = compare_choices(draw_votes(600), style=["words"])["choice"]
    mixed = found.strengths.mixed
    assert mixed is not None
    slope = mixed.slopes[0]
    assert slope.term == "log(words)"
    assert slope.low < 0.8 < slope.high
    plain = {name: (value, low, high) for name, value, low, high in mixed.plain}
    without = compare_choices(draw_votes(600))["choice"]
    for one in without.systems:
        assert plain[one.system] == pytest.approx((one.estimate, one.low, one.high), abs=1e-8)
    text = " ".join(str(found).split())
    assert "Twice the words is worth odds of" in text
    assert "at equal log(words)" in text
    assert "The clustered one does not control for log(words)." in text


def test_the_finding_says_what_holds_at_equal_style_and_what_without() -> None:
    votes = draw_votes(600)
    bare = compare_choices(votes)["choice"].describe().partition("; the clustered")[0]
    better = 1.0 * (votes["model_a"] == "x") - (votes["model_b"] == "x")
    noise = np.random.default_rng(2).lognormal(0, 0.2, len(votes))
    longer = votes.assign(
        words_a=100 * 6**better * noise, words_b=100.0
    )  # as far as x is worse, it is longer
    said = compare_choices(longer, style=["words"])["choice"].sentence()
    assert "On choice, at equal log(words), z, y and x cannot be told apart; " in said
    assert f"; without control for log(words), {bare} (mixed" in said
    unlike = compare_choices(votes.assign(words_a=noise, words_b=1.0), style=["words"])["choice"]
    assert unlike.describe() == f"with and without control for log(words), {bare}"


def test_style_that_cannot_be_read_is_refused() -> None:
    votes = draw_votes(60)
    with pytest.raises(BadRatings, match="columns lists_a and lists_b"):
        compare_choices(votes, style=["lists"])
    with pytest.raises(BadRatings, match="1 of 120 outputs shown have no number"):
        compare_choices(votes.assign(words_a=votes["words_a"].where(votes.index > 0)), style=["words"])
    with pytest.raises(BadModel, match="--style needs the mixed model"):
        compare_choices(votes, style=["words"], model="bradley-terry")
    ratings = pd.DataFrame(
        {"rater": list("aabb"), "item": list("uvuv"), "system": list("xyyx"), "rating": [1, 2, 3, 4]}
    )
    with pytest.raises(BadModel, match="--style is for choices"):
        compare_systems(ratings, style=["words"])


def test_graded_pairs_use_the_grades() -> None:
    votes = draw_votes(240)
    grade = np.searchsorted([-1.5, -0.5, 0.5, 1.5], votes["latent"]) - 2
    found = compare_choices(votes.assign(winner=grade.astype(str)))["choice"]
    mixed = found.strengths.mixed
    assert mixed is not None
    assert mixed.points == 5
    assert mixed.thresholds[2] == pytest.approx(-mixed.thresholds[1])
    assert "of 5 grades" in found.sentence()
    assert "the direction of an answer alone" in " ".join(str(found).split())


def test_agreement_on_graded_pairs_is_ordinal() -> None:
    rows = [(r, "x", "y", "2") for r in "ab"] + [("a", "x", "y", "-1"), ("b", "y", "x", "1")]
    frame = make_pairs(rows).assign(item=["i", "i", "j", "j"])
    grades, direction = measure_choice_agreement(read_ratings(frame), "choice", resamples=20)
    assert (grades.criterion, direction.criterion) == ("choice", "choice, which is better")
    assert (grades.measurement, direction.measurement) == ("ordinal", "nominal")
    alpha = {one.name: one.estimate for one in grades.coefficients}
    assert alpha["krippendorff_alpha_ordinal"] == pytest.approx(1.0)


def test_many_systems_show_neighbours_alone() -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(22, size=4000)
    b = (a + rng.integers(1, 22, size=4000)) % 22
    won = rng.random(4000) < 1 / (1 + np.exp(-(a - b) / 8))
    frame = pd.DataFrame(
        {"system_a": a.astype(str), "system_b": b.astype(str), "winner": np.where(won, "A", "B")}
    )
    found = compare_choices(frame)["choice"]
    assert len(found.pairs) == 231
    text = str(found)
    assert "all 231 pairs" in text
    first, second = found.systems[0].system, found.systems[1].system
    assert f"{first} − {second}" in text
