"""Pairs as an ordinal model of differences: the reference numbers, symmetry, and what is refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from panelist.core.errors import BadModel
from panelist.models.choices.free_pairs import find_cycles, free_pairs
from panelist.models.choices.pairs import (
    GradedPairs,
    PairGroup,
    build_pairs,
    check_spreads,
    find_pair_analogue,
    solve_pairs,
)
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.thresholds import make_thresholds
from panelist.models.solvers.solution import Solution
from tests.analysis.choices.choices import needs_shared
from tests.models.choices.stage_models import read_pairs, read_reference

EXCHANGEABLE = [
    ("pairs_graded_exchangeable_logit", "pairs_graded", "logit", True),
    ("pairs_graded_exchangeable_probit", "pairs_graded", "probit", True),
    ("pairs_ties_exchangeable_cumulative", "pairs_ties", "logit", False),
    ("pairs_binary_exchangeable_logit", "pairs_binary", "logit", True),
    ("pairs_binary_exchangeable_probit", "pairs_binary", "probit", True),
]


def draw_pairs(points: int, n: int = 150, systems: int = 3, seed: int = 1) -> GradedPairs:
    """Return pairs by 5 raters of 6 items with answers on a scale of ``points``."""
    rng = np.random.default_rng(seed)
    first = rng.integers(systems, size=n)
    second = (first + rng.integers(1, systems, size=n)) % systems
    place = rng.choice([-1.0, 1.0], size=n)
    rater, item = rng.integers(5, size=n), rng.integers(6, size=n)
    taste = rng.normal(0, 0.7, (5, systems))
    latent = 0.5 * (first - second) + 0.3 * place + rng.logistic(size=n)
    latent += taste[rater, first] - taste[rater, second]
    cuts = np.linspace(-1.5, 1.5, points - 1) if points > 2 else np.zeros(1)
    groups = (PairGroup("rater", tuple("abcde"), rater), PairGroup("item", tuple("uvwxyz"), item))
    names = tuple("abcdefg"[:systems])
    return GradedPairs(names, first, second, np.searchsorted(cuts, latent), points, groups, place)


def check_beta(design: ModelMatrices, solution: Solution, wanted: dict[str, Any]) -> None:
    """Compare fixed effects and their standard errors with the reference, by name."""
    order = [wanted["beta"]["names"].index(name) for name in design.names]
    assert solution.beta == pytest.approx(np.array(wanted["beta"]["estimate"])[order], abs=1e-4)
    se = np.sqrt(np.diag(solution.vcov))
    assert se == pytest.approx(np.array(wanted["beta"]["se"])[order], rel=1e-3)
    assert solution.loglik == pytest.approx(wanted["logLik"], abs=1e-6)


@needs_shared
@pytest.mark.parametrize(("case", "name", "link", "style"), EXCHANGEABLE)
def test_exchangeable_preferences_are_those_of_the_reference(
    case: str, name: str, link: str, style: bool
) -> None:
    wanted = read_reference(case)["laplace"]
    pairs = read_pairs(name, style)
    design = build_pairs(pairs)
    solution, _ = solve_pairs(design, link)
    check_beta(design, solution, wanted)
    if "alpha" in wanted:
        assert solution.alpha == pytest.approx(wanted["alpha"]["estimate"], abs=1e-4)
    for factor, block in zip(design.factors, solution.lambdas, strict=True):
        assert block == pytest.approx(np.eye(4) * block[0, 0])
        assert block[0, 0] == pytest.approx(wanted["random"][factor.name]["sd"][0], abs=1e-4)


@needs_shared
def test_davidsons_ties_are_the_adjacent_family() -> None:
    wanted = read_reference("pairs_ties_exchangeable_adjacent")["laplace"]
    design = build_pairs(read_pairs("pairs_ties", style=False))
    solution, _ = solve_pairs(design, family="adjacent")
    check_beta(design, solution, wanted)
    assert solution.alpha == pytest.approx(wanted["alpha"]["estimate"], abs=1e-4)
    sds = {factor.name: block[0, 0] for factor, block in zip(design.factors, solution.lambdas, strict=True)}
    for name, sd in sds.items():
        assert sd == pytest.approx(wanted["random"][name]["sd"][0], abs=1e-4)


@needs_shared
@pytest.mark.parametrize("name", ["pairs_binary", "pairs_graded"])
def test_a_full_covariance_of_raters_is_that_of_the_reference(name: str) -> None:
    wanted = read_reference(f"{name}_rater_full")["laplace"]
    pairs = read_pairs(name)
    pairs = replace(pairs, groups=(replace(pairs.groups[0], what="contrasts"),))
    design = build_pairs(pairs)
    solution, _ = solve_pairs(design)
    check_beta(design, solution, wanted)
    block = solution.lambdas[0]
    assert np.sqrt(np.diag(block @ block.T)) == pytest.approx(wanted["random"]["rater"]["sd"], abs=1e-4)


@needs_shared
def test_raters_may_differ_in_how_they_favour_what_stands_first() -> None:
    wanted = read_reference("pairs_binary_position_by_rater")["laplace"]
    pairs = read_pairs("pairs_binary", style=False)
    rater = pairs.groups[0]
    design = build_pairs(replace(pairs, groups=(rater, replace(rater, what="position"))))
    solution, _ = solve_pairs(design)
    check_beta(design, solution, wanted)
    assert [float(block[0, 0]) for block in solution.lambdas] == pytest.approx(
        [wanted["random"]["rater"]["sd"][0], 0.0], abs=1e-4
    )


@needs_shared
def test_without_random_terms_it_is_the_model_of_the_reference() -> None:
    for name, case, style in (
        ("pairs_binary", "pairs_binary_fixed", False),
        ("pairs_graded", "pairs_graded_fixed", True),
        ("pairs_ties", "pairs_ties_cumulative", False),
    ):
        wanted = read_reference(case)["fit"]
        design = build_pairs(replace(read_pairs(name, style), groups=()))
        solution, _ = solve_pairs(design)
        assert solution.loglik == pytest.approx(wanted["logLik"], abs=1e-6)
        if "beta" in wanted:
            check_beta(design, solution, wanted)
        else:  # R's glm: the intercept is the effect of position
            estimates = [one["estimate"] for one in wanted["coefficients"]]
            assert solution.beta == pytest.approx([*estimates[1:], estimates[0]], abs=1e-5)


@needs_shared
def test_it_is_the_model_of_bradleyterry2_and_of_davidson() -> None:
    wanted = read_reference("pairs_binary_fixed")["BTm"]
    solution, _ = solve_pairs(build_pairs(replace(read_pairs("pairs_binary", style=False), groups=())))
    assert solution.loglik == pytest.approx(wanted["logLik"], abs=1e-7)
    estimates, errors = ([one[part] for one in wanted["coefficients"]] for part in ("estimate", "se"))
    assert solution.beta == pytest.approx(estimates, abs=1e-5)  # the last is at.home, the effect of position
    assert np.sqrt(np.diag(solution.vcov)) == pytest.approx(errors, rel=1e-4)
    wanted = read_reference("pairs_ties_adjacent")["davidson"]
    design = build_pairs(replace(read_pairs("pairs_ties", style=False), groups=()))
    solution, _ = solve_pairs(design, family="adjacent")
    found = dict(zip(design.names, 2 * solution.beta, strict=True)) | {"tie": solution.alpha[0]}
    for one in wanted["coefficients"]:
        assert found[one["name"]] == pytest.approx(one["estimate"], abs=1e-5)


@pytest.mark.parametrize("points", [2, 3, 5, 7])
def test_turning_pairs_round_changes_nothing(points: int) -> None:
    pairs = draw_pairs(points)
    rng = np.random.default_rng(2)
    some = rng.random(len(pairs.first)) < 0.5
    turned = pairs.turn()
    mixed = replace(
        pairs,
        first=np.where(some, turned.first, pairs.first),
        second=np.where(some, turned.second, pairs.second),
        answer=np.where(some, turned.answer, pairs.answer),
        position=np.where(some, turned.position, pairs.position),  # type: ignore[arg-type]
    )
    (one, structure), (two, _), (three, _) = (solve_pairs(build_pairs(p)) for p in (pairs, turned, mixed))
    for other in (two, three):
        assert other.loglik == pytest.approx(one.loglik, abs=1e-9)
        assert other.beta == pytest.approx(one.beta, abs=1e-7)
    thresholds = structure.J @ one.alpha
    assert thresholds == pytest.approx(-thresholds[::-1])


def test_the_system_called_the_reference_does_not_matter() -> None:
    pairs = draw_pairs(3)
    order = np.array([2, 0, 1])
    other = replace(pairs, first=order[pairs.first], second=order[pairs.second])
    (one, _), (two, _) = (solve_pairs(build_pairs(p)) for p in (pairs, other))
    assert two.loglik == pytest.approx(one.loglik, abs=1e-8)
    a, b = (np.concatenate([[0.0], s.beta[:2]]) for s in (one, two))
    assert b[order] - b[order].mean() == pytest.approx(a - a.mean(), abs=1e-6)


def test_two_systems_are_one_dimension() -> None:
    design = build_pairs(draw_pairs(2, systems=2))
    solution, _ = solve_pairs(design)
    assert solution.optimum.converged
    assert design.names == ("b", "position")
    analogue = find_pair_analogue(design)
    assert analogue is not None
    degrees = analogue.degrees(np.eye(2))
    assert ((degrees >= 1) & (degrees <= len(design.y))).all()
    assert (analogue.ratios(np.eye(2)) >= 1).all()


def test_what_is_the_same_on_both_sides_is_refused() -> None:
    pairs = draw_pairs(2)
    with pytest.raises(BadModel, match="words is the same on both sides"):
        build_pairs(replace(pairs, style={"words": np.zeros(len(pairs.first))}))
    with pytest.raises(BadModel, match="the table does not say it"):
        build_pairs(replace(pairs, position=None, groups=(replace(pairs.groups[0], what="position"),)))
    always = np.where(pairs.first == 0, 1.0, np.where(pairs.second == 0, -1.0, 0.0))
    with pytest.raises(BadModel, match="follow from each other"):
        build_pairs(replace(pairs, position=always))


def test_mirrored_thresholds_have_no_centre_of_their_own() -> None:
    assert make_thresholds("mirrored", tuple("12")).J.shape == (1, 0)
    assert make_thresholds("mirrored", tuple("12345")).J.tolist() == [[0, -1], [-1, 0], [1, 0], [0, 1]]
    assert make_thresholds("mirrored", tuple("1234")).J.tolist() == [[-1], [0], [1]]
    assert make_thresholds("mirrored", tuple("12345")).names == ("3|4", "4|5")


def test_a_cycle_is_found_and_named() -> None:
    rng = np.random.default_rng(3)
    first, second = (np.array(side) for side in zip(*([(0, 1), (1, 2), (2, 0)] * 80), strict=True))
    won = rng.random(240) < 0.75  # each is preferred to the next, and the last to the first
    groups = (PairGroup("rater", tuple(map(str, range(8))), rng.integers(8, size=240)),)
    pairs = GradedPairs(("a", "b", "c"), first, second, won.astype(np.int64), 2, groups)
    solution, _ = solve_pairs(build_pairs(pairs))
    found = free_pairs(pairs, solution)
    assert found is not None
    assert (found.df, len(found.cycles)) == (1, 1)
    assert found.p < 1e-6
    assert found.cycles[0].systems == ("a", "b", "c")
    assert "a over b, b over c, c over a" in found.sentence()
    in_line = replace(pairs, second=np.where(first == 2, 1, second), first=np.where(first == 2, 0, first))
    assert free_pairs(in_line, solve_pairs(build_pairs(in_line))[0]) is None  # two pairs, two differences


def draw_ring(names: str, chance: float, each: int) -> GradedPairs:
    """Return pairs of neighbours in a ring, of which the next loses to the one before with this chance."""
    rng = np.random.default_rng(3)
    k = len(names)
    first = np.tile(np.arange(k), each)
    won = rng.random(k * each) < chance
    groups = (PairGroup("rater", tuple(map(str, range(8))), rng.integers(8, size=len(first))),)
    return GradedPairs(tuple(names), first, (first + 1) % k, won.astype(np.int64), 2, groups)


def test_a_ring_in_which_nobody_ever_lost_to_the_next_is_a_cycle() -> None:
    pairs = draw_ring("abc", 1.0, 12)
    solution, _ = solve_pairs(build_pairs(pairs))
    found = free_pairs(pairs, solution)
    assert found is not None
    assert found.statistic == pytest.approx(-2 * solution.loglik)  # the free model explains every answer
    assert found.p < 1e-6
    assert (
        "a over b, b over c, c over a (odds ∞, ∞, ∞ to 1; the least sure has p < 0.001)" in found.sentence()
    )
    few = draw_ring("abc", 1.0, 5)
    assert free_pairs(few, solve_pairs(build_pairs(few))[0]) is None  # five answers to a pair prove nothing


def test_a_one_sided_pair_takes_no_other_pair_from_the_test() -> None:
    ring = draw_ring("abcd", 0.7, 30)
    won = np.where(ring.first == 0, 1, ring.answer)  # a won all of its comparisons with b
    pairs = replace(ring, answer=won)
    found = free_pairs(pairs, solve_pairs(build_pairs(pairs))[0])
    assert found is not None
    assert found.df == 1
    assert np.isposinf(found.estimate[found.pairs.index(("a", "b"))])
    assert found.cycles[0].systems == ("a", "b", "c", "d")  # no pair of a and c was shown: a ring of four
    assert np.isfinite(found.estimate).sum() == 3


def test_a_cycle_of_nearly_unanimous_answers_has_finite_odds() -> None:
    pairs = draw_ring("abc", 0.95, 20)
    solution, _ = solve_pairs(build_pairs(pairs))
    found = free_pairs(pairs, solution)
    assert found is not None
    share = np.bincount(pairs.first, pairs.answer) / 20
    assert found.estimate[0] == pytest.approx(np.log(share[0] / (1 - share[0])), rel=0.05)
    assert found.p < 1e-6


def test_spreads_that_run_away_are_no_estimates() -> None:
    pairs = draw_ring("abc", 0.9, 20)
    design = build_pairs(pairs)
    solution, _ = solve_pairs(design)
    check_spreads(design, solution)
    with pytest.raises(BadModel, match="log-strengths: nearly all answers"):
        check_spreads(design, replace(solution, lambdas=(3.5 * np.eye(3),)))


def test_an_order_has_no_cycle() -> None:
    pairs = (("a", "b"), ("a", "c"), ("b", "c"))
    assert find_cycles(("a", "b", "c"), pairs, np.array([1.0, 2.0, 1.0]), np.ones(3)) == ()
