"""What a comparison of systems holds, and how it reads: a sentence to quote, the systems, the pairs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from math import nan
from typing import Any

from panelist.analysis.systems.comparison_tables import (
    describe_adjustment,
    find_family,
    make_pairs_matrix,
    make_pairs_table,
    make_systems_table,
    name_letters,
    name_model,
    say_rank,
    tell_prior,
)
from panelist.analysis.systems.letters import WIDEST
from panelist.analysis.systems.margins import Equivalence, make_table, tell_equivalence
from panelist.analysis.systems.ranks import Better
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table, pick
from panelist.core.prose import count, inflect, listing
from panelist.models.inference.contrasts import PairContrasts
from panelist.models.results.fitted import MODEL_WORDS
from panelist.numerics.arrays import Floats

MOST_COMMAS = 10  # in a sentence that names systems; beyond them it counts pairs


@dataclass(frozen=True)
class SystemEstimate:
    """One system: estimated mean with its unadjusted interval, range of ranks, number of ratings.

    ``mean`` is that of its ratings, nan where they are words. Ranks are among the systems of one ``group``:
    those that common items or raters link.
    """

    system: str
    estimate: float
    se: float
    low: float
    high: float
    rank_low: int
    rank_high: int
    n: int
    mean: float = nan
    group: int = 1
    prior: bool = False  # whether only a prior keeps its distance from the others finite


@dataclass(frozen=True)
class PairDifference:
    """One pair: ``difference`` is a − b, with its adjusted interval; ``effect`` is it in standard units.

    ``reason`` says why a pair has no difference, where nothing links its systems.
    """

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
    reason: str = ""
    prior: bool = False  # whether only a prior keeps it finite: it has no test


def list_pairs(
    pairs: PairContrasts, effects: Floats, reasons: Mapping[tuple[str, str], str] | None = None
) -> tuple[PairDifference, ...]:
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
            reason=(reasons or {}).get((a, b), ""),
        )
        for place, (a, b) in enumerate(zip(pairs.a, pairs.b, strict=True))
    )


@dataclass(frozen=True, kw_only=True)
class CriterionComparison(Result):
    """The systems compared on one criterion; ``systems`` are sorted from the best estimate down.

    ``better`` says which end of the scale is better; ``across_criteria`` how p-values allow for the
    number of criteria; ``equivalence`` has a test for each pair where a margin was given.
    """

    criterion: str
    model: str
    link: str | None
    formula: str
    adjust: str
    confidence: float
    n: int
    n_raters: int
    n_items: int
    units: str
    effect_units: str
    systems: tuple[SystemEstimate, ...]
    pairs: tuple[PairDifference, ...]
    reference: str | None = None
    better: Better = "higher"
    across_criteria: str = "none"
    equivalence: tuple[Equivalence, ...] = ()
    notes: tuple[str, ...] = ()
    by: str | None = None
    stratum: str | None = None
    """The column and the value that these ratings have in common, where strata were analysed one by one."""
    tested_by: str = "t"  # t or z
    prior: str | None = None
    prior_phrase: str = ""
    """The prior as it was written, and how sentences name it; nothing for the likelihood alone."""
    why: str = ""  # why this analysis leads, where it is not the one that the ratings suggest
    look: str = ""  # at which look at an unfinished study it was made, in words
    remedy: Any = None  # tests of spreads and thresholds by system, where they were allowed for
    contradictions: tuple[Any, ...] = ()  # what contradicts the conclusion
    beside: "CriterionComparison | None" = field(default=None, repr=False, compare=False)
    fit: Any = field(default=None, repr=False, compare=False)

    def title(self) -> str:
        """Return the heading."""
        return f"Systems compared on {self.criterion}"

    def sentence(self) -> str:
        """Return the finding with its source, and first what contradicts it."""
        said = (self.finding(f" ({describe_source(self)})"), self.why, self.look)
        return " ".join(text for text in said if text)

    def finding(self, source: str = "") -> str:
        """Return the finding in one sentence, two where something contradicts it."""
        said = f"{self.describe()}{source}."
        if not self.contradictions:
            return f"On {self.criterion}, {said}"
        against = "; ".join(one.sentence for one in self.contradictions)
        return f"On {self.criterion}, {against}. By the {MODEL_WORDS[self.model]} alone, {said}"

    @property
    def is_above(self) -> str:
        """What the better of two systems is, in words."""
        return "rated above" if self.better == "higher" else "rated better (lower) than"

    def describe(self) -> str:
        """Return who is rated above whom, without the model and the counts."""
        return describe_findings(self)

    def parts(self) -> list[Part]:
        """Return the sentences, the table of systems, that of pairs, equivalence, and the notes."""
        equal: list[Part] = []
        if self.equivalence:
            alpha = round(1 - self.confidence, 12)
            equal.append(Sentence(tell_equivalence(self.equivalence, alpha)))
            equal.append(make_table(self.equivalence, self.criterion, alpha, tell_prior(self)))
        return [
            Sentence(self.sentence()),
            self._systems_table(),
            *self._show_pairs(),
            *equal,
            *(self.remedy.parts() if self.remedy is not None else []),
            *self._show_chances(),
            *self._show_beside(),
            *([NamedValues([("note", note) for note in self.notes])] if self.notes else []),
        ]

    def _show_chances(self) -> list[Part]:
        """Return points and P(higher), where a latent difference alone does not order the systems."""
        if find_family(self) in (None, "cumulative") and (
            not self.remedy or self.remedy.choice == "location"
        ):
            return []
        from panelist.analysis.systems.effects import measure_effects  # imported late: it uses comparisons

        return [measure_effects(self).show_chances()]

    def _show_beside(self) -> list[Part]:
        """Return the analysis that does not lead, pair by pair, where there is one."""
        if self.beside is None:
            return []
        from panelist.analysis.sensitivity.conclusions import set_beside  # imported late: it uses comparisons

        words = MODEL_WORDS[self.beside.model]
        title = f"The {words} beside it, on {self.criterion}"
        note = f"{self.model}: {self.units}; {self.beside.model}: {self.beside.units}; not trusted here"
        return [set_beside(title, (self.model, self), (self.beside.model, self.beside), note)]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison by the names of the command's JSON."""
        return {
            **pick(
                self,
                "criterion model link formula adjust confidence n n_raters n_items units effect_units "
                "reference better across_criteria prior",
            ),
            "systems": [asdict(system) for system in self.systems],
            "pairs": self.write_pairs(),
            "finding": self.sentence(),
            "df": self.tested_by,
            "family": find_family(self),
            "why": self.why,
            "look": self.look,
            "allowed": None if self.remedy is None else self.remedy.to_dict(),
            "contradictions": [asdict(one) for one in self.contradictions],
            "beside": None if self.beside is None else self.beside.to_dict(),
            "by": self.by,
            "stratum": self.stratum,
            "notes": list(self.notes),
        }

    def write_pairs(self) -> list[dict[str, Any]]:
        """Return the pairs as names and values, each with its test of equivalence where there is one."""
        rows = [asdict(pair) for pair in self.pairs]
        for row, one in zip(rows, self.equivalence, strict=False):
            row["equivalence"] = one.to_dict()
        return rows

    def _systems_table(self) -> Table:
        return make_systems_table(self)

    def _show_pairs(self) -> list[Part]:
        """Return the table of pairs; with many systems a matrix, or where to find them."""
        if not name_letters(self):
            return [make_pairs_table(self, describe_adjustment(self))]
        if len(self.systems) <= WIDEST:
            return [make_pairs_matrix(self)]
        return [Sentence(f"The {len(self.pairs):,} pairs are in the JSON of this command (--json).")]


