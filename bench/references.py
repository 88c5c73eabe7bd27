"""The reference fits of tests/reference: data sets of our own, and what R makes of them.

``python -m bench.references`` simulates the data sets again (seeded, so the files come out the same) and asks
R for the answers: R with ordinal, lme4, lmerTest, pbkrtest, emmeans, numDeriv and jsonlite; three minutes on
one core, most of them in ``clmm``. ``--data`` stops after the data; names of data sets restrict either.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "tests" / "reference"
SCRIPT = ROOT / "bench" / "references.R"

Floats = NDArray[np.float64]


def main() -> int:
    """Write the data sets, and R's answers beside them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"of: {', '.join(DATA_SETS)}; all when none is given")
    parser.add_argument("--data", action="store_true", help="write the data only, ask R nothing")
    arguments = parser.parse_args()
    names = arguments.names or list(DATA_SETS)
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in names:
        if name not in DATA_SETS:
            parser.error(f"no data set is called {name!r}; there are {', '.join(DATA_SETS)}")
        frame = DATA_SETS[name](np.random.default_rng([2021, *name.encode()]))
        frame.to_csv(TARGET / f"{name}.csv", index=False, lineterminator="\n")
        print(f"{name}: {len(frame)} ratings", flush=True)
    if arguments.data:
        return 0
    for name in names:
        done = subprocess.run(["Rscript", "--vanilla", str(SCRIPT), str(TARGET), name], check=False)
        if done.returncode:
            print(f"R stopped at {name}", file=sys.stderr)
            return 1
    return 0


def design_crossed(systems: int, items: int, ratings: int, raters: int) -> pd.DataFrame:
    """Every output rated ``ratings`` times by raters taken in turn, so that nobody sees an output twice."""
    rows = [
        (f"r{(7 * item + 3 * system + 5 * turn) % raters:02d}", f"i{item:02d}", "abcdefgh"[system])
        for item in range(items)
        for system in range(systems)
        for turn in range(ratings)
    ]
    return pd.DataFrame(rows, columns=["rater", "item", "system"])


def draw_effects(
    frame: pd.DataFrame,
    rng: np.random.Generator,
    sds: dict[str, tuple[float, ...]],
    slope: Floats | None = None,
) -> Floats:
    """Return the summed effects of the grouping factors: intercepts and, with ``slope``, slopes."""
    total = np.zeros(len(frame))
    for factor, deviations in sds.items():
        index, levels = pd.factorize(frame[factor], sort=True)
        for number, deviation in enumerate(deviations):
            column = np.ones(len(frame)) if number == 0 or slope is None else slope
            total += deviation * rng.standard_normal(len(levels))[index] * column
    return total


def cut(latent: Floats, thresholds: list[float]) -> NDArray[np.int64]:
    """Return the category, from 1, that each latent value falls into."""
    return np.searchsorted(np.array(thresholds), latent).astype(np.int64) + 1


def is_system(frame: pd.DataFrame, system: str) -> Floats:
    """Return 1 where the row is of this system, 0 elsewhere."""
    return np.asarray(frame["system"] == system, dtype=float)


def simulate_paper(rng: np.random.Generator) -> pd.DataFrame:
    """Two systems, six points, slopes for raters and items: Howcroft & Rieser's (2021) design, smaller."""
    frame = design_crossed(systems=2, items=30, ratings=3, raters=9)
    b = is_system(frame, "b")
    effects = draw_effects(frame, rng, {"rater": (0.6, 0.5), "item": (0.6, 0.7)}, b)
    frame["rating"] = cut(0.6 * b + effects + rng.standard_normal(len(frame)), [-1.6, -0.9, -0.2, 0.5, 1.3])
    return frame


def simulate_three(rng: np.random.Generator) -> pd.DataFrame:
    """Three systems on five points."""
    frame = design_crossed(systems=3, items=24, ratings=4, raters=11)
    b, c = is_system(frame, "b"), is_system(frame, "c")
    effects = draw_effects(frame, rng, {"rater": (0.5,), "item": (0.7,)})
    effects += draw_effects(frame, rng, {"item": (0.0, 0.8)}, b) + draw_effects(
        frame, rng, {"item": (0.0, 0.7)}, c
    )
    frame["rating"] = cut(
        0.3 * b + 0.9 * c + effects + rng.standard_normal(len(frame)), [-1.0, -0.2, 0.6, 1.6]
    )
    return frame


def simulate_binary(rng: np.random.Generator) -> pd.DataFrame:
    """Yes or no, as 0 and 1."""
    frame = design_crossed(systems=2, items=40, ratings=3, raters=12)
    effects = draw_effects(frame, rng, {"rater": (0.8,), "item": (0.6,)})
    latent = 0.5 * is_system(frame, "b") + effects + rng.standard_normal(len(frame))
    frame["rating"] = cut(latent, [0.2]) - 1
    return frame


def simulate_singular(rng: np.random.Generator) -> pd.DataFrame:
    """Raters who do not differ beyond chance: their variance is estimated at zero."""
    frame = design_crossed(systems=2, items=30, ratings=3, raters=11)
    noise = rng.standard_normal(len(frame))
    # The raters' means of the noise are taken out, so that less than chance is left between them.
    noise -= pd.Series(noise).groupby(frame["rater"]).transform("mean").to_numpy()
    latent = 0.4 * is_system(frame, "b") + draw_effects(frame, rng, {"item": (0.8,)}) + noise
    frame["rating"] = cut(latent, [-1.2, -0.4, 0.4, 1.2])
    return frame


