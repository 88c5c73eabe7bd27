"""Fill numba's cache beforehand: ``python -m panelist.analysis.warm`` compiles everything once.

``make setup`` calls it. Whoever has not done so waits at the first fit, and is told so.
"""

import time


def fill_cache() -> float:
    """Compile what models and coefficients need, on a tiny table; return the seconds it took."""
    from panelist.agreement.measure import measure_agreement
    from panelist.models.fit import fit

    start = time.perf_counter()
    table = _tiny_table()
    slopes = "rating ~ system + (system | rater) + (system | item)"
    intercepts = "rating ~ system + (1 | rater)"
    for formula in (slopes, intercepts):
        _ = fit(formula, table, model="clmm").laplace_error
        for method in ("REML", "ML"):
            _ = fit(formula, table, model="lmm", method=method).coefficients  # its df compile as well
    for model in ("clmm", "lmm"):
        fit(intercepts, table, model=model).intervals("profile", terms="system[T.b]")
    fit(intercepts, table, model="clmm", quadrature=3)
    fit("rating ~ system", table, model="clm")
    measure_agreement(table, coefficients="all", resamples=20)
    return time.perf_counter() - start


def _tiny_table() -> "object":
    """Return the ratings of two systems by eight raters on ten items, with spreads that do not vanish."""
    import pandas as pd

    from panelist.core.seeds import stream

    rng = stream(1, "warm")
    rater = rng.normal(0.0, 0.7, (8, 2))
    item = rng.normal(0.0, 0.7, (10, 2))
    rows = []
    for r in range(8):
        for i in range(10):
            for s in range(2):
                latent = 0.4 * s + rater[r, s] + item[i, s] + rng.normal()
                rows.append((f"r{r}", f"i{i}", "ab"[s], int(min(max(round(latent + 3), 1), 5))))
    return pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])


if __name__ == "__main__":
    print(f"The model code is compiled ({fill_cache():.0f} s).")
