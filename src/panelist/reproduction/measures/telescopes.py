"""Small telescopes (Simonsohn 2015, doi:10.1177/0956797614567341), exactly, by noncentral t.

d33 is the effect that gave the original a power of one third (two-sided, α = 0.05). A repeat fails to find it
if its own effect is significantly smaller than d33 (one-sided 5 %). How many times the original's n must a
repeat have, so that it says so with a given power where the true effect is 0? About 2.5 times for 80 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from panelist.core.errors import BadReproduction
from panelist.reproduction.measures.exact_spread import find_below

DESIGNS = ("two-sample", "paired")
THIRD = 1 / 3
RULE_OF_THUMB = 2.5
LEAST = 3
NORMAL = 1e6  # degrees of freedom from which t is normal
POWERS = (0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Telescope:
    """The original's d33, the power of a repeat with 2.5 times its n, and the exact factors by power."""

    n: int
    design: str
    d33: float
    power_at_rule: float
    power_same_n: float
    factors: tuple[tuple[float, float], ...]

    def factor(self, power: float) -> float:
        """Return the factor on n for one of the powers."""
        return dict(self.factors)[power]


def point_telescope(n: int, design: str = "two-sample", alpha: float = 0.05) -> Telescope:
    """Return d33 and the factors for an original of n (in each group, or pairs).

    >>> found = point_telescope(20)
    >>> round(found.d33, 4), round(found.power_at_rule, 3), round(found.factor(0.8), 3)
    (0.4959, 0.797, 2.523)
    """
    if design not in DESIGNS:
        raise BadReproduction(f"A design is {' or '.join(DESIGNS)}. Got {design!r}.")
    if n < LEAST:
        raise BadReproduction(
            f"Small telescopes need an original of {LEAST} or more in each group. Got n = {n}."
        )
    d33 = find_effect(n, THIRD, design, alpha)
    return Telescope(
        n=n,
        design=design,
        d33=d33,
        power_at_rule=_power_to_reject(RULE_OF_THUMB * n, d33, design, alpha),
        power_same_n=_power_to_reject(n, d33, design, alpha),
        factors=tuple((power, _find_factor(n, d33, power, design, alpha)) for power in POWERS),
    )


def find_effect(n: int, power: float, design: str = "two-sample", alpha: float = 0.05) -> float:
    """Return the standardised effect that a two-sided t test of n finds with this power."""
    df, scale = _shape(n, design)
    return find_noncentrality(df, power, alpha) / scale


def find_noncentrality(df: float, power: float = THIRD, alpha: float = 0.05) -> float:
    """Return how many standard errors a difference must be for a two-sided t test to find it with this power.

    >>> round(find_noncentrality(38), 4), round(find_noncentrality(1e9), 4)
    (1.5681, 1.5286)
    """
    from scipy.optimize import brentq
    from scipy.special import stdtrit

    df = min(df, NORMAL)
    most = float(stdtrit(df, 1 - alpha / 2)) + 8  # any power in use lies below
    return float(brentq(lambda ncp: _find_power(ncp, df, alpha) - power, 0.0, most, xtol=1e-12))


def find_power(d: float, n: float, design: str = "two-sample", alpha: float = 0.05) -> float:
    """Return the power of a two-sided t test for an effect of d standard deviations."""
    df, scale = _shape(n, design)
    return _find_power(d * scale, df, alpha)


def _find_power(ncp: float, df: float, alpha: float) -> float:
    from scipy.special import stdtrit

    t = float(stdtrit(df, 1 - alpha / 2))
    return 2 - find_below(t, df, ncp) - find_below(t, df, -ncp)


def _power_to_reject(n: float, d33: float, design: str, alpha: float) -> float:
    """Return how probable it is, the true effect being 0, that the repeat is significantly below d33."""
    from scipy.special import nctdtrit, stdtr

    df, scale = _shape(n, design)
    return float(stdtr(df, float(nctdtrit(df, d33 * scale, alpha))))


def _find_factor(n: int, d33: float, power: float, design: str, alpha: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(lambda k: _power_to_reject(k * n, d33, design, alpha) - power, 0.5, 20.0, xtol=1e-9))


def _shape(n: float, design: str) -> tuple[float, float]:
    """Return the degrees of freedom, and the noncentrality for an effect of one."""
    return (2 * n - 2, sqrt(n / 2)) if design == "two-sample" else (n - 1, sqrt(n))