def simulate_unused(rng: np.random.Generator) -> pd.DataFrame:
    """Seven points of which nobody used the third and the seventh."""
    frame = design_crossed(systems=2, items=25, ratings=4, raters=8)
    effects = draw_effects(frame, rng, {"rater": (0.5,), "item": (0.6,)})
    latent = 0.5 * is_system(frame, "b") + effects + rng.standard_normal(len(frame))
    frame["rating"] = np.array([1, 2, 4, 5, 6])[cut(latent, [-1.2, -0.3, 0.5, 1.3]) - 1]
    return frame


def simulate_nested(rng: np.random.Generator) -> pd.DataFrame:
    """Sentences within documents; a sentence's number starts again in each document."""
    rows = [
        (f"r{(document + 2 * sentence + 5 * turn) % 7}", f"d{document:02d}", f"s{sentence}", system)
        for document in range(12)
        for sentence in range(4)
        for system in "ab"
        for turn in range(3)
    ]
    frame = pd.DataFrame(rows, columns=["rater", "document", "sentence", "system"])
    frame["both"] = frame["document"] + frame["sentence"]
    effects = draw_effects(frame, rng, {"rater": (0.4,), "document": (0.7,), "both": (0.6,)})
    latent = 0.5 * is_system(frame, "b") + effects + rng.standard_normal(len(frame))
    frame["rating"] = cut(latent, [-1.1, -0.1, 0.8, 1.7])
    return frame.drop(columns="both")


def simulate_slider(rng: np.random.Generator) -> pd.DataFrame:
    """A slider from 0 to 100, three systems, slopes by rater."""
    frame = design_crossed(systems=3, items=20, ratings=4, raters=9)
    b, c = is_system(frame, "b"), is_system(frame, "c")
    effects = draw_effects(frame, rng, {"rater": (8.0,), "item": (7.0,)})
    effects += draw_effects(frame, rng, {"rater": (0.0, 6.0)}, b) + draw_effects(
        frame, rng, {"rater": (0.0, 5.0)}, c
    )
    values = 48 + 4 * b + 9 * c + effects + 11 * rng.standard_normal(len(frame))
    frame["rating"] = np.clip(values, 0, 100).round(1)
    return frame


def simulate_covariate(rng: np.random.Generator) -> pd.DataFrame:
    """A numeric covariate of the outputs, with a slope by rater."""
    frame = design_crossed(systems=2, items=36, ratings=3, raters=12)
    output, outputs = pd.factorize(frame["item"] + frame["system"])
    frame["words"] = rng.normal(size=len(outputs))[output].round(3)
    words = frame["words"].to_numpy()
    effects = draw_effects(frame, rng, {"rater": (0.6, 0.5)}, words) + draw_effects(
        frame, rng, {"item": (0.4,)}
    )
    latent = 0.4 * is_system(frame, "b") + 0.5 * words + effects + rng.standard_normal(len(frame))
    frame["rating"] = cut(latent, [-1.4, -0.6, 0.2, 1.0, 1.8])
    return frame


def simulate_unbalanced(rng: np.random.Generator) -> pd.DataFrame:
    """Two factors crossed, a third of the cells missing, more of them for one system than for the other."""
    frame = design_crossed(systems=2, items=40, ratings=4, raters=13)
    b = is_system(frame, "b")
    frame["genre"] = np.where(frame["item"].str[1:].astype(int) % 5 < 2, "news", "poem")
    poem = np.asarray(frame["genre"] == "poem", dtype=float)
    effects = draw_effects(frame, rng, {"rater": (0.5,), "item": (0.6,)})
    latent = 0.3 * b - 0.4 * poem + 0.5 * b * poem + effects + rng.standard_normal(len(frame))
    frame["rating"] = cut(latent, [-1.1, -0.3, 0.5, 1.4])
    kept = rng.random(len(frame)) > np.where(b == 1, 0.45, 0.2)
    return frame[kept].reset_index(drop=True)


def simulate_factors(rng: np.random.Generator) -> pd.DataFrame:
    """Three grouping factors, all crossed: raters, items and sittings."""
    frame = design_crossed(systems=2, items=32, ratings=4, raters=11)
    frame["sitting"] = [f"t{(3 * row + row // 7) % 6}" for row in range(len(frame))]
    effects = draw_effects(frame, rng, {"rater": (0.6,), "item": (0.5,), "sitting": (0.6,)})
    latent = 0.5 * is_system(frame, "b") + effects + rng.standard_normal(len(frame))
    frame["rating"] = cut(latent, [-1.3, -0.5, 0.3, 1.1])
    return frame


DATA_SETS: dict[str, Callable[[np.random.Generator], pd.DataFrame]] = {
    "paper": simulate_paper,
    "three": simulate_three,
    "binary": simulate_binary,
    "singular": simulate_singular,
    "unused": simulate_unused,
    "nested": simulate_nested,
    "slider": simulate_slider,
    "covariate": simulate_covariate,
    "unbalanced": simulate_unbalanced,
    "factors": simulate_factors,
}

if __name__ == "__main__":
    raise SystemExit(main())
