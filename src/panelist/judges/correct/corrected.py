"""What a comparison corrected by judges holds, and how it reads: people alone always stand beside it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from panelist.analysis.systems.comparison import CriterionComparison, PairDifference
from panelist.core.display.formats import P_VALUE, TEXT, decimals, interval, number
from panelist.core.display.result import Part, Sentence, Table
from panelist.core.prose import count, inflect, listing
from panelist.judges.correct.regression import Slope
from panelist.judges.correct.variants import ORDINAL, THESE_ITEMS, VARIANTS

NOTHING = 1.005  # a ratio of widths up to this is 1.00: the judge added nothing
METHODS = {
    "regression": "mixed-model regression on the judges' scores, every output predicted",
    "weights": "weighted regression on the judges' scores, every output predicted",
    "strengths": "Bradley-Terry strengths, predicted and debiased; ties are half wins",
}


@dataclass(frozen=True, kw_only=True)
class CorrectedCriterion(CriterionComparison):
    """The systems compared on one criterion from people's ratings of some items and judges' scores of all.

    ``n_items`` are the items that people rated, ``n_judged`` those that the judges scored. ``people`` is the
    same comparison without judges. Judged items never count as ratings, nor judges as raters.
    """

    judges: tuple[str, ...]
    n_judged: int
    method: str
    people: CriterionComparison = field(repr=False, compare=False)
    slopes: tuple[Slope, ...] = ()
    weights: tuple[float, ...] = ()
    strata: tuple[str, ...] = ()
    ranked: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    latent: tuple[PairDifference, ...] = field(default=(), repr=False)
    """Differences by an ordinal model with the judges as covariates, where it was asked for."""

    @property
    def width_ratio(self) -> float:
        """How many times as wide people's intervals of differences are without the judges, on average."""
        ratios = [
            alone.se * _reach(alone) / (pair.se * _reach(pair))
            for pair, alone in zip(self.pairs, self.people.pairs, strict=True)
            if pair.se > 0 and isfinite(alone.se)
        ]
        return float(np.mean(ratios)) if ratios else float("nan")

    def sentence(self) -> str:
        """Return the finding with its source, then what the judges gained."""
        people = f" by {count(self.n_raters, 'rater')}" if self.n_raters else ", raters unknown"
        source = (
            f" ({count(self.n_items, 'item')} rated{people}, {self.n_judged:,} scored by "
            f"{listing(self.judges)}; {METHODS[self.method]}; {self.confidence * 100:g} %"
            f"{'; about these items only' if THESE_ITEMS in self.variants else ''})"
        )
        return f"{self.finding(source)} {self.tell_gain()}"

    def tell_gain(self) -> str:
        """Return in one sentence what the judges added to people's ratings."""
        ratio = self.width_ratio
        name = "The judge" if len(self.judges) == 1 else "The judges"
        if not isfinite(ratio):
            return f"What {name.lower()} added cannot be said."
        if ratio < 2 - NOTHING:
            return (
                f"{name} added nothing, and the slopes cost a little width (width ratio {number(ratio, 2)}): "
                "people alone say as much."
            )
        if ratio <= NOTHING:
            said = "the estimates are people's" if self._equals_people else "people alone say as much"
            return f"{name} added nothing (width ratio {number(ratio, 2)}); {said}."
        items = "which of these items were rated" if THESE_ITEMS in self.variants else "items"
        reach = f"raters and {items}"
        if self.n_raters < 2:
            who = "of whom there is one" if self.n_raters else "who are unknown"
            reach = f"{items}, not for raters, {who}"
        return (
            f"Intervals allow for {reach}; without the {inflect(len(self.judges), 'judge')} they are "
            f"{number(ratio, 2)} times as wide."
        )

    @property
    def _equals_people(self) -> bool:
        """Whether every difference, as it is written, is that of people alone."""
        pairs = zip(self.pairs, self.people.pairs, strict=True)
        return all(number(one.difference, 2) == number(other.difference, 2) for one, other in pairs)

    def parts(self) -> list[Part]:
        """Return the parts of any comparison, people alone beside the pairs, and the slopes."""
        first, *rest = super().parts()
        shown = [*self._show_slopes(), *self._show_latent(), *self._show_variants()]
        return [first, *rest[:1], self._beside_people(), *shown, *rest[1:]]

    def _show_variants(self) -> list[Part]:
        said = [VARIANTS[word] for word in self.variants if word != ORDINAL]
        return [Sentence(f"Variants of the model: {listing(said, None)}.")] if said else []

    def _show_latent(self) -> list[Part]:
        if not self.latent:
            return []
        rows = [
            (f"{one.a} − {one.b}", one.difference, interval(one.low, one.high), one.p_adjusted)
            for one in self.latent
        ]
        return [
            Table(
                "A check by an ordinal model, the judges' scores held fixed",
                ("pair", "difference", "interval", "p"),
                rows,
                {"pair": TEXT, "difference": decimals(2), "p": P_VALUE},
                note="Probit, latent scale, at each system's mean score. The direction should agree; the "
                "numbers have another unit than those above.",
                name="latent",
            )
        ]

    def _beside_people(self) -> Table:
        alone = {one.system: one for one in self.people.systems}
        rows = [
            (
                f"{pair.a} − {pair.b}",
                pair.difference,
                interval(pair.low, pair.high),
                other.difference,
                interval(other.low, other.high),
                other.se * _reach(other) / (pair.se * _reach(pair)) if pair.se > 0 else None,
            )
            for pair, other in zip(self.pairs, self.people.pairs, strict=True)
        ]
        means = "; ".join(f"{one.system} {number(alone[one.system].estimate, 2)}" for one in self.systems)
        return Table(
            f"With the {inflect(len(self.judges), 'judge')} and by people alone, on {self.criterion}",
            ("pair", "corrected", "interval", "people alone", "interval", "width ratio"),
            rows,
            {"pair": TEXT, "corrected": decimals(2), "people alone": decimals(2), "width ratio": decimals(2)},
            note=f"People alone: {means}. Width ratio: how many times as wide people's interval is.",
            name="people",
        )

    def _show_slopes(self) -> list[Part]:
        if self.weights:
            said = [f"{name} {number(w, 2)}" for name, w in zip(self.judges, self.weights, strict=True)]
            return [Sentence(f"Weight of the judges (0: none): {listing(said, None)}.")]
        rows = [(one.judge, one.term, one.estimate, one.se) for one in self.slopes]
        note = "Points of people's scale for a unit of the judge's score"
        note += ", in midranks where it has another scale." if self.ranked else "."
        return (
            [
                Table(
                    "Slopes of the judges' scores",
                    ("judge", "slope", "estimate", "SE"),
                    rows,
                    note=note,
                    name="slopes",
                )
            ]
            if rows
            else []
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison by the names of the command's JSON, with what belongs to the judges."""
        alone = self.people
        return {
            **super().to_dict(),
            "judges": list(self.judges),
            "n_judged": self.n_judged,
            "method": self.method,
            "width_ratio": self.width_ratio,
            "slopes": [asdict(one) for one in self.slopes],
            "weights": list(self.weights),
            "strata": list(self.strata),
            "variants": list(self.variants),
            "latent": [asdict(one) for one in self.latent],
            "people": {
                "systems": [asdict(one) for one in alone.systems],
                "pairs": alone.write_pairs(),
                "formula": alone.formula,
            },
        }


def _reach(pair: Any) -> float:
    """Return the multiplier of a pair's standard error in its own unadjusted interval."""
    from panelist.models.inference.adjust import two_sided_quantile

    return float(two_sided_quantile(0.95, np.array([pair.df]))[0])
