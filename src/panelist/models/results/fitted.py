"""A fitted model: its tables, its tests, and how it is displayed."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.core.display.result import NamedValues, Part, Sentence, json_object, pick
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.thresholds import Thresholds
from panelist.models.prior_words import refuse_under_prior
from panelist.models.results.fit_tables import (
    make_frame,
    summarise,
    tabulate_coefficients,
    tabulate_nominal,
    tabulate_random,
    tabulate_scale,
    tabulate_thresholds,
)
from panelist.models.results.ordinal_parts import OrdinalParts
from panelist.models.solvers.solution import Optimum, Solution
from panelist.numerics.arrays import Floats
from panelist.numerics.rows import spread_of
from panelist.numerics.spectra import fill_tests

if TYPE_CHECKING:
    import pandas as pd

    from panelist.models.inference.kenward_roger import KenwardRoger
    from panelist.models.inference.laplace_error import LaplaceError
    from panelist.models.inference.small_sample import SmallSample
    from panelist.models.predictions.predict import Prediction
    from panelist.models.predictions.shares import Shares
    from panelist.models.solvers.lmm import Uncertainty

MODEL_WORDS = {
    "clmm": "ordinal mixed model",
    "clm": "ordinal model",
    "lmm": "linear mixed model",
    "lm": "linear model",
}
_NOTHING = 1e-6  # of the spread of the ratings: residuals as small as this count as zero
_NUMBERS = ("estimate", "se", "statistic", "df", "p")  # of the coefficients


@dataclass(frozen=True, eq=False, repr=False)
class Fit(OrdinalParts):
    """One fitted model. Tables are pandas frames; ``notes`` says everything a reader should know."""

    model: str
    link: str | None
    method: str
    design: ModelMatrices
    solution: Solution
    structure: Thresholds | None = None
    uncertainty: "Uncertainty | KenwardRoger | SmallSample | None" = None
    notes: tuple[str, ...] = ()
    test: str | None = None  # of an ordinal model: t, z or lrt

    def __repr__(self) -> str:
        return f"<Fit {self.model} {self.formula!r}, n = {self.n}, log-likelihood {self.loglik:.4f}>"

    def with_notes(self, *notes: str) -> "Fit":
        """Return the fit with more notes, each once."""
        every = tuple(dict.fromkeys((*self.notes, *notes)))
        parts = (self.model, self.link, self.method, self.design, self.solution)
        same = Fit(*parts, self.structure, self.uncertainty, every, self.test)
        if "laplace_error" in vars(self):  # once is enough
            vars(same)["laplace_error"] = self.laplace_error
        return same

    # What was fitted

    @property
    def formula(self) -> str:
        """The formula as it was written."""
        return self.design.formula.text

    @property
    def written(self) -> str:
        """The formula with what stands beside it: scale and nominal effects, thresholds of a structure."""
        spreads = [] if self.design.scale is None else [self.design.scale.written]
        spreads += [term.text for term in self.design.formula.stretch if self.design.stretch is not None]
        more = [f"scale ~ {' + '.join(spreads)}"] if spreads else []
        more += [f"nominal ~ {self.design.nominal.written}"] if self.design.nominal is not None else []
        if self.structure is not None and self.structure.kind != "flexible":
            more.append(f"{self.structure.kind} thresholds")
        return ", ".join([self.formula, *more])

    @property
    def n(self) -> int:
        """The number of ratings used."""
        return len(self.design.rows)

    @property
    def ordinal(self) -> bool:
        """Whether the response is ordered categories."""
        return self.structure is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fixed effects."""
        return self.design.names

    @property
    def beta(self) -> Floats:
        """The fixed effects."""
        return self.solution.beta

    @property
    def vcov(self) -> Floats:
        """The covariance matrix of the fixed effects."""
        return self.solution.vcov

    @property
    def sigma(self) -> float:
        """The residual standard deviation; 1 on the latent scale of an ordinal model."""
        return self.solution.sigma

    @property
    def optimum(self) -> Optimum:
        """The optimiser's record."""
        return self.solution.optimum

    @property
    def converged(self) -> bool:
        """Whether the optimiser ended at an optimum."""
        return self.optimum.converged

    @property
    def singular(self) -> bool:
        """Whether a variance is zero or a correlation perfect."""
        return self.solution.singular

    @property
    def leaves_nothing(self) -> bool:
        """Whether a linear model reproduces every rating: no residual variance, and so nothing to test."""
        return not self.ordinal and self.sigma < _NOTHING * spread_of(self.design.y)

    @cached_property
    def laplace_error(self) -> "LaplaceError | None":
        """The measured error of the Laplace approximation; None for models fitted in another way, and with
        scale effects or adjacent categories, for which it is not measured.
        """
        from panelist.models.inference.laplace_error import measure_laplace_error

        spreads = self.design.scale, self.design.stretch
        simple = spreads == (None, None) and self.family != "adjacent"
        return measure_laplace_error(self) if self.method == "Laplace" and simple else None

    # How well it fits

    @property
    def loglik(self) -> float:
        """The log-likelihood; for REML the restricted one."""
        return self.solution.loglik

    @property
    def n_parameters(self) -> int:
        """The number of parameters, variances among them."""
        return self.solution.n_parameters

    @property
    def aic(self) -> float:
        """Akaike's criterion; refused where there is a prior."""
        refuse_under_prior(self.prior, "aic")
        return -2.0 * self.loglik + 2.0 * self.n_parameters

    @property
    def bic(self) -> float:
        """The Bayesian criterion; refused where there is a prior."""
        refuse_under_prior(self.prior, "aic")
        return -2.0 * self.loglik + float(np.log(self.n)) * self.n_parameters

    def degrees(self, L: Floats) -> Floats:
        """Return the t degrees of freedom of each row of contrasts: Satterthwaite's, n − p, or infinite.

        An ordinal mixed model takes them from its linear analogue (inference/small_sample.py).
        """
        L = np.atleast_2d(L)
        if self.model == "lm":
            return np.full(len(L), float(self.n - len(self.beta)))
        if self.uncertainty is None:
            return np.full(len(L), np.inf)
        if self.leaves_nothing:
            return np.full(len(L), np.nan)
        if hasattr(self.uncertainty, "degrees"):  # Kenward and Roger's, or those of the linear analogue
            return self.uncertainty.degrees(L)
        from panelist.models.inference.hypotheses import degrees_satterthwaite

        return degrees_satterthwaite(L, self.vcov, self.uncertainty.slopes, self.uncertainty.A)

    def widen(self, L: Floats) -> Floats:
        """Return what multiplies the standard error of each row of contrasts in its test; mostly 1."""
        L = np.atleast_2d(L)
        ratios = getattr(self.uncertainty, "ratios", None)
        return np.ones(len(L)) if ratios is None else np.asarray(ratios(L))

    # Tables

    @cached_property
    def coefficients(self) -> "pd.DataFrame":
        """Fixed effects: term, estimate, se, statistic, df, p.

        The statistic of an ordinal mixed model is t, its standard error widened by ``widen``; with
        test="lrt" it is the signed root of the likelihood ratio.
        """
        from panelist.models.inference.hypotheses import two_sided

        numbers = np.empty((len(_NUMBERS), len(self.beta)))
        fill_tests(np.ascontiguousarray(self.beta), np.ascontiguousarray(self.vcov), numbers)
        if len(self.beta):
            every = np.eye(len(self.beta))
            numbers[2] /= self.widen(every)
            numbers[3] = self.degrees(every)
            if self.test == "lrt":
                from panelist.models.inference.likelihood_ratio import drop_effect

                ratios = np.array([drop_effect(self, row[None]) for row in every])
                numbers[2] = np.sign(self.beta) * np.sqrt(ratios)
            numbers[4] = two_sided(numbers[2], numbers[3])
            if self.prior is not None:
                loose = self.find_loose(every)
                numbers[2, loose] = numbers[4, loose] = np.nan
        return make_frame("term", self.names, _NUMBERS, numbers)

    @cached_property
    def variance_components(self) -> dict[str, Floats]:
        """The covariance matrix of the random effects of each grouping factor."""
        return {
            factor.name: self.sigma**2 * block @ block.T
            for factor, block in zip(self.design.factors, self.solution.lambdas, strict=True)
        }

    @cached_property
    def random(self) -> "pd.DataFrame":
        """Standard deviations of the random effects: group, term, sd."""
        import pandas as pd

        rows = [
            (factor.name, term, float(np.sqrt(self.variance_components[factor.name][k, k])))
            for factor in self.design.factors
            for k, term in enumerate(factor.columns)
        ]
        if self.design.stretch is not None:
            rows.append((self.design.stretch.name, self.design.stretch.columns[0], self.solution.omega))
        return pd.DataFrame(rows, columns=["group", "term", "sd"])

    @cached_property
    def correlations(self) -> "pd.DataFrame":
        """Correlations of the random effects: group, a, b, r; nan where a variance is zero."""
        import pandas as pd

        rows = []
        for factor in self.design.factors:
            covariance = self.variance_components[factor.name]
            for start, stop in factor.blocks:
                for b in range(start, stop):
                    for a in range(start, b):
                        size = float(np.sqrt(covariance[a, a] * covariance[b, b]))
                        r = float(covariance[a, b]) / size if size > 0.0 else float("nan")
                        rows.append((factor.name, factor.columns[a], factor.columns[b], r))
        return pd.DataFrame(rows, columns=["group", "a", "b", "r"])

    @cached_property
    def random_effects(self) -> "pd.DataFrame":
        """Conditional modes of the random effects: group, level, term, mode, deviation."""
        import pandas as pd

        pieces, found = [], self.solution
        known = list(zip(self.design.factors, found.modes, found.deviations, strict=True))
        if self.design.stretch is not None:
            own = found.spread_modes[:, None], found.spread_deviations[:, None]
            known.append((self.design.stretch, *own))
        for factor, modes, deviations in known:
            for k, term in enumerate(factor.columns):
                pieces.append(
                    pd.DataFrame(
                        {
                            "group": factor.name,
                            "level": list(factor.levels),
                            "term": term,
                            "mode": modes[:, k],
                            "deviation": deviations[:, k],
                        }
                    )
                )
        columns = ["group", "level", "term", "mode", "deviation"]
        return pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame(columns=columns)

    # Around the fit

    def predict(self, data: Any = None, effects: str = "modes", kind: str | None = None) -> "Prediction":
        """Return what the model expects for each row; predictions/predict.py says what the options are."""
        from panelist.models.predictions.predict import predict

        return predict(self, data, effects, kind)

    def count_unseen(self, data: Any) -> dict[str, int]:
        """Return for each grouping factor how many rows have a level that ``predict`` averages over."""
        from panelist.models.predictions.predict import count_unseen

        return count_unseen(self, data)

    def fitted(self) -> "Prediction":
        """Return the category probabilities or means of the fit's own rows, at the conditional modes."""
        return self.predict()

    def simulate(self, n: int = 1, seed: int = 0, effects: str = "new") -> Any:
        """Return n sets of ratings drawn from the model, (n, rows)."""
        from panelist.models.predictions.draw import simulate

        return simulate(self, n, seed, effects)

    def residuals(self, kind: str | None = None, seed: int = 0) -> "pd.Series[Any]":
        """Return one residual per row; models/predictions/residuals.py says which kinds there are."""
        from panelist.models.predictions.residuals import compute_residuals

        return compute_residuals(self, kind, seed)

    def icc(self) -> "Shares":
        """Return how much of the variance lies between raters, between items, and so on."""
        from panelist.models.predictions.shares import compute_shares

        return compute_shares(self)

    # Display

    def title(self) -> str:
        """Return the heading."""
        link = f", {self.link} link" if self.link else ""
        if self.family in ("sequential", "adjacent"):
            link = f", {self.family} categories{link}"
        prior = f", {self.prior_phrase}" if self.prior_phrase else ""
        return f"{MODEL_WORDS[self.model].capitalize()}{link} ({self.method}{prior}): {self.written}"

    def parts(self) -> list[Part]:
        """Return the summary, the tables and the notes."""
        return [
            NamedValues(summarise(self)),
            *([tabulate_coefficients(self)] if len(self.beta) else []),
            *([tabulate_scale(self)] if self.design.scale is not None else []),
            *([tabulate_thresholds(self)] if self.ordinal else []),
            *([tabulate_nominal(self)] if self.design.nominal is not None else []),
            *([tabulate_random(self)] if self.design.factors else []),
            *(Sentence(f"Note: {note}.") for note in self.notes),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the fit as product.md's JSON, and more."""
        return json_object(
            {
                **pick(self, "model link family method test prior formula n loglik n_parameters"),
                "aic": None if self.prior else self.aic,
                "bic": None if self.prior else self.bic,
                **pick(self, "converged singular"),
                "sigma": None if self.ordinal else self.sigma,
                "categories": self.design.categories,
                "coefficients": self.coefficients.to_dict("records"),
                "thresholds": self.thresholds.to_dict("records"),
                "scale": self.scale.to_dict("records"),
                "nominal": self.nominal.to_dict("records"),
                "random": self.random.to_dict("records"),
                "correlations": self.correlations.to_dict("records"),
                "groups": {one.name: len(one.levels) for one in self.design.every_factor},
                "optimum": vars(self.optimum),
                "notes": self.notes,
            }
        )
