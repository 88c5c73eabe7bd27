"""Votes: majorities, ties that nobody breaks, entropy; and the votes of Li et al. (2023)."""

import json

import numpy as np
import pandas as pd
import pytest

from panelist.agreement.criterion_table import make_table
from panelist.agreement.studies.votes import vote
from tests.shared_cases import MISSING, SHARED

needs_shared = pytest.mark.skipif(not SHARED.exists(), reason=MISSING)


def test_the_most_frequent_label_wins() -> None:
    votes = vote(make_table(["a"] * 3 + ["b"] * 3, list("xyz") * 2, ["yes", "yes", "no", "no", "no", "no"]))
    assert votes.table["winner"].tolist() == ["yes", "no"]
    assert votes.table["share"].tolist() == pytest.approx([2 / 3, 1])
    assert (votes.n_ties, votes.n_unanimous) == (0, 1)


def test_a_tie_has_no_winner_and_names_who_tied() -> None:
    votes = vote(make_table(["a"] * 4, list("wxyz"), [1, 1, 2, 2]))
    assert votes.table["winner"].isna().tolist() == [True]
    assert votes.table["tied"].tolist() == ["1, 2"]
    assert votes.n_ties == 1


@pytest.mark.parametrize(
    ("labels", "bits"),
    [([1, 1, 1, 1], 0.0), ([1, 1, 2, 2], 1.0), ([1, 2, 3, 4], 2.0), ([1, 2, 2, 2], 0.8112781)],
)
def test_entropy_is_in_bits(labels: list[int], bits: float) -> None:
    votes = vote(make_table(["a"] * 4, list("wxyz"), labels))
    assert votes.table["entropy"][0] == pytest.approx(bits, abs=1e-7)


def test_a_single_rating_is_a_majority_but_not_unanimity() -> None:
    votes = vote(make_table(["a", "b", "b"], ["x", "x", "y"], [1, 1, 1]))
    assert votes.table["winner"].tolist() == ["1", "1"]
    assert votes.n_unanimous == 1


def test_the_result_shows_itself_and_counts_ties() -> None:
    votes = vote(make_table(["a"] * 2 + ["b"] * 2, ["x", "y"] * 2, ["no", "yes", "yes", "yes"]), "plausible")
    assert "1 are unanimous and 1 tied" in str(votes)
    assert json.loads(votes.to_json())["units"][0]["winner"] is None


@needs_shared
@pytest.mark.parametrize(
    ("name", "plausible", "humans"), [("idiom", [17, 14, 12], 59), ("simile", [17, 14, 15], 108)]
)
def test_majorities_of_li_et_al_come_out(name: str, plausible: list[int], humans: int) -> None:
    """Tables 4 and 5; the one invalid code 2 leaves a three-way tie, which the paper counted as plausible."""
    frame = pd.read_csv(SHARED / f"fig_narrative_{name}_individual.csv")
    votes = vote(
        make_table(frame["text"].to_numpy(), frame["participant"].to_numpy(), frame["rating"].to_numpy())
    )
    system = votes.table["unit"].str.split("_").str[1]
    won = votes.table["winner"].eq("1").groupby(system).sum()
    assert [won["context"], won["gpt2xl"], won["literal"]] == plausible
    assert won[won.index.str.startswith("human")].sum() == humans
    tied = votes.table[votes.table["winner"].isna()]
    assert tied["unit"].tolist() == ([] if name == "idiom" else ["N07_gpt2xl"])
    assert np.allclose(tied["entropy"], np.log2(3))
