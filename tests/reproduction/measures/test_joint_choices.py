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
