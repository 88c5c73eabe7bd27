"""Confidence intervals of a fit's parameters: Wald, profile likelihood, parametric bootstrap."""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from panelist.core.display.formats import decimals
from panelist.core.display.result import Part, Result, Sentence, Table, json_object
from panelist.core.errors import UnknownName, did_you_mean
from panelist.core.numbers import check_confidence
from panelist.core.progress import OnProgress
from panelist.models.inference.adjust import two_sided_quantile
from panelist.models.prior_words import refuse_under_prior
from panelist.numerics.blas_threads import single_threaded_blas

if TYPE_CHECKING:
    import pandas as pd

    from panelist.models.results.fitted import Fit

METHODS = ("wald", "profile", "bootstrap")
WORDS = {"wald": "Wald", "profile": "profile likelihood", "bootstrap": "parametric bootstrap"}
_BETTER = 1e-3  # log-likelihood by which a constrained fit may beat the estimate before it is reported


@dataclass(frozen=True)
class Parameter:
    """One parameter of a fit: what it is, the group that a deviation belongs to, its name, its estimate."""

    kind: str  # threshold, effect, scale, sd, stretch (the sd of random spreads) or residual
    group: str
    term: str
    place: int  # among the parameters of its kind and group
    estimate: float

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which ``terms=`` may ask for it."""
        if self.kind in ("sd", "stretch"):
            return (f"sd({self.group}:{self.term})", f"{self.group}:{self.term}")
        return ("sd(residual)", "residual", "sigma") if self.kind == "residual" else (self.term,)


@dataclass(frozen=True)
class Intervals(Result):
    """Intervals of ``confidence`` for ``parameters``; infinite where the data give no bound."""

    parameters: tuple[Parameter, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    method: str
    confidence: float
    model: str
    notes: tuple[str, ...] = ()

    def table(self) -> "pd.DataFrame":
        """Return one row per parameter: kind, group, term, estimate, low, high, method."""
        import pandas as pd

        frame = pd.DataFrame(
            [(p.kind, p.group, p.term, p.estimate) for p in self.parameters],
            columns=["kind", "group", "term", "estimate"],
        )
        return frame.assign(low=list(self.low), high=list(self.high), method=self.method)

    def title(self) -> str:
        """Return the heading."""
        return f"{100 * self.confidence:g} % intervals, {WORDS[self.method]}: {self.model}"

    def parts(self) -> list[Part]:
        """Return the table and the notes."""
        rows = [
            (p.names[0], p.estimate, low, high)
            for p, low, high in zip(self.parameters, self.low, self.high, strict=True)
        ]
        formats = dict.fromkeys(("estimate", "low", "high"), decimals(4))
        table = Table("Parameters", ("term", "estimate", "low", "high"), rows, formats)
        return [table, *(Sentence(f"Note: {note}.") for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return method, level, intervals and notes."""
        columns = ["kind", "group", "term", "estimate", "low", "high"]
        return json_object(
            {
                "method": self.method,
                "confidence": self.confidence,
                "intervals": self.table()[columns].to_dict("records"),
                "notes": self.notes,
            }
        )


