"""The normal distribution for eight numbers at once, each tail to full relative accuracy.

The upper tail is φ(x) R(x) with Mills' ratio R. For x ≥ 0, R(x) (x + 5/4) is a smooth function of
t = (x − 7/2)/(x + 7/2), which runs from −1 to 1; the polynomial below is its least-squares fit in Chebyshev
polynomials on 4,000 nodes, written in powers of t. The largest relative error is 9·10⁻¹⁶. The exponential is
2ⁿ eʳ with |r| ≤ ½ log 2, and eʳ from its series. A machine without fused multiply-add cannot recover
what rounding takes from x², and loses up to x²/2 units of the last digit.
"""

from typing import Any

from panelist.numerics.kernel import part
from panelist.numerics.simd import absolute, broadcast, exp2, fma, rint, where_less

FAR = 1e10  # stands for an infinite threshold

_MILLS = (
    1.2661969025990627,
    -0.3622015035453903,
    0.08084038072575378,
    0.05674443169205327,
    -0.06389301822438315,
    0.025041095875786203,
    -0.00020652377273249433,
    -0.0033263992696198415,
    0.0004522109806041675,
    0.0004980629417247309,
    -7.455606375088865e-05,
    -9.286096940931256e-05,
    4.436748761339403e-06,
    1.8895859184723985e-05,
    2.566148525387119e-06,
    -3.4781058090643406e-06,
    -1.429075647253101e-06,
    4.1727625649244416e-07,
    4.462951126535204e-07,
    2.1053848041214515e-08,
    -8.956642534560809e-08,
    -2.2118977875287025e-08,
    9.027306853882127e-09,
    3.4881653988853408e-09,
)
_SERIES = (
    1.0,
    1.0,
    1.0 / 2,
    1.0 / 6,
    1.0 / 24,
    1.0 / 120,
    1.0 / 720,
    1.0 / 5040,
    1.0 / 40320,
    1.0 / 362880,
    1.0 / 3628800,
    1.0 / 39916800,
    1.0 / 479001600,
    1.0 / 6227020800,
)
_LOG2_HIGH, _LOG2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # the first has 21 zero bits
_LOWEST = -700.0  # exponents below give zero


@part
def evaluate_normal(x: Any) -> Any:
    """Return φ(x), Φ(x) and 1 − Φ(x)."""
    square = x * x
    exponent = where_less(square * -0.5, _LOWEST, _LOWEST, square * -0.5)
    n = rint(exponent * 1.4426950408889634)
    r = fma(n, -_LOG2_LOW, fma(n, -_LOG2_HIGH, exponent))
    r = fma(fma(x, x, square * -1.0), -0.5, r)  # what rounding took from x², for the far tails
    # Two chains, of even and of odd powers, are faster than one.
    s, even, odd = r * r, broadcast(_SERIES[12]), broadcast(_SERIES[13])
    for k in range(10, -1, -2):
        even = fma(even, s, _SERIES[k])
        odd = fma(odd, s, _SERIES[k + 1])
    density = fma(odd, r, even) * exp2(n) * 0.3989422804014327
    density = where_less(square * -0.5, _LOWEST, 0.0, density)
    away = absolute(x)
    both = 1.0 / ((away + 3.5) * (away + 1.25))
    t = (away - 3.5) * (away + 1.25) * both
    s, even, odd = t * t, broadcast(_MILLS[22]), broadcast(_MILLS[23])
    for k in range(20, -1, -2):
        even = fma(even, s, _MILLS[k])
        odd = fma(odd, s, _MILLS[k + 1])
    tail = density * fma(odd, t, even) * (away + 3.5) * both
    rest = 1.0 - tail
    return density, where_less(x, 0.0, tail, rest), where_less(x, 0.0, rest, tail)


@part
def probit_row(above: Any, below: Any) -> Any:
    """Return p = Φ(a) − Φ(b) and the nine entries of a row (see links) for a = above, b = below."""
    fa, lower_a, upper_a = evaluate_normal(above)
    fb, lower_b, upper_b = evaluate_normal(below)
    # The difference of two numbers near 1 loses its digits; take the tail that both are in.
    p = where_less(below, 0.0, lower_a - lower_b, upper_b - upper_a)
    share = 1.0 / p
    return p, _probit_entries(above, below, fa * share, fb * share)


@part
def move_probit_row(above: float, below: float, a: float, b: float, up: Any, low: Any) -> Any:
    """Return the nine entries of a row at ``up`` and ``low``, given φ/p at ``above`` and ``below`` near by.

    φ(x + δ) = φ(x) exp(−xδ − δ²/2), and Φ(x + δ) − Φ(x) = φ(x) (δ − xδ²/2 + (x² − 1)δ³/6 − …): where xδ is
    below 1e-3 the first terms of both series are as exact as the functions, and take no exponential.
    """
    far, near = up - above, low - below
    e = far * fma(far, -0.5, -above)
    fa = fma(fma(fma(e, 1.0 / 6.0, 0.5), e, 1.0), e, 1.0) * a
    rise = far * fma(far, fma(far, (above * above - 1.0) / 6.0, -0.5 * above), 1.0) * a
    e = near * fma(near, -0.5, -below)
    fb = fma(fma(fma(e, 1.0 / 6.0, 0.5), e, 1.0), e, 1.0) * b
    rise -= near * fma(near, fma(near, (below * below - 1.0) / 6.0, -0.5 * below), 1.0) * b
    share = 1.0 / (1.0 + rise)
    return _probit_entries(up, low, fa * share, fb * share)


@part
def _probit_entries(above: Any, below: Any, a: Any, b: Any) -> Any:
    """Return the nine entries of a row from a = φ/p above and b = φ/p below it."""
    a1, b1 = above * a * -1.0, below * b * -1.0
    a2, b2 = fma(above, above, -1.0) * a, fma(below, below, -1.0) * b
    d1, d2, d3 = a - b, a1 - b1, a2 - b2
    w = d1 * d1 - d2
    w_slope = d3 + d1 * (2.0 * d1 * d1 - 3.0 * d2)
    a_tilt = a1 - d1 * a
    b_tilt = d1 * b - b1
    a_bend = 2.0 * d1 * a_tilt - a2 + d2 * a
    b_bend = 2.0 * d1 * b_tilt + b2 - d2 * b
    return d1, w, w_slope, a, b, a_tilt, b_tilt, a_bend, b_bend
