"""What to do where systems do not shift all thresholds alike: spread first, thresholds of their own next.

A departure below a quarter of a latent SD is left alone. Else a spread for each system (``scale``, one
parameter each) is tried before thresholds of its own (``nominal``), each tested against the model without by
the likelihood ratio with the same random part. It is referred to χ² even with few raters: these tests keep
their level so, while F on the degrees of freedom of the systems' own test rejects far too seldom
(docs/method.md). Other links are compared by AIC. A linear model is no remedy.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import exp, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import chdtrc

from panelist.analysis.missing import Missing, attempt
from panelist.core.display.formats import TEXT, Cell, decimals, interval, number, say_p
from panelist.core.display.result import Part, Result, Sentence, Table, pick
from panelist.core.errors import BadModel
from panelist.models.inference.adjust import two_sided_quantile

if TYPE_CHECKING:
    from panelist.core.tables.ratings import Ratings
    from panelist.models.results.fitted import Fit

_NOT_ALLOWED = "It was not allowed."
CLEARLY = 2.0  # by how much AIC must differ for a word about it
SIDES = ("scale", "nominal")
Choice = Literal["location", "scale", "nominal"]


@dataclass(frozen=True)
class SideTest:
    """Scale or nominal effects of the systems, tested against the model without."""

    side: str
    chisq: float
    df: int
    p: float
    aic: float

    def words(self) -> str:
        """Return the test as a sentence quotes it."""
        return f"LRT χ²({self.df}) = {self.chisq:.1f}, {say_p(self.p)}"


@dataclass(frozen=True)
class SystemSpread:
    """The residual spread of a system over that of the reference, with its interval."""

    system: str
    reference: str
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Remedy(Result):
    """The tests of spreads and of thresholds by system, and which model follows."""

    criterion: str
    reference: str
    confidence: float
    aic: float
    scale: SideTest | Missing
    nominal: SideTest | Missing
    spreads: tuple[SystemSpread, ...]
    choice: Choice
    links: tuple[tuple[str, float], ...] = ()
    """Other links with their AIC, where these were compared."""
    fits: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The fits that were tested, by side."""

    def title(self) -> str:
        """Return the heading."""
        return f"Spread and thresholds by system on {self.criterion}"

    def sentence(self) -> str:
        """Return what was found, and what it means for readers."""
        if self.choice == "scale":
            return f"{tell_spread(self.spreads, self.criterion)} ({_quote(self.scale)})."
        if self.choice == "nominal":
            return (
                f"On {self.criterion}, systems differ in how they use the scale, beyond a shift. "
                f"{self._tell_thresholds()}. Points and P(higher) hold, one latent difference does not."
            )
        tried = (("spread", self.scale), ("thresholds", self.nominal))
        tested = "; ".join(f"{name}: {own.words()}" for name, own in tried if isinstance(own, SideTest))
        lost = " ".join(
            f"The test of {'spreads' if name == 'spread' else name} could not be made: {_quote(own)}."
            for name, own in tried
            if isinstance(own, Missing) and own.reason != _NOT_ALLOWED
        )
        enough = f"On {self.criterion}, one shift for each system is enough ({tested})." if tested else ""
        alone = f"On {self.criterion}, each system has one shift." if lost and not tested else ""
        return " ".join(filter(None, [enough, alone, lost]))

    def advice(self) -> str:
        """Return what to do about thresholds that systems do not shift alike, in order."""
        said = []
        if self.choice == "scale":
            said.append(
                f"A spread for each system explains it ({_quote(self.scale)}; thresholds for each: "
                f"{_quote(self.nominal)}): compare with --allow scale. "
                f"{tell_spread(self.spreads, self.criterion)}."
            )
        elif self.choice == "nominal":
            said.append(
                f"{self._tell_thresholds()}: compare with --allow scale,nominal, in points and P(higher)."
            )
        else:
            said.append(
                f"With raters and items integrated out, neither spreads ({_quote(self.scale)}) nor "
                f"thresholds for each system ({_quote(self.nominal)}) are needed: one number stands."
            )
        if self.links:
            link, aic = min(self.links, key=lambda one: one[1])
            here = min(
                [self.aic, *(one.aic for one in (self.scale, self.nominal) if isinstance(one, SideTest))]
            )
            if aic < here - CLEARLY:
                said.append(f"The {link} link fits better still (AIC lower by {here - aic:.1f}).")
        said.append("A linear model is no remedy.")
        return " ".join(said)

    def _tell_thresholds(self) -> str:
        """Return why thresholds by system were chosen: spreads may explain it too, though not as well."""
        spread, apart = self.scale, self.nominal
        if not (isinstance(spread, SideTest) and isinstance(apart, SideTest)):
            return f"Thresholds for each system explain it ({_quote(apart)})"
        if spread.p >= 1 - self.confidence:
            said = f"thresholds for each system do ({_quote(apart)})"
            return f"Spreads do not explain it ({_quote(spread)}), {said}"
        return (
            f"Spreads explain part of it ({_quote(spread)}), thresholds for each system explain it better "
            f"({_quote(apart)}; AIC lower by {spread.aic - apart.aic:.1f})"
        )

    def table(self) -> Table | None:
        """Return what systems have of their own: spreads, or differences at each threshold; else None."""
        if self.choice == "nominal":
            return self._list_thresholds()
        if self.choice != "scale":
            return None
        heading = f"{100 * self.confidence:g} % interval"
        rows = [(one.system, one.ratio, interval(one.low, one.high)) for one in self.spreads]
        return Table(
            f"Spread on {self.criterion}, over that of {self.reference}",
            ("system", "ratio", heading),
            rows,
            {"system": TEXT, "ratio": decimals(2)},
            note="of ratings by the same rater of the same item, on the latent scale",
        )

    def _list_thresholds(self) -> Table:
        """Return how far each system lies above the reference at each threshold."""
        cells = self.fits["nominal"].cell_thresholds
        values = cells.where(np.isfinite(cells))  # none beyond what a system used
        names, term = list(cells.columns), self.fits["nominal"].design.nominal.text
        labels = [str(name).removeprefix(f"{term} ") for name in cells.index]
        first = values.iloc[labels.index(self.reference)].to_numpy()
        rows: list[tuple[Cell, ...]] = [
            (f"{label} − {self.reference}", *(first - own).tolist())
            for label, own in zip(labels, values.to_numpy(), strict=True)
            if label != self.reference
        ]
        return Table(
            f"Differences at each threshold of {self.criterion}",
            ("pair", *names),
            rows,
            {"pair": TEXT} | {name: decimals(2) for name in names},
            note="latent units; above 0: more ratings beyond that threshold",
        )

    def parts(self) -> list[Part]:
        """Return the sentence, and what systems have of their own."""
        table = self.table()
        return [Sentence(self.sentence()), *([table] if table is not None else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return tests, spreads and the choice."""
        sides = {"scale": self.scale, "nominal": self.nominal}
        return {
            **pick(self, "criterion reference confidence aic choice"),
            **{side: asdict(one) for side, one in sides.items()},
            "spreads": [asdict(one) for one in self.spreads],
            "links": dict(self.links),
            "sentence": self.sentence(),
        }


def tell_spread(spreads: tuple[SystemSpread, ...], criterion: str) -> str:
    """Return in words what differences in spread mean, without the test."""
    clear = [one for one in spreads if not one.low <= 1.0 <= one.high] or list(spreads)
    said = []
    for one in clear:
        less = one.ratio > 1.0
        said.append(
            f"raters agree {'less' if less else 'more'} about {one.system} than about {one.reference}: its "
            f"spread is {number(one.ratio, 2)} times as large ({interval(one.low, one.high)})"
        )
    return (
        f"On {criterion}, {'; '.join(said)}. A single rating of a system with more spread says less about it"
    )


def find_remedy(
    table: "Ratings",
    fit: "Fit",
    criterion: str,
    term: str,
    confidence: float = 0.95,
    allowed: tuple[str, ...] = SIDES,
    links: bool = False,
) -> Remedy:
    """Return the tests of scale and nominal effects of the systems, and the model that they lead to.

    ``fit`` has one shift for each system. ``links`` also compares other links.
    """
    if not fit.ordinal or len(fit.threshold_values) < 2:
        raise BadModel("Spreads and thresholds by system need an ordinal model of three categories or more.")
    from panelist.models.fit import fit as fit_again

    how: dict[str, Any] = {"model": fit.model, "test": fit.test or "t", "family": fit.family}
    tests: dict[str, SideTest | Missing] = {side: Missing(_NOT_ALLOWED) for side in SIDES}
    fits: dict[str, Any] = {}
    for side in allowed:
        sides: dict[str, Any] = {side: f"~ {term}"}
        made = attempt(lambda sides=sides: fit_again(fit.formula, table, link=str(fit.link), **sides, **how))  # type: ignore[misc]
        fits[side] = made
        tests[side] = made if isinstance(made, Missing) else compare_side(side, fit, made)
    spreads: tuple[SystemSpread, ...] = ()
    if isinstance(tests["scale"], SideTest):
        spreads = list_spreads(fits["scale"], term, confidence)
    others = []
    if links:
        for link in ("probit", "logit", "cloglog", "loglog"):
            other = attempt(lambda link=link: fit_again(fit.formula, table, link=link, **how))  # type: ignore[misc]
            if link != fit.link and not isinstance(other, Missing):
                others.append((link, float(other.aic)))
    reference = str(fit.design.fixed.levels[term][0])
    alpha = round(1 - confidence, 12)
    choice = choose_side(tests["scale"], tests["nominal"], alpha)
    found = (tests["scale"], tests["nominal"], spreads, choice, tuple(others), fits)
    return Remedy(criterion, reference, confidence, float(fit.aic), *found)


def choose_side(scale: SideTest | Missing, nominal: SideTest | Missing, alpha: float) -> Choice:
    """Return the smallest model that is enough: thresholds by system only where they beat spreads by AIC."""
    spread = isinstance(scale, SideTest) and scale.p < alpha
    apart = isinstance(nominal, SideTest) and nominal.p < alpha
    if spread and (not apart or scale.aic <= nominal.aic):  # type: ignore[union-attr]
        return "scale"
    return "nominal" if apart else "location"


def compare_side(side: str, plain: "Fit", fit: "Fit") -> SideTest | Missing:
    """Return the likelihood ratio test of the effects that one fit has and the other has not."""
    if not fit.converged:
        return Missing(f"The fit with {side} effects did not converge: {fit.optimum.reason}.")
    df = fit.n_parameters - plain.n_parameters
    chisq = max(2.0 * (fit.loglik - plain.loglik), 0.0)
    p = float(chdtrc(df, chisq)) if df > 0 else nan
    return SideTest(side, chisq, df, p, float(fit.aic))


def list_spreads(fit: "Fit", term: str, confidence: float) -> tuple[SystemSpread, ...]:
    """Return the spread of every system but the first over that of the first."""
    levels = fit.design.fixed.levels[term]
    reach = float(two_sided_quantile(confidence, np.array([np.inf]))[0])
    return tuple(
        SystemSpread(str(name), str(levels[0]), exp(zeta), exp(zeta - reach * se), exp(zeta + reach * se))
        for name, zeta, se in zip(levels[1:], fit.scale["estimate"], fit.scale["se"], strict=True)
    )


def _quote(one: SideTest | Missing) -> str:
    return one.words() if isinstance(one, SideTest) else one.reason.rstrip(".")
