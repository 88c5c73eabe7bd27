"""How close is close: Panelist's fit against R's, number by number.

Each function returns a sentence for every number that is too far off, so that one failing test says all that
is wrong with a fit. The tolerances are the contract; R's answers move by less (tests/reference/README.md).
"""

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from tests import reference_adapter as ours
from tests.reference_cases import Case, Floats, Modes, Row, group_key

LOGLIK_BELOW = 1e-4  # how much worse than R's a log-likelihood may be
LOGLIK_APART = 1e-3  # how far from R's it may be, where R converged
ESTIMATE = 1e-3  # relative or absolute, whichever is larger
VARIANCE = 1e-3  # likewise, of variances, covariances, standard deviations and correlations
MODE = 2e-3  # likewise, of conditional modes
SHARE = 5e-3  # relative: standard errors, degrees of freedom, F
NEAR_ZERO = 1e-2  # a variance below this has no correlation worth comparing


def check_fit(case: Case, fitted: Any) -> list[str]:
    """Return what is wrong with a fit that R is to be believed on."""
    answer = case.answer
    wrong = list(_check_size(case, fitted))
    wrong += check_rows("coefficient", answer.coefficients, ours.coefficients(fitted))
    wrong += check_rows("threshold", answer.thresholds, ours.thresholds(fitted) if answer.thresholds else {})
    if answer.blocks:
        wrong += check_covariances(case, fitted)
    if answer.sigma is not None:
        wrong += far("residual deviation", ours.residual_deviation(fitted), answer.sigma, VARIANCE)
    if not fitted.converged:
        wrong.append("the fit says that it did not converge")
    if answer.singular is not None and bool(fitted.singular) != answer.singular:
        wrong.append(f"singular: {fitted.singular}, R {answer.singular}")
    return wrong


def check_bound(case: Case, fitted: Any) -> list[str]:
    """Return what is wrong with a fit whose log-likelihood R only bounds from below."""
    wrong = []
    assert case.answer.loglik is not None
    if fitted.loglik < case.answer.loglik - LOGLIK_BELOW:
        wrong.append(f"log-likelihood {fitted.loglik:.6f} is below R's {case.answer.loglik:.6f}")
    said = " ".join(fitted.notes).lower()
    if case.separated and "separat" not in said:
        wrong.append(f"the notes do not name the separation: {said!r}")
    if fitted.singular and "singular" not in said and "zero" not in said:
        wrong.append(f"the notes do not name the singular term: {said!r}")
    if not fitted.converged and not case.separated:
        wrong.append("the fit says that it did not converge")
    return wrong


def _check_size(case: Case, fitted: Any) -> Iterator[str]:
    answer = case.answer
    if answer.n is not None and fitted.n != answer.n:
        yield f"n {fitted.n}, R {answer.n}"
    if answer.loglik is None:
        return
    if not -LOGLIK_BELOW <= fitted.loglik - answer.loglik <= LOGLIK_APART:
        yield f"log-likelihood {fitted.loglik:.8f}, R {answer.loglik:.8f}"


def check_rows(
    kind: str, theirs: dict[str, Row], found: dict[str, Row], estimate: float = ESTIMATE
) -> list[str]:
    """Return what differs between two tables of estimate, se, statistic, df; names must be the same."""
    if set(theirs) != set(found):
        return [f"{kind}s {sorted(found)}, R {sorted(theirs)}"]
    wrong: list[str] = []
    for name, row in theirs.items():
        wrong += far(f"{kind} {name}", found[name]["estimate"], row["estimate"], estimate)
        for column in ("se", "df"):
            wrong += apart(f"{column} of {kind} {name}", found[name].get(column), row.get(column))
    return wrong


def check_covariances(case: Case, fitted: Any) -> list[str]:
    """Return what differs between the random effects: deviations, covariances, correlations."""
    deviations, correlations = ours.deviations(fitted), ours.correlations(fitted)
    blocks = case.answer.blocks
    expected = {(group_key(block.group), term) for block in blocks for term in block.terms}
    if expected != set(deviations):
        return [f"random effects {sorted(deviations)}, R {sorted(expected)}"]
    wrong: list[str] = []
    for block in blocks:
        group = group_key(block.group)
        sd = np.array([deviations[group, term] for term in block.terms])
        r = np.eye(len(sd))
        for i, j in combinations(range(len(sd)), 2):
            r[i, j] = r[j, i] = np.nan_to_num(correlations[group, block.terms[i], block.terms[j]])
        found = r * np.outer(sd, sd)
        if group == group_key(case.split):
            wrong += _check_cells(group, block.covariance, found)
        else:
            wrong += _check_covariance(group, block.terms, block.covariance, found)
    return wrong


def _check_covariance(group: str, terms: tuple[str, ...], theirs: Floats, found: Floats) -> list[str]:
    wrong: list[str] = []
    for i, j in combinations_with_replacement(range(len(terms)), 2):
        name = f"{terms[i]}, {terms[j]} by {group}"
        wrong += far(f"covariance of {name}", found[i, j], theirs[i, j], VARIANCE)
        if min(theirs[i, i], theirs[j, j]) <= NEAR_ZERO:
            continue
        if i == j:
            wrong += far(f"deviation of {name}", np.sqrt(found[i, i]), np.sqrt(theirs[i, i]), VARIANCE)
        else:
            mine, hers = (m[i, j] / np.sqrt(m[i, i] * m[j, j]) for m in (found, theirs))
            wrong += far(f"correlation of {name}", mine, hers, VARIANCE)
    return wrong


