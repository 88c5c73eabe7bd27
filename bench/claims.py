"""Type I error of equivalence and non-inferiority where the truth is exactly at the margin, as docs/method.md
shows it: ``python -m bench.claims``.

Two systems and five points, every rater rates every output; SDs of rater:system and item:system are .3. The
second system is worse by just the margin, in points or in residual SDs: neither claim is true.
"""

import argparse

from bench.type_one import FIVE, cross, make_spread
from panelist.analysis.spec import AnalysisSpec
from panelist.core.margin import CLAIMS, Margin, find_level
from panelist.core.seeds import stream
from panelist.power.analyses import ANALYSES
from panelist.power.cells import find_interval
from panelist.power.claims import place_systems
from panelist.power.responses import simulate_responses
from panelist.power.tally import find_claimed
from panelist.power.truth.base import Truth

DESIGNS = ((8, 12), (24, 40))  # raters, items
MARGINS = {"points": Margin(0.6), "latent": Margin(0.5, "latent")}
SETS = 50


def main() -> None:
    """Print a line for each design, unit and analysis."""
    parser = argparse.ArgumentParser(prog="python -m bench.claims", description=__doc__)
    parser.add_argument("--sims", type=int, default=1000, metavar="N")
    asked = parser.parse_args()
    spread = make_spread(0.5, 0.3, 2)
    truth = Truth("crossed", spread, spread, FIVE)
    for raters, items in DESIGNS:
        for unit, margin in MARGINS.items():
            for model in ("clmm", "lmm") if unit == "points" else ("clmm",):
                measure(truth, raters, items, margin, model, asked.sims)


def measure(truth: Truth, raters: int, items: int, margin: Margin, model: str, sims: int) -> None:
    """Print the share of data sets in which each claim is made."""
    layout, made = cross(raters, items, 2), dict.fromkeys(CLAIMS, 0)
    spec = AnalysisSpec(margin=margin, claim="non-inferiority")
    _, effects = place_systems(truth, 2, spec, 1.0)
    analyse = ANALYSES[model].prepare(layout, spec)
    for chunk in range(sims // SETS):
        rng = stream(1, "claims", str(raters), margin.unit, chunk)
        tests = analyse(simulate_responses(truth, layout, effects, rng, SETS))
        for claim in CLAIMS:
            _, whole, _ = find_claimed(tests, AnalysisSpec(margin=margin, claim=claim))
            made[claim] += int(whole.sum())
    for claim, count in made.items():
        low, high = find_interval(count, sims)
        print(
            f"{raters} × {items}  {model:5} {margin!s:11} {claim:16} {count / sims:.3f} "
            f"({low:.3f} to {high:.3f}) at {find_level(claim, 0.05):g}",
            flush=True,
        )


if __name__ == "__main__":
    main()
