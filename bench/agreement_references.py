"""The agreement references of tests/reference/agreement: ratings of our own, and what R makes of them.

``python -m bench.agreement_references`` simulates the ratings again (seeded, so the files come out the same)
and asks R, with psych and jsonlite, for the answers; seconds. ``--data`` stops after the data.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "tests" / "reference" / "agreement"


def main(arguments: list[str]) -> int:
    """Write the ratings, and R's answers beside them."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, missing in (("panel", 0.0), ("crowd", 0.6)):
        simulate(40, 6, missing).to_csv(TARGET / f"{name}.csv", index=False, lineterminator="\n")
    if "--data" in arguments:
        return 0
    script = ROOT / "bench" / "agreement_references.R"
    return subprocess.run(["Rscript", "--vanilla", str(script), str(TARGET)], check=False).returncode


def simulate(items: int, raters: int, missing: float) -> pd.DataFrame:
    """Return five-point ratings of some items by some raters; every item keeps at least one."""
    rng = np.random.default_rng([2019, items, raters, int(100 * missing)])
    latent = (
        rng.normal(size=(items, 1)) + 0.5 * rng.normal(size=raters) + 0.8 * rng.normal(size=(items, raters))
    )
    rating = np.clip(np.round(3 + latent), 1, 5).astype(int)
    kept = rng.random((items, raters)) >= missing
    kept[np.arange(items), rng.integers(0, raters, items)] = True
    item, rater = np.nonzero(kept)
    names = {"item": [f"i{i:02}" for i in item], "rater": [f"r{r}" for r in rater]}
    return pd.DataFrame({**names, "rating": rating[item, rater]})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
