"""The original recomputed from its raw data: the tables of Li et al., and the scores of the slides."""

import pandas as pd
import pytest

from panelist.core.errors import BadReproduction
from panelist.reproduction.aggregate import find_aggregation, find_named
from panelist.reproduction.recompute import recompute
from panelist.reproduction.reproduce import reproduce
from panelist.reproduction.sources import read_source
from tests.reproduction.published import LI
from tests.reproduction.small_studies import make_ratings, needs_shared, scores_table
from tests.shared_cases import SHARED

SYSTEMS = ("gpt2xl", "context", "literal", "human")
# van Miltenburg et al. (2023), their repository: gold, template, ed_cc, hier, macro
SLIDES = {
    "grammaticality": (9.17, 17.08, -19.58, -9.58, 2.92),
    "coherence": (-0.42, 25.42, -15.00, -10.42, 0.42),
    "repetition": (-1.67, 43.75, -25.83, -14.58, -1.67),
}


@needs_shared
@pytest.mark.parametrize(("task", "unlike"), [("idiom", []), ("simile", ["literal"])])
def test_tables_4_and_5_give_table_3(task: str, unlike: list[str]) -> None:
    printed = dict(zip(SYSTEMS, LI[task][0], strict=True))
    votes = read_source(SHARED / f"fig_narrative_{task}_original_votes.csv", "original").given[0]
    found = recompute(votes, printed)
    assert (found.best, [row.system for row in found.unlike]) == ("five-step", unlike)
    if unlike:
        assert "literal: 76 printed, 60 from the data" in found.sentence()


@needs_shared
def test_the_human_share_is_rounded_up_and_exactly_it_is_less() -> None:
    for task, exact, up in (("idiom", 78.67, 80), ("simile", 86.4, 88)):
        votes = read_source(SHARED / f"fig_narrative_{task}_original_votes.csv", "original").given[0]
        found = recompute(votes, {"human": up})
        row = next(row for row in found.systems if row.system == "human")
        scores = dict(zip(found.rules, row.scores, strict=True))
        assert scores["majority"] == pytest.approx(exact, abs=5e-3)
        assert scores["five-step"] == up


@needs_shared
def test_the_invalid_answer_counts_as_yes_in_the_paper() -> None:
    raw = read_source(SHARED / "fig_narrative_simile_individual.csv", "original").given[0]
    printed = dict(zip(SYSTEMS, LI["simile"][0], strict=True))
    strict, lenient = recompute(raw, printed), recompute(raw, printed, yes=(1, 2))
    assert {row.system for row in strict.unlike} == {"gpt2xl", "literal"}
    assert {row.system for row in lenient.unlike} == {"literal"}
    assert any("With the answer 2 counted as yes, 3 printed scores" in note for note in strict.notes)


@needs_shared
@pytest.mark.parametrize("criterion", SLIDES)
def test_best_worst_scores_of_the_slides(criterion: str) -> None:
    printed = dict(zip(("gold", "template", "ed_cc", "hier", "macro"), SLIDES[criterion], strict=True))
    choices = read_source(SHARED / f"reprohum_d2t_{criterion}.csv", "original").given[0]
    found = recompute(choices, printed)
    assert (found.best, found.unlike, found.decimals) == ("best-worst", (), 2)


@needs_shared
def test_the_whole_reproduction_of_the_slides() -> None:
    ranks = {
        "gold": 1,
        "template": 5,
        "ed_cc": 4,
        "hier": 3,
        "macro": 2,
    }  # rank 1 is the best: turned into scores
    original = {"coherence": {name: -20 * rank for name, rank in ranks.items()}}
    found = reproduce(original, SHARED / "reprohum_d2t_coherence.csv", fit_models=False)["coherence"]
    assert found.scale.low == -100
    assert found.correlations.spearman == pytest.approx(-0.1)


def test_ratings_are_recomputed_as_mean_and_median() -> None:
    ratings = make_ratings(1)
    printed = ratings.groupby("system")["rating"].mean().round(2)
    means = {str(name): float(mean) for name, mean in printed.items()}
    found = reproduce(
        ratings, make_ratings(2), printed=scores_table("fluency", means), fit_models=False
    ).recomputed[0]
    assert (found.best, found.unlike, found.rules) == ("mean", (), ("mean", "median"))
    wrong = reproduce(
        ratings, make_ratings(2), printed={"fluency": means | {"human": 4.99}}, fit_models=False
    )
    assert "human: 4.99 printed" in wrong.recomputed[0].sentence()


def test_rules_are_found_in_words_and_by_name() -> None:
    assert find_named("The median of items") == ["median"]
    assert find_named("meaning") == []
    assert find_aggregation("majority").suits == "binary"


def test_what_cannot_be_recomputed_is_refused() -> None:
    ratings = make_ratings(1)
    with pytest.raises(BadReproduction, match="only scores"):
        reproduce({"a": 1, "b": 2}, {"a": 1, "b": 2}, printed={"a": 1})
    with pytest.raises(BadReproduction, match="no system of the original"):
        reproduce(ratings, ratings, printed={"fluency": {"tunet": 4}}, fit_models=False)
    with pytest.raises(BadReproduction, match="no criterion of the original"):
        reproduce(ratings, ratings, printed={"x": {"tuned": 4}, "y": {"tuned": 4}}, fit_models=False)
    with pytest.raises(BadReproduction, match="holds raw answers"):
        reproduce(ratings, ratings, printed=ratings, fit_models=False)
    with pytest.raises(BadReproduction, match="yes and no"):
        reproduce(ratings, ratings, aggregation="majority", fit_models=False)


def test_a_stray_answer_does_not_make_yes_and_no_a_scale() -> None:
    rows = [
        (f"r{r}", f"i{i}", s, int((i + r + len(s)) % 3 > 0))
        for r in range(3)
        for i in range(20)
        for s in ("a", "bb")
    ]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])
    frame.loc[0, "rating"] = 2
    found = reproduce(frame, frame, fit_models=False)["rating"]
    assert found.aggregation == "votes (by default)"
    assert found.scale.low == 0
    assert any("neither yes nor no (2)" in note for note in found.notes)
