"""Exact repeats of a study: how often ``reproduce`` says that something changed where nothing did.

    python -m bench.repeats --sims 400

Original and repeat are drawn from one truth, with other raters and the same or other items. Counted are the
tests of system × study below 0.05, the differences outside what the original predicts, and the verdicts on a
pair of systems that are the same. A second table is the coverage of the intervals of a coefficient of
variation. docs/reproducing.md has both.
"""

import argparse
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from panelist.core.errors import PanelistError
from panelist.core.seeds import stream
from panelist.reproduction.aggregate import AGGREGATIONS
from panelist.reproduction.measures.joint import fit_jointly
from panelist.reproduction.measures.pair_tests import PairTests, check_pairs
from panelist.reproduction.measures.precision import find_c4
from panelist.reproduction.measures.upheld_findings import check_finding
from panelist.reproduction.sources import Given, read_source
from panelist.study.sections.findings import Finding

CUTS = np.array([-1.2, -0.4, 0.4, 1.2])  # five points
SEVERITY = 0.5  # SD of raters and of items


@dataclass(frozen=True)
class Truth:
    """A design and the SDs of rater:system and item:system; the first two systems are the same."""

    raters: int
    items: int
    systems: int
    latin: bool = False
    spread: tuple[float, float] = (0.3, 0.3)

    def __str__(self) -> str:
        size = f"{self.raters} × {self.items} × {self.systems}{' Latin' if self.latin else ''}"
        return f"{size}; {self.spread[0]:g}, {self.spread[1]:g}"

    @property
    def names(self) -> tuple[str, ...]:
        """The systems' names."""
        return tuple(f"s{k}" for k in range(self.systems))


DESIGNS = (
    Truth(8, 12, 3),
    Truth(8, 12, 3, spread=(0.5, 0.5)),
    Truth(24, 40, 3, latin=True),
    Truth(3, 50, 2, spread=(0.3, 0.5)),
)


def draw_items(rng: np.random.Generator, truth: Truth) -> Any:
    """Return what the items add to each system."""
    own = rng.normal(0, truth.spread[1], (truth.items, truth.systems))
    return rng.normal(0, SEVERITY, (truth.items, 1)) + own


def draw_study(rng: np.random.Generator, truth: Truth, items: Any, name: str) -> Given:
    """Return one study's ratings."""
    raters = rng.normal(0, SEVERITY, (truth.raters, 1)) + rng.normal(
        0, truth.spread[0], (truth.raters, truth.systems)
    )
    grid = np.indices((truth.raters, truth.items, truth.systems)).reshape(3, -1)
    if truth.latin:
        grid = grid[:, (grid[0] + grid[1]) % truth.systems == grid[2]]
    rater, item, system = grid
    effect = np.array([0.0, 0.0, 0.6, 0.9][: truth.systems])
    latent = effect[system] + raters[rater, system] + items[item, system] + rng.normal(size=len(rater))
    frame = pd.DataFrame(
        {
            "rater": [f"r{k}" for k in rater],
            "item": [f"{name}{k}" for k in item],
            "system": [truth.names[k] for k in system],
            "rating": np.searchsorted(CUTS, latent) + 1,
        }
    )
    return read_source(frame, name).given[0]


def test_pairs(given: Given, truth: Truth) -> PairTests:
    """Return the study's own tests."""
    assert given.rows is not None
    means = given.rows.frame.groupby("system")["rating"].mean()
    scores = {str(name): float(mean) for name, mean in means.items()}
    return check_pairs(given, scores, truth.names, AGGREGATIONS["mean"])


