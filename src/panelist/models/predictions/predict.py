"""What a fitted model expects: category probabilities, mean ratings, η, the likeliest category."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from panelist.core.errors import BadModel, UnknownName, did_you_mean
from panelist.models.predictions.categories import category_probabilities, spread_nodes
from panelist.models.predictions.new_rows import DesignRows, own_rows, read_rows
from panelist.numerics.arrays import Floats

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit

EFFECTS = ("modes", "population", "none")
KINDS = {True: ("probabilities", "mean", "class", "latent"), False: ("mean",)}  # by whether it is ordinal

Prediction: TypeAlias = "pd.DataFrame | pd.Series[Any]"


def predict(fit: "Fit", data: Any = None, effects: str = "modes", kind: str | None = None) -> Prediction:
    """Return what the model expects for each row: for the rows of the fit, or for new ``data``.

    ``effects`` says who rates what. "modes": each rater and item that the fit has seen has its own effect
    (the conditional mode, taken as known), an unseen one is averaged over the population (count_unseen
    counts these). "population": all are unseen, so the grouping columns are not needed. "none": all effects
    are zero, a typical rater and a typical item, which for an ordinal model is not the average.

    ``kind`` for ordinal models: "probabilities" (as default; one column per category), "mean" (the expected
    rating, if the categories are numbers), "class" (the most probable category), "latent" (η, without
    thresholds). Linear models have only "mean". All except the probabilities are a column.

    New data need the columns that the formula uses, without the response. A missing value, or a system that
    the fit has not seen, raises BadModel and names it. The index is that of the new data; for the rows
    of the fit, their places in the table that was fitted.
    """
    kind = _check(fit, effects, kind)
    if data is None:
        rows = own_rows(fit.design)
    else:
        rows = read_rows(fit.design, data, levels=effects == "modes", slopes=effects != "none")
    eta, variance = linear_predictor(fit, rows, effects)
    return _shape(fit, kind, eta, variance, rows, effects)


def linear_predictor(fit: "Fit", rows: DesignRows, effects: str = "modes") -> tuple[Floats, Floats]:
    """Return η of each row, and the variance about it of the effects that are averaged over."""
    eta = rows.X @ fit.beta
    variance = np.zeros(len(eta))
    if effects == "none":
        return eta, variance
    for group, modes in zip(rows.groups, fit.solution.modes, strict=True):
        seen = group.index >= 0 if effects == "modes" else np.zeros(len(eta), dtype=bool)
        if seen.all():
            eta += np.einsum("ij,ij->i", group.Z, modes[group.index])
            continue
        eta[seen] += np.einsum("ij,ij->i", group.Z[seen], modes[group.index[seen]])
        Z = group.Z[~seen]
        variance[~seen] += np.einsum("ij,ij->i", Z @ fit.variance_components[group.factor.name], Z)
    return eta, variance


def conditional_probabilities(fit: "Fit") -> Floats:
    """Return the category probabilities of the rows of the fit at the conditional modes."""
    rows = own_rows(fit.design)
    return row_probabilities(fit, rows, *linear_predictor(fit, rows))


def row_thresholds(fit: "Fit", rows: DesignRows) -> Floats:
    """Return the thresholds of each row, (rows, K − 1); infinite where its cell uses no category beyond."""
    M = rows.nominal if rows.nominal is not None else np.empty((len(rows.X), 0))
    return fit.cells.values(fit.solution.alpha)[fit.cells.find(M)]


def row_spreads(fit: "Fit", rows: DesignRows, effects: Floats | None = None) -> Floats:
    """Return σ of the latent residual of each row; 1 without scale effects.

    ``effects`` are random ones on log σ, one per level, in the place of their conditional modes; a level
    that the fit has not seen has none.
    """
    log_sigma = np.zeros(len(rows.X)) if rows.scale is None else rows.scale @ fit.solution.zeta
    if rows.stretch is not None:
        known = fit.solution.spread_modes if effects is None else effects
        log_sigma = log_sigma + np.where(rows.stretch >= 0, known[rows.stretch], 0.0)
    spreads: Floats = np.exp(log_sigma)
    return spreads


def row_probabilities(
    fit: "Fit", rows: DesignRows, eta: Floats, variance: Floats, effects: str = "modes"
) -> Floats:
    """Return P(y = k) of each row, averaged over η + N(0, variance), for any ordinal model.

    ``effects`` is what ``predict`` says of random spreads; those of levels not seen are averaged over.
    """
    assert fit.link is not None
    if fit.is_plain:
        return category_probabilities(fit.link, fit.threshold_values, eta, variance)
    thresholds = row_thresholds(fit, rows)
    if rows.stretch is not None and effects != "modes":
        rows = replace(rows, stretch=np.full(len(eta), -1))

    def at(spread: Floats, own: Any = slice(None)) -> Floats:
        scaled = thresholds[own] / spread[own, None], eta[own] / spread[own], variance[own] / spread[own] ** 2
        return category_probabilities(str(fit.link), *scaled, str(fit.family))

    spread = row_spreads(fit, rows)
    found = at(spread)
    if rows.stretch is None or effects == "none" or not (new := rows.stretch < 0).any():
        return found
    nodes, weights = spread_nodes()
    found[new] = 0.0
    for node, weight in zip(nodes, weights, strict=True):
        found[new] += weight * at(spread * np.exp(fit.solution.omega * node), new)
    return found


def category_points(fit: "Fit") -> Floats | None:
    """Return the categories as numbers, or None if they are words."""
    try:
        return np.array([float(category) for category in fit.design.categories])
    except ValueError:
        return None


def category_values(fit: "Fit") -> Any:
    """Return the categories as numbers where all are numbers, else as text; an array."""
    points = category_points(fit)
    return np.array(fit.design.categories, dtype=object) if points is None else points


def _check(fit: "Fit", effects: str, kind: str | None) -> str:
    if effects not in EFFECTS:
        raise UnknownName(f"No choice of effects is called {effects!r}. {did_you_mean(effects, EFFECTS)}")
    kinds = KINDS[fit.ordinal]
    if kind is None:
        return kinds[0]
    if kind not in kinds:
        raise UnknownName(
            f"A prediction of a {fit.model} cannot be of the kind {kind!r}. {did_you_mean(kind, kinds)}"
        )
    if kind == "mean" and fit.ordinal and category_points(fit) is None:
        raise BadModel(
            f"The categories {', '.join(map(repr, fit.design.categories))} are words, which have no mean. "
            "Use kind='probabilities' or 'class', or fit the model to numbers."
        )
    return kind


def _shape(
    fit: "Fit", kind: str, eta: Floats, variance: Floats, rows: DesignRows, effects: str
) -> Prediction:
    name = fit.design.response
    if kind == "latent" or not fit.ordinal:
        return pd.Series(eta, rows.labels, name="latent" if fit.ordinal else name)
    table = row_probabilities(fit, rows, eta, variance, effects)
    if kind == "mean":
        points = category_points(fit)
        assert points is not None
        return pd.Series(table @ points, rows.labels, name=name)
    if kind == "class":
        return pd.Series(category_values(fit)[table.argmax(axis=1)], rows.labels, name=name)
    return pd.DataFrame(table, rows.labels, columns=list(fit.design.categories))


def count_unseen(fit: "Fit", data: Any) -> dict[str, int]:
    """Return for each grouping factor how many rows of new data have a level that the fit has not seen."""
    rows = read_rows(fit.design, data, levels=True, slopes=True)
    counts = {group.factor.name: int(np.count_nonzero(group.index < 0)) for group in rows.groups}
    if rows.stretch is not None and fit.design.stretch is not None:
        counts[fit.design.stretch.name] = int(np.count_nonzero(rows.stretch < 0))
    return counts