@dataclass(frozen=True, kw_only=True)
class Comparison(Result):
    """The systems compared on every criterion of a ratings table."""

    source: str
    criteria: tuple[CriterionComparison, ...]
    notes: tuple[str, ...] = ()
    by: str | None = None

    def title(self) -> str:
        """Return the heading."""
        return "Comparison of systems"

    def parts(self) -> list[Part]:
        """Return the parts of each criterion, then what concerns the whole table."""
        whole: list[Part] = [part for criterion in self.criteria for part in criterion.parts()]
        return whole + ([NamedValues([("note", note) for note in self.notes])] if self.notes else [])

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison by the names of the command's JSON."""
        return {
            "source": self.source,
            "by": self.by,
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
    counts += f" by {count(comparison.n_raters, 'rater')}" if comparison.n_raters else ""
    counts += f" of {count(comparison.n_items, 'item')}" if comparison.n_items else ""
    words = [name_model(comparison), counts]
    if len(comparison.systems) > 2 or comparison.across_criteria != "none":
        words.append(describe_adjustment(comparison))
    return ", ".join([*words, f"{comparison.confidence * 100:g} %"])


def describe_findings(comparison: CriterionComparison) -> str:
    """Return who is rated above whom, and who cannot be told apart."""
    apart = _tell_apart(comparison)
    if apart:
        linked = [pair for pair in comparison.pairs if not pair.reason]
        return f"{describe_findings(replace(comparison, pairs=tuple(linked)))}; {apart}"
    if any(pair.prior for pair in comparison.pairs):
        return _tell_beyond(comparison)
    unknown = [pair for pair in comparison.pairs if not 0 <= pair.p_adjusted <= 1]
    if unknown:
        return (
            f"{len(unknown)} of {count(len(comparison.pairs), 'pair')} could not be tested: "
            "their standard errors are unknown"
        )
    alpha = 1 - comparison.confidence
    above: dict[str, list[str]] = {one.system: [] for one in comparison.systems}
    even: list[tuple[str, str]] = []
    order = {one.system: place for place, one in enumerate(comparison.systems)}
    sign = 1 if comparison.better == "higher" else -1
    for pair in comparison.pairs:
        a, b = (pair.a, pair.b) if sign * pair.difference > 0 else (pair.b, pair.a)
        if pair.p_adjusted < alpha:
            above[a].append(b)
        else:
            even.append((a, b))
    for losers in above.values():
        losers.sort(key=order.__getitem__)
    if not any(above.values()):
        if len({one.group for one in comparison.systems}) > 1:
            return "; ".join(_ties(even, list(order), comparison.reference))
        names = [one.system for one in comparison.systems]
        if comparison.reference:
            return f"no system can be told apart from {comparison.reference}"
        named = listing(names) if len(names) <= 4 else f"the {len(names)} systems"
        return f"{named} cannot be told apart"
    clauses = [*_winners(above, comparison.is_above), *_ties(even, list(order), comparison.reference)]
    short = len(clauses) <= 4 and sum(clause.count(",") for clause in clauses) <= MOST_COMMAS
    return "; ".join(clauses) if short else _summary(comparison, above)


def _tell_beyond(comparison: CriterionComparison) -> str:
    """Return the findings of the pairs that were tested, and who is ahead by what only the prior limits."""
    sign = 1 if comparison.better == "higher" else -1
    ahead: dict[str, list[str]] = {}
    for pair in comparison.pairs:
        if pair.prior:
            a, b = (pair.a, pair.b) if sign * pair.difference > 0 else (pair.b, pair.a)
            ahead.setdefault(a, []).append(b)
    said = [f"{name} is ahead of {listing(others, None)}" for name, others in ahead.items()]
    told = f"{'; '.join(said)} by a distance that only the prior limits"
    rest = tuple(pair for pair in comparison.pairs if not pair.prior)
    names = {name for pair in rest for name in (pair.a, pair.b)}
    left = replace(comparison, pairs=rest, systems=tuple(s for s in comparison.systems if s.system in names))
    return f"{describe_findings(left)}; {told}" if rest else told


def _tell_apart(comparison: CriterionComparison) -> str:
    """Return which systems nothing links; empty where all can be compared."""
    if not any(pair.reason for pair in comparison.pairs):
        return ""
    groups: dict[int, list[str]] = {}
    for one in comparison.systems:
        groups.setdefault(one.group, []).append(one.system)
    named = "; ".join(
        listing(group) if len(group) <= 4 else f"{len(group)} systems" for group in groups.values()
    )
    return f"systems of different groups ({named}) cannot be compared, because nothing links them"


def _winners(above: dict[str, list[str]], words: str) -> list[str]:
    """Return a clause for each set of losers, with all the systems that are rated above exactly these."""
    by_losers: dict[tuple[str, ...], list[str]] = {}
    for winner, losers in above.items():
        if losers:
            by_losers.setdefault(tuple(losers), []).append(winner)
    return [
        f"{listing(winners, None)} {inflect(len(winners), 'is', 'are')} {words} {listing(losers, None)}"
        for losers, winners in by_losers.items()
    ]


def _ties(even: list[tuple[str, str]], order: list[str], reference: str | None) -> list[str]:
    """Return a clause for each largest set of systems of which no two can be told apart, the best first."""
    tied = {frozenset(pair) for pair in even}
    if reference and tied:
        others = [name for name in order if frozenset((name, reference)) in tied]
        return [f"{listing(others, None)} cannot be told apart from {reference}"]
    groups: list[list[str]] = []
    for first, second in combinations(order, 2):
        if frozenset((first, second)) not in tied or any({first, second} <= set(group) for group in groups):
            continue
        group = [first, second]
        for name in order:
            if name not in group and all(frozenset((name, one)) in tied for one in group):
                group.append(name)
        groups.append(sorted(group, key=order.index))
    return [f"{listing(group, None)} cannot be told apart" for group in groups]


def _summary(comparison: CriterionComparison, above: dict[str, list[str]]) -> str:
    """Return how many pairs differ and which systems are at the ends, where there are many systems."""
    differ, k = sum(map(len, above.values())), len(comparison.systems)
    first, last = comparison.systems[0], comparison.systems[-1]
    ends = ("highest", "lowest") if comparison.better == "higher" else ("best (lowest)", "worst (highest)")
    return (
        f"{differ} of {len(comparison.pairs)} pairs of systems differ; {first.system} is estimated {ends[0]} "
        f"(rank {say_rank(first.rank_low, first.rank_high)} of {k}) and {last.system} {ends[1]} "
        f"(rank {say_rank(last.rank_low, last.rank_high)})"
    )
