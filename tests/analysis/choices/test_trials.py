"""Reading comparisons: long tables, pairs in a row, ranks, answers that rank nothing, and bad ones."""

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.choices.position import measure_position
from panelist.analysis.choices.trials import holds_choices, read_trials
from panelist.core.errors import BadModel, BadRatings
from panelist.core.tables.ratings import read_ratings
from tests.analysis.choices.choices import make_pairs, make_sets, trials_of

STRENGTHS = {"a": 0.5, "b": 0.0, "c": -0.5}


def long(rows: list[tuple[str, str, str, str]], **columns: str) -> pd.DataFrame:
    """Return rows of (trial, system, choice, answer) by one rater on one item."""
    frame = pd.DataFrame(rows, columns=["trial", "system", "choice", "answer"])
    return frame.assign(rater="r", item="i", **columns)


def test_a_pair_a_row_and_a_row_an_option_are_the_same() -> None:
    wide = make_pairs([("r1", "a", "b", "a"), ("r1", "b", "a", "a"), ("r2", "a", "b", "tie")])
    tall = pd.DataFrame(
        {
            "rater": ["r1", "r1", "r1", "r1", "r2", "r2"],
            "item": ["i0", "i0", "i1", "i1", "i2", "i2"],
            "trial": ["1", "1", "2", "2", "3", "3"],
            "system": ["a", "b", "b", "a", "a", "b"],
            "choice": ["best", "worst", "worst", "best", "", ""],
            "answer": ["", "", "", "", "tie", "tie"],
        }
    )
    one, two = trials_of(wide), trials_of(tall)
    assert one.systems == two.systems == ("a", "b")
    assert one.counts() == two.counts() == {"decided": 2, "tie": 1}
    assert one.place == pytest.approx(two.place, nan_ok=True)
    assert one.system.tolist() == two.system.tolist()


@pytest.mark.parametrize(
    "words", [("A", "B"), ("1", "2"), ("first", "second"), ("left", "right"), ("x", "y")]
)
def test_the_winner_of_a_pair_may_be_named_in_many_ways(words: tuple[str, str]) -> None:
    frame = make_pairs([("r", "x", "y", words[0]), ("r", "y", "x", words[1])])
    if words == ("x", "y"):
        frame.loc[1, "winner"] = "x"
    trials = trials_of(frame.rename(columns={"winner": "rating"}))
    best = [trials.systems[s] for s, place in zip(trials.system, trials.place, strict=True) if place == 0]
    assert best == ["x", "x"]


@pytest.mark.parametrize("word", ["tie", "Similar", "same", "draw", "neither", "no difference"])
def test_a_tie_may_be_said_in_many_ways(word: str) -> None:
    trials = trials_of(make_pairs([("r", "x", "y", "x"), ("r", "x", "y", word)]))
    assert trials.counts() == {"decided": 1, "tie": 1}


SIDE_WORDS = [
    ("model_a", "model_b", "tie (bothbad)"),
    ("Model A", "Model B", "both_bad"),
    ("A is better", "B is better", "About the same"),
    ("left", "right", "both"),
    ("First", "Second", "neither"),
    (1, 2, 0),
    ("1.0", "2.0", "0.0"),
    ("response_1", "response_2", "Tie"),
]


@pytest.mark.parametrize(("first", "second", "tie"), SIDE_WORDS)
@pytest.mark.parametrize("columns", [("system_a", "system_b"), ("model_a", "model_b"), ("left", "right")])
def test_published_words_for_sides_and_ties_are_read(
    first: str, second: str, tie: str, columns: tuple[str, str]
) -> None:
    rows = [("x", "y", first), ("y", "x", second), ("x", "y", tie), ("y", "x", first)]
    frame = pd.DataFrame(rows, columns=[*columns, "preference"]).assign(rater="r", item=range(4))
    trials = trials_of(frame)
    assert trials.counts() == {"decided": 3, "tie": 1}
    best = [trials.systems[s] for s, place in zip(trials.system, trials.place, strict=True) if place == 0]
    assert best == ["x", "x", "y"]


