"""Type I error of two looks at a null study of two systems, as docs/method.md shows it.

``python -m bench.looks``. Every rater rates every output; 12, then 24 raters on the same 20 items. Both
systems vary alike, with the slopes of the preset ``general``.
"""

import argparse

from bench.type_one import FIVE, cross, make_spread
from panelist.analysis.spec import AnalysisSpec
from panelist.power.curve import make_cells
from panelist.power.looks import simulate_looks
from panelist.power.run import Run
from panelist.power.truth.base import Truth


def main() -> None:
    """Print a line for each analysis and spending."""
    parser = argparse.ArgumentParser(prog="python -m bench.looks", description=__doc__)
    parser.add_argument("--sims", type=int, default=1000, metavar="N")
    parser.add_argument("--models", default="clmm,lmm", metavar="NAME,…")
    asked = parser.parse_args()
    raters, items = (make_spread(level, slope / 2**0.5, 2) for level, slope in ((0.5, 0.43), (0.5, 0.77)))
    cells = make_cells([Truth("null", raters, items, FIVE)], [cross(24, 20, 2)], [0.0])
    for spending in ("obrien-fleming", "pocock"):
        models = asked.models.split(",")
        found = simulate_looks(cells, models, AnalysisSpec(), Run(asked.sims), (12, 24), spending)
        for one in found.cells:
            print(
                f"{spending:15} {one.model:5} {one.power:.3f} ({one.low:.3f} to {one.high:.3f}); information "
                f"{found.information[0]:.2f}, levels {found.levels[0]:.4f}, {found.levels[1]:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
