"""One model of the pairs of two studies: the same differences, others, and what cannot be joined."""

import numpy as np
import pandas as pd
import pytest

from panelist.reproduction.reproduce import reproduce

STRENGTHS = np.array([0.0, 0.9, 1.8])


def draw_study(
    seed: int, strengths: "np.ndarray[tuple[int], np.dtype[np.float64]]", n: int = 400
) -> pd.DataFrame:
    """Return pairs by ten raters on twenty items."""
    rng = np.random.default_rng(seed)
    a = rng.integers(3, size=n)
    b = (a + rng.integers(1, 3, size=n)) % 3
    rater, item = rng.integers(10, size=n), rng.integers(20, size=n)
    taste = rng.normal(0, 0.4, (10, 3))
    latent = strengths[a] - strengths[b] + taste[rater, a] - taste[rater, b] + rng.logistic(size=n)
    names = np.array(["low", "mid", "top"])
    return pd.DataFrame(
        {
            "rater": [f"r{one}" for one in rater],
            "item": [f"i{one}" for one in item],
            "criterion": "clarity",
            "system_a": names[a],
            "system_b": names[b],
            "winner": np.where(latent > 0, "A", "B"),
        }
    )


def test_a_repeat_with_the_same_strengths_does_not_differ() -> None:
    found = reproduce(draw_study(1, STRENGTHS), draw_study(2, STRENGTHS)).criteria[0]
    joint = found.joint
    assert joint is not None
    assert (joint.model, joint.n, joint.df) == ("mixed", 800, 2)
    assert joint.p > 0.05
    assert joint.formula.startswith("preference ~ system * study")
    assert [(one.a, one.b) for one in joint.changes] == [("low", "mid"), ("low", "top"), ("mid", "top")]
    for one in joint.changes:
        assert one.original < 0
        assert one.low < one.change < one.high
        assert one.change == pytest.approx(one.again - one.original)
    text = joint.sentence()
    assert "one mixed model of all 800 choices" in text
    assert "20 items of the same name" in " ".join(joint.notes)


def test_a_repeat_that_turns_the_order_differs() -> None:
    joint = reproduce(draw_study(1, STRENGTHS), draw_study(2, STRENGTHS[::-1])).criteria[0].joint
    assert joint is not None
    assert joint.p < 1e-6
    change = next(one for one in joint.changes if (one.a, one.b) == ("low", "top"))
    assert change.change == pytest.approx(3.6, abs=1.2)
    assert not change.equivalent
    assert joint.units == "log-strengths"


def test_ties_in_one_study_alone_are_said() -> None:
    other = draw_study(2, STRENGTHS)
    other.loc[::7, "winner"] = "tie"
    found = reproduce(draw_study(1, STRENGTHS), other).criteria[0]
    assert found.joint is None
    assert any("Ties were allowed in one study and not in the other" in note for note in found.notes)


def draw_sets(
    seed: int, strengths: "np.ndarray[tuple[int], np.dtype[np.float64]]", ranked: bool = False
) -> pd.DataFrame:
    """Return best-worst sets of three, or rankings, of four systems by twelve raters on fifteen items."""
    rng = np.random.default_rng(seed)
    names = np.array(["deer", "hare", "lynx", "wolf"])
    taste, fit = rng.normal(0, 0.4, (12, 4)), rng.normal(0, 0.4, (15, 4))
    rows = []
    for rater in range(12):
        for trial in range(15):
            shown = rng.choice(4, 3, replace=False)
            utility = strengths[shown] + taste[rater, shown] + fit[trial, shown] + rng.gumbel(size=3)
            place = np.argsort(np.argsort(-utility))
            for system, at in zip(shown, place, strict=True):
                said = str(at + 1) if ranked else ["best", "", "worst"][at]
                rows.append((f"r{rater}", f"i{trial}", f"{rater}-{trial}", names[system], said))
    table = pd.DataFrame(rows, columns=["rater", "item", "trial", "system", "choice"])
    return table.assign(criterion="clarity")


FOUR = np.array([0.0, 0.5, 1.0, 1.5])


@pytest.mark.parametrize("ranked", [False, True])
def test_sets_and_rankings_have_a_joint_model(ranked: bool) -> None:
    same = reproduce(draw_sets(1, FOUR, ranked), draw_sets(2, FOUR, ranked)).criteria[0].joint
    turned = reproduce(draw_sets(1, FOUR, ranked), draw_sets(2, FOUR[::-1], ranked)).criteria[0].joint
    assert same is not None
    assert turned is not None
    assert (same.n, same.df) == (360, 3)
    assert same.p > 0.05 > 1e-6 > turned.p
    assert same.formula == "choice ~ system * study + (1 | rater:system) + (1 | item:system)"
    change = next(one for one in turned.changes if (one.a, one.b) == ("deer", "wolf"))
    assert change.original == pytest.approx(-1.5, abs=0.6)
    assert change.again == pytest.approx(1.5, abs=0.6)


def test_order_of_studies_and_names_of_raters_change_no_difference() -> None:
    first, second = draw_sets(1, FOUR), draw_sets(2, FOUR)
    there = reproduce(first, second).criteria[0].joint
    back = reproduce(second, first.assign(rater="x" + first["rater"])).criteria[0].joint
    assert there is not None
    assert back is not None
    assert back.statistic == pytest.approx(there.statistic, rel=1e-4)
    for one, other in zip(there.changes, back.changes, strict=True):
        assert other.change == pytest.approx(-one.change, abs=1e-4)


def test_systems_that_one_study_lacks_are_left_out_with_their_sets() -> None:
    first, second = draw_sets(1, FOUR), draw_sets(2, FOUR)
    second.loc[second["system"] == "wolf", "system"] = "bear"
    joint = reproduce(first, second).criteria[0].joint
    assert joint is not None
    assert {name for one in joint.changes for name in (one.a, one.b)} == {"deer", "hare", "lynx"}
    assert any("sets with systems that only some studies have: left out" in note for note in joint.notes)


def test_a_set_beside_a_ranking_has_no_joint_model() -> None:
    found = reproduce(draw_sets(1, FOUR), draw_sets(2, FOUR, ranked=True)).criteria[0]
    assert found.joint is None
    assert any("The studies ask in different ways: best-worst and ranking" in note for note in found.notes)
