"""Compiled code: whether it is there yet, and how to fill numba's cache beforehand.

``python -m panelist.models.warm`` compiles everything once; ``make setup`` calls it. Whoever has not done
so waits at the first fit, and ``announce_compiling`` says why.
"""

import logging
import os
import sys
import time
from pathlib import Path

_HERE = Path(__file__).parent
_KERNELS = {
    "clmm": ("blocks", "laplace", "estimate"),
    "clm": ("clm",),
    "lmm": ("blocks", "deviance"),
    "lm": (),
}
_announced: set[str] = set()


def announce_compiling(model: str) -> None:
    """Log one line, once for each model, if a fit of ``model`` has to compile its code first.

    It is logged as a warning, which Python shows on stderr unless the program says otherwise.
    """
    if model in _announced or is_compiled(model):
        return
    _announced.add(model)
    logging.getLogger("panelist").warning(
        "Compiling the model code, once: about 30 s; later fits start at once."
    )


def is_compiled(model: str) -> bool:
    """Return whether numba's cache holds the code of ``model``, made after its source was last changed."""
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    folders = _cache_folders()
    return all(
        any(
            file.stat().st_mtime >= (_HERE / f"{kernel}.py").stat().st_mtime
            for folder in folders
            for file in folder.glob(f"{kernel}.*.{version}*.nbi")
        )
        for kernel in _KERNELS.get(model, ())  # an unknown model is refused later, in words
    )


def fill_cache() -> float:
    """Compile what the models need, by fitting each to a tiny table; return the seconds it took."""
    from panelist.models.fit import fit

    start = time.perf_counter()
    table = _tiny_table()
    slopes = "rating ~ system + (system | rater) + (system | item)"
    intercepts = "rating ~ system + (1 | rater)"
    for formula in (slopes, intercepts):
        fit(formula, table, model="clmm")
        for method in ("REML", "ML"):
            _ = fit(formula, table, model="lmm", method=method).coefficients  # its df compile as well
    fit(intercepts, table, model="clmm", quadrature=3)
    fit("rating ~ system", table, model="clm")
    return time.perf_counter() - start


def _cache_folders() -> list[Path]:
    """Return where numba may have put the code of this folder (numba/core/caching.py)."""
    if root := os.environ.get("NUMBA_CACHE_DIR"):
        return [folder for folder in Path(root).glob(f"{_HERE.name}_*") if folder.is_dir()]
    here = _HERE / "__pycache__"
    if here.is_dir() and os.access(here, os.W_OK):
        return [here]
    from numba.misc.appdirs import user_cache_dir

    home = Path(user_cache_dir("numba", False))  # type: ignore[no-untyped-call]
    return [here, *home.glob(f"{_HERE.name}_*")]


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
