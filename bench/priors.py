"""Do the tests hold their level with a weak prior? ``python -m bench.priors --sets 400``.

The studies are those of bench.calibration, set by set. They are fitted together, as ``power`` fits its sets,
by the largest random part with ``prior="weak"``, and tested and adjusted as ``compare --prior weak`` does.
"""

import argparse
from dataclasses import replace
from time import process_time

import numpy as np

from bench.calibration import CROSSED, Study, draw
from bench.type_one import cross
from panelist.analysis.spec import AnalysisSpec
from panelist.core.seeds import stream
from panelist.power.analyses.base import ANALYSES
from panelist.power.cells import find_interval
from panelist.power.tally import adjust_tests

ALPHA = 0.05


def measure(study: Study, sets: int, spec: AnalysisSpec) -> str:
    """Return one line: any pair found, all intervals right, pairs found, and the seconds a set."""
    layout = cross(study.raters, study.items, study.systems)
    frames = (draw(study, stream(seed, "calibration", study.name)) for seed in range(1, sets + 1))
    responses = np.array([frame["rating"].to_numpy(dtype=np.int64) - 1 for frame in frames])
    start = process_time()
    tests = ANALYSES["clmm"].prepare(layout, spec)(responses)
    p, critical = adjust_tests(tests, spec, study.systems)
    known = ~tests.failed
    gaps = np.array([study.effects[b] - study.effects[a] for a, b in layout.pairs])
    found = np.nan_to_num(p[known], nan=1.0) < ALPHA
    right = np.abs(tests.estimate - gaps)[known] <= (critical * tests.se)[known] + 1e-9
    n, hits = int(known.sum()), int(found.any(axis=1).sum())
    low, high = find_interval(hits, n)
    return (
        f"| {study.name} | {n} | {hits / n:.3f} ({low:.3f}–{high:.3f}) | {right.all(axis=1).mean():.3f} | "
        f"{found.mean():.3f} | {sets - n} | {(process_time() - start) / sets:.3f} |"
    )


def main() -> None:
    """Print a line for each study."""
    parser = argparse.ArgumentParser(prog="python -m bench.priors", description=__doc__)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--prior", default="weak")
    parser.add_argument("--step", type=float, default=0.0, help="latent distance of neighbouring systems")
    parser.add_argument("--only", type=int, nargs="*", default=[0, 1, 2, 4], help="places in CROSSED")
    asked = parser.parse_args()
    print(
        "| study | sets | any found | intervals cover | pairs found | failed | seconds a set |\n"
        + "|---" * 7
        + "|"
    )
    for place in asked.only:
        spec = AnalysisSpec(model="clmm", prior=asked.prior)
        print(measure(replace(CROSSED[place], step=asked.step), asked.sets, spec), flush=True)


if __name__ == "__main__":
    main()
