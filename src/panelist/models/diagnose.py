"""What is wrong with a fit, in words that say what to do about it."""

import numpy as np

from panelist.models.fitted import Fit
from panelist.models.links import LATENT_SD

_FAR = 5.0  # latent standard deviations: further than ratings on a scale ever lie apart
_CONDITION = 1e8


def diagnose(fit: Fit) -> list[str]:
    """Return a sentence for each thing that a careful reader should know about the fit."""
    found = list(fit.solution.notes)
    found += _say_not_converged(fit)
    if fit.ordinal:
        found += _say_separated(fit)
    return found


def _say_not_converged(fit: Fit) -> list[str]:
    record = fit.optimum
    if not record.converged:
        return [
            f"not converged: {record.reason} (largest gradient {record.gradient:.2g}, condition of the Hessian "
            f"{record.condition:.2g}, {record.steps} steps); do not report these estimates. Simplify the random "
            "part, starting with the correlations and slopes whose standard deviations are smallest"
        ]
    if record.condition > _CONDITION and not fit.singular:
        return [
            f"nearly unidentifiable: the condition of the Hessian is {record.condition:.2g}, so some "
            "combination of the parameters is hardly determined; rescale numeric columns, or simplify the model"
        ]
    return []


def _say_separated(fit: Fit) -> list[str]:
    """Name the effects that ran off: the likelihood still grows as they do, so they have no finite estimate."""
    assert fit.link is not None
    unit = LATENT_SD[fit.link] if fit.link != "cauchit" else 10.0
    X, beta = fit.design.X, fit.beta
    if not len(beta):
        return []
    se = np.sqrt(np.diag(fit.vcov))
    reach = np.abs(beta) * (X.max(axis=0) - X.min(axis=0))
    lost = (reach > _FAR * unit) & ~(se < 0.2 * np.abs(beta))
    cells = _pure_levels(fit)
    if not lost.any() and not cells:
        return []
    names = [name for name, gone in zip(fit.names, lost, strict=True) if gone]
    what = "; ".join([*cells, *([f"{', '.join(names)} ran off"] if names else [])])
    return [
        f"separated: {what}. The likelihood keeps growing as such an effect does, so it has no finite "
        "estimate and its standard error means nothing; compare these ratings directly, or pool categories"
    ]


def _pure_levels(fit: Fit) -> list[str]:
    """Name the levels of fixed factors whose ratings are all lowest or all highest."""
    codes, last = fit.design.codes, len(fit.design.categories) - 1
    assert codes is not None
    found = []
    data = fit.design.fixed.data
    for name in fit.design.fixed.levels:
        by_level = data[name].to_numpy()
        for level in fit.design.fixed.levels[name]:
            own = codes[by_level == level]
            if len(own) and (own.max() == 0 or own.min() == last):
                category = fit.design.categories[0 if own.max() == 0 else last]
                found.append(f"every rating of {name} {level} is {category}")
    return found
