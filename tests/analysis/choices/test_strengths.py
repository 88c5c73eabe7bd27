"""Strengths: against brute force, other packages and the truth; and where there are none."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.optimize

from panelist.analysis.choices.models.bradley_terry import fit_bradley_terry
from panelist.analysis.choices.models.choice_model import Strengths
from panelist.analysis.choices.models.plackett_luce import fit_plackett_luce
from panelist.analysis.choices.trials import ChoiceTrials
from panelist.core.errors import BadModel, UnknownName
from tests.analysis.choices.choices import make_pairs, make_sets, trials_of

TRUTH = {"a": 0.8, "b": 0.3, "c": -0.2, "d": -0.9}


def options(trials: ChoiceTrials) -> list[tuple[list[int], list[float]]]:
    """Return the systems and places of every trial, one by one."""
    return [
        (trials.system[trials.of_trial == t].tolist(), trials.place[trials.of_trial == t].tolist())
        for t in range(len(trials))
    ]


def maximise_directly(loglik: Any, n: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return parameters (the first n − 1 systems free, sum 0), inverse Hessian by differences, maximum."""
    minimise: Any = scipy.optimize.minimize  # its types know no plain function
    found = minimise(lambda x: -loglik(x), np.zeros(n), method="BFGS", tol=1e-9)
    x, step = found.x, 1e-4
    H = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            e, f = np.eye(n)[i] * step, np.eye(n)[j] * step
            H[i, j] = -(loglik(x + e + f) - loglik(x + e - f) - loglik(x - e + f) + loglik(x - e - f)) / (
                4 * step**2
            )
    return x, np.linalg.inv(H), -float(found.fun)


def davidson(trials: ChoiceTrials, theta: np.ndarray, log_nu: float) -> float:
    total = 0.0
    for systems, places in options(trials):
        one, two = theta[systems]
        weights = np.exp([one, two, (one + two) / 2 + log_nu])
        which = 2 if np.isnan(places).any() else int(np.argmin(places))
        total += np.log(weights[which] / weights.sum())
    return total


def best_then_worst(trials: ChoiceTrials, theta: np.ndarray) -> float:
    total = 0.0
    for systems, places in options(trials):
        strength = theta[systems]
        best, worst = int(np.argmin(places)), int(np.argmax(places))
        total += strength[best] - np.log(np.exp(strength).sum())
        total += -strength[worst] - np.log(np.exp(-np.delete(strength, best)).sum())
    return total


def spread(found: Strengths, i: int, j: int) -> float:
    V = found.covariance
    return float(np.sqrt(V[i, i] + V[j, j] - 2 * V[i, j]))


