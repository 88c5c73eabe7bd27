"""The six intraclass correlations of Shrout & Fleiss, by the names of McGraw & Wong.

Shrout, P. E. & Fleiss, J. L. (1979). Intraclass correlations. Psychological Bulletin 86, 420-428.
McGraw, K. O. & Wong, S. P. (1996). Forming inferences about some intraclass correlation coefficients.
Psychological Methods 1, 30-46. They are ratios of variances, so gaps are allowed (see variances.py).
"""

from panelist.agreement.coefficient import Decorator, Kind, Undefined, coefficient
from panelist.agreement.statistics.moments import Moments
from panelist.agreement.statistics.rater_variances import ROUNDING, MeanSquares, RaterVariances


def _icc(name: str, spoken: str, kind: Kind, unnamed: bool = False) -> Decorator:
    """Return the decorator of an ICC, which has an F interval where the ratings are complete."""

    def limits(squares: MeanSquares, confidence: float) -> tuple[float, float]:
        if squares.moments is None:
            raise Undefined("the F interval needs outputs that were rated by all raters")
        return icc_interval(name, squares.moments, confidence)

    return coefficient(
        name, spoken=spoken, read_by=("koo_li",), unnamed=unnamed, levels=("interval", "ratio"), kind=kind,
        statistics=MeanSquares, interval=limits,
    )  # fmt: skip


@_icc("icc_a1", "ICC(A,1)", "agreement")
def icc_a1(squares: MeanSquares) -> float:
    """ICC(A,1): absolute agreement of single ratings, raters a sample; Shrout and Fleiss' (2,1)."""
    parts = squares.two_way
    return _ratio(parts, parts.rater + parts.error)


@_icc("icc_ak", "ICC(A,k)", "agreement")
def icc_ak(squares: MeanSquares) -> float:
    """ICC(A,k): absolute agreement of mean ratings, raters a sample; Shrout and Fleiss' (2,k)."""
    parts = squares.two_way
    return _ratio(parts, (parts.rater + parts.error) / parts.k)


@_icc("icc_c1", "ICC(C,1)", "consistency")
def icc_c1(squares: MeanSquares) -> float:
    """ICC(C,1): consistency of single ratings, whatever each rater's level; Shrout and Fleiss' (3,1)."""
    parts = squares.two_way
    return _ratio(parts, parts.error)


@_icc("icc_ck", "ICC(C,k)", "consistency")
def icc_ck(squares: MeanSquares) -> float:
    """ICC(C,k): consistency of mean ratings, whatever each rater's level; Shrout and Fleiss' (3,k)."""
    parts = squares.two_way
    return _ratio(parts, parts.error / parts.k)


@_icc("icc_1", "ICC(1)", "agreement", unnamed=True)
def icc_1(squares: MeanSquares) -> float:
    """ICC(1): agreement of single ratings where every output may have different raters; (1,1)."""
    parts = squares.one_way
    return _ratio(parts, parts.error)


@_icc("icc_k", "ICC(k)", "agreement", unnamed=True)
def icc_k(squares: MeanSquares) -> float:
    """ICC(k): agreement of mean ratings where every output may have different raters; (1,k)."""
    parts = squares.one_way
    return _ratio(parts, parts.error / parts.k)


def icc_interval(name: str, moments: Moments, confidence: float) -> tuple[float, float]:
    """Return the F interval of an ICC on complete ratings (McGraw & Wong 1996, Table 7)."""
    from scipy.special import fdtri

    n, k = moments.n_units, moments.n_raters
    variance, between, apart = moments.of_ratings
    msb, mse, msj = variance + (k - 1) * between, variance - between, n * apart
    msw = (msj + (n - 1) * mse) / n
    upper = 1 - (1 - confidence) / 2
    if name in ("icc_a1", "icc_ak"):
        single = _agreement_interval(msb, mse, msj, n, k, upper)
    else:
        one_way = name in ("icc_1", "icc_k")
        rest, df = (msw, n * (k - 1)) if one_way else (mse, (n - 1) * (k - 1))
        if rest <= 0:
            return 1.0, 1.0
        low, high = msb / rest / fdtri(n - 1, df, upper), msb / rest * fdtri(df, n - 1, upper)
        single = (float((low - 1) / (low + k - 1)), float((high - 1) / (high + k - 1)))
    if name.endswith("k"):
        return _step_up(single[0], k), _step_up(single[1], k)
    return single


def _agreement_interval(
    msb: float, mse: float, msj: float, n: float, k: int, upper: float
) -> tuple[float, float]:
    """Return the limits of ICC(A,1), with Satterthwaite's degrees of freedom."""
    from scipy.special import fdtri

    whole = msb + (k - 1) * mse + k * (msj - mse) / n
    icc = (msb - mse) / whole
    if icc >= 1:
        return 1.0, 1.0
    a = k * icc / (n * (1 - icc))
    b = 1 + k * icc * (n - 1) / (n * (1 - icc))
    df = (a * msj + b * mse) ** 2 / ((a * msj) ** 2 / (k - 1) + (b * mse) ** 2 / ((n - 1) * (k - 1)))
    down, up = fdtri(n - 1, df, upper), fdtri(df, n - 1, upper)
    rest = k * msj + (k * n - k - n) * mse
    low = n * (msb - down * mse) / (down * rest + n * msb)
    high = n * (up * msb - mse) / (rest + n * up * msb)
    return float(low), float(high)


def _step_up(single: float, k: float) -> float:
    """Return the reliability of a mean of k from that of one (Spearman and Brown)."""
    return k * single / (1 + (k - 1) * single)


def _ratio(parts: RaterVariances, error: float) -> float:
    """Return the outputs' share of the variance, undefined where rounding is all that is left of it."""
    scale = abs(parts.unit) + abs(parts.rater) + abs(parts.error)
    if abs(parts.unit + error) <= ROUNDING * scale:
        raise Undefined("outputs and errors have no variance between them")
    return parts.unit / (parts.unit + error)
