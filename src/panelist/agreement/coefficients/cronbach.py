"""Cronbach's alpha: how consistent raters are as the parts of a sum."""

from panelist.agreement.coefficient import Undefined, coefficient
from panelist.agreement.coefficients.icc import icc_interval
from panelist.agreement.statistics.moments import Moments
from panelist.agreement.statistics.rater_variances import ROUNDING


def feldt_interval(moments: Moments, confidence: float) -> tuple[float, float]:
    """Return Feldt's F interval (1965, Psychometrika 30, 357-370), the same as that of ICC(C,k)."""
    return icc_interval("icc_ck", moments, confidence)


@coefficient(
    "cronbach_alpha",
    spoken="Cronbach's alpha",
    read_by=("koo_li",),
    levels=("interval", "ratio"),
    kind="consistency",
    statistics=Moments,
    needs="complete",
    interval=feldt_interval,
)
def cronbach_alpha(moments: Moments) -> float:
    """Cronbach's alpha of the raters: the consistency of their sum; the same number as ICC(C,k).

    Cronbach, L. J. (1951). Coefficient alpha and the internal structure of tests. Psychometrika 16, 297-334.
    """
    variance, between, _ = moments.of_ratings
    k = moments.n_raters
    whole = variance + (k - 1) * between
    if not whole > ROUNDING * variance:
        raise Undefined("the sums of the ratings do not vary over outputs")
    return k * between / whole
