"""Compiling the models before the planner needs them, where that was never done on this machine.

It takes about a minute, in which raters' pages would be slow: so another process does it, behind everything
else, and this one then only loads the result.
"""

import atexit
import os
import subprocess
import sys
from typing import Any

LAST_IN_LINE = 10


class Compiling:
    """The process that compiles, if there is one; runs come and go while it works."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._tried: set[str] = set()

    def is_over(self, model: str) -> bool:
        """Return whether a model can be fitted now; begins to compile it where it cannot."""
        if self._process is not None and self._process.poll() is None:
            return False
        if model in self._tried or not must_compile(model):
            return True
        self._tried.add(model)  # if it fails there, the first fit compiles here
        nothing = subprocess.DEVNULL
        command = [sys.executable, "-m", "panelist.reports.planner.compiling", model]
        self._process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
        atexit.register(self._process.kill)
        return False


def must_compile(model: str) -> bool:
    """Return whether the first fit of a model would compile it, and another process could do that."""
    kernel = find_kernel(model)
    if kernel is None:
        return False
    from panelist.models.solvers.kernel import is_compiled

    kept = getattr(getattr(kernel, "_cache", None), "_cache_file", None) is not None
    return kept and not is_compiled(kernel)


def find_kernel(model: str) -> Any:
    """Return the largest of what a model compiles; None where it compiles nothing."""
    if model == "clmm":
        from panelist.models.solvers.search_ordinal import search_ordinal

        return search_ordinal
    if model == "lmm":
        from panelist.models.solvers.search_linear import search_linear

        return search_linear
    return None


def compile_model(model: str) -> None:
    """Simulate and fit a few small data sets, which leaves the compiled form on disk."""
    from panelist.power.curve import simulate_power

    for systems in (2, 3):
        simulate_power(10, 2, 0.5, models=model, sims=2, systems=systems, outputs_per_rater=10, workers=1)


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(LAST_IN_LINE)
    compile_model(sys.argv[1])