def _check_cells(group: str, theirs: Floats, found: Floats) -> list[str]:
    """Each level is met by one system only, intercept alone or with its slope: compare those variances."""
    wrong = far(f"variance of the first system by {group}", found[0, 0], theirs[0, 0], VARIANCE)
    for k in range(1, len(theirs)):
        z = np.eye(len(theirs))[0] + np.eye(len(theirs))[k]
        wrong += far(f"variance of system {k + 1} by {group}", z @ found @ z, z @ theirs @ z, VARIANCE)
    return wrong


def check_modes(expected: dict[str, Modes], found: dict[str, Modes]) -> list[str]:
    """Return what differs between the conditional modes, and their deviations where R gave them."""
    if set(expected) != set(found):
        return [f"groups {sorted(found)}, R {sorted(expected)}"]
    wrong: list[str] = []
    for group, theirs in expected.items():
        mine = found[group]
        if set(theirs.levels) != set(mine.levels) or set(theirs.columns) != set(mine.columns):
            wrong.append(
                f"{group}: levels {mine.levels} of {mine.columns}, R {theirs.levels} of {theirs.columns}"
            )
            continue
        rows = [mine.levels.index(level) for level in theirs.levels]
        columns = [mine.columns.index(column) for column in theirs.columns]
        place = np.ix_(rows, columns)
        gap = np.abs(mine.values[place] - theirs.values) / np.maximum(1, np.abs(theirs.values))
        if not gap.max() <= MODE:
            wrong.append(f"modes of {group} are up to {gap.max():.2g} off")
        if theirs.sd is not None:
            assert mine.sd is not None
            gap = np.abs(mine.sd[place] - theirs.sd) / np.maximum(1, theirs.sd)
            if not gap.max() <= MODE:
                wrong.append(f"deviations of the modes of {group} are up to {gap.max():.2g} off")
    return wrong


def check_anova(theirs: dict[str, Row], found: dict[str, Row]) -> list[str]:
    """Return what differs between two tables of F tests."""
    if set(theirs) != set(found):
        return [f"terms {sorted(found)}, R {sorted(theirs)}"]
    wrong: list[str] = []
    for term, row in theirs.items():
        for column in ("num_df", "den_df", "F"):
            wrong += apart(f"{column} of {term}", found[term].get(column), row.get(column))
    return wrong


def check_means(theirs: list[dict[str, Any]], found: dict[str, Row]) -> list[str]:
    """Return what differs between our means of systems and emmeans'."""
    if {row["system"] for row in theirs} != set(found):
        return [f"systems {sorted(found)}, R {sorted(row['system'] for row in theirs)}"]
    wrong: list[str] = []
    for row in theirs:
        mine = found[row["system"]]
        name = f"mean of {row['system']}"
        wrong += far(name, mine["estimate"], row["emmean"], ESTIMATE)
        wrong += apart(f"se of {name}", mine["se"], row["SE"])
        if isinstance(row.get("df"), float):  # emmeans writes no or infinite degrees of freedom for z
            wrong += apart(f"df of {name}", mine["df"], row["df"])
        for column, names in (("low", ("lower.CL", "asymp.LCL")), ("high", ("upper.CL", "asymp.UCL"))):
            bound = next(row[key] for key in names if key in row)
            wrong += far(f"{column} of {name}", mine[column], bound, 2 * ESTIMATE)
    return wrong


def check_pairs(
    theirs: list[dict[str, Any]], found: dict[tuple[str, str], Row], absolute: float, share: float
) -> list[str]:
    """Return what differs between our differences of systems and emmeans', p-values included."""
    names = {f"{a} - {b}": pair for pair in found for a, b in [pair]}
    wrong: list[str] = []
    for row in theirs:
        name = row["contrast"].replace("(", "").replace(")", "")
        if name not in names:
            return [f"pairs {sorted(names)}, R has {name}"]
        mine = found[names[name]]
        wrong += far(name, mine["estimate"], row["estimate"], ESTIMATE)
        wrong += apart(f"se of {name}", mine["se"], row["SE"])
        if isinstance(row.get("df"), float):
            wrong += apart(f"df of {name}", mine["df"], row["df"])
        if "p.value" in row:
            wrong += check_p(name, mine["p_adjusted"], row["p.value"], absolute, share)
        for column, bounds in (("low", ("lower.CL", "asymp.LCL")), ("high", ("upper.CL", "asymp.UCL"))):
            for key in bounds:
                if key in row:
                    wrong += far(f"{column} of {name}", mine[column], row[key], 2 * ESTIMATE)
    return wrong if len(theirs) == len(found) else [*wrong, f"{len(found)} pairs, R {len(theirs)}"]


def check_p(kind: str, found: float | None, theirs: float | None, absolute: float, share: float) -> list[str]:
    """Return a sentence if two p-values differ by more than a share of R's and a little."""
    assert found is not None
    assert theirs is not None
    if not abs(found - theirs) <= absolute + share * theirs:
        return [f"p of {kind}: {found:.8g}, R {theirs:.8g}"]
    return []


def far(kind: str, found: float | None, theirs: float | None, tolerance: float) -> list[str]:
    """Return a sentence if a number is too far from R's: absolutely up to 1, relatively beyond."""
    if theirs is None:
        return []
    # `not <=`, so that a nan is far from everything.
    if found is None or not abs(found - theirs) <= tolerance * max(1.0, abs(theirs)):
        return [f"{kind}: {found}, R {theirs}"]
    return []


def apart(kind: str, found: float | None, theirs: float | None) -> list[str]:
    """Return a sentence if a number differs from R's by more than its share."""
    if theirs is None:
        return []
    if found is None or not abs(found / theirs - 1) <= SHARE:
        return [f"{kind}: {found}, R {theirs}"]
    return []
