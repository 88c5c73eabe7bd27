"""Inner kernels compiled without what only Python needs.

numba optimises every compiled function and translates it into machine code on its own, and once more inside
each function that calls it; and it writes code for Python to call it, which takes apart every array of every
tuple. For a function that only compiled functions call all this is thrown away: it was a third of the time of
a first fit.

So libraries of such functions, known by their name, are neither optimised nor translated by themselves, but
handed to their callers as they are. That takes a hand in three methods of numba's; where a version of numba
has them no more, inner kernels are compiled like all others.
"""

from collections.abc import Callable
from typing import Any

from numba import njit

_PREFIX = "panelist inner kernel "


def compile_inner(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a function for other compiled functions to call; Python may not."""
    name = f"{function.__module__}.{function.__name__}"
    function.__qualname__ = _PREFIX + name  # numba names the library by it
    options = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled: Any = njit(**options)(function)

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise TypeError(f"{name} is an inner kernel, which only compiled functions can call.")

    # There is no form that Python can call: what is compiled is kept from the table that its calls look in.
    compiled._insert = lambda *args, **kwargs: None
    compiled._compile_for_args = refuse
    return compiled


def _spare(library: Any, codegen: Any) -> None:
    """Let libraries of inner kernels be linked without being optimised and translated first."""
    optimise, translate, set_environment = (
        library._optimize_final_module,
        library._finalize_final_module,
        codegen.set_env,
    )

    def optimise_final(self: Any) -> None:
        if not self.name.startswith(_PREFIX):
            optimise(self)

    def finish(self: Any) -> None:
        if self.name.startswith(_PREFIX):
            self._finalized = True
        else:
            translate(self)

    def set_known_environment(self: Any, name: str, environment: Any) -> None:
        # What is not translated has no address to set. Compiled code looks there for Python objects alone.
        if self._engine.is_symbol_defined(name):
            set_environment(self, name, environment)

    library._optimize_final_module, library._finalize_final_module = optimise_final, finish
    codegen.set_env = set_known_environment


try:
    from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen

    _spare(CPUCodeLibrary, JITCPUCodegen)
except (ImportError, AttributeError):
    pass
