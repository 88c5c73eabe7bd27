"""What the outputs look like: how long they are and how they are set, by system, and whether length is rated.

The form of an output cannot be hidden from raters; what differs between systems belongs in the report.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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
SAID = {
    "width": "pixels of width",
    "height": "pixels of height",
    "seconds": "seconds",
    "kHz": "kHz of sample rate",
    "dB": "dB of level",
    "kB": "kB",
}
"""What is measured in files, as it is said."""
DIGITS = dict.fromkeys(SAID, 0) | {"seconds": 1, "kHz": 1, "dB": 1}


def _is_much_longer(low: float, high: float) -> bool:
    return high >= 1.5 * low


UNLIKE: dict[str, Callable[[float, float], bool]] = {
    "width": lambda low, high: high >= 1.1 * low,
    "height": lambda low, high: high >= 1.1 * low,
    "seconds": _is_much_longer,
    "kHz": lambda low, high: high > low,
    "dB": lambda low, high: high - low >= 2,
}
"""When the medians of two systems are so unlike that a reader should know."""
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
    media: Mapping[str, float] = field(default_factory=dict)
    """Of pictures, sound and film: the median of what can be measured in their files."""


@dataclass(frozen=True, eq=False)
class OutputForm(Result):
    """Length and form of the outputs, by system."""

    systems: tuple[SystemForm, ...]
    of_files: bool = False
    """Whether the outputs are pictures, sound or film: words are then those said or written of them."""

    def title(self) -> str:
        """Return the heading."""
        return "What the outputs look like"

    def sentence(self) -> str:
        """Return what differs between systems, in words."""
        said = list(self._compare_media())
        lengths = [] if self.of_files else [one.words for one in self.systems]
        if lengths and min(lengths) > 0 and max(lengths) >= 1.5 * min(lengths):
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
                    f"{100 * shares[high]:.0f} % of those of {self.systems[high].system} have {name}, "
                    f"against {100 * shares[low]:.0f} % of {self.systems[low].system}"
                )
        if not said:
            what = (
                "What can be measured in the files differs"
                if self.of_files
                else "Length and form of the outputs differ"
            )
            return f"{what} little between systems."
        noticed = "see or hear" if self.of_files else "see"
        return (
            f"Raters could {noticed} the form: {listing(said, None)}. A preference for form or length is "
            "told apart from one for content only where a model controls for it."
        )

    def _compare_media(self) -> Iterator[str]:
        """Give what is unlike in the files of two systems, in words."""
        for name, unlike in UNLIKE.items():
            found = {one.system: one.media[name] for one in self.systems if name in one.media}
            if len(found) > 1 and unlike(min(found.values()), max(found.values())):
                low, high = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
                yield (
                    f"files of {high} have {found[high]:,.{DIGITS[name]}f} {SAID[name]}, those of {low} "
                    f"{found[low]:,.{DIGITS[name]}f}"
                )

    def _media_table(self) -> list[Part]:
        shown = [name for name in SAID if any(name in one.media for one in self.systems)]
        if not shown:
            return []
        rows: list[tuple[Cell, ...]] = [
            (one.system, one.n, *(one.media.get(name, float("nan")) for name in shown))
            for one in self.systems
        ]
        header = ("system", "outputs", *(SAID[name] for name in shown))
        formats = {SAID[name]: decimals(DIGITS[name]) for name in shown}
        note = "Medians of what can be read from the files without decoding them." + (
            " dB: level of the whole against the loudest that a file can hold." if "dB" in shown else ""
        )
        return [Table("Files of the outputs", header, rows, formats, note, name="files")]

    def parts(self) -> list[Part]:
        """Return the sentence, the tables of files and of form, and that of length and rating."""
        shown = [name for name in FEATURES if any(one.shares[name] for one in self.systems)]
        header = ("system", "outputs", "median words", "90 % of outputs up to", *shown)
        rows: list[tuple[Cell, ...]] = [
            (one.system, one.n, one.words, one.words_90, *(100 * one.shares[name] for name in shown))
            for one in self.systems
        ]
        whole = decimals(0)
        formats = dict.fromkeys(header[2:], whole)
        note = f"{capitalise(listing(shown, None))}: per cent of outputs that have them." if shown else ""
        parts: list[Part] = [Sentence(self.sentence()), *self._media_table()]
        worded = any(one.words > 0 for one in self.systems)
        title = (
            "Words said in the outputs, or written of them"
            if self.of_files
            else "Length and form of the outputs"
        )
        if worded:
            parts.append(Table(title, header, rows, formats, note, name="form"))
        criteria = list(self.systems[0].correlations)
        if criteria and worded:
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
                            **{f"file_{name}": value for name, value in one.media.items()},
                        }
                        for one in self.systems
                    ]
                }
            )
        )


def describe_form(outputs: Outputs, ratings: pd.DataFrame, systems: tuple[str, ...]) -> OutputForm | None:
    """Return length and form of what is judged in the outputs of these systems; None if nothing is known."""
    frame = outputs.frame[outputs.frame["system"].isin(systems)]
    judged = list_judged_parts(outputs, frame)
    pairs = list(zip(frame["item"].tolist(), frame["system"].tolist(), strict=True))
    files = [fact | {"system": pair[1]} for pair in pairs for fact in outputs.media.list_facts(pair)]
    if not files and not any(words.strip() for parts in judged for _, words in parts):
        return None
    table = pd.DataFrame(files, columns=["system", *SAID])
    media = {
        str(system): {fact: float(part[fact].median()) for fact in SAID if part[fact].notna().any()}
        for system, part in table.groupby("system", observed=True)
    }
    facts = pd.DataFrame({"item": frame["item"].to_numpy(), "system": frame["system"].to_numpy()})
    facts["words"] = [sum(len(words.split()) for _, words in parts) for parts in judged]
    for name, pattern in FEATURES.items():
        facts[name] = [any(pattern.search(text) for text, _ in parts) for parts in judged]
    means = _average(ratings)
    described = (
        replace(_describe(name, facts[facts["system"] == name], means), media=media.get(name, {}))
        for name in systems
    )
    return OutputForm(tuple(described), of_files=bool(outputs.media.kinds("output")))


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
    for criterion, part in means.groupby("criterion", sort=False, observed=True):
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
