"""The whole simulation study of Howcroft & Rieser (2021): 120 cells, four models.

Howcroft, D. M. & Rieser, V. (2021). What happens if you treat ordinal ratings as interval data? EMNLP.
https://aclanthology.org/2021.emnlp-main.703
"""

from panelist.analysis.spec import AnalysisSpec
from panelist.power.curve import PowerCurve, lay_out, make_cells, simulate_cells
from panelist.power.layouts.base import list_samplings
from panelist.power.run import Run
from panelist.power.truth.base import Truth
from panelist.power.truth.spread import PRESETS

ITEMS = (50, 100, 500)
RATINGS = (3, 10)
EFFECTS = (0.25, 0.5, 0.75, 1.0)
SIMS = 100
MODELS = ("clmm", "lmm", "clm", "lm")
MAIN = ("low", "general", "high")


def simulate_paper(run: Run | None = None, *, as_released: bool = False) -> PowerCurve:
    """Return the power in the paper's cells: 5 presets × 3 numbers of items × 2 of ratings × 4 effects.

    The analyses are the paper's: the largest model in every data set, and z for the ordinal ones.
    """
    run = run or Run(SIMS)
    layouts = lay_out(list_samplings(ITEMS, RATINGS), run.seed, as_released)
    spec = AnalysisSpec(test="z", as_compared=False)
    cells = make_cells([Truth.preset(name) for name in PRESETS], layouts, EFFECTS)
    return simulate_cells(cells, MODELS, spec.as_released() if as_released else spec, run)
