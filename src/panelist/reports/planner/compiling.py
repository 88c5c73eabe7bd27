"""Compiling the models before the planner needs them, where that was never done on this machine.

It takes about a minute, in which raters' pages would be slow: so other processes do it, behind everything
else, and this one then only loads the result.
"""

import threading


class Compiling:
    """Compiles in the background what models need; runs come and go while it works."""

    def __init__(self) -> None:
        self._threads: dict[str, threading.Thread] = {}

    def is_over(self, model: str) -> bool:
        """Return whether a model can be fitted now; begins to compile it where it cannot."""
        if model not in self._threads:
            thread = threading.Thread(target=compile_model, args=(model,), name="compiling", daemon=True)
            self._threads[model] = thread
            thread.start()
            thread.join(0.5)  # usually there is nothing to compile
        return not self._threads[model].is_alive()


def compile_model(model: str) -> None:
    """Compile in other processes what a model needs and is not on disk; if that fails, the first fit does."""
    from panelist.models.compiling import LAST_IN_LINE, compile_apart, find_missing, list_parts
    from panelist.models.solvers.kernel import can_be_kept

    missing = find_missing(*list_parts(model))
    if all(can_be_kept(part.find_kernel()) for part in missing):
        compile_apart(missing, nice=LAST_IN_LINE)