def find_intervals(
    fit: "Fit",
    method: str = "wald",
    confidence: float = 0.95,
    terms: Iterable[str] | str | None = None,
    n: int = 500,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Intervals:
    """Return intervals of thresholds, fixed effects and, except for Wald's, standard deviations.

    ``terms`` names the parameters, ``sd(rater:Intercept)`` and ``sigma`` for the deviations,
    ``scale: system[T.b]`` and ``1|2: system[T.b]`` for scale and nominal effects; all if None.
    ``n``, ``seed`` and ``on_progress`` belong to the bootstrap;
    ``threads`` to it and to the profile.
    """
    if method not in METHODS:
        raise UnknownName(f"No kind of interval is called {method!r}. {did_you_mean(method, METHODS)}")
    check_confidence(confidence)
    chosen = choose_parameters(list_parameters(fit), terms)
    workers = threads or min(os.cpu_count() or 1, 16)
    if method == "wald":
        return _wald(fit, chosen, confidence, asked=terms is not None)
    if method == "profile":
        refuse_under_prior(fit.prior, "profile")
        return _profile(fit, chosen, confidence, workers)
    from panelist.models.inference.bootstrap import bootstrap_parameters

    draws, notes = bootstrap_parameters(fit, chosen, n, seed, workers, on_progress)
    tail = 0.5 * (1.0 - confidence)
    low, high = (_quantile(draws, q) for q in (tail, 1.0 - tail))
    return _gather(fit, chosen, low, high, "bootstrap", confidence, notes)


def list_parameters(fit: "Fit") -> list[Parameter]:
    """Return every parameter that has an interval: thresholds, effects, deviations, the residual one."""
    found = []
    if fit.structure is not None:
        names = (*fit.cells.names, *(f"{threshold}: {term}" for threshold, term in fit.cells.effects))
        pairs = zip(names, fit.solution.alpha, strict=True)
        found += [Parameter("threshold", "", name, k, float(a)) for k, (name, a) in enumerate(pairs)]
    pairs = zip(fit.names, fit.beta, strict=True)
    found += [Parameter("effect", "", name, k, float(b)) for k, (name, b) in enumerate(pairs)]
    pairs = zip(
        fit.design.scale.names if fit.design.scale is not None else (), fit.solution.zeta, strict=True
    )
    found += [Parameter("scale", "", f"scale: {name}", k, float(z)) for k, (name, z) in enumerate(pairs)]
    for factor in fit.design.factors:
        sds = np.sqrt(np.diag(fit.variance_components[factor.name]))
        pairs = zip(factor.columns, sds, strict=True)
        found += [Parameter("sd", factor.name, name, k, float(sd)) for k, (name, sd) in enumerate(pairs)]
    if fit.design.stretch is not None:
        (term,), omega = fit.design.stretch.columns, fit.solution.omega
        found.append(Parameter("stretch", fit.design.stretch.name, term, 0, omega))
    if not fit.ordinal:
        found.append(Parameter("residual", "residual", "residual", 0, fit.sigma))
    return found


def choose_parameters(known: list[Parameter], terms: Iterable[str] | str | None) -> list[Parameter]:
    """Return the parameters asked for, in the order of the fit."""
    if terms is None:
        return known
    wanted = [terms] if isinstance(terms, str) else list(terms)
    words = {word for parameter in known for word in parameter.names}
    for word in wanted:
        if word not in words:
            names = [parameter.names[0] for parameter in known]
            raise UnknownName(f"The fit has no parameter {word!r}. {did_you_mean(word, names)}")
    return [parameter for parameter in known if set(parameter.names) & set(wanted)]


def _wald(fit: "Fit", chosen: list[Parameter], confidence: float, asked: bool) -> Intervals:
    """Estimate ± quantile x standard error; deviations have none that is useful."""
    kept = [p for p in chosen if p.kind in ("threshold", "effect", "scale")]
    notes = []
    if len(kept) < len(chosen) and (asked or not kept):
        notes.append(
            "standard deviations have no Wald interval, as their estimates are far from normal; "
            "ask for method='profile' or 'bootstrap'"
        )
    s = len(fit.solution.alpha)
    errors = np.sqrt(np.diag(fit.vcov))
    degrees = np.empty(0)
    if len(errors):
        errors, degrees = errors * fit.widen(np.eye(len(errors))), fit.degrees(np.eye(len(errors)))
    if s:
        every, q = np.sqrt(np.diag(fit.solution.joint_vcov)), len(fit.solution.zeta)
        errors = np.concatenate([every[:s], errors, every[len(every) - q :]])
        degrees = np.concatenate([np.full(s, np.inf), degrees, np.full(q, np.inf)])
    first = {"threshold": 0, "effect": s, "scale": s + len(fit.beta)}
    at = [first[p.kind] + p.place for p in kept]
    half = two_sided_quantile(confidence, degrees)[at] * errors[at]
    estimates = np.array([p.estimate for p in kept])
    low, high = (estimates - half).tolist(), (estimates + half).tolist()
    return _gather(fit, kept, low, high, "wald", confidence, notes)


def _profile(fit: "Fit", chosen: list[Parameter], confidence: float, workers: int) -> Intervals:
    from panelist.models.inference.profile import Ends, find_ends, find_target, profile_least_squares

    quantile = float(ndtri(0.5 * (1.0 + confidence)))
    notes = []
    if fit.model == "lm":
        ends = [profile_least_squares(fit, p.kind, p.place, quantile) for p in chosen]
    else:
        if fit.model == "lmm" and fit.method == "REML":
            from panelist.models.solvers.lmm import solve_lmm

            solution, uncertainty = solve_lmm(fit.design, False)
            fit = replace(fit, method="ML", solution=solution, uncertainty=uncertainty)
            notes.append("the model was refitted by ML, whose likelihood has a profile; estimates are ML's")
            known = {(p.kind, p.group, p.place): p for p in list_parameters(fit)}
            chosen = [known[p.kind, p.group, p.place] for p in chosen]

        def search(parameter: Parameter) -> Ends:
            return find_ends(find_target(fit, parameter.kind, parameter.group, parameter.place), quantile)

        with single_threaded_blas(0), ThreadPoolExecutor(workers) as pool:
            ends = list(pool.map(search, chosen))
    better = max((end.better for end in ends), default=0.0)
    if better > _BETTER:
        notes.append(
            f"with one parameter held fixed the log-likelihood is {better:.3g} higher than that of the "
            "fit itself, which therefore had not reached the optimum; simplify the model before you report "
            "its intervals"
        )
    if any(not np.isfinite([end.low, end.high]).all() for end in ends):
        notes.append("an infinite end means that the data give no bound on that side")
    return _gather(
        fit, chosen, [end.low for end in ends], [end.high for end in ends], "profile", confidence, notes
    )


def _quantile(draws: Any, q: float) -> list[float]:
    """Return the quantile of each column; sorted by hand, as draws may be infinite."""
    found = []
    for column in draws.T:
        ordered = np.sort(column[~np.isnan(column)])
        at = q * (len(ordered) - 1)
        low, high = int(np.floor(at)), int(np.ceil(at))
        if not len(ordered):
            found.append(np.nan)
        elif np.isfinite(ordered[[low, high]]).all():
            found.append(float(ordered[low] + (at - low) * (ordered[high] - ordered[low])))
        else:
            found.append(float(ordered[low] if q < 0.5 else ordered[high]))
    return found


def _gather(
    fit: "Fit",
    chosen: list[Parameter],
    low: Sequence[float],
    high: Sequence[float],
    method: str,
    confidence: float,
    notes: list[str],
) -> Intervals:
    return Intervals(
        tuple(chosen),
        tuple(map(float, low)),
        tuple(map(float, high)),
        method,
        confidence,
        fit.title(),
        tuple(notes),
    )
