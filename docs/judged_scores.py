"""The simulated judge of the template ``judged``: ``python -m docs.judged_scores FOLDER`` writes judges.csv.

Its scores are the quality that simulated raters see (design/simulate.py, seed 1), by very many of them, with
noise, on the points of the scale. It favours the first system a little and is silent now and then.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from panelist.core.seeds import stream
from panelist.design.simulate import SimulatedRows, draw_latent, find_effects
from panelist.study.reading.load import load_study
from panelist.study.start import list_templates

SEED, NOISE, FAVOUR, SILENT = 1, 0.5, 0.4, 0.02


def main(folder: str) -> None:
    """Write the judges table into a folder."""
    study = load_study(Path(str(list_templates()["judged"])))
    # All items, those that people rate first: simulated raters see these under the same numbers.
    names = [*study.items, *(name for name in study.outputs.items if name not in set(study.items))]
    N, S = len(names), len(study.systems)
    item, system = np.repeat(np.arange(N), S), np.tile(np.arange(S), N)
    nobody = np.full(len(item), -1)
    none = np.full(len(item), "", dtype=object)
    rows = SimulatedRows(pd.DataFrame(index=range(len(item))), nobody, item, system, item, none, nobody > 0)
    effects, frames = find_effects(study, SEED, None), []
    for criterion in study.criteria:
        rng = stream(SEED, "judged", criterion.name)
        latent = draw_latent(rows, criterion.name, effects[criterion.name], SEED)
        latent += rng.normal(0, NOISE, len(item)) + FAVOUR * (system == 0)
        score = np.clip(np.round(3 + latent), 1, 5).astype(int).astype(str)
        score[rng.random(len(item)) < SILENT] = ""
        about = {
            "judge": "sim-judge",
            "item": np.array(names)[item],
            "system": np.array(study.systems)[system],
        }
        said = {"criterion": criterion.name, "rating": score, "model": "simulated", "date": "2026-11-01"}
        frames.append(pd.DataFrame(about | said))
    pd.concat(frames).to_csv(Path(folder) / "judges.csv", index=False)


if __name__ == "__main__":
    main(sys.argv[1])
