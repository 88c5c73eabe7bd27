"""Which analysis leads, and that a sentence says first what contradicts it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.compare import compare_systems
from panelist.analysis.fitting.stepping import fit_largest
from panelist.analysis.sensitivity import lead
from panelist.analysis.sensitivity.lead import Contradiction, find_contradictions
from panelist.analysis.systems.across import adjust_across
from panelist.models.fit import fit
from panelist.models.random_part import RandomPart, choose_random

POINTS = np.array([-1.2, -0.4, 0.4, 1.2])


def study(
    raters: int = 8,
    items: int = 14,
    effects: tuple[float, ...] = (0.0, 0.0, 0.0),
    spread: float = 0.3,
    seed: int = 1,
    last: float | None = None,
) -> pd.DataFrame:
    """Everybody rates everything; ``last`` is the SD over raters of the last system alone."""
    rng = np.random.default_rng(seed)
    k = len(effects)
    r, i, s = (one.ravel() for one in np.meshgrid(range(raters), range(items), range(k), indexing="ij"))
    by_rater = spread * rng.normal(size=(raters, k))
    if last is not None:
        by_rater[:, -1] = last * rng.normal(size=raters)
    latent = np.array(effects)[s] + rng.normal(size=len(r)) + by_rater[r, s]
    latent += 0.5 * rng.normal(size=raters)[r] + 0.5 * rng.normal(size=items)[i]
    latent += spread * rng.normal(size=(items, k))[i, s]
    return pd.DataFrame(
        {
            "rater": [f"r{one}" for one in r],
            "item": [f"i{one}" for one in i],
            "system": [f"s{one}" for one in s],
            "rating": np.searchsorted(POINTS, latent) + 1.0,
        }
    )


def test_analyses_that_agree_leave_the_sentence_alone() -> None:
    found = compare_systems(study(effects=(0.0, 1.5, 3.0))).criteria[0]
    assert found.contradictions == ()
    assert found.sentence().startswith("On rating, s2 is rated above s1 and s0")


def test_systems_whose_ratings_hardly_overlap_are_told_apart_by_the_linear_model() -> None:
    """No rating of one is above the lowest of the other, and neither is at an end of the scale."""
    ratings = study(effects=(0.0, 0.0))
    ratings["rating"] = np.where(
        ratings["system"] == "s0", ratings["rating"].clip(upper=3), 3 + ratings["rating"] % 3
    )
    found = compare_systems(ratings).criteria[0]
    assert found.model == "lmm"
    assert found.sentence().startswith("On rating, s1 is rated above s0 (linear mixed model")
    assert found.why.endswith(
        "no finite estimate of the difference of s0 and s1: their ratings hardly overlap."
    )
    assert found.beside is not None
    assert np.isnan(found.beside.pairs[0].p)
    asked = compare_systems(ratings, model="clmm").criteria[0]
    assert asked.model == "clmm"
    assert asked.why.startswith("The ordinal model has no finite estimate")


def test_a_pair_on_which_two_analyses_disagree_is_named_first() -> None:
    found = compare_systems(study(effects=(0.0, 1.5, 3.0))).criteria[0]
    even = tuple(replace(pair, p_adjusted=0.6) for pair in found.pairs)
    used = study(effects=(0.0, 1.5, 3.0))
    against = find_contradictions(found, replace(found, model="lmm", pairs=even), used, {})
    assert [one.code for one in against] == ["analyses"]
    said = replace(found, contradictions=against).sentence()
    assert said.startswith(
        "On rating, two analyses of the same ratings disagree: the ordinal mixed model says"
    )
    assert "the linear mixed model s0 and s1 cannot be told apart (p = 0.600)" in said
    assert "By the ordinal mixed model alone, s2 is rated above" in said


def test_p_values_of_one_criterion_are_not_quoted_as_those_of_several() -> None:
    frame = study(effects=(0.0, 1.5, 3.0))
    found = compare_systems(frame).criteria[0]
    even = tuple(replace(pair, p_adjusted=0.6) for pair in found.pairs)
    against = find_contradictions(found, replace(found, model="lmm", pairs=even), frame, {})
    two = [replace(found, criterion=name, contradictions=against) for name in ("fluency", "style")]
    (alone, _), _ = adjust_across(two, "none")
    (together, _), _ = adjust_across(two, "bonferroni")
    assert alone.sentence().startswith("On fluency, two analyses of the same ratings disagree")
    assert together.sentence().startswith(
        "On fluency, before the adjustment for several criteria, two analyses"
    )


def test_means_that_point_the_other_way_are_said() -> None:
    frame = study(effects=(0.0, 1.5))
    found = compare_systems(frame).criteria[0]
    turned = frame.assign(system=frame["system"].map({"s0": "s1", "s1": "s0"}))
    against = find_contradictions(found, None, turned, {})
    assert [one.code for one in against] == ["means"]
    assert "s1 comes out above s0, and yet its mean rating is the lower one" in against[0].sentence


def test_a_model_that_does_not_reproduce_the_ratings_is_said() -> None:
    frame = study()
    found = compare_systems(frame).criteria[0]
    means = {str(name): float(mean) for name, mean in frame.groupby("system")["rating"].mean().items()}
    assert find_contradictions(found, None, frame, means) == ()
    against = find_contradictions(found, None, frame, means | {"s1": means["s1"] + 1.0})
    assert [one.code for one in against] == ["fit"]
    assert f"whose mean is {means['s1']:.2f}" in against[0].sentence


def test_where_the_ordinal_model_is_not_to_be_trusted_the_linear_one_leads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lead, "find_faults", lambda *_: ["a difference by 2 standard errors"])
    found = compare_systems(study()).criteria[0]
    assert found.model == "lmm"
    assert found.beside is not None
    assert found.beside.model == "clmm"
    assert found.sentence().endswith(
        "The linear model leads, because the ordinal one cannot be trusted: its approximation is off here, a "
        "difference by 2 standard errors."
    )
    asked = compare_systems(study(), model="clmm").criteria[0]
    assert asked.model == "clmm"  # what was asked for stays, with the reason
    assert "The ordinal model cannot be trusted" in asked.sentence()


def unanimous(shares: tuple[float, ...] = (0.06, 0.15), items: int = 300, seed: int = 3) -> pd.DataFrame:
    """Three raters who nearly always agree whether an output is good; ``shares`` of the outputs are."""
    rng = np.random.default_rng(seed)
    rows = []
    for s, share in enumerate(shares):
        for i, good in enumerate(rng.random(items) < share):
            slips = rng.random(3) < 0.02
            rows += [(f"r{r}", f"i{i}", f"s{s}", float(good != slips[r])) for r in range(3)]
    return pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])


def test_nearly_unanimous_ratings_are_told_apart_where_their_shares_are() -> None:
    frame = unanimous()
    found = compare_systems(frame).criteria[0]
    assert found.model == "lmm"
    assert found.sentence().startswith("On rating, s1 is rated above s0 (linear mixed model")
    (pair,) = found.pairs
    means = frame.groupby("system")["rating"].mean()
    assert pair.difference == pytest.approx(means["s0"] - means["s1"], abs=1e-3)
    by_output = frame.pivot_table(index="item", columns="system", values="rating")
    gap = by_output["s0"] - by_output["s1"]
    assert pair.statistic == pytest.approx(gap.mean() / (gap.std() / np.sqrt(len(gap))), rel=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_no_ranking_of_nearly_unanimous_points_contradicts_the_means(seed: int) -> None:
    """Experts who give the same of five points to most outputs: the best mean has the best estimate."""
    rng = np.random.default_rng(seed)
    shares = {"s0": [0.0, 0.02, 0.05, 0.1, 0.83], "s1": [0.02, 0.05, 0.1, 0.2, 0.63]}
    rows = []
    for system, p in shares.items():
        for i, point in enumerate(rng.choice(5, size=120, p=p)):
            own = np.clip(point + rng.choice([-1, 0, 0, 0, 0, 0, 0, 0, 0, 0], size=3), 0, 4)
            rows += [(f"r{r}", f"i{i}", system, own[r] + 1.0) for r in range(3)]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])
    found = compare_systems(frame).criteria[0]
    means = frame.groupby("system")["rating"].mean()
    assert found.contradictions or found.systems[0].system == means.idxmax()


def test_the_factuality_of_summaries_is_told_apart() -> None:
    path = Path(__file__).parents[4] / "shared" / "data" / "xsum_factuality.csv"
    if not path.exists():
        pytest.skip("the factuality ratings are not beside the repository")
    found = compare_systems(path).criteria[0]
    pair = pair_of(found, "BERTS2S", "PtGen")
    assert found.model == "lmm"
    assert pair.difference == pytest.approx(0.151 - 0.064, abs=0.005)
    assert pair.p_adjusted < 0.001
    assert found.beside is not None
    assert pair_of(found.beside, "BERTS2S", "PtGen").p_adjusted > 0.9  # what would have been the headline


# ---- the random part -----------------------------------------------------------------------------


def test_the_share_of_ratings_decides_whether_items_get_an_interaction() -> None:
    rows = [
        (f"r{r}", f"i{i}", f"s{s}") for i in range(20) for s in range(2) for r in range(9 if i < 4 else 1)
    ]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system"])
    cells = frame.groupby(["item", "system"]).size()
    assert (cells >= 2).mean() == 0.2  # of the cells, but these hold most of the ratings
    assert choose_random(frame).shapes["item"] == "slopes"
    single = frame.drop_duplicates(["item", "system"])
    assert choose_random(single.assign(rater=[f"r{k % 4}" for k in range(len(single))])).shapes["item"] == (
        "intercept"
    )


def test_a_polarising_system_keeps_its_slopes_over_raters() -> None:
    """Raters agree about two systems and not at all about the third: one spread for all would be wrong."""
    part = RandomPart({"rater": "slopes", "item": "slopes"})
    for seed in range(6):
        frame = study(raters=24, items=20, spread=0.05, last=0.9, seed=seed)
        stepped = fit_largest(part, lambda text, rows=frame: fit(text, rows, model="clmm"))  # type: ignore[misc]
        assert stepped.part.shapes["rater"] == "slopes"
        smaller = fit(RandomPart({"rater": "cells", "item": "cells"}).formula(), frame, model="clmm")
        assert stepped.fit.loglik > smaller.loglik


# ---- separated systems ---------------------------------------------------------------------------


def perfect(seed: int = 1) -> pd.DataFrame:
    frame = study(effects=(0.0, 0.9, 0.0), seed=seed)
    frame.loc[frame["system"] == "s2", "rating"] = 5.0
    return frame


def pair_of(found: Any, a: str, b: str) -> Any:
    return next(pair for pair in found.pairs if (pair.a, pair.b) == (a, b))


def test_a_separated_system_leaves_the_tests_of_the_others() -> None:
    found = compare_systems(perfect()).criteria[0]
    other = pair_of(found, "s0", "s1")
    alone = compare_systems(perfect().query("system != 's2'"), adjust="none").criteria[0].pairs[0]
    assert other.difference == pytest.approx(alone.difference, rel=0.2)
    assert 0 < other.p_adjusted < 0.05


def test_a_separated_system_has_a_test_and_a_bound() -> None:
    found = compare_systems(perfect()).criteria[0]
    top = pair_of(found, "s0", "s2")
    assert top.difference == -np.inf
    assert top.low == -np.inf
    assert -np.inf < top.high < 0
    assert top.p_adjusted < 0.001
    assert "s2 is rated above s1 and s0" in found.sentence()
    assert {one.system: (one.rank_low, one.rank_high) for one in found.systems}["s2"] == (1, 1)


def test_two_systems_at_the_same_end_cannot_be_told_apart() -> None:
    frame = perfect()
    frame.loc[frame["system"] == "s1", "rating"] = 5.0
    found = compare_systems(frame).criteria[0]
    assert pair_of(found, "s1", "s2").p_adjusted == pytest.approx(1.0)
    assert pair_of(found, "s0", "s1").p_adjusted < 0.001


def test_the_pairs_that_are_not_named_are_counted_in_words() -> None:
    used = study(effects=(0.0, 1.5, 3.0, 4.5))
    compared = compare_systems(used).criteria[0]
    found = replace(compared, pairs=tuple(replace(pair, p_adjusted=0.001) for pair in compared.pairs))
    told: list[Contradiction] = []
    for n in (4, 5):  # three are named
        even = tuple(replace(pair, p_adjusted=0.6 if k < n else 0.001) for k, pair in enumerate(found.pairs))
        told += find_contradictions(found, replace(found, model="lmm", pairs=even), used, {})
    assert told[0].sentence.endswith("; the same holds for 1 other pair")
    assert told[1].sentence.endswith("; the same holds for 2 other pairs")
