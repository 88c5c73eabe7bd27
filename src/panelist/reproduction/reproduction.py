"""What a reproduction report holds, criterion by criterion and as a whole, and how it reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from typing import Any

from panelist.core.display.formats import number
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table, json_object, pick
from panelist.core.prose import count, inflect
from panelist.reproduction.display.parts import (
    draw_findings,
    draw_joint,
    draw_measures,
    draw_precision,
    draw_recomputed,
)
from panelist.reproduction.measures.common_scale import CommonScale
from panelist.reproduction.measures.joint import JointModel
from panelist.reproduction.measures.label_changes import LabelAgreement
from panelist.reproduction.measures.precision import Precision
from panelist.reproduction.measures.system_correlation import Correlations
from panelist.reproduction.measures.upheld_findings import RULES, FindingCheck
from panelist.reproduction.measures.verdicts import NOT_UPHELD, UNDECIDED, UPHELD
from panelist.reproduction.recompute import Recomputation
from panelist.reproduction.size.replication import ReplicationSize


@dataclass(frozen=True, kw_only=True)
class CriterionReproduction(Result):
    """One criterion in the original and its repeats. Parts that the data do not allow are None.

    ``agreements`` of ``comparisons`` pairs of systems and studies have the same order (QRA3's P).
    ``analyses`` says for each study how its differences were tested, "" where they were not; ``margin`` is
    the smallest difference that matters, None where it was not declared.
    """

    criterion: str
    studies: tuple[str, ...]
    systems: tuple[str, ...]
    aggregation: str
    scale: CommonScale
    precision: tuple[Precision, ...]
    correlations: Correlations
    labels: LabelAgreement | None
    findings: tuple[FindingCheck, ...]
    agreements: int
    comparisons: int
    joint: JointModel | None = None
    analyses: tuple[str, ...] = ()
    margin: float | None = None
    confidence: float = 0.95
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def cv_star(self) -> float:
        """The mean CV* of the systems, by the formula of 2022."""
        return _mean([one.value for one in self.precision])

    @property
    def cv_star_qra3(self) -> float:
        """The mean CV* of the systems, by QRA3's formula."""
        return _mean([one.qra3 for one in self.precision])

    @property
    def upheld(self) -> float:
        """The share of pairs whose order is the same; nan with one system."""
        return self.agreements / self.comparisons if self.comparisons else nan

    @property
    def difference_rate(self) -> float | None:
        """The percentage of labels that differ; None where there are no labels."""
        return None if self.labels is None else self.labels.difference_rate

    def __getitem__(self, system: str) -> Precision:
        return {one.system: one for one in self.precision}[system]

    def title(self) -> str:
        """Return the heading."""
        return f"Reproduction on {self.criterion}"

    def sentence(self) -> str:
        """Return the four kinds of result in one sentence."""
        k = len(self.systems)
        words = [f"CV* is {number(self.cv_star, 1)} on average (QRA3: {number(self.cv_star_qra3, 1)})"]
        c = self.correlations
        if not isnan(c.pearson):
            words.append(
                f"the scores of {k} systems correlate with r = {c.pearson:.2f} and ρ = {c.spearman:.2f}"
            )
        elif k > 1:
            words.append("their correlation is undefined, because all systems tie in a study")
        if self.comparisons:
            words.append(
                say_orders(self.agreements, self.comparisons) + say_shown(self.findings, self.confidence)
            )
        if self.labels is not None:
            words.append(f"{self.labels.difference_rate:.1f} % of labels differ")
        said = "; ".join(words)
        return f"On {self.criterion}, {said}.{say_stated(self.findings)}"

    def parts(self) -> list[Part]:
        """Return the sentence, the warnings, and the four types of result with their evidence."""
        found: list[Part] = [Sentence(self.sentence())]
        if self.warnings:
            found.append(NamedValues([("WARNING", warning) for warning in self.warnings]))
        found.append(
            draw_precision(self.criterion, self.studies, self.precision, self.scale, self.confidence)
        )
        found.append(draw_measures(self.correlations, self.labels))
        if self.findings:
            found.append(
                draw_findings(self.criterion, self.findings, self.analyses, self.confidence, self.margin)
            )
        if self.joint is not None:
            found += draw_joint(self.criterion, self.joint)
        return [*found, *([NamedValues([("note", note) for note in self.notes])] if self.notes else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return the criterion by the names of the command's JSON."""
        c = self.correlations
        return {
            **pick(self, "criterion studies systems"),
            "n_systems": len(self.systems),
            "aggregation": self.aggregation,
            "scale_min": self.scale.low,
            "scale": asdict(self.scale),
            "cv_star": [asdict(one) | {"n": one.n} for one in self.precision],
            "cv_star_mean": self.cv_star,
            "cv_star_qra3_mean": self.cv_star_qra3,
            "pearson": c.pearson,
            "spearman": c.spearman,
            "kendall_tau": c.tau,
            "kendall_w": c.w,
            "kendall_w_p": c.w_p,
            "kendall_w_ties": c.w_ties,
            "kendall_w_ties_p": c.w_ties_p,
            "rmse": c.rmse,
            "pairs_of_studies": [asdict(pair) for pair in c.pairs],
            "difference_rate": self.difference_rate,
            "labels": None if self.labels is None else asdict(self.labels),
            "findings": [_finding(one) for one in self.findings],
            "upheld": self.upheld,
            "upheld_count": self.agreements,
            "upheld_of": self.comparisons,
            "analyses": dict(zip(self.studies, self.analyses, strict=False)),
            "joint": None if self.joint is None else asdict(self.joint) | {"units": self.joint.units},
            "sentence": self.sentence(),
            "warnings": self.warnings,
            "notes": self.notes,
        }


@dataclass(frozen=True, kw_only=True)
class Reproduction(Result):
    """An original and its repeats compared; ``conventions`` says how every number was made."""

    sources: tuple[str, ...]
    origins: tuple[str, ...]
    criteria: tuple[CriterionReproduction, ...]
    conventions: Mapping[str, str]
    recomputed: tuple[Recomputation, ...] = ()
    sizes: tuple[ReplicationSize, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    similarity: tuple[Result, ...] = ()
    """How similar the experiments of the original and each repeat are, where their datasheets are known."""

    @property
    def cv_star(self) -> float:
        """The mean over criteria of the mean over systems, by the formula of 2022."""
        return _mean([one.cv_star for one in self.criteria])

    @property
    def cv_star_qra3(self) -> float:
        """The same by QRA3's formula."""
        return _mean([one.cv_star_qra3 for one in self.criteria])

    @property
    def upheld(self) -> float:
        """The share of all comparisons, over criteria, whose order is the same."""
        total = sum(one.comparisons for one in self.criteria)
        return sum(one.agreements for one in self.criteria) / total if total else nan

    def __getitem__(self, criterion: str) -> CriterionReproduction:
        found = {one.criterion: one for one in self.criteria}
        if criterion not in found:
            raise KeyError(f"no criterion {criterion!r}; there are {', '.join(found)}")
        return found[criterion]

    def title(self) -> str:
        """Return the heading."""
        repeats = len(self.sources) - 1
        return f"Reproduction: an original and {count(repeats, 'repeat')}"

    def sentence(self) -> str:
        """Return the whole in one sentence."""
        if len(self.criteria) == 1:
            return self.criteria[0].sentence()
        agree, total = (
            sum(getattr(one, name) for one in self.criteria) for name in ("agreements", "comparisons")
        )
        share = f"; {say_orders(agree, total)} (P = {self.upheld:.2f})" if total else ""
        return (
            f"Over {len(self.criteria)} criteria CV* is {number(self.cv_star, 1)} on average (QRA3: "
            f"{number(self.cv_star_qra3, 1)}){share}."
        )

    def parts(self) -> list[Part]:
        """Return what was given, each criterion, what was recomputed, sizes, conventions and notes."""
        found: list[Part] = [Sentence(self.sentence())]
        if self.warnings:
            found.append(NamedValues([("WARNING", warning) for warning in self.warnings]))
        for one in self.criteria:
            several = len(self.criteria) > 1  # the sentence of a single criterion is above already
            found += [*([Sentence(f"\n{one.sentence()}")] if several else []), *one.parts()[1:]]
        for alike in self.similarity:
            found += [Sentence(f"\n{alike.title()}"), *alike.parts()]
        for again in self.recomputed:
            found += draw_recomputed(again)
        for size in self.sizes:
            found += [Sentence(f"\n{size.title()}"), *size.parts()]
        found.append(NamedValues([("given", text) for text in self.sources]))
        found.append(NamedValues([(name, text) for name, text in self.conventions.items()]))
        return [*found, *([NamedValues([("note", note) for note in self.notes])] if self.notes else [])]

    def tables(self) -> list[Table]:
        """Return the tables of all parts."""
        return [part for part in self.parts() if isinstance(part, Table)]

    def to_dict(self) -> dict[str, Any]:
        """Return the reproduction by the names of the command's JSON."""
        return json_object(
            {
                "sources": self.sources,
                "criteria": [one.to_dict() for one in self.criteria],
                **pick(self, "cv_star cv_star_qra3 upheld"),
                "recomputed": [_recomputed(one) for one in self.recomputed],
                "sizes": [one.to_dict() for one in self.sizes],
                "similarity": [one.to_dict() for one in self.similarity],
                "conventions": dict(self.conventions),
                "sentence": self.sentence(),
                "warnings": self.warnings,
                "notes": self.notes,
            }
        )


def _finding(one: FindingCheck) -> dict[str, Any]:
    rules = {f"upheld_{rule}": one.upheld(rule) for rule in RULES[1:]}
    return {
        "finding": one.finding,
        "upheld": one.upheld(),
        "verdict": one.verdict,
        **rules,
        "stated": one.stated,
        "shown_by_original": one.shown,
        "margin": one.margin,
        "original_difference": one.original,
        "original_scores": one.original_scores,
        "original_p": one.original_p,
        "evidence": [asdict(evidence) for evidence in one.evidence],
    }


def _recomputed(one: Recomputation) -> dict[str, Any]:
    systems = [
        {
            "system": row.system,
            "printed": row.printed,
            "scores": dict(zip(one.rules, row.scores, strict=True)),
        }
        for row in one.systems
    ]
    return {
        **pick(one, "criterion best named"),
        "systems": systems,
        "unlike": [row.system for row in one.unlike],
        "sentence": one.sentence(),
        "notes": one.notes,
    }


def _mean(values: list[float]) -> float:
    known = [value for value in values if not isnan(value)]
    return sum(known) / len(known) if known else nan


def say_orders(agreements: int, comparisons: int) -> str:
    """Return how many pairs of systems are in the same order.

    >>> say_orders(1, 3), say_orders(3, 3)
    ('1 of 3 pairs of systems is in the same order', '3 of 3 pairs of systems are in the same order')
    """
    verb = inflect(agreements, "is", "are")
    return f"{agreements} of {comparisons} pairs of systems {verb} in the same order"


def say_stated(findings: Sequence[FindingCheck]) -> str:
    """Return the outcome of the stated findings, with a space before it; "" where none was stated."""
    stated = [one for one in findings if one.stated]
    if not stated:
        return ""
    of = f" Of {count(len(stated), 'stated finding')}, "
    if not any(one.tested for one in stated):
        return f"{of}{' and '.join(_say_untested(stated))}. Scores alone give no verdict."
    verdicts = Counter(one.verdict for one in stated)
    upheld, failed, open_ = (
        count(verdicts[verdict], "is", "are") for verdict in (UPHELD, NOT_UPHELD, UNDECIDED)
    )
    return f"{of}{upheld} upheld, {failed} not, and {open_} undecided."


def say_shown(findings: Sequence[FindingCheck], confidence: float) -> str:
    """Return how many of the pairs in the same order a test of the repeat confirms, with a comma before it.

    "" where there are several repeats, no test, or no order that is the same.
    """
    single = [(one, one.evidence[0]) for one in findings if len(one.evidence) == 1 and one.tested]
    same = [piece for one, piece in single if one.original_scores * piece.scores > 0]
    shown = sum(piece.p < 1 - confidence and piece.difference * piece.scores > 0 for piece in same)
    return f", {shown} of them confirmed by a test in the repeat" if same else ""


def _say_untested(stated: Sequence[FindingCheck]) -> list[str]:
    orders = [one for one in stated if one.sign != "="]
    same, equal = sum(one.upheld() is True for one in orders), len(stated) - len(orders)
    said = [f"{count(same, 'is', 'are')} in the same order again"] if orders else []
    if equal:
        said.append(
            f"{equal} say{'s' if equal == 1 else ''} that systems are the same, which scores cannot show"
        )
    return said
