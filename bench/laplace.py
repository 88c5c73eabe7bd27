"""Whether the measured error of the Laplace approximation says when not to trust it (docs/method.md).

    python -m bench.laplace --sets 10

Studies with one random effect, (1 | output), are fitted by Laplace and by adaptive quadrature, which is
exact: the true shift of a contrast is the difference, in standard errors. Ordinary studies, with raters and
items crossed, are fitted by Laplace alone: hardly any should be called untrustworthy.
"""

import argparse
from itertools import combinations, product

import numpy as np
import pandas as pd

from panelist.models.fit import fit
from panelist.models.inference.laplace_error import worst_of
from panelist.numerics.arrays import Floats

FAR, NEAR = 0.5, 0.2  # standard errors: a contrast that is off by more misleads, by less does not
ORDINARY = ((8, 12, 3, 5), (8, 12, 3, 2), (24, 40, 3, 5), (3, 100, 2, 5), (12, 20, 3, 2))
OUTPUTS = "rating ~ system + (1 | output)"
CROSSED = "rating ~ system + (1 | rater) + (1 | item) + (1 | rater:system) + (1 | item:system)"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", type=int, default=10, help="data sets of each kind")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    print(_tabulate(_measure_outputs(rng, asked.sets)).to_string(index=False), flush=True)
    for raters, items, systems, points in ORDINARY:
        found = [_measure_ordinary(rng, raters, items, systems, points) for _ in range(asked.sets)]
        worst, trusted = zip(*found, strict=True)
        print(f"{raters} × {items} × {systems}, {points} points: ", end="")
        print(f"untrusted {1.0 - np.mean(trusted):.3f}, largest shift {max(worst):.3f}", flush=True)


def _measure_outputs(rng: np.random.Generator, sets: int) -> pd.DataFrame:
    rows = []
    for points, raters, sd, skew in product((2, 5), (2, 3, 5), (0.5, 1.0, 2.0, 3.5, 5.0), (0.0, 1.0)):
        for _ in range(sets):
            frame = _simulate(rng, (raters, 60, 3, points), output=sd, skew=skew)
            laplace = fit(OUTPUTS, frame, model="clmm")
            exact = fit(OUTPUTS, frame, model="clmm", quadrature=7)
            error = laplace.laplace_error
            if error is None or not exact.converged or np.isnan(laplace.vcov).any():
                continue
            L = _pairs(len(laplace.beta))
            se = np.sqrt(((L @ laplace.vcov) * L).sum(axis=1))
            true = float(np.abs(L @ (exact.beta - laplace.beta) / se).max())
            by_output = frame.groupby("output")["rating"]
            unanimous = float((by_output.min() == by_output.max()).mean())
            said = not error.holds_for(L)
            rows.append((points, raters, sd, unanimous, true, worst_of(error.shift_of(L)), said))
    return pd.DataFrame(rows, columns=["points", "raters", "sd", "unanimous", "true", "predicted", "said"])


def _tabulate(found: pd.DataFrame) -> pd.DataFrame:
    """Return for each kind of study how often Laplace was far off, and what was said of it."""
    rows = []
    for (points, raters, sd), own in found.groupby(["points", "raters", "sd"]):
        far, near, said = own["true"] > FAR, own["true"] < NEAR, own["said"]
        trusted = own[~said]
        gap = float((trusted["true"] - trusted["predicted"]).abs().max()) if len(trusted) else np.nan
        row = (points, raters, sd, own["unanimous"].mean(), len(own), far.sum(), (far & said).sum())
        rows.append((*row, near.sum(), (near & said).sum(), gap))
    header = ["points", "raters", "sd", "unanimous", "sets", "far off", "of these untrusted"]
    return pd.DataFrame(rows, columns=[*header, "right", "of these untrusted ", "largest gap"]).round(3)


def _measure_ordinary(
    rng: np.random.Generator, raters: int, items: int, systems: int, points: int
) -> tuple[float, bool]:
    frame = _simulate(
        rng, (raters, items, systems, points), output=0.4, skew=0.0, rater=0.5, item=0.5, cell=0.3
    )
    found = fit(CROSSED, frame, model="clmm")
    error = found.laplace_error
    assert error is not None
    L = _pairs(len(found.beta))
    return worst_of(error.shift_of(L)), error.holds_for(L)


def _pairs(p: int) -> Floats:
    """Return the contrasts of all systems, the first of which is the reference."""
    unit = np.vstack([np.zeros(p), np.eye(p)])
    return np.array([unit[b] - unit[a] for a, b in combinations(range(p + 1), 2)])


def _simulate(
    rng: np.random.Generator,
    shape: tuple[int, int, int, int],
    output: float,
    skew: float,
    rater: float = 0.0,
    item: float = 0.0,
    cell: float = 0.0,
) -> pd.DataFrame:
    """Return ratings of every output by every rater, of an ordinal probit model with these spreads."""
    raters, items, systems, points = shape
    total = np.hypot(1.0, output)
    draw = rng.standard_normal
    latent = 0.4 * total * np.arange(systems)[:, None] + output * draw((items, systems, 1))
    latent = latent + item * draw((items, 1, 1)) + rater * draw(raters) + cell * draw((systems, raters))
    latent = latent + draw((items, systems, raters))
    cuts = np.array([0.0]) if points == 2 else 0.7 * np.array([-1.5, -0.5, 0.5, 1.5])
    i, s, r = np.indices(latent.shape)
    frame = pd.DataFrame({"item": i.ravel(), "system": [f"s{k}" for k in s.ravel()]})
    frame["rater"] = [f"r{k}" for k in r.ravel()]
    frame["output"] = [f"{a}-{b}" for a, b in zip(frame["item"], frame["system"], strict=True)]
    return frame.assign(rating=np.searchsorted(total * (cuts + skew), latent.ravel()))


if __name__ == "__main__":
    main()
