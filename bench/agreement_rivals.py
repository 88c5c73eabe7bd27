"""The PyPI packages krippendorff and irrCAC on the files of one folder; panelist need not be installed."""

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import pandas as pd

LONG = 3.0  # seconds: what takes longer runs once


def best_of(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the best seconds of several runs, and what the last gave."""
    runs: list[float] = []
    while not runs or (len(runs) < 25 and sum(runs) < LONG):
        start = perf_counter()
        value = call()
        runs.append(perf_counter() - start)
    return min(runs), value


def measure(file: Path) -> dict[str, tuple[str, float, float, float]]:
    """Return, by our names: the package, its value, its seconds, and the seconds from a long table."""
    import krippendorff  # type: ignore[import-not-found]
    from irrCAC.raw import CAC  # type: ignore[import-not-found]

    frame = pd.read_csv(file)

    def pivot() -> pd.DataFrame:
        return frame.set_index(["item", "rater"])["rating"].unstack("rater")  # noqa: PD010

    way, matrix = best_of(pivot)
    found = {}
    for level in ("nominal", "ordinal", "interval"):
        values = matrix.to_numpy().T

        def alpha(level: str = level) -> float:
            return float(krippendorff.alpha(reliability_data=values, level_of_measurement=level))  # noqa: B023

        seconds, value = best_of(alpha)
        found[f"krippendorff_alpha_{level}"] = ("krippendorff", value, seconds, seconds + way)
    made, cac = best_of(lambda: CAC(matrix))
    for name, method in (("fleiss_kappa", cac.fleiss), ("gwet_ac1", cac.gwet)):
        seconds, answer = best_of(method)
        value = float(answer["est"]["coefficient_value"])
        found[name] = ("irrCAC", value, seconds, seconds + made + way)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps({path.stem: measure(path) for path in sorted(Path(sys.argv[1]).glob("*.csv"))}))
