"""Compiling the model code before it is called: only what is needed, in as many processes as there are cores.

numba compiles one function at a time in a process, so the code is compiled in parts, each in a process of its
own that leaves the result on disk; this process then loads it from there. Whoever waits sees how far it is.
``python -m panelist.models.compiling`` compiles everything, or the parts that are named.
"""

import atexit
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from panelist.models.solvers.kernel import can_be_kept, is_compiled, tell_wait

LAST_IN_LINE = 10  # of niceness: what is compiled beside a server, behind everything else
_REFERENCE = 0.018  # seconds that `_probe` takes where the parts take their seconds
_APART = "PANELIST_COMPILES_ONE_PART"
_lock = threading.Lock()
_looked_at: set[str] = set()


@dataclass(frozen=True)
class Part:
    """What is compiled together; ``kernel`` and ``sample`` are written module:function."""

    name: str
    kernel: str  # the largest of it: where that is on disk nothing is left to wait for
    sample: str  # compiles it by calling it
    seconds: float  # on one core, about

    def find_kernel(self) -> Any:
        """Return the compiled function that stands for the part."""
        return find(self.kernel)


_AGREEMENT, _SAMPLES, _SOLVERS = "panelist.agreement", "panelist.models.samples", "panelist.models.solvers"
PARTS = {
    part.name: part
    for part in (
        Part("ordinal", f"{_SOLVERS}.search_ordinal:search_ordinal", f"{_SAMPLES}:fit_ordinal", 30.0),
        Part("linear", f"{_SOLVERS}.search_linear:search_linear", f"{_SAMPLES}:fit_linear", 24.0),
        Part("errors", f"{_SOLVERS}.level_errors:fill_errors", f"{_SAMPLES}:measure_errors", 12.0),
        Part("quadrature", f"{_SOLVERS}.nested_likelihood:minimise", f"{_SAMPLES}:integrate", 14.0),
        Part("agreement", f"{_AGREEMENT}.pair_kernel:measure_pairs", f"{_AGREEMENT}.sample:measure", 12.0),
        Part("clm", f"{_SOLVERS}.clm:find_optimum", f"{_SAMPLES}:fit_without_random_effects", 8.0),
    )
}

_OF_MODELS = {"clmm": ("ordinal", "errors", "linear"), "lmm": ("linear",), "clm": ("clm",)}


def list_parts(*models: str) -> list[str]:
    """Return the parts that these models need, with the linear one that gives an ordinal one its t."""
    return list(dict.fromkeys(name for model in models for name in _OF_MODELS.get(model, ())))


def prepare(*names: str) -> None:
    """Compile those of the parts that are not on disk, and wait for them; nothing happens where all are.

    A part that cannot be kept on disk is left to its first call, and the wait announced.
    """
    with _lock:
        missing = find_missing(*(name for name in names if name not in _looked_at))
        _looked_at.update(names)
        if not missing or _APART in os.environ:  # a process that compiles one part starts no others
            return
        seconds = estimate_wait(missing)
        tell_wait(seconds)
        if all(can_be_kept(part.find_kernel()) for part in missing):
            compile_apart(missing, _show_progress(seconds))


def find_missing(*names: str) -> list[Part]:
    """Return those of the parts that are not on disk."""
    return [PARTS[name] for name in names if not is_compiled(PARTS[name].find_kernel())]


def find(name: str) -> Any:
    """Return what is called module:function."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def count_cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def estimate_wait(parts: Sequence[Part]) -> float:
    """Return about how many seconds the parts take, on this machine as busy as it is now."""
    busy = [0.0] * min(count_cores(), len(parts))
    for part in _longest_first(parts):
        busy[busy.index(min(busy))] += part.seconds
    return max(busy) * _probe() / _REFERENCE


def _longest_first(parts: Sequence[Part]) -> list[Part]:
    return sorted(parts, key=lambda part: -part.seconds)


def _probe() -> float:
    """Return the seconds of some work for Python, of which compiling mostly consists."""
    start = time.perf_counter()
    _ = [str(number) for number in range(200_000)]
    return time.perf_counter() - start


def compile_apart(parts: Sequence[Part], show: Callable[[bool], None] | None = None, nice: int = 0) -> None:
    """Compile each part in a process of its own, as many at a time as there are cores.

    What fails there fails again where it is called, and is told there.
    """
    waiting = _longest_first(parts)
    running: list[subprocess.Popen[bytes]] = []
    nothing = subprocess.DEVNULL
    try:
        while waiting or running:
            while waiting and len(running) < count_cores():
                command = [sys.executable, "-m", "panelist.models.compiling", waiting.pop(0).name, str(nice)]
                running.append(
                    subprocess.Popen(
                        command,
                        stdin=nothing,
                        stdout=nothing,
                        stderr=nothing,
                        env={**os.environ, _APART: "1"},
                    )
                )
                atexit.register(running[-1].kill)  # if a thread that nobody waits for started it
            with suppress(subprocess.TimeoutExpired):
                running[0].wait(0.2)
            running = [process for process in running if process.poll() is None]
            if show is not None:
                show(bool(waiting or running))
    finally:
        for process in running:
            process.kill()


def _show_progress(seconds: float) -> Callable[[bool], None]:
    """Return what rewrites a line on the terminal: how long it takes, and how long it may take still."""
    start, shown = time.monotonic(), sys.stderr is not None and sys.stderr.isatty()

    def show(going: bool) -> None:
        if shown:
            elapsed = time.monotonic() - start
            left = f"about {seconds - elapsed:.0f} s left" if elapsed < seconds - 1.0 else "nearly done"
            line = f"{elapsed:4.0f} s, {left}" if going else ""
            print(f"\r{line:<40}", end="" if going else "\r", file=sys.stderr, flush=True)

    return show


def hasten_numba() -> None:
    """Spare numba work of which nothing is kept. For processes that only compile: it changes numba itself.

    It asks again and again which of dozens of rules gives the type of a sum of two numbers, and composes, in
    colours, a message for each that does not; and it compares its settings one by one at every step.
    """
    from numba.core import errors, types
    from numba.core.targetconfig import TargetConfig

    def list_values(self: Any) -> dict[str, Any]:
        given = self._values
        return {name: given.get(name, option.default) for name, option in self.options.items()}

    class Plain:
        def __getattr__(self, name: str) -> Callable[[str], str]:
            return lambda message: message

    plain, known = (types.Number, types.Boolean, types.Literal, types.Array), dict[Any, Any]()
    resolve: Any = types.Function.get_call_type

    def resolve_once(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(isinstance(arg, plain) for arg in args):
            return resolve(self, context, args, kws)
        key = (self, args)
        if key not in known:
            signature = resolve(self, context, args, kws)
            known[key] = signature, self._impl_keys[signature.args]
        signature, self._impl_keys[known[key][0].args] = known[key]
        return signature

    setattr(TargetConfig, "values", list_values)  # noqa: B010  (mypy takes no method for another)
    setattr(types.Function, "get_call_type", resolve_once)  # noqa: B010
    setattr(errors, "_termcolor_inst", Plain())  # noqa: B010


def main(arguments: Sequence[str]) -> None:
    """Compile one part in this process, or everything in others."""
    if not arguments:
        start = time.monotonic()
        prepare(*PARTS)
        print(f"The model code is compiled ({time.monotonic() - start:.0f} s).")
        return
    name, *nice = arguments
    if hasattr(os, "nice"):
        os.nice(int(nice[0]) if nice else 0)
    with suppress(ImportError, AttributeError):
        hasten_numba()
    find(PARTS[name].sample)()


if __name__ == "__main__":
    main(sys.argv[1:])