def test_an_answer_that_names_nothing_is_refused_with_its_row() -> None:
    frame = make_pairs([("r", "x", "y", "x"), ("r", "x", "y", "model_c"), ("r", "x", "y", "")])
    with pytest.raises(BadRatings, match=r"column winner, row 2, 'model_c' names neither of the systems 'x'"):
        trials_of(frame)
    with pytest.raises(BadRatings, match=r"row 2, 'z' names a system that is not one of the pair \('x' and"):
        trials_of(make_pairs([("r", "x", "z", "x"), ("r", "x", "y", "z")]))


def test_empty_answers_are_counted() -> None:
    trials = trials_of(make_pairs([("r", "x", "y", "x"), ("r", "x", "y", ""), ("r", "x", "y", "skipped")]))
    assert trials.counts() == {"decided": 1, "no answer": 2}
    assert "2 of 3 pairs have no answer in winner" in trials.notes[0]


def test_names_of_systems_go_before_words_for_sides() -> None:
    trials = trials_of(make_pairs([("r", "B", "A", "A"), ("r", "B", "A", "b"), ("r", "B", "A", "tie")]))
    best = [trials.systems[s] for s, place in zip(trials.system, trials.place, strict=True) if place == 0]
    assert best == ["A", "B"]
    assert "are read as names of systems, not as sides" in trials.notes[0]
    numbers = trials_of(make_pairs([("r", "2", "1", "1"), ("r", "2", "1", "0")]))
    assert numbers.counts() == {"decided": 1, "tie": 1}


def test_nought_and_one_alone_are_ambiguous() -> None:
    with pytest.raises(BadRatings, match="holds 0 and 1 only"):
        trials_of(make_pairs([("r", "x", "y", "0"), ("r", "x", "y", "1")]))


def test_texts_in_left_and_right_are_no_systems() -> None:
    texts = pd.DataFrame(
        {"left": [f"a text {n}" for n in range(9)], "right": [f"other {n}" for n in range(9)]}
    )
    assert not holds_choices(texts.assign(preference="left", rating=3))


def test_the_order_shown_is_known_only_where_the_table_says_so() -> None:
    rows = [("r", "x", "y", "x"), ("r", "y", "x", "y"), ("r", "x", "y", "y"), ("r", "y", "x", "y")]
    frame = make_pairs(rows)
    assert measure_position(trials_of(frame)) is None
    told = measure_position(trials_of(frame.assign(first=["a", "a", "y", "system_b"])))
    assert told is not None
    assert (told.share, told.n) == (0.75, 4)  # first were x, y, y, x; preferred were x, y, y, y
    left = measure_position(trials_of(frame.rename(columns={"system_a": "left", "system_b": "right"})))
    assert left is not None
    assert left.share == 0.75


def test_none_and_all_are_kept_apart_from_silence() -> None:
    rows = [("1", "a", "best", ""), ("1", "b", "", ""), ("1", "c", "", "")]
    rows += [("2", name, "", "none") for name in "abc"] + [("3", name, "", "all") for name in "abc"]
    rows += [("4", name, "", "") for name in "abc"]
    trials = trials_of(long(rows))
    assert trials.kind == "choose-one"
    assert trials.counts() == {"decided": 1, "none": 1, "all": 1, "no answer": 1}


def test_two_best_are_not_clear() -> None:
    rows = [("1", "a", "best", ""), ("1", "b", "best", ""), ("1", "c", "worst", "")]
    rows += [("2", "a", "best", ""), ("2", "b", "", ""), ("2", "c", "worst", "")]
    trials = trials_of(long(rows))
    assert trials.kind == "best-worst"
    assert trials.counts() == {"decided": 1, "not clear": 1}
    assert np.isnan(trials.place[:3]).all()


def test_ranks_may_stand_in_choice_or_in_rating() -> None:
    frame = make_sets(STRENGTHS, 3, raters=3, items=4, kind="ranking")
    as_rating = frame.rename(columns={"choice": "rating"}).assign(rating=lambda f: f["rating"].astype(int))
    one, two = trials_of(frame), trials_of(as_rating)
    assert one.kind == two.kind == "ranking"
    assert one.place == pytest.approx(two.place)
    assert holds_choices(read_ratings(as_rating).frame)


