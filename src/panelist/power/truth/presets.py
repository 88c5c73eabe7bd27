"""The five settings of Howcroft & Rieser (2021): how much raters and items differ, from little to much.

They are standard deviations of intercepts and slopes (system B against system A) that the authors estimated
from rating studies with ordered probit models; residuals have 1. The two extreme ones rest on one data set.

Howcroft, D. M. & Rieser, V. (2021). What happens if you treat ordinal ratings as interval data? EMNLP.
https://aclanthology.org/2021.emnlp-main.703
"""

from panelist.power.truth.spread import Spread

PRESETS: dict[str, tuple[Spread, Spread]] = {  # raters, items
    "extra-low": (Spread(0.28, 0.11), Spread(0.29, 0.43)),
    "low": (Spread(0.48, 0.27), Spread(0.29, 0.63)),
    "general": (Spread(0.52, 0.43), Spread(0.57, 0.77)),
    "high": (Spread(0.56, 0.67), Spread(0.71, 0.89)),
    "extra-high": (Spread(0.56, 0.67), Spread(1.09, 1.26)),
}
