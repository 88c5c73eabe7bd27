"""Intraclass shares: how much of the variance of ratings lies between raters, between items, and so on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.core.display.formats import decimals
from panelist.core.display.result import Part, Result, Sentence, Table, json_object
from panelist.core.errors import BadModel
from panelist.models.likelihoods.link_functions import LATENT_SD

if TYPE_CHECKING:
    import pandas as pd

    from panelist.models.results.fitted import Fit


@dataclass(frozen=True)
class Shares(Result):
    """The variance of each source, its ``share`` of it all, and ``icc``: its share without fixed effects."""

    formula: str
    scale: str  # "latent" or "rating"
    groups: tuple[str, ...]
    variances: tuple[float, ...]
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> "pd.DataFrame":
        """One row per source: group, variance, share, icc."""
        import pandas as pd

        variance = np.array(self.variances)
        total = variance.sum()
        icc = variance / (total - variance[0])
        icc[0] = np.nan
        return pd.DataFrame(
            {"group": list(self.groups), "variance": variance, "share": variance / total, "icc": icc}
        )

    def title(self) -> str:
        """Return the heading."""
        return f"Shares of variance on the {self.scale} scale: {self.formula}"

    def parts(self) -> list[Part]:
        """Return the table and the notes."""
        formats = {"variance": decimals(4), "share": decimals(3), "icc": decimals(3)}
        note = "share: of all variance; icc: of the variance that the fixed effects leave"
        table = Table.from_frame("Where the variance lies", self.table, formats, note)
        return [table, *(Sentence(f"Note: {note}.") for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return scale, shares and notes."""
        return json_object({"scale": self.scale, "shares": self.table, "notes": self.notes})


def compute_shares(fit: "Fit") -> Shares:
    """Return the share of each grouping factor, of the fixed effects and of the residual.

    With random slopes a factor's variance is the mean of z'Σz over the rows (Johnson 2014,
    doi:10.1111/2041-210X.12225). An ordinal model's residual has the variance of its link: 1, π²/3 or π²/6
    (Nakagawa, Johnson & Schielzeth 2017, doi:10.1098/rsif.2017.0213).
    """
    if fit.family in ("sequential", "adjacent"):
        raise BadModel(
            f"{fit.family.capitalize()} categories have no one latent residual, so no share of its variance. "
            "Fit family='cumulative' for shares; their systems hardly differ."
        )
    groups = ["fixed effects"]
    variances = [float(np.var(fit.design.X @ fit.beta, ddof=1))]
    for factor in fit.design.factors:
        # The mean of z'Σz needs only the mean of zz'.
        moments = factor.Z.T @ factor.Z / fit.n
        groups.append(factor.name)
        variances.append(float(np.sum(moments * fit.variance_components[factor.name])))
    groups.append("residual")
    residual = LATENT_SD[fit.link] ** 2 if fit.link else fit.sigma**2
    notes = []
    if fit.design.scale is not None:
        residual *= float(np.mean(np.exp(2.0 * fit.design.scale.matrix @ fit.solution.zeta)))
        notes.append(f"the residual spread differs by {fit.design.scale.text}: its mean variance is taken")
    if fit.design.stretch is not None:
        residual *= float(np.exp(2.0 * fit.solution.omega**2))
        notes.append(f"each {fit.design.stretch.name} has a residual spread: their mean variance is taken")
    if fit.design.nominal is not None:
        notes.append(f"what differs by {fit.design.nominal.text} is in the thresholds, and in no share")
    variances.append(residual)
    if fit.link == "cauchit":
        notes.append(
            "the Cauchy distribution of the cauchit link has no variance, so there are no shares of a total; "
            "fit another link to have them"
        )
    if fit.singular:
        notes.append(
            "the fit is singular, so a share of zero means that it could not be distinguished from zero"
        )
    scale = "latent" if fit.ordinal else "rating"
    return Shares(fit.formula, scale, tuple(groups), tuple(variances), tuple(notes))
