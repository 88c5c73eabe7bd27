"""What a comparison of systems holds, and how it reads: a sentence to quote, the systems, the pairs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

from panelist.core.formats import P_VALUE, TEXT, decimals, interval
from panelist.core.result import Pairs as NotePairs
from panelist.core.result import Part, Result, Sentence, Table
from panelist.models.arrays import Floats
from panelist.models.inference.adjust import find_adjustment
from panelist.models.inference.contrasts import Pairs

MODEL_WORDS = {
    "clmm": "ordinal mixed model",
    "clm": "ordinal model",
    "lmm": "linear mixed model",
    "lm": "linear model",
}


@dataclass(frozen=True)
class SystemEstimate:
    """One system: estimated mean with its unadjusted interval, range of ranks, number of ratings."""

    system: str
    estimate: float
    se: float
    low: float
    high: float
    rank_low: int
    rank_high: int
    n: int


@dataclass(frozen=True)
class PairDifference:
    """One pair: ``difference`` is a − b, with its adjusted interval; ``effect`` is it in standard units."""

    a: str
    b: str
    difference: float
    se: float
    df: float
    statistic: float
    low: float
    high: float
    p: float
    p_adjusted: float
    effect: float


def list_pairs(pairs: Pairs, effects: Floats) -> tuple[PairDifference, ...]:
    """Return the pairs one by one; ``effects`` are their differences in standard units."""
    return tuple(
        PairDifference(
            a=a,
            b=b,
            difference=float(pairs.estimate[place]),
            se=float(pairs.se[place]),
            df=float(pairs.df[place]),
            statistic=float(pairs.statistic[place]),
            low=float(pairs.low[place]),
            high=float(pairs.high[place]),
            p=float(pairs.p[place]),
            p_adjusted=float(pairs.p_adjusted[place]),
            effect=float(effects[place]),
        )
        for place, (a, b) in enumerate(zip(pairs.a, pairs.b, strict=True))
    )


@dataclass(frozen=True, kw_only=True)
class CriterionComparison(Result):
    """The systems compared on one criterion; ``systems`` stand from the highest estimate down."""

    criterion: str
    model: str
    link: str | None
    formula: str
    adjust: str
    level: float
    n: int
    n_raters: int
    n_items: int
    units: str
    effect_units: str
    systems: tuple[SystemEstimate, ...]
    pairs: tuple[PairDifference, ...]
    reference: str | None = None
    notes: tuple[str, ...] = ()
    tested_by: str = "t"  # t or z
    why: str = ""  # why this analysis leads, where it is not the one that the ratings suggest
    contradictions: tuple[Any, ...] = ()  # what speaks against the conclusion: contradictions.py
    beside: "CriterionComparison | None" = field(default=None, repr=False, compare=False)
    fit: Any = field(default=None, repr=False, compare=False)

    def title(self) -> str:
        """Return the heading."""
        return f"Systems compared on {self.criterion}"

    def sentence(self) -> str:
        """Return the finding with where it comes from, and first what speaks against it."""
        return f"{self.finding(f' ({describe_source(self)})')}{f' {self.why}' if self.why else ''}"

    def finding(self, source: str = "") -> str:
        """Return the finding in one sentence, two where something contradicts it."""
        said = f"{describe_findings(self)}{source}."
        if not self.contradictions:
            return f"On {self.criterion}, {said}"
        against = "; ".join(one.sentence for one in self.contradictions)
        return f"On {self.criterion}, {against}. By the {MODEL_WORDS[self.model]} alone, {said}"

    def parts(self) -> list[Part]:
        """Return the sentence, the table of systems, the table of pairs, and the notes."""
        return [
            Sentence(self.sentence()),
            self._systems_table(),
            self._pairs_table(),
            *([NotePairs([("note", note) for note in self.notes])] if self.notes else []),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison by the names of the command's JSON."""
        return {
            "criterion": self.criterion,
            "model": self.model,
            "link": self.link,
            "formula": self.formula,
            "adjust": self.adjust,
            "level": self.level,
            "n": self.n,
            "n_raters": self.n_raters,
            "n_items": self.n_items,
            "units": self.units,
            "effect_units": self.effect_units,
            "reference": self.reference,
            "systems": [asdict(system) for system in self.systems],
            "pairs": [asdict(pair) for pair in self.pairs],
            "finding": self.sentence(),
            "df": self.tested_by,
            "why": self.why,
            "contradictions": [asdict(one) for one in self.contradictions],
            "beside": None if self.beside is None else self.beside.to_dict(),
            "notes": list(self.notes),
        }

    def _systems_table(self) -> Table:
        header = ("system", "estimate", f"{self.level * 100:g} % interval", "rank", "ratings")
        rows = [
            (s.system, s.estimate, interval(s.low, s.high), _rank(s.rank_low, s.rank_high), s.n)
            for s in self.systems
        ]
        return Table(
            f"Systems on {self.criterion}",
            header,
            rows,
            {"system": TEXT, "estimate": decimals(2), "rank": TEXT},
            note=f"Estimates are on the {self.units}. Rank 1 is the highest estimate.",
        )

    def _pairs_table(self) -> Table:
        adjusted = find_adjustment(self.adjust).label
        header = ("pair", "difference", "SE", f"{self.level * 100:g} % interval", f"p, {adjusted}", "effect")
        rows = [
            (f"{d.a} − {d.b}", d.difference, d.se, interval(d.low, d.high), d.p_adjusted, d.effect)
            for d in self.pairs
        ]
        formats = {"pair": TEXT, "difference": decimals(2), "SE": decimals(2), "effect": decimals(2)}
        return Table(
            f"Differences on {self.criterion}",
            header,
            rows,
            {**formats, f"p, {adjusted}": P_VALUE},
            note=f"Effects are in {self.effect_units}.",
        )