def test_ratings_on_pages_are_no_ranks() -> None:
    frame = pd.DataFrame({"trial": list("112233"), "system": list("ababab"), "rating": [1, 2, 2, 2, 5, 4]})
    assert not holds_choices(frame)
    assert not holds_choices(frame.drop(columns="trial"))


def test_tied_and_partial_rankings_are_used() -> None:
    rows = [("1", "a", "1", ""), ("1", "b", "1", ""), ("1", "c", "3", "")]
    rows += [("2", "a", "1", ""), ("2", "b", "", ""), ("2", "c", "", "")]
    rows += [("3", "a", "2", ""), ("3", "b", "2", ""), ("3", "c", "2", "")]
    rows += [("4", "a", "", ""), ("4", "b", "", ""), ("4", "c", "", "")]
    trials = trials_of(long(rows))
    assert trials.kind == "ranking"
    assert trials.counts() == {"decided": 2, "tie": 1, "no answer": 1}
    assert trials.place[:6].tolist() == [1, 1, 3, 1, 2, 2]
    assert len(trials.list_wins()[0]) == 4
    assert any("1 rankings leave outputs without a rank" in note for note in trials.notes)
    assert any("Breslow" in note for note in trials.notes)


def test_a_few_ties_do_not_make_ranks_ratings() -> None:
    frame = make_sets(STRENGTHS, 3, raters=4, items=6, kind="ranking")
    ranks = frame.rename(columns={"choice": "rating"}).assign(rating=lambda f: f["rating"].astype(int))
    ranks.loc[:2, "rating"] = [1, 1, 3]
    assert holds_choices(ranks)
    ranks.loc[:2, "rating"] = [1, 4, 5]
    assert not holds_choices(ranks)  # no ranking of three has a five


def test_order_of_rows_does_not_matter() -> None:
    frame = make_sets(STRENGTHS, 3, raters=3, items=5, kind="best-worst")
    one, two = trials_of(frame), trials_of(frame.sample(frac=1.0, random_state=3))
    wins = [
        sorted(zip(t.system[w].tolist(), t.system[x].tolist(), strict=True))
        for t in (one, two)
        for _, w, x in [t.list_wins()]
    ]
    assert wins[0] == wins[1]
    assert len(wins[0]) == 15 * 3  # a best-worst set of three tells its whole order


def test_trial_numbers_may_start_again_with_every_rater() -> None:
    frame = make_sets(STRENGTHS, 2, raters=3, items=4, kind="pairs")
    frame["trial"] = frame["item"]
    assert len(trials_of(frame)) == 12


def test_several_trials_of_one_item_need_a_trial_column() -> None:
    frame = make_sets(STRENGTHS, 2, raters=2, items=6, kind="pairs").assign(item="same").drop(columns="trial")
    with pytest.raises(BadRatings, match="Number the trials in a column trial"):
        trials_of(frame)


@pytest.mark.parametrize(
    ("frame", "error", "message"),
    [
        (long([("1", "a", "good", ""), ("1", "b", "", "")]), BadRatings, r"hold 'good'. A choice is 'best'"),
        (long([("1", "a", "best", ""), ("2", "a", "best", "")]), BadModel, "only one system, 'a'"),
        (
            long([("1", "a", "", ""), ("1", "b", "", "")]),
            BadModel,
            "no trial was decided: 1 without an answer",
        ),
        (pd.DataFrame({"system": ["a", "b"], "choice": ["best", ""]}), BadRatings, "Give a column trial"),
        (
            pd.DataFrame({"system_a": ["a"], "system_b": ["b"], "rater": ["r"]}),
            BadRatings,
            "Give a column winner, preferred, preference, choice, vote or rating",
        ),
    ],
)
def test_bad_tables_say_what_to_do(frame: pd.DataFrame, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        trials_of(frame)


def test_rows_without_a_system_are_counted() -> None:
    frame = make_sets(STRENGTHS, 2, raters=2, items=3, kind="pairs")
    frame.loc[len(frame)] = ["r0", "i0", "check", None, "", 1]
    assert "1 row without a system is left out." in read_trials(read_ratings(frame), "c").notes
