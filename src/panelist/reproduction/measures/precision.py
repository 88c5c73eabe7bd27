"""CV*: how precisely a score is reproduced (type I results).

Scores of one system on one criterion from n studies are shifted so that their scale begins at 0, y = x −
start. With m and s the mean and the standard deviation (n − 1) of y:

- s* = s / c4(n), the standard deviation without bias for normal data, c4(n) = √(2/(n−1)) Γ(n/2) / Γ((n−1)/2);
- CV* (2022) = (1 + 1/(4n)) · 100 · s* / m   (Belz, Popović & Mille 2022,
  https://aclanthology.org/2022.acl-long.2);
- CV* (QRA3) = 100 · s* / m                  (Belz & Thomson 2026; c4 alone is already close to unbiased).

Belz's interval is that of s*: SE(s²) = s² √(2/(n−1)), SE(s*) ≈ SE(s²) / (2 s*), s* ± t(n−1) · SE(s*). It is
what published reproductions print; its lower end may lie below 0, and it covers less than its level says. The
exact intervals of the standard deviation and of the coefficient of variation are those of exact_spread.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite, lgamma, nan, sqrt

from panelist.core.errors import BadReproduction
from panelist.reproduction.measures.exact_spread import bound_cv, bound_sd


@dataclass(frozen=True)
class Precision:
    """The scores of one system in every study and how far they spread; nan where something is undefined.

    ``mean`` is that of the shifted scores; ``low`` and ``high`` are Belz's interval of ``s_star``, whose
    lower end may be below 0 with two or three scores; ``value_low`` and ``value_high`` are the same ends on
    the scale of ``value``. ``sd_exact_low`` and ``sd_exact_high`` are the exact interval of the standard
    deviation, ``cv_exact_low`` and ``cv_exact_high`` that of the coefficient of variation in percent, whose
    upper end may be infinite. ``within_one`` and ``within_two`` are the percentages of scores less than one
    and two s* from the mean.
    """

    system: str
    scores: tuple[float, ...]
    scale_min: float
    mean: float
    sd: float
    s_star: float
    low: float
    high: float
    value: float
    value_low: float
    value_high: float
    qra3: float
    sd_exact_low: float
    sd_exact_high: float
    cv_exact_low: float
    cv_exact_high: float
    within_one: float
    within_two: float
    note: str = ""

    @property
    def n(self) -> int:
        """The number of scores."""
        return len(self.scores)


def find_c4(n: int) -> float:
    """Return c4, the mean of s over the standard deviation for n normal values.

    >>> [round(find_c4(n), 6) for n in (2, 3, 10, 100_000)]
    [0.797885, 0.886227, 0.972659, 0.999998]
    """
    return sqrt(2 / (n - 1)) * exp(lgamma(n / 2) - lgamma((n - 1) / 2))


def cv_star(scores: Sequence[float], scale_min: float = 0.0, *, over_correction: bool = True) -> float:
    """Return CV* of two scores or more, by the formula of 2022, or QRA3's without the last correction.

    >>> scores = [4.946281, 4.705394]
    >>> round(cv_star(scores, 1), 4), round(cv_star(scores, 1, over_correction=False), 4)
    (6.2775, 5.58)
    """
    found = measure_precision("", scores, scale_min)
    return found.value if over_correction else found.qra3


def measure_precision(
    system: str, scores: Sequence[float], scale_min: float = 0.0, confidence: float = 0.95
) -> Precision:
    """Return the precision of one system's scores, or raise where they cannot be scores on this scale."""
    values = tuple(float(score) for score in scores)
    n = len(values)
    if n < 2:
        raise BadReproduction(
            f"{_whose(system)} only one score, and CV* compares two or more. Give the score of a repeat as "
            "well."
        )
    if not all(map(isfinite, values)):
        raise BadReproduction(
            f"{_whose(system)} a score that is not a number: {', '.join(map(str, values))}."
        )
    if min(values) < scale_min:
        raise BadReproduction(
            f"{_whose(system)} the score {min(values):g}, below {scale_min:g}, where its scale is said to "
            "begin. CV* needs scores from the scale's lowest point up: say where it begins with --scale-min "
            "(1 for ratings from 1 to 5, -100 for best-worst scores, 0 for percentages and counts)."
        )
    y = [value - scale_min for value in values]
    m = sum(y) / n
    s = sqrt(sum((value - m) ** 2 for value in y) / (n - 1))
    s_star = s / find_c4(n)
    reach = _reach(s, s_star, n, confidence)
    share = 100 / m if m > 0 else nan
    over = 1 + 1 / (4 * n)
    sd_low, sd_high = bound_sd(s, n, confidence)
    cv_low, cv_high = bound_cv(m, s, n, confidence)
    return Precision(
        system=system,
        scores=values,
        scale_min=scale_min,
        mean=m,
        sd=s,
        s_star=s_star,
        low=s_star - reach,
        high=s_star + reach,
        value=over * share * s_star,
        value_low=over * share * (s_star - reach),
        value_high=over * share * (s_star + reach),
        qra3=share * s_star,
        sd_exact_low=sd_low,
        sd_exact_high=sd_high,
        cv_exact_low=100 * cv_low,
        cv_exact_high=100 * cv_high,
        within_one=100 * sum(abs(value - m) < s_star for value in y) / n,
        within_two=100 * sum(abs(value - m) < 2 * s_star for value in y) / n,
        note="" if m > 0 else "all scores are at the lowest point of the scale: CV* is undefined",
    )


def _reach(s: float, s_star: float, n: int, confidence: float) -> float:
    """Return half the width of Belz's interval of s*."""
    from scipy.special import stdtrit

    if s_star == 0:
        return 0.0
    t = float(stdtrit(n - 1, 1 - (1 - confidence) / 2))
    return t * s * s * sqrt(2 / (n - 1)) / (2 * s_star)


def _whose(system: str) -> str:
    return f"System {system!r} has" if system else "There is"
