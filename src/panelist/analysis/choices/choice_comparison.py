"""What a comparison by choices holds, and how it reads; in the same form as any comparison of systems."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any

from panelist.analysis.choices.consistency import RaterConsistency, tell_consistency
from panelist.analysis.choices.item_anova import OneWay
from panelist.analysis.choices.mixed_tables import (
    average_wins,
    list_mixed,
    list_mixed_parts,
    name_model,
    name_random,
    tabulate_beside,
    tell_wins,
)
from panelist.analysis.choices.models.choice_model import Strengths
from panelist.analysis.choices.position import PositionShare
from panelist.analysis.choices.scores import Scores
from panelist.analysis.choices.trials import describe_counts
from panelist.analysis.choices.wins import WinTable
from panelist.analysis.systems.comparison import (
    Comparison,
    CriterionComparison,
    PairDifference,
    describe_findings,
)
from panelist.analysis.systems.comparison_tables import WIDEST_LABEL
from panelist.core.display.formats import P_VALUE, TEXT, Cell, decimals, interval
from panelist.core.display.result import NamedValues as NotePairs
from panelist.core.display.result import Part, Sentence, Table
from panelist.core.prose import capitalise, count, listing
from panelist.models.inference.adjust import find_adjustment

MODEL_WORDS = {
    "bradley-terry": "Bradley-Terry model",
    "plackett-luce": "Plackett-Luce model",
    "mixed": "mixed model of choices",
}
KIND_WORDS = {
    "pairs": ("pair",),
    "choose-one": ("choice of one", "choices of one"),
    "best-worst": ("best-worst set",),
    "ranking": ("ranking",),
}
CLUSTER_WORDS = {
    "rater": "raters as clusters",
    "item": "items as clusters",
    "both": "raters and items as clusters",
    "none": "comparisons taken as independent",
}
MOST_TOLD = 2  # pairs that one side won throughout, named in the sentence
WIDEST_TABLE = 12  # systems up to which a table of wins is readable
MOST_PAIRED = 20  # systems up to which all pairs are shown, and not the neighbours in the ranking alone


@dataclass(frozen=True, kw_only=True)
class ChoiceCriterion(CriterionComparison):
    """The systems compared by choices on one criterion.

    Estimates are log-strengths that sum to 0: a difference d means odds of exp(d) to 1 to be preferred, and
    a pair's ``effect`` is the probability to be preferred, 1 / (1 + exp(−d)). ``counts`` says how the trials
    ended; ``scores`` are the best-worst scores, ``anova`` the analysis of variance of the item scores (None
    with its reason in the notes), ``wins`` the table of wins, ``first`` the share of wins of the first of
    two, ``plain`` the comparison without control for style where this is the one with it.
    """

    kind: str
    cluster: str
    counts: dict[str, int]
    strengths: Strengths = field(repr=False, compare=False)
    scores: Scores = field(repr=False, compare=False)
    wins: WinTable = field(repr=False, compare=False)
    lists_items: bool = True
    anova: OneWay | None = field(default=None, repr=False, compare=False)
    first: PositionShare | None = None
    consistency: tuple[RaterConsistency, ...] = field(default=(), repr=False, compare=False)
    plain: ChoiceCriterion | None = field(default=None, repr=False, compare=False)

    @property
    def is_above(self) -> str:
        """What the better of two systems is, in words."""
        return "preferred to"

    @property
    def model_words(self) -> str:
        """The model in words."""
        mixed = self.strengths.mixed
        return MODEL_WORDS[self.model] if mixed is None else name_model(mixed)

    @property
    def dependence(self) -> str:
        """How the model allows for answers that are alike, in words."""
        mixed = self.strengths.mixed
        return CLUSTER_WORDS[self.cluster] if mixed is None else name_random(mixed)

    def sentence(self) -> str:
        """Return the finding in one sentence, with where it comes from."""
        words = [self.model_words, count(self.n, *KIND_WORDS[self.kind])]
        words[-1] += f" by {count(self.n_raters, 'rater')}" if self.n_raters else ""
        words[-1] += f" of {count(self.n_items, 'item')}" if self.n_items else ""
        words.append(self.dependence)
        if len(self.systems) > 2:
            words.append(find_adjustment(self.adjust).label)
        words.append(f"{self.confidence * 100:g} %")
        said = f"On {self.criterion}, {self.describe()} ({', '.join(words)})."
        return f"{said} {self.look}".rstrip()

    def describe(self) -> str:
        """Return who is preferred to whom, what was one-sided, and for whom alone it holds."""
        sure = self.strengths.one_sided
        told = [one.sentence() for one in sure[:MOST_TOLD]]
        if len(sure) > MOST_TOLD:
            more = count(len(sure) - MOST_TOLD, "more pair")
            told.append(f"in {more} one system lost no comparison")
        told += [f"this holds for {self._these(side)} alone" for side in self._fixed()]
        if unshown := self._find_unshown():
            kind = "clustered" if self.strengths.mixed is not None else "mixed"
            named = listing([f"{a} over {b}" for a, b in unshown], MOST_TOLD)
            told.append(f"the {kind} model beside it does not show {named}")
        return "; ".join([*self._describe_styled(), *told])

    def _describe_styled(self) -> list[str]:
        """Return who is preferred to whom; where style is controlled for, also who is without that."""
        found = describe_findings(self)
        if self.plain is None or self.strengths.mixed is None:
            return [found]
        bare, style = describe_findings(self.plain), listing(self.strengths.mixed.style)
        if bare == found:
            return [f"with and without control for {style}, {found}"]
        return [f"at equal {style}, {found}", f"without control for {style}, {bare}"]

    def _find_unshown(self) -> list[tuple[str, str]]:
        """Return the preferences, better system first, that the model beside this one does not show."""
        if not isinstance(self.beside, ChoiceCriterion) or self.plain is not None:
            return []  # the other one does not control for style
        alpha = 1 - self.confidence
        other = {(pair.a, pair.b): pair for pair in self.beside.pairs}
        found = []
        for pair in self.pairs:
            beside = other.get((pair.a, pair.b))
            if not pair.p_adjusted < alpha or beside is None:
                continue
            if not (beside.p_adjusted < alpha and beside.difference * pair.difference > 0):
                found.append((pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a))
        return found

    def _fixed(self) -> tuple[str, ...]:
        """Return the sides whose few members the conclusion is about: rater, item."""
        few = [*self.strengths.fixed, *(side for one in self.strengths.one_sided for side in one.fixed)]
        return tuple(dict.fromkeys(few))

    def _these(self, side: str) -> str:
        n = self.n_raters if side == "rater" else self.n_items
        return f"this one {side}" if n == 1 else f"these {n:,} {side}s"

    def parts(self) -> list[Part]:
        """Return the sentence, how trials ended, systems, pairs, wins, item scores, and the notes."""
        anova: list[Part] = [Sentence(capitalise(self.anova.sentence()))] if self.anova is not None else []
        wins = [self.wins.table()] if len(self.wins.systems) <= WIDEST_TABLE else []
        first = [Sentence(self.first.sentence())] if self.first is not None else []
        return [
            Sentence(self.sentence()),
            Sentence(f"{count(self.n, 'trial')}: {describe_counts(self.counts)}."),
            self._systems_table(),
            self._pairs_table(),
            *self._mixed_parts(),
            tell_wins(self.strengths),
            *wins,
            *anova,
            *first,
            *([Sentence(tell_consistency(self.consistency))] if self.consistency else []),
            *([NotePairs([("note", note) for note in self.notes])] if self.notes else []),
        ]

    def _mixed_parts(self) -> list[Part]:
        """Return what random preferences add, and the systems by the model beside this one."""
        parts: list[Part] = []
        if self.strengths.mixed is not None:
            parts += list_mixed_parts(self.criterion, self.strengths, self.confidence)
        if isinstance(self.beside, ChoiceCriterion):
            heads = ("mixed", "clustered") if self.strengths.mixed is not None else ("clustered", "mixed")
            mixed = self.strengths.mixed or self.beside.strengths.mixed
            points = 0 if mixed is None or mixed.family == "davidson" else mixed.points
            style = () if mixed is None else mixed.style
            parts.append(
                tabulate_beside(self.criterion, self.systems, self.beside.systems, heads, points, style)
            )
        return parts

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison by the names of the command's JSON, with what choices add."""
        whole = super().to_dict()
        place = {name: at for at, name in enumerate(self.wins.systems)}
        chances = dict(zip(self.strengths.systems, average_wins(self.strengths), strict=True))
        for system in whole["systems"]:
            at, score = place[system["system"]], self.scores[system["system"]]
            system |= {"score": score.score, "score_low": score.low, "score_high": score.high}
            shown, best = int(self.wins.shown[at]), int(self.wins.best[at])
            system |= {"shown": shown, "best": best, "worst": int(self.wins.worst[at])}
            system |= {"wins": int(self.wins.won[at]), "losses": int(self.wins.lost[at])}
            system["percent_chosen"] = 100 * best / shown if shown else None
            system["probability"] = chances[system["system"]]
        for pair in whole["pairs"]:
            pair["probability"] = pair["effect"]
        return whole | {
            "kind": self.kind,
            "cluster": self.cluster,
            "n_clusters": self.strengths.n_clusters,
            "holds_for": list(self._fixed()),
            "one_sided": [asdict(one) for one in self.strengths.one_sided],
            "loglik": self.strengths.loglik,
            "mixed": None if self.strengths.mixed is None else list_mixed(self.strengths),
            "beside": self._list_beside(),
            "tie": self.strengths.tie,
            "prior": self.strengths.prior,
            "counts": dict(self.counts),
            "wins": self.wins.to_dict(),
            "items": self.scores.items if self.lists_items else None,
            "anova": None if self.anova is None else self.anova.to_dict(),
            "first": None if self.first is None else asdict(self.first),
            "consistency": [asdict(one) for one in self.consistency],
        }

    def _list_beside(self) -> dict[str, Any] | None:
        """Return systems and pairs by the model beside this one."""
        if not isinstance(self.beside, ChoiceCriterion):
            return None
        whole = self.beside.to_dict()
        return {name: whole[name] for name in ("model", "cluster", "loglik", "mixed", "systems", "pairs")}

    def _systems_table(self) -> Table:
        place = {name: at for at, name in enumerate(self.wins.systems)}
        header = (
            "system",
            "estimate",
            f"{self.confidence * 100:g} % interval",
            "rank",
            "score",
            "best",
            "worst",
        )
        rows: list[tuple[Cell, ...]] = []
        for s in self.systems:
            at = place[s.system]
            rank = str(s.rank_low) if s.rank_low == s.rank_high else f"{s.rank_low} to {s.rank_high}"
            worst: Cell = None if self.kind == "choose-one" else int(self.wins.worst[at])
            score = self.scores[s.system].score
            rows.append(
                (
                    s.system,
                    s.estimate,
                    interval(s.low, s.high),
                    rank,
                    score,
                    int(self.wins.best[at]),
                    worst,
                    s.n,
                )
            )
        return Table(
            f"Systems on {self.criterion}",
            (*header, "shown"),
            rows,
            {"system": TEXT, "estimate": decimals(2), "rank": TEXT, "score": decimals(2)},
            note=f"Estimates are {self.units}. Rank 1 is the highest. Scores run from -100 (always worst) "
            "to 100 (always best).",
            name="systems",
        )

    def _shown_pairs(self) -> list[PairDifference]:
        """Return all pairs, or of many systems the neighbours in the ranking, the stronger first."""
        if len(self.systems) <= MOST_PAIRED or self.reference is not None:
            return list(self.pairs)
        known = {(pair.a, pair.b): pair for pair in self.pairs}
        names = [one.system for one in self.systems]
        return [known.get((a, b)) or _turn(known[b, a]) for a, b in pairwise(names)]

    def _pairs_table(self) -> Table:
        label = find_adjustment(self.adjust).label
        adjusted = f"p, {label}" if len(label) <= WIDEST_LABEL else "p, adjusted"
        header = ("pair", "difference", "SE", f"{self.confidence * 100:g} % interval", adjusted, "preferred")
        rows = [
            (f"{d.a} − {d.b}", d.difference, d.se, interval(d.low, d.high), d.p_adjusted, d.effect)
            for d in self._shown_pairs()
        ]
        formats = {"pair": TEXT, "difference": decimals(2), "SE": decimals(2), "preferred": decimals(2)}
        return Table(
            f"Differences on {self.criterion}",
            header,
            rows,
            {**formats, adjusted: P_VALUE},
            note=f"Preferred: {self.effect_units}."
            + ("" if label in adjusted else f" p: {label}.")
            + (
                f" Neighbours in the ranking; --json has all {len(self.pairs):,} pairs."
                if len(rows) < len(self.pairs)
                else ""
            ),
            name="pairs",
        )


def _turn(pair: PairDifference) -> PairDifference:
    """Return the same pair with the other system first."""
    return replace(
        pair,
        a=pair.b,
        b=pair.a,
        difference=-pair.difference,
        statistic=-pair.statistic,
        low=-pair.high,
        high=-pair.low,
        effect=1 - pair.effect,
    )


@dataclass(frozen=True, kw_only=True)
class ChoiceComparison(Comparison):
    """The systems compared by choices on every criterion of a table."""

    criteria: tuple[ChoiceCriterion, ...]

    def __getitem__(self, criterion: str) -> ChoiceCriterion:
        found = super().__getitem__(criterion)
        assert isinstance(found, ChoiceCriterion)
        return found
