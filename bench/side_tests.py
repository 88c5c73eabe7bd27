"""Type I error of the tests of location, scale and proportional odds, as docs/method.md shows it.

``python -m bench.side_tests``. Three systems and five points, every rater rates every output, no system
differs in anything; SDs of rater:system and item:system are .3. All models of a set have one random part.
Likelihood ratios are referred to χ², and over their degrees of freedom to F with the denominator of the
linear analogue's test of the systems.
"""

import argparse

import numpy as np
from scipy.special import chdtrc

from bench.type_one import FIVE, cross, make_spread
from panelist.core.seeds import stream
from panelist.core.tables.ratings import read_ratings
from panelist.models.batch import fit_batch, prepare_batch
from panelist.models.formulas.formula import add_sides, parse_formula
from panelist.models.formulas.matrices import build_design
from panelist.models.inference.hypotheses import f_tail, test_term_satterthwaite
from panelist.numerics.arrays import Floats
from panelist.power.cells import find_interval
from panelist.power.layouts.base import Layout
from panelist.power.responses import simulate_responses
from panelist.power.truth.base import Truth

DESIGNS = ((8, 12), (24, 40))  # raters, items
RANDOM = "(1 | rater) + (1 | rater:system) + (1 | item) + (1 | item:system)"
TESTS = {"location": 2, "scale": 2, "proportional odds": 6}  # of three systems and five points
SETS = 20


def main() -> None:
    """Print a line for each design and test."""
    parser = argparse.ArgumentParser(prog="python -m bench.side_tests", description=__doc__)
    parser.add_argument("--sims", type=int, default=1000, metavar="N")
    parser.add_argument("--only", type=int, default=0, metavar="RATERS")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    asked = parser.parse_args()
    spread = make_spread(0.5, 0.3, 3)
    truth = Truth("null", spread, spread, FIVE)
    for raters, items in DESIGNS:
        if asked.only in (0, raters):
            measure(truth, cross(raters, items, 3), asked.sims, asked.seed)


def measure(truth: Truth, layout: Layout, sims: int, seed: int) -> None:
    """Print the share of null data sets in which each test rejects, by χ² and by F."""
    frame = read_ratings(layout.make_frame(np.resize(np.arange(5.0), layout.n_rows)))
    plain = parse_formula(f"rating ~ system + {RANDOM}")
    formulas = {
        "plain": plain,
        "without": parse_formula(f"rating ~ 1 + {RANDOM}"),
        "scale": add_sides(plain, None, "~ system"),
        "proportional odds": add_sides(plain, "~ system", None),
    }
    batches = {
        name: prepare_batch(
            build_design(formula, frame, ordinal=True), "clmm", test="t" if name == "plain" else "z"
        )
        for name, formula in formulas.items()
    }
    p: dict[tuple[str, str], list[float]] = {(name, by): [] for name in TESTS for by in ("chisq", "F")}
    for chunk in range(-(-sims // SETS)):
        rng = stream(seed, "side tests", str(layout.n_raters), chunk)
        drawn = simulate_responses(truth, layout, (0.0,) * 3, rng, SETS)
        whole = np.array([len(np.unique(row)) == 5 for row in drawn])
        fits = {name: fit_batch(batch, drawn[whole], threads=1) for name, batch in batches.items()}
        small = fits["plain"].small
        assert small is not None
        for at in range(int(whole.sum())):
            ddf = find_ddf(small.reml, at)
            for name, df in TESTS.items():
                pair = ("plain", "without") if name == "location" else (name, "plain")
                larger, smaller = (fits[one] for one in pair)
                if not (larger.converged[at] and smaller.converged[at]):
                    continue
                chisq = max(2.0 * float(larger.loglik[at] - smaller.loglik[at]), 0.0)
                p[name, "chisq"].append(float(chdtrc(df, chisq)))
                p[name, "F"].append(f_tail(chisq / df, df, ddf))
    for (name, by), found in p.items():
        n, hits = len(found), int(np.sum(np.array(found) < 0.05))
        low, high = find_interval(hits, n)
        print(
            f"{layout.n_raters} × {layout.n_items}  {name:18} by {by:5} {hits / n:.3f} "
            f"({low:.3f} to {high:.3f}), {n} sets",
            flush=True,
        )


def find_ddf(reml: object, at: int) -> float:
    """Return the denominator degrees of freedom of the systems in the linear analogue of one set."""
    L: Floats = np.eye(3)[1:]
    fits = reml
    return float(
        test_term_satterthwaite(L, fits.beta[at], fits.vcov[at], fits.slopes[at], fits.A[at]).ddf  # type: ignore[attr-defined]
    )


if __name__ == "__main__":
    main()
