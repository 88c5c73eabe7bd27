"""How often exact repeats of best-worst sets and rankings are said to differ, by the joint model of choices.

``python -m bench.repeats_of_sets --sims 150`` draws an original and a repeat with the same strengths, the
same items and other raters, and counts how often the test of system × study rejects at .05.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from panelist.core.errors import PanelistError
from panelist.core.tables.ratings import read_ratings
from panelist.numerics.arrays import Floats
from panelist.reproduction.measures.joint_choices import fit_choices_jointly
from panelist.reproduction.sources import Given

SYSTEMS = ("A", "B", "C", "D")
STRENGTHS = np.array([0.0, 0.3, 0.6, 0.9])


@dataclass(frozen=True)
class Repeated:
    """A design: raters of each study, items, trials of a rater, how answers are given, spreads of tastes."""

    raters: int
    items: int
    trials: int
    ranked: bool
    of_raters: float
    of_items: float

    def __str__(self) -> str:
        kind = "rankings" if self.ranked else "best-worst"
        sizes = f"{self.raters} raters × {self.trials} {kind} of {self.items} items"
        return f"{sizes}; {self.of_raters}, {self.of_items}"


DESIGNS = tuple(
    Repeated(raters, items, trials, ranked, sd, sd)
    for ranked in (False, True)
    for raters, items, trials in ((5, 20, 20), (12, 15, 15))
    for sd in (0.0, 0.5)
)


def draw(rng: np.random.Generator, design: Repeated, of_items: Floats) -> Given:
    """Return one study: sets of three outputs, each item by as many raters as follows."""
    taste = rng.normal(0, design.of_raters, (design.raters, len(SYSTEMS)))
    rows = []
    for rater in range(design.raters):
        for trial, item in enumerate(rng.permutation(design.items)[: design.trials].tolist()):
            shown = rng.choice(len(SYSTEMS), 3, replace=False)
            utility = STRENGTHS[shown] + taste[rater, shown] + of_items[item, shown] + rng.gumbel(size=3)
            place = np.argsort(np.argsort(-utility))
            for system, at in zip(shown.tolist(), place.tolist(), strict=True):
                said = str(at + 1) if design.ranked else ("best", "", "worst")[at]
                rows.append((f"r{rater}", f"i{item}", f"{rater}-{trial}", SYSTEMS[system], said))
    frame = pd.DataFrame(rows, columns=["rater", "item", "trial", "system", "choice"]).assign(criterion="c")
    return Given("c", read_ratings(frame), choices=True)


def count_false(design: Repeated, sims: int, seed: int = 1) -> tuple[int, int]:
    """Return how many exact repeats differ at .05, and how many have no joint model."""
    rng, found, failed = np.random.default_rng(seed), 0, 0
    for _ in range(sims):
        of_items = rng.normal(0, design.of_items, (design.items, len(SYSTEMS)))
        studies = [draw(rng, design, of_items) for _ in range(2)]
        try:
            found += fit_choices_jointly(studies, ("first", "second"), SYSTEMS).p < 0.05
        except PanelistError:
            failed += 1
    return found, failed


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sims", type=int, default=150)
    options = parser.parse_args(arguments)
    print("| two studies; SD of preferences | said to differ | no model |\n| :--- | ---: | ---: |")
    for design in DESIGNS:
        found, failed = count_false(design, options.sims)
        print(f"| {design} | {found / max(options.sims - failed, 1):.3f} | {failed} |", flush=True)


if __name__ == "__main__":
    main()