@dataclass(frozen=True, kw_only=True)
class Comparison(Result):
    """The systems compared on every criterion of a ratings table."""

    source: str
    criteria: tuple[CriterionComparison, ...]
    notes: tuple[str, ...] = ()

    def title(self) -> str:
        """Return the heading."""
        return "Comparison of systems"

    def parts(self) -> list[Part]:
        """Return the parts of each criterion, then what concerns the whole table."""
        whole: list[Part] = [part for criterion in self.criteria for part in criterion.parts()]
        return whole + ([NotePairs([("note", note) for note in self.notes])] if self.notes else [])

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison by the names of the command's JSON."""
        return {
            "source": self.source,
            "criteria": [criterion.to_dict() for criterion in self.criteria],
            "notes": list(self.notes),
        }

    def __getitem__(self, criterion: str) -> CriterionComparison:
        found = {one.criterion: one for one in self.criteria}
        if criterion not in found:
            raise KeyError(f"no criterion {criterion!r}; there are {', '.join(found)}")
        return found[criterion]


def describe_source(comparison: CriterionComparison) -> str:
    """Return the model, the counts and the adjustment in words."""
    counts = f"{comparison.n:,} ratings"
    counts += f" by {_count(comparison.n_raters, 'rater')}" if comparison.n_raters else ""
    counts += f" of {_count(comparison.n_items, 'item')}" if comparison.n_items else ""
    words = [MODEL_WORDS[comparison.model], counts]
    if len(comparison.systems) > 2:
        words.append(find_adjustment(comparison.adjust).label)
    return ", ".join([*words, f"{comparison.level * 100:g} %"])


def describe_findings(comparison: CriterionComparison) -> str:
    """Return who is rated above whom, and who cannot be told apart."""
    unknown = [pair for pair in comparison.pairs if not 0 <= pair.p_adjusted <= 1]
    if unknown:
        return (
            f"{len(unknown)} of {_count(len(comparison.pairs), 'pair')} could not be tested: "
            "their standard errors are unknown"
        )
    alpha = 1 - comparison.level
    above: dict[str, list[str]] = {one.system: [] for one in comparison.systems}
    even: list[tuple[str, str]] = []
    order = {one.system: place for place, one in enumerate(comparison.systems)}
    for pair in comparison.pairs:
        a, b = (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)
        if pair.p_adjusted < alpha:
            above[a].append(b)
        else:
            even.append((a, b))
    for losers in above.values():
        losers.sort(key=order.__getitem__)
    if not any(above.values()):
        names = [one.system for one in comparison.systems]
        if comparison.reference:
            return f"no system can be told apart from {comparison.reference}"
        return f"{_list(names) if len(names) <= 4 else f'the {len(names)} systems'} cannot be told apart"
    clauses = [*_winners(above), *_ties(even, list(order), comparison.reference)]
    return "; ".join(clauses) if len(clauses) <= 4 else _summary(comparison, above)


def _winners(above: dict[str, list[str]]) -> list[str]:
    """Return a clause for each set of losers, with all the systems that are rated above exactly these."""
    by_losers: dict[tuple[str, ...], list[str]] = {}
    for winner, losers in above.items():
        if losers:
            by_losers.setdefault(tuple(losers), []).append(winner)
    return [
        f"{_list(winners)} {'is' if len(winners) == 1 else 'are'} rated above {_list(losers)}"
        for losers, winners in by_losers.items()
    ]


def _ties(even: list[tuple[str, str]], order: list[str], reference: str | None) -> list[str]:
    """Return a clause for each largest set of systems of which no two can be told apart, the best first."""
    tied = {frozenset(pair) for pair in even}
    if reference and tied:
        others = [name for name in order if frozenset((name, reference)) in tied]
        return [f"{_list(others)} cannot be told apart from {reference}"]
    groups: list[list[str]] = []
    for first, second in combinations(order, 2):
        if frozenset((first, second)) not in tied or any({first, second} <= set(group) for group in groups):
            continue
        group = [first, second]
        for name in order:
            if name not in group and all(frozenset((name, one)) in tied for one in group):
                group.append(name)
        groups.append(sorted(group, key=order.index))
    return [f"{_list(group)} cannot be told apart" for group in groups]


def _summary(comparison: CriterionComparison, above: dict[str, list[str]]) -> str:
    """Return how many pairs differ and who stands at the ends: for more systems than a sentence holds."""
    differ, k = sum(map(len, above.values())), len(comparison.systems)
    first, last = comparison.systems[0], comparison.systems[-1]
    return (
        f"{differ} of {len(comparison.pairs)} pairs of systems differ; {first.system} is estimated highest "
        f"(rank {_rank(first.rank_low, first.rank_high)} of {k}) and {last.system} lowest "
        f"(rank {_rank(last.rank_low, last.rank_high)})"
    )


def _rank(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
