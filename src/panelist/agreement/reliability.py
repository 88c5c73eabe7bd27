"""What a reliability analysis holds, and how it reads: a sentence to quote, the coefficients, what is odd."""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.interpret import (
    LEAST_RELIABLE,
    MOSTLY_EQUAL,
    Interpretation,
    interpret,
    read_together,
)
from panelist.agreement.statistics.category_margins import Margins
from panelist.core.display.formats import TEXT, decimals, interval, number
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table, pick
from panelist.core.errors import UnknownName, did_you_mean
from panelist.core.prose import count

if TYPE_CHECKING:
    from panelist.agreement.checklist import Checklist
    from panelist.agreement.criterion_table import RatingTable
    from panelist.agreement.suspicious import Suspicion
    from panelist.core.tables.ratings import Ratings

# What is in the sentence: one agreement and one correlation that suit the level. Spearman rather than
# gamma, whose values run higher than those of the correlations that Rosenthal's words were made for.
HEADLINES = {
    "nominal": ("krippendorff_alpha_nominal", None),
    "ordinal": ("krippendorff_alpha_ordinal", "spearman"),
    "interval": ("krippendorff_alpha_interval", "pearson"),
    "ratio": ("krippendorff_alpha_ratio", "pearson"),
}


@dataclass(frozen=True, kw_only=True)
class CoefficientEstimate:
    """One coefficient: its estimate and interval, how many items and pairs of raters entered, what to know.

    ``kind`` is agreement, correlation or consistency; ``suits`` whether it fits the level of measurement;
    ``interval`` how its interval was made, in words.
    """

    name: str
    estimate: float
    low: float = nan
    high: float = nan
    n_items: int = 0
    note: str = ""
    kind: str = "agreement"
    suits: bool = True
    interval: str = ""
    n_raters: int | None = None
    n_pairs: int | None = None
    n_pairs_defined: int | None = None

    @property
    def mostly_undefined(self) -> bool:
        """Whether most pairs of raters have no value, as one of the two gave the same rating throughout."""
        return self.n_pairs is not None and 2 * (self.n_pairs_defined or 0) < self.n_pairs

    def readings(self) -> tuple[Interpretation, ...]:
        """Return the words of the named scales, the usual scale first."""
        return interpret(self.name, self.estimate, self.low, self.high, self.n_raters)

    def to_dict(self) -> dict[str, Any]:
        """Return the coefficient by the names of the command's JSON."""
        words = [asdict(reading) | {"text": reading.text()} for reading in self.readings()]
        return asdict(self) | {"interpretation": words}