def count_false(truth: Truth, sims: int, shared: bool, seed: int = 1) -> Counter[str]:
    """Return how often exact repeats were found to differ, out of how many."""
    found: Counter[str] = Counter()
    for place in range(sims):
        rng = stream(seed, "repeats", str(truth), str(shared), str(place))
        items = draw_items(rng, truth)
        original = draw_study(rng, truth, items, "o" if not shared else "i")
        again = draw_study(
            rng, truth, items if shared else draw_items(rng, truth), "r" if not shared else "i"
        )
        first, second = (test_pairs(one, truth) for one in (original, again))
        for a, b in combinations(truth.names, 2):
            check = check_finding(Finding("rating", a, "=", b), first, [("repeat", second)], stated=False)
            if check.evidence[0].interval is not None:
                found["pairs"] += 1
                found["outside"] += not check.evidence[0].interval
            if (a, b) == truth.names[:2]:
                found[check.verdict] += 1
        try:
            joint = fit_jointly([original, again], ["original", "repeat"], truth.names)
        except PanelistError:
            found["no joint model"] += 1
            continue
        found["joint"] += 1
        found["changed"] += joint.p < 0.05
        found["change"] += sum(one.p < 0.05 for one in joint.changes)
        found["changes"] += len(joint.changes)
    return found


def cover(n: int, cv: float, sims: int = 40_000, seed: int = 1) -> dict[str, float]:
    """Return how often 95 % intervals of a coefficient of variation hold it, for n normal scores."""
    y = stream(seed, "cover", str(n), str(cv)).normal(1, cv, (sims, n))
    y = y[y.mean(axis=1) > 0]
    m, s = y.mean(axis=1), y.std(axis=1, ddof=1)
    ratio = s / m
    star = s / find_c4(n)
    reach = stats.t.ppf(0.975, n - 1) * s * s * np.sqrt(2 / (n - 1)) / (2 * star)
    low, high = (float(stats.chi2.ppf(share, n - 1)) for share in (0.025, 0.975))
    found = {"Belz": ((star - reach) / m <= cv) & (cv <= (star + reach) / m)}
    for name, more in (("McKay", 0), ("Vangel", 2)):
        ends = [((u + more) / n - 1) * ratio**2 + u / (n - 1) for u in (high, low)]
        upper = np.where(ends[1] > 0, ratio / np.sqrt(np.maximum(ends[1], 1e-300)), np.inf)
        lower = np.where(ends[0] > 0, ratio / np.sqrt(np.maximum(ends[0], 1e-300)), np.inf)
        found[name] = (lower <= cv) & (cv <= upper)
    below = stats.nct.cdf(np.sqrt(n) / ratio, n - 1, np.sqrt(n) / cv)  # the exact interval, inverted
    found["exact"] = (below >= 0.025) & (below <= 0.975)
    shares = {name: float(held.mean()) for name, held in found.items()}
    return shares | {"Belz below 0": float((star < reach).mean())}


def main() -> None:
    """Print both tables in Markdown."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--sims", type=int, default=40, help="exact repeats of each design")
    parser.add_argument("--design", type=int, help="the place of one design, from 0")
    parser.add_argument("--items", choices=("same", "other"), help="only repeats with these items")
    asked = parser.parse_args()
    designs = DESIGNS if asked.design is None else (DESIGNS[asked.design],)
    print("| design | items | system × study | one change | outside | upheld | not upheld | undecided |")
    print("|---|---|---|---|---|---|---|---|")
    for truth in designs:
        for shared in (True, False):
            if asked.items is not None and shared != (asked.items == "same"):
                continue
            found = count_false(truth, asked.sims, shared)
            shares = (
                found["changed"] / max(found["joint"], 1),
                found["change"] / max(found["changes"], 1),
                found["outside"] / max(found["pairs"], 1),
                *(found[verdict] / asked.sims for verdict in ("upheld", "not upheld", "undecided")),
            )
            cells = " | ".join(f"{share:.3f}" for share in shares)
            print(f"| {truth} | {'same' if shared else 'other'} | {cells} |", flush=True)
    if asked.design is None:
        print(
            "\n| scores | CV | Belz's | below 0 | McKay's | Vangel's | exact |\n|---|---|---|---|---|---|---|"
        )
        for n in (2, 3, 5):
            for cv in (0.05, 0.2, 0.5):
                held = cover(n, cv)
                names = ("Belz", "Belz below 0", "McKay", "Vangel", "exact")
                cells = " | ".join(f"{held[name]:.3f}" for name in names)
                print(f"| {n} | {100 * cv:.0f} % | {cells} |")


if __name__ == "__main__":
    main()
