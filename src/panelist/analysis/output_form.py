"""What the outputs look like: how long they are and how they are set, by system, and whether length is rated.

The form of an output cannot be hidden from raters; what differs between systems belongs in the report.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.display.formats import Cell, decimals
from panelist.core.display.result import Part, Result, Sentence, Table, json_ready
from panelist.core.prose import capitalise, listing
from panelist.study.outputs import Outputs
from panelist.study.reading.output_features import FEATURES, list_judged_parts

LARGE_GAP = 0.3
"""A difference in shares between two systems that a reader should know about."""
FEWEST = 5  # outputs from which on a correlation says anything


@dataclass(frozen=True)
class SystemForm:
    """The outputs of one system: their words, and the share with each mark of form."""

    system: str
    n: int
    words: float
    words_90: float
    shares: Mapping[str, float]
    correlations: Mapping[str, float]
    """Spearman's rank correlation of an output's mean rating with its words, by criterion."""


@dataclass(frozen=True, eq=False)
class OutputForm(Result):
    """Length and form of the outputs, by system."""

    systems: tuple[SystemForm, ...]

    def title(self) -> str:
        """Return the heading."""
        return "What the outputs look like"

    def sentence(self) -> str:
        """Return what differs between systems, in words."""
        said = []
        lengths = [one.words for one in self.systems]
        if min(lengths) > 0 and max(lengths) >= 1.5 * min(lengths):
            low, high = np.argmin(lengths), np.argmax(lengths)
            said.append(
                f"outputs of {self.systems[high].system} are {lengths[high] / lengths[low]:.1f} times as "
                f"long as those of {self.systems[low].system}"
            )
        for name in FEATURES:
            shares = [one.shares[name] for one in self.systems]
            if max(shares) - min(shares) >= LARGE_GAP:
                low, high = np.argmin(shares), np.argmax(shares)
                said.append(
                    f"{shares[high]:.0%} of those of {self.systems[high].system} have {name}, against "
                    f"{shares[low]:.0%} of {self.systems[low].system}".replace("%", " %")
                )
        if not said:
            return "Length and form of the outputs differ little between systems."
        return (
            f"Raters could see the form: {listing(said, None)}. A preference for form or length is told "
            "apart from one for content only where a model controls for it."
        )

    def parts(self) -> list[Part]:
        """Return the sentence, the table of form, and that of length and rating."""
        shown = [name for name in FEATURES if any(one.shares[name] for one in self.systems)]
        header = ("system", "outputs", "median words", "90 % of outputs up to", *shown)
        rows: list[tuple[Cell, ...]] = [
            (one.system, one.n, one.words, one.words_90, *(100 * one.shares[name] for name in shown))
            for one in self.systems
        ]
        whole = decimals(0)
        formats = dict.fromkeys(header[2:], whole)
        note = f"{capitalise(listing(shown, None))}: per cent of outputs that have them." if shown else ""
        parts: list[Part] = [
            Sentence(self.sentence()),
            Table("Length and form of the outputs", header, rows, formats, note, name="form"),
        ]
        criteria = list(self.systems[0].correlations)
        if criteria:
            rows = [(one.system, *(one.correlations[name] for name in criteria)) for one in self.systems]
            parts.append(
                Table(
                    "Rating and length",
                    ("system", *criteria),
                    rows,
                    dict.fromkeys(criteria, decimals(2)),
                    "Rank correlation (Spearman) of an output's mean rating with its number of words.",
                    names=tuple(criteria),
                    name="length",
                )
            )
        return parts

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by system."""
        return dict(
            json_ready(
                {
                    "systems": [
                        {
                            "system": one.system,
                            "n": one.n,
                            "words": one.words,
                            "words_90": one.words_90,
                            **{f"share_{name}": share for name, share in one.shares.items()},
                            "correlations": dict(one.correlations),
                        }
                        for one in self.systems
                    ]
                }
            )
        )


def describe_form(outputs: Outputs, ratings: pd.DataFrame, systems: tuple[str, ...]) -> OutputForm | None:
    """Return length and form of what is judged in the outputs of these systems; None where it is no text."""
    frame = outputs.frame[outputs.frame["system"].isin(systems)]
    judged = list_judged_parts(outputs, frame)
    if not any(words.strip() for parts in judged for _, words in parts):
        return None
    facts = pd.DataFrame({"item": frame["item"].to_numpy(), "system": frame["system"].to_numpy()})
    facts["words"] = [sum(len(words.split()) for _, words in parts) for parts in judged]
    for name, pattern in FEATURES.items():
        facts[name] = [any(pattern.search(text) for text, _ in parts) for parts in judged]
    means = _average(ratings)
    return OutputForm(tuple(_describe(name, facts[facts["system"] == name], means) for name in systems))


def _average(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the mean rating of each output on each criterion."""
    if "rating" not in ratings or not {"item", "system"} <= set(ratings):
        return pd.DataFrame(columns=["criterion", "item", "system", "rating"])
    rated = ratings[ratings["rating"].notna()]
    named = rated if "criterion" in rated else rated.assign(criterion="rating")
    means = named.groupby(["criterion", "item", "system"], sort=False, observed=True)["rating"].mean()
    return means.reset_index()


def _describe(system: str, facts: pd.DataFrame, means: pd.DataFrame) -> SystemForm:
    correlations = {}
    for criterion, part in means.groupby("criterion", sort=False):
        both = part[part["system"] == system].merge(facts[["item", "words"]], on="item")
        ranks = both[["rating", "words"]].rank().to_numpy()
        varied = len(ranks) >= FEWEST and bool((np.ptp(ranks, axis=0) > 0).all())
        correlations[str(criterion)] = float(np.corrcoef(ranks.T)[0, 1]) if varied else float("nan")
    words = facts["words"].to_numpy(dtype=float)
    return SystemForm(
        system,
        len(facts),
        float(np.median(words)) if len(words) else float("nan"),
        float(np.quantile(words, 0.9)) if len(words) else float("nan"),
        {name: float(facts[name].mean()) if len(facts) else 0.0 for name in FEATURES},
        correlations,
    )