@dataclass(frozen=True, kw_only=True, eq=False)
class CriterionReliability(Result):
    """How reliable the ratings of one criterion are; ``n_items`` counts the outputs judged.

    ``noun`` and ``unit_noun`` are the words for a rating and for what is judged: comparisons have others.
    """

    criterion: str
    measurement: str
    n_items: int
    n_raters: int
    n_ratings: int
    coefficients: tuple[CoefficientEstimate, ...]
    confidence: float = 0.95
    interval: str = ""
    measurement_reason: str = ""
    notes: tuple[str, ...] = ()
    suspicions: "tuple[Suspicion, ...]" = ()
    table: "RatingTable | None" = field(default=None, repr=False)
    noun: str = "rating"
    unit_noun: str = "output"
    margins: Margins = field(default_factory=Margins)
    raters_known: bool = True
    """Whether the file says who rated what; if not, ``n_raters`` is the most ratings of one output."""

    def __getitem__(self, name: str) -> CoefficientEstimate:
        found = {one.name: one for one in self.coefficients}
        if name not in found:
            raise UnknownName(f"{name!r} was not measured on {self.criterion}. {did_you_mean(name, found)}")
        return found[name]

    def title(self) -> str:
        """Return the heading."""
        return f"Reliability of {self.criterion}"

    def sentence(self) -> str:
        """Return the finding in one sentence: agreement and correlation together, in numbers and words."""
        agreement, correlation = self._headlines()
        said = [self._say(one) for one in (agreement, correlation) if one is not None]
        who = count(self.n_raters, "rater") if self.raters_known else "unknown raters"
        where = f"{count(self.n_ratings, self.noun)} by {who} of "
        where += count(self.n_items, self.unit_noun)
        if not said:
            which = f"that suits {self.measurement} ratings"
            return f"On {self.criterion}, no coefficient {which} is defined ({where})."
        together = _read_both(agreement, correlation, self.margins)
        caution = "; but some of these ratings are odd" if self.suspicions and together else ""
        return f"On {self.criterion}, {' and '.join(said)}{together}{caution} ({where}{self._how()})."

    def parts(self) -> list[Part]:
        """Return the sentence, the table of coefficients, what is odd, and the notes."""
        odd = [("odd", suspicion.text) for suspicion in self.suspicions]
        measurement = [("level", self.measurement_reason)] if self.measurement_reason else []
        rows = [*odd, *measurement, *self._coefficient_notes(), *(("note", note) for note in self.notes)]
        return [Sentence(self.sentence()), self._coefficients_table(), *([NamedValues(rows)] if rows else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return the criterion by the names of the command's JSON."""
        return {
            **pick(
                self,
                "criterion measurement measurement_reason n_items n_raters raters_known n_ratings confidence "
                "interval",
            ),
            "margins": asdict(self.margins),
            "coefficients": [one.to_dict() for one in self.coefficients],
            "finding": self.sentence(),
            "suspicions": [asdict(one) for one in self.suspicions],
            "checklist": self.checklist.to_dict()["points"],
            "notes": list(self.notes),
        }

    @cached_property
    def checklist(self) -> "Checklist":
        """What a report should state, filled in from these data as far as possible."""
        from panelist.agreement.checklist import make_checklist

        return make_checklist(self)

    def _headlines(self) -> tuple[CoefficientEstimate | None, CoefficientEstimate | None]:
        """Return the agreement and the correlation to quote: the usual ones, else the first that suit."""
        usual = HEADLINES[self.measurement]
        kinds = ("agreement", "correlation")
        return (self._pick(usual[0], kinds[0]), self._pick(usual[1], kinds[1]))

    def _pick(self, usual: str | None, kind: str) -> CoefficientEstimate | None:
        able = [one for one in self.coefficients if one.kind == kind and isfinite(one.estimate)]
        able = [one for one in able if COEFFICIENTS[one.name].corrected] or able
        named = [one for one in able if one.name == usual]
        return next(iter([*named, *(one for one in able if one.suits), *able]), None)

    def _say(self, one: CoefficientEstimate) -> str:
        words = [interval(one.low, one.high)] if isfinite(one.low) and isfinite(one.high) else []
        reading = next(iter(one.readings()), None)
        words += (
            [f"{reading.word}{f' of {reading.of}' if reading.of else ''}, {reading.scale}"] if reading else []
        )
        inside = f" ({'; '.join(words)})" if words else ""
        near = interpret(one.name, round(one.estimate, 2), n_raters=one.n_raters)
        digits = 2 if [each.word for each in near] == [each.word for each in one.readings()] else 3
        return f"{COEFFICIENTS[one.name].spoken} is {number(one.estimate, digits)}{inside}"

    def _how(self) -> str:
        return f"; {self.confidence * 100:g} % intervals, {self.interval}" if self.interval else ""

    def _coefficients_table(self) -> Table:
        heading = f"{self.confidence * 100:g} % interval"
        rows = []
        for one in self.coefficients:
            reading = next(iter(one.readings()), None)
            reads = f"{reading.word} ({reading.scale})" if reading else ""
            rows.append((one.name, one.estimate, interval(one.low, one.high), one.n_items, reads))
        return Table(
            f"Coefficients of {self.criterion} ({self.measurement})",
            ("coefficient", "estimate", heading, "items", "reads"),
            rows,
            {"coefficient": TEXT, "estimate": decimals(3), "reads": TEXT},
        )

    def _coefficient_notes(self) -> list[tuple[str, str]]:
        """Return the notes on single coefficients; a note that several share is given once."""
        shared: dict[str, list[str]] = {}
        for one in self.coefficients:
            if one.note:
                shared.setdefault(one.note, []).append(one.name)
        everybody = len(self.coefficients)
        return [
            ("note", f"{'all' if len(names) == everybody > 1 else ', '.join(names)}: {note}")
            for note, names in shared.items()
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class Reliability(Result):
    """How reliable the ratings of every criterion are."""

    source: str
    criteria: tuple[CriterionReliability, ...]
    notes: tuple[str, ...] = ()
    ratings: "Ratings | None" = field(default=None, repr=False)

    def __getitem__(self, criterion: str) -> CriterionReliability:
        found = {one.criterion: one for one in self.criteria}
        if criterion not in found:
            raise UnknownName(f"No criterion is called {criterion!r}. {did_you_mean(criterion, found)}")
        return found[criterion]

    def title(self) -> str:
        """Return the heading."""
        return "Reliability of the ratings"

    def sentences(self) -> list[str]:
        """Return a sentence to quote for each criterion."""
        return [one.sentence() for one in self.criteria]

    def parts(self) -> list[Part]:
        """Return the parts of each criterion, what a report must still state, and the notes on the table."""
        whole: list[Part] = [part for criterion in self.criteria for part in criterion.parts()]
        rows = [("to report", point) for point in self.missing_points()]
        rows += [("note", note) for note in self.notes]
        return whole + ([NamedValues(rows)] if rows else [])

    def missing_points(self) -> list[str]:
        """Return what a report should state and these data do not say, each once."""
        texts = [point.text for one in self.criteria for point in one.checklist.points if not point.stated]
        return list(dict.fromkeys(texts))

    def to_dict(self) -> dict[str, Any]:
        """Return the analysis by the names of the command's JSON."""
        return {
            "source": self.source,
            "criteria": [one.to_dict() for one in self.criteria],
            "notes": list(self.notes),
        }


def _read_both(
    agreement: CoefficientEstimate | None, correlation: CoefficientEstimate | None, margins: Margins
) -> str:
    """Return the clause on what the two say together; for one alone, whether it suffices."""
    if agreement is None:
        return ""
    if correlation is None:
        if agreement.estimate >= LEAST_RELIABLE:
            return ""
        equal = f"although {100 * margins.equal:.0f} % of comparisons are equal, "
        most = equal if margins.equal >= MOSTLY_EQUAL else ""
        return f": {most}the labels of one rater cannot replace those of another"
    if correlation.mostly_undefined:
        return ": most pairs of raters vary too little to say whether they order the items alike"
    together = read_together(agreement.estimate, correlation.estimate, margins.equal, margins.level)
    return f": {together}" if together else ""