def with_ties(seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    names, theta = list(TRUTH), np.array(list(TRUTH.values()))
    rows = []
    for n in range(300):
        i, j = rng.choice(4, 2, replace=False)
        weights = np.exp([theta[i], theta[j], (theta[i] + theta[j]) / 2 - 0.5])
        said = (names[i], names[j], "tie")[rng.choice(3, p=weights / weights.sum())]
        rows.append((f"r{n % 12}", names[i], names[j], said))
    return make_pairs(rows)


def test_davidsons_ties_by_brute_force() -> None:
    trials = trials_of(with_ties())
    found = fit_bradley_terry(trials, "none")

    def loglik(x: np.ndarray) -> float:
        return davidson(trials, np.append(x[:3], -x[:3].sum()), x[3])

    x, inverse, top = maximise_directly(loglik, 4)
    assert found.loglik == pytest.approx(top, abs=1e-7)
    assert found.theta[:3] == pytest.approx(x[:3], abs=1e-5)
    assert found.tie == pytest.approx(x[3], abs=1e-5)
    assert found.covariance[:3, :3] == pytest.approx(inverse[:3, :3], abs=1e-5)
    assert found.theta.sum() == pytest.approx(0, abs=1e-12)


def test_a_tie_is_half_a_win_for_the_order() -> None:
    trials = trials_of(with_ties())
    found = fit_bradley_terry(trials, "none")
    wins = np.zeros(4)
    expected = np.zeros(4)
    for systems, places in options(trials):
        one, two = found.theta[systems]
        weights = np.exp([one, two, (one + two) / 2 + found.tie])
        p = weights / weights.sum()
        for side, system in enumerate(systems):
            wins[system] += 0.5 if np.isnan(places).any() else float(places[side] == min(places))
            expected[system] += p[side] + p[2] / 2
    assert wins == pytest.approx(expected, abs=1e-6)


def test_best_then_worst_by_brute_force() -> None:
    trials = trials_of(make_sets(TRUTH, 3, raters=10, items=12, kind="best-worst"))
    found = fit_plackett_luce(trials, "none")

    def loglik(x: np.ndarray) -> float:
        return best_then_worst(trials, np.append(x, -x.sum()))

    x, inverse, top = maximise_directly(loglik, 3)
    assert trials.kind == "best-worst"
    assert found.loglik == pytest.approx(top, abs=1e-7)
    assert found.theta[:3] == pytest.approx(x, abs=1e-5)
    assert found.covariance[:3, :3] == pytest.approx(inverse, abs=1e-5)


def test_the_sandwich_is_the_sum_of_the_raters_scores() -> None:
    frame = make_sets(TRUTH, 3, raters=9, items=12, kind="best-worst", taste=0.6)
    trials = trials_of(frame)
    found = fit_plackett_luce(trials, "rater")
    bread = fit_plackett_luce(trials, "none").covariance
    meat = np.zeros((4, 4))
    for rater in frame["rater"].unique():
        mine = trials_of(frame[frame["rater"] == rater])
        assert mine.systems == trials.systems
        score = np.array(
            [
                (best_then_worst(mine, found.theta + e) - best_then_worst(mine, found.theta - e)) / 2e-5
                for e in np.eye(4) * 1e-5
            ]
        )
        meat += np.outer(score, score)
    assert found.covariance == pytest.approx(9 / 8 * bread @ meat @ bread, abs=1e-7)
    assert found.n_clusters == 9
    assert found.spread.measure(np.eye(4))[1] == pytest.approx(8)


def test_tied_ranks_have_breslows_likelihood() -> None:
    frame = make_sets(TRUTH, 4, raters=6, items=15, kind="ranking", seed=8)
    frame["choice"] = frame["choice"].replace({"2": "1"})  # two share the first rank
    ranked = trials_of(frame)

    def loglik(x: np.ndarray) -> float:
        theta = np.append(x, -x.sum())
        total = 0.0
        for systems, places in options(ranked):
            for s, place in zip(systems, places, strict=True):
                if place < max(places):
                    left = [t for t, other in zip(systems, places, strict=True) if other >= place]
                    total += theta[s] - np.log(np.exp(theta[left]).sum())
        return total

    x, _, top = maximise_directly(loglik, 3)
    found = fit_plackett_luce(ranked)
    assert found.theta[:3] == pytest.approx(x, abs=1e-5)
    assert found.loglik == pytest.approx(top, abs=1e-7)


def test_choix_agrees_on_pairs_rankings_and_choices() -> None:
    choix = pytest.importorskip("choix")
    pairs = trials_of(make_sets(TRUTH, 2, raters=12, items=20, kind="pairs"))
    _, winner, loser = pairs.list_wins()
    data = list(zip(pairs.system[winner].tolist(), pairs.system[loser].tolist(), strict=True))
    assert fit_bradley_terry(pairs).theta == pytest.approx(choix.ilsr_pairwise(4, data), abs=1e-6)

    ranked = trials_of(make_sets(TRUTH, 4, raters=6, items=15, kind="ranking"))
    orders = [
        [s for _, s in sorted(zip(places, systems, strict=True))] for systems, places in options(ranked)
    ]
    assert ranked.kind == "ranking"
    assert fit_plackett_luce(ranked).theta == pytest.approx(choix.ilsr_rankings(4, orders), abs=1e-6)

    chosen = trials_of(make_sets(TRUTH, 3, raters=10, items=15, kind="choose-one"))
    told = [
        (
            systems[int(np.argmin(places))],
            [s for s, p in zip(systems, places, strict=True) if p > min(places)],
        )
        for systems, places in options(chosen)
    ]
    assert chosen.kind == "choose-one"
    assert fit_plackett_luce(chosen).theta == pytest.approx(choix.ilsr_top1(4, told), abs=1e-6)


def test_evalica_agrees_on_pairs() -> None:
    evalica = pytest.importorskip("evalica")
    pairs = trials_of(make_sets(TRUTH, 2, raters=12, items=20, kind="pairs"))
    _, winner, loser = pairs.list_wins()
    names = np.array(pairs.systems)
    found = evalica.bradley_terry(
        names[pairs.system[winner]].tolist(),
        names[pairs.system[loser]].tolist(),
        [evalica.Winner.X] * len(winner),
        tolerance=1e-12,
        limit=10_000,
    )
    theirs = np.log(found.scores[list(pairs.systems)].to_numpy())
    assert fit_bradley_terry(pairs).theta == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def test_bradley_terry_and_plackett_luce_are_one_model_for_pairs() -> None:
    trials = trials_of(make_sets(TRUTH, 2, raters=8, items=15, kind="pairs"))
    one, two = fit_bradley_terry(trials), fit_plackett_luce(trials)
    assert one.theta == pytest.approx(two.theta, abs=1e-12)
    assert one.covariance == pytest.approx(two.covariance, abs=1e-12)


@pytest.mark.parametrize("kind", ["pairs", "choose-one", "best-worst", "ranking"])
def test_many_answers_lead_to_the_truth(kind: str) -> None:
    shown = 2 if kind == "pairs" else 3
    trials = trials_of(make_sets(TRUTH, shown, raters=40, items=40, kind=kind, seed=5))
    found = (fit_bradley_terry if kind == "pairs" else fit_plackett_luce)(trials, "rater")
    truth = np.array(list(TRUTH.values()))
    assert np.abs((found.theta - truth) / np.sqrt(np.diag(found.covariance))).max() < 3.5
    assert np.sqrt(np.diag(found.covariance)).max() < 0.1


def answer_anew(trials: ChoiceTrials, seed: int) -> ChoiceTrials:
    """Return the pairs with new answers of 20 raters, whose log-odds for a over b are N(0.6, 0.98)."""
    rng = np.random.default_rng(seed)
    odds = 0.6 + rng.normal(0.0, np.sqrt(0.98), len(trials.raters))
    won = rng.random(len(trials)) < 1 / (1 + np.exp(-odds[trials.rater]))
    first = trials.system == 0
    return replace(trials, place=np.where(first == won[trials.of_trial], 0.0, 2.0))


def test_clustered_intervals_cover_where_independent_ones_do_not() -> None:
    covered = {"rater": 0, "none": 0}
    runs = 150
    asked = trials_of(make_pairs([(f"r{r}", "a", "b", "a") for r in range(20) for _ in range(25)]))
    for seed in range(runs):
        trials = answer_anew(asked, seed)
        for cluster, reach in (("rater", 2.093), ("none", 1.96)):  # t on 19 degrees of freedom, and z
            found = fit_bradley_terry(trials, cluster)  # type: ignore[arg-type]
            # tastes draw the marginal odds towards even; their limit is what all raters together would say
            covered[cluster] += abs(found.theta[0] - found.theta[1] - MARGINAL) < reach * spread(found, 0, 1)
    assert 0.88 < covered["rater"] / runs <= 0.99
    assert covered["none"] / runs < 0.8


def _marginal_log_odds() -> float:
    """Return the log-odds of a over b in a population of raters whose difference is N(0.6, 2 · 0.49)."""
    x, weight = np.polynomial.hermite_e.hermegauss(80)
    p = float((weight / weight.sum()) @ (1 / (1 + np.exp(-(0.6 + np.sqrt(2 * 0.49) * x)))))
    return float(np.log(p / (1 - p)))


MARGINAL = _marginal_log_odds()


def test_a_system_that_always_wins_is_named_and_stays_finite() -> None:
    rows = [(f"r{n % 4}", a, b, a) for n in range(12) for a, b in (("x", "y"), ("x", "z"))]
    rows += [("r0", "y", "z", "y"), ("r1", "y", "z", "z"), ("r2", "y", "z", "y")]
    found = fit_bradley_terry(trials_of(make_pairs(rows)))
    assert found.prior == 2.5
    assert any("x never lost to y and z" in note for note in found.notes)
    assert np.isfinite(found.theta).all()
    assert found.theta.argmax() == 0
    assert 1 < spread(found, 0, 1) < 5  # little is known of how far ahead it is
    assert found.theta.sum() == pytest.approx(0, abs=1e-9)


def test_ties_alone_do_not_always_make_strengths_finite() -> None:
    chain = [("r", "x", "y", "x"), ("r", "x", "y", "tie"), ("r", "y", "z", "y"), ("r", "y", "z", "tie")]
    assert fit_bradley_terry(trials_of(make_pairs(chain))).prior == 2.5  # log ν can run off with the distance
    bound = [*chain, ("r", "x", "z", "tie"), ("r", "x", "z", "x")]
    found = fit_bradley_terry(trials_of(make_pairs(bound)))
    assert found.prior is None  # x and z tied as well, which holds the distances together
    assert np.isfinite(found.theta).all()


def test_systems_that_never_met_are_refused_by_group() -> None:
    rows = [("r", "a", "b", "a"), ("r", "a", "b", "b"), ("r", "c", "d", "c"), ("r", "c", "d", "d")]
    with pytest.raises(
        BadModel, match=r"2 groups that were never compared with each other: a and b; c and d"
    ):
        fit_bradley_terry(trials_of(make_pairs(rows)))


def test_a_system_without_a_decided_comparison_is_named() -> None:
    frame = make_sets({"a": 0.2, "b": 0.0}, 2, raters=3, items=5, kind="pairs")
    silent = frame.iloc[:2].assign(trial="x", system=["a", "lost"], choice="")
    frame = pd.concat([frame, silent], ignore_index=True)
    with pytest.raises(BadModel, match="no decided comparison involves lost"):
        fit_bradley_terry(trials_of(frame))


def test_one_rater_is_said_and_comparisons_then_count_as_independent() -> None:
    frame = make_sets(TRUTH, 2, raters=1, items=120, kind="pairs")
    trials = trials_of(frame)
    found = fit_bradley_terry(trials, "rater")
    assert found.cluster == "none"
    assert "With one rater" in found.notes[0]
    assert found.covariance == pytest.approx(fit_bradley_terry(trials, "none").covariance)
    both = fit_bradley_terry(trials)
    assert (both.cluster, both.n_clusters, both.fixed) == ("item", 120, ("rater",))


def test_unknown_clusters_are_refused() -> None:
    trials = trials_of(make_sets(TRUTH, 2, raters=2, items=10, kind="pairs"))
    with pytest.raises(UnknownName, match="Did you mean 'rater'"):
        fit_bradley_terry(trials, "ratter")  # type: ignore[arg-type]


def test_two_hundred_systems_are_compared_at_once() -> None:
    strengths = {f"s{n:03}": value for n, value in enumerate(np.linspace(-1, 1, 200))}
    rng = np.random.default_rng(2)
    names = list(strengths)
    rows = []
    for n in range(12_000):
        i, j = rng.choice(200, 2, replace=False)
        ahead = rng.random() < 1 / (1 + np.exp(strengths[names[j]] - strengths[names[i]]))
        rows.append((f"r{n % 50}", names[i], names[j], names[i] if ahead else names[j]))
    found = fit_bradley_terry(trials_of(make_pairs(rows)))
    assert np.corrcoef(found.theta, list(strengths.values()))[0, 1] > 0.9
