"""What one judge is worth on one criterion, and how it reads: people beside it, never more than was shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from panelist.core.display.formats import P_VALUE, TEXT, Cell, decimals, ends, interval, number, say_p
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table
from panelist.core.prose import count, listing
from panelist.judges.worth.accuracy import TieAccuracy
from panelist.judges.worth.agreement import AnswerAgreement, JudgeAgreement
from panelist.judges.worth.alt_test import AltTest
from panelist.judges.worth.bias import Favour, LengthBias, SilenceBias
from panelist.judges.worth.calibration import CalibrationPoint
from panelist.judges.worth.ceiling import Ceiling
from panelist.judges.worth.levels import LevelTable, WorthLevel
from panelist.judges.worth.pair_bias import PositionBias
from panelist.judges.worth.replaced import Replaced

FEW_SYSTEMS = 5
FEW_ITEMS = 30


@dataclass(frozen=True, kw_only=True)
class JudgeWorth(Result):
    """One judge on one criterion."""

    judge: str
    criterion: str
    kind: str  # scores or pairs
    n_outputs: int
    n_items: int
    n_judged: int
    n_raters: int
    missing: dict[str, int]
    confidence: float
    over: str
    levels: tuple[WorthLevel, ...]
    against: tuple[Ceiling, ...] = ()
    """A person and the judge against the same other raters: the ceiling, with intervals."""
    table: LevelTable | None
    accuracy_systems: float
    spa: float
    spa_normal: float
    spa_low: float = float("nan")
    spa_high: float = float("nan")
    spa_model: float = float("nan")
    accuracy: TieAccuracy | None
    alt_test: AltTest | None
    agreement: JudgeAgreement | AnswerAgreement | None
    bias: tuple[Favour, ...]
    length: LengthBias | None
    position: PositionBias | None
    silence: tuple[SilenceBias, ...]
    calibration: tuple[CalibrationPoint, ...]
    replaced: Replaced
    severity_free: float = float("nan")
    reliability: float = float("nan")
    disattenuated: float = float("nan")
    combined: bool = False
    kin: tuple[str, ...] = ()
    """Systems of the judge's own family."""
    notes: tuple[str, ...] = ()

    def title(self) -> str:
        """Return the heading."""
        return f"{self.judge} beside people on {self.criterion}"

    def level(self, name: str) -> WorthLevel:
        """Return one level by its name: output, system or pair."""
        return next(one for one in self.levels if one.level == name)

    def sentence(self) -> str:
        """Return what the judge is worth, in the words that may be quoted."""
        pair = self.level("pair")
        if not isfinite(pair.pearson):
            return f"On {self.criterion} what {self.judge} is worth cannot be said: {self._say_why()}."
        what = "differences between systems" if self.kind == "scores" else "pairs, beyond systems' win rates,"
        said = (
            f"On {self.criterion}, on {what} {self.judge} agrees with people as r = {_r(pair.pearson)} "
            f"({_r(pair.low)} to {_r(pair.high)}); with very many items judged that is worth up to "
            f"{100 * pair.pearson**2:.1f} % of the ratings"
        )
        if pair.high < 0:
            said += ", turned round: it orders against people"
        elif pair.low <= 0:
            said += ", or nothing, as the interval holds 0"
        return f"{said}. {self._say_ceiling()}{self.say_replaced()}"

    def _say_why(self) -> str:
        if self.table is not None and self.table.n_outputs == self.table.n_items:
            return "no item has ratings and scores of several systems"
        return "its scores, or people's, do not vary between systems within items"

    def _say_ceiling(self) -> str:
        top = next((one for one in self.against if one.level == "output"), None)
        if top is None:
            return ""
        person = f"{_r(top.people)}{ends(top.people_low, top.people_high)}"
        judge = f"{_r(top.judge)}{ends(top.judge_low, top.judge_high)}"
        return f"Against the other raters a single person reaches {person}, {self.judge} {judge}. "

    def say_replaced(self) -> str:
        """Return in one sentence how many ratings a score of the judge replaces, or why it is not known."""
        one = self.replaced
        known = isfinite(one.equivalent)
        if not known and not one.low > 0:
            return f"How many ratings a score replaces cannot be said: {one.why or 'too little is known'}."
        it = "Turned round, it" if one.r_true < 0 else "It"
        if not isfinite(one.high):
            estimate = f" (estimate {number(one.equivalent, 1)})" if known else f": {one.why}"
            return (
                f"{it} orders differences as the mean of at least {number(one.low, 1)} raters would; no "
                f"upper limit is known{estimate}."
            )
        return (
            f"{it} orders differences as the mean of {number(one.equivalent, 1)} raters would "
            f"({number(one.low, 1)} to {number(one.high, 1)})."
        )

    def say_alt_test(self) -> str:
        """Return the result of the alternative annotator test with its conditions and its control."""
        test = self.alt_test
        if test is None:
            return ""
        control = test.constant
        if test.pooled is not None:
            how = f"on average over raters, {say_p(test.pooled.p)}, advantage {number(test.advantage, 2)}"
            other = "" if control is None else f"; a constant judge {self._say_control(test, control)}"
        else:
            how = f"ω = {number(test.winning_rate, 2)}, advantage {number(test.advantage, 2)}"
            rate = control.winning_rate if control is not None else float("nan")
            other = "" if control is None else f", constant judge ω = {number(rate, 2)}"
        verb = "passes" if test.passed else "does not pass"
        said = (
            f"{self.judge} {verb} the alt-test ({how}, ε = {test.epsilon:g}{other}) on these outputs, this "
            "criterion, these raters' kind."
        )
        if test.passed and not self.convincing:
            reason = (
                "a constant judge passes it too"
                if control is not None and control.passed
                else ("the paired r is not shown to lie above 0")
            )
            said += f" That says little here: {reason}."
        return said

    @staticmethod
    def _say_control(test: AltTest, control: AltTest) -> str:
        if not control.passed:
            return "does not" if test.passed else "does not either"
        return "passes too" if test.passed else "passes"

    @property
    def convincing(self) -> bool:
        """Whether the alt-test is passed, a constant judge fails it, and the paired r lies above 0."""
        test = self.alt_test
        if test is None or not test.passed:
            return False
        return not (test.constant is not None and test.constant.passed) and self.level("pair").low > 0

    def parts(self) -> list[Part]:
        """Return the sentences, the levels, accuracy, bias and calibration, and the notes."""
        parts: list[Part] = [Sentence(self.sentence()), self._levels_table()]
        if self.against:
            parts.append(self._against_table())
        if said := self.say_alt_test():
            parts.append(Sentence(said))
        parts.append(NamedValues(self._figures()))
        if self.bias:
            parts.append(self._bias_table())
        if self.calibration:
            parts.append(self._calibration_table())
        return [*parts, *([NamedValues([("note", note) for note in self.notes])] if self.notes else [])]

    @property
    def _words(self) -> dict[str, str]:
        """The name of each level, and of each measure of agreement."""
        words = {"pair": "paired differences", "output": "outputs", "system": "systems"}
        if self.kind == "pairs":
            words = {"pair": "pairs, centred", "output": "pairs", "system": "win rates"}
        return {**words, "alpha": "alpha", "equal": "equal answers"}

    def _levels_table(self) -> Table:
        rows: list[tuple[Cell, ...]] = [
            (self._words[one.level], one.pearson, interval(one.low, one.high), one.spearman, one.kendall)
            for one in self.levels
        ]
        interval_name = f"{self.confidence * 100:g} % interval"
        head = ("level", "Pearson", interval_name, "Spearman", "Kendall")
        note = (
            f"{count(self.n_outputs, 'output' if self.kind == 'scores' else 'pair')} of "
            f"{count(self.n_items, 'item')}; intervals are about other {_OVER[self.over]}."
        )
        return Table(f"Correlation with people on {self.criterion}", head, rows, note=note, name="levels")

    def _against_table(self) -> Table:
        rows = [
            (
                self._words[one.level],
                one.people,
                interval(one.people_low, one.people_high),
                one.judge,
                interval(one.judge_low, one.judge_high),
                interval(one.lead_low, one.lead_high),
            )
            for one in self.against
        ]
        head = ("measure", "a person", "interval", self.judge, "interval", "lead, interval")
        form = {"a person": decimals(2), self.judge: decimals(2)}
        return Table(
            f"A person and {self.judge}, each against the other raters, on {self.criterion}",
            head,
            rows,
            form,
            note=self._say_measures(),
            name="against",
        )

    def _say_measures(self) -> str:
        shown = {one.level for one in self.against}
        what = ["r with the others' mean"]
        what += ["alpha with it"] if "alpha" in shown else []
        what += ["share of equal answers"] if "equal" in shown else []
        rises = "; r of systems rises with the number of items, and has no interval" * ("system" in shown)
        return (
            f"On average over raters, on the same {'outputs' if self.kind == 'scores' else 'pairs'}: "
            f"{listing(what, None)}{rises}. Lead: the judge's figure less a person's."
        )

    def _figures(self) -> list[tuple[str, str]]:
        """Return the single numbers: accuracy, agreement, length, position, no answers."""
        rows = []
        if isfinite(self.spa):
            model = f"; {number(self.spa_model, 3)} by the model, which knows raters"
            soft = f"soft {number(self.spa, 3)}{ends(self.spa_low, self.spa_high)}"
            rows.append(
                (
                    "systems",
                    f"pairwise accuracy {number(self.accuracy_systems, 2)}, {soft}"
                    f"{model * isfinite(self.spa_model)}{self._say_lowest()}",
                )
            )
        if self.accuracy is not None and isfinite(self.accuracy.best):
            one = self.accuracy
            rows.append(
                (
                    "outputs",
                    f"accuracy with ties {number(one.best, 3)} at ε = {one.epsilon:g} (split-half "
                    f"{number(one.split_half, 3)}{ends(one.low, one.high)}; "
                    f"calling all ties {number(one.ties_only, 3)})",
                )
            )
        if self.agreement is not None:
            rows.append(("agreement", self.agreement.phrase()))
        if self.length is not None:
            long = self.length
            rows.append(
                (
                    "length",
                    f"{number(long.slope, 3)} ± {number(long.se, 3)} per unit of log length beyond people "
                    f"(judge {number(long.judge_slope, 3)}, people {number(long.people_slope, 3)})",
                )
            )
        if self.position is not None:
            place = self.position
            rows.append(
                (
                    "position",
                    f"{100 * place.same:.0f} % of {place.answered_in_both:,} pairs answered alike in both "
                    "orders; "
                    f"the first gains {number(place.bias, 3)} ± {number(place.se, 3)}",
                )
            )
        if isfinite(self.severity_free):
            rows.append(
                ("severity", f"paired r with raters' severity taken out {number(self.severity_free, 3)}")
            )
        if self.missing:
            rows.append(
                ("no answer", listing([f"{n:,} {reason}" for reason, n in self.missing.items()], None))
            )
        rows += [
            (
                "no answer",
                f"{one.system}: {one.silent:,} of {one.n:,}, unlike the others (p {_p(one.p_adjusted)})",
            )
            for one in self.silence
            if one.p_adjusted < 1 - self.confidence
        ]
        return rows

    def _say_lowest(self) -> str:
        if self.table is None or not isfinite(self.table.system_lowest_without_one[1]):
            return ""
        name, r = self.table.system_lowest_without_one
        return f"; r of {self.table.n_systems} systems is {number(r, 2)} without {name}"

    def _bias_table(self) -> Table:
        wide = any(isfinite(one.wide_low) for one in self.bias)
        head = ("system", "favour", "interval", "p, Holm") + (("interval, raters too",) if wide else ())
        rows = [
            (self._mark(one.system), one.estimate, interval(one.low, one.high), one.p_adjusted)
            + ((interval(one.wide_low, one.wide_high),) if wide else ())
            for one in self.bias
        ]
        unit = "points of people's scale" if self.kind == "scores" else "win rate"
        return Table(
            f"What {self.judge} favours beyond people, on {self.criterion}",
            head,
            rows,
            {"system": TEXT, "favour": decimals(2), "p, Holm": P_VALUE},
            note=f"In {unit}; corrected estimates are free of it."
            + (" *: of the judge's own family." if self.kin else ""),
            name="bias",
        )

    def _mark(self, system: str) -> str:
        return f"{system} *" if system in self.kin else system

    def _calibration_table(self) -> Table:
        rows = [
            (one.judge_score, one.outputs, one.people_mean, interval(one.low, one.high), one.monotone)
            for one in self.calibration
        ]
        head = ("judge's score", "outputs", "people's mean", "interval", "monotone")
        form = {name: decimals(2) for name in ("judge's score", "people's mean", "monotone")}
        return Table(
            f"People's mean by {self.judge}'s score", head, rows, form,
            note="Where the monotone curve is flat, the judge cannot tell outputs apart.", name="calibration",
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the judge by the names of the command's JSON."""
        low, high = self.replaced.low, self.replaced.high
        ties = self.accuracy
        return {
            "judge": self.judge,
            "criterion": self.criterion,
            "kind": self.kind,
            "combined": self.combined,
            "n_outputs": self.n_outputs,
            "n_items": self.n_items,
            "n_judged": self.n_judged,
            "n_raters": self.n_raters,
            "missing": sum(self.missing.values()),
            "missing_by_reason": self.missing,
            "levels": [asdict(one) for one in self.levels],
            "against_others": [{**asdict(one), "lead": one.lead} for one in self.against],
            "largest_saving": self.level("pair").pearson ** 2,
            "table": None if self.table is None else asdict(self.table),
            "pairwise_accuracy_systems": self.accuracy_systems,
            "spa": self.spa,
            "spa_normal": self.spa_normal,
            "spa_low": self.spa_low,
            "spa_high": self.spa_high,
            "spa_model": self.spa_model,
            "accuracy_ties": None if ties is None else ties.best,
            "epsilon": None if ties is None else ties.epsilon,
            "accuracy": None if ties is None else asdict(ties),
            "alt_test": None if self.alt_test is None else asdict(self.alt_test),
            "alt_test_convincing": self.convincing,
            "agreement": None if self.agreement is None else asdict(self.agreement),
            "bias": [asdict(one) for one in self.bias],
            "same_family": list(self.kin),
            "length": None if self.length is None else asdict(self.length),
            "position": None if self.position is None else asdict(self.position),
            "no_answers": [asdict(one) for one in self.silence],
            "calibration": [asdict(one) for one in self.calibration],
            "ratings_replaced": self.replaced.equivalent,
            "ratings_replaced_low": low,
            "ratings_replaced_high": high,
            "components": asdict(self.replaced),
            "severity_free": self.severity_free,
            "reliability": self.reliability,
            "disattenuated": self.disattenuated,
            "finding": self.sentence(),
            "notes": list(self.notes),
        }


_OVER = {"items": "items", "raters": "raters", "both": "items and raters"}


def _r(value: float) -> str:
    """Return a correlation as papers write it."""
    return number(value, 2)


def _p(value: float) -> str:
    return P_VALUE.write(value)
