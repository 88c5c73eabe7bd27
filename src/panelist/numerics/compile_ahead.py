"""Compiling the model code before it is called: only what is needed, in as many processes as there are cores.

numba compiles one function at a time in a process, so the code is compiled in parts, by processes that leave
the result on disk; this process then loads it from there. The progress is shown while this process waits.
``python -m panelist.numerics.compile_ahead`` compiles everything.
"""

import atexit
import gc
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

from panelist.numerics.kernel import can_be_kept, is_compiled, tell_wait
from panelist.numerics.numba_internals import hasten_numba

LAST_IN_LINE = 10  # of niceness: compiling beside a server has the lowest priority
_REFERENCE = 0.018  # seconds that `_probe` takes where the parts take their seconds
_APART = "PANELIST_COMPILES_ONE_PART"
_lock = threading.Lock()
_looked_at: set[str] = set()


@dataclass(frozen=True)
class CompiledPart:
    """What is compiled together; ``kernel`` and ``sample`` are written module:function."""

    name: str
    kernel: str  # the largest of it: where that is on disk nothing is left to wait for
    sample: str  # compiles it by calling it
    seconds: float  # on one core, about

    def find_kernel(self) -> Any:
        """Return the compiled function that stands for the part."""
        return find(self.kernel)


_AGREEMENT, _MODELS = "panelist.agreement", "panelist.models"
_SAMPLES = f"{_MODELS}.compile_samples"
PARTS = {
    part.name: part
    for part in (
        CompiledPart("ordinal", f"{_MODELS}.search.ordinal:search_ordinal", f"{_SAMPLES}:fit_ordinal", 25.0),
        CompiledPart("linear", f"{_MODELS}.search.linear:search_linear", f"{_SAMPLES}:fit_linear", 18.0),
        CompiledPart(
            "errors", f"{_MODELS}.likelihoods.level_errors:fill_errors", f"{_SAMPLES}:measure_errors", 9.0
        ),
        CompiledPart("quadrature", f"{_MODELS}.search.nested:minimise", f"{_SAMPLES}:integrate", 10.0),
        CompiledPart(
            "agreement",
            f"{_AGREEMENT}.statistics.pair_kernel:measure_pairs",
            f"{_AGREEMENT}.compile_sample:measure",
            8.0,
        ),
        CompiledPart(
            "clm", f"{_MODELS}.solvers.clm:find_optimum", f"{_SAMPLES}:fit_without_random_effects", 6.0
        ),
    )
}

_OF_MODELS = {"clmm": ("ordinal", "errors", "linear"), "lmm": ("linear",), "clm": ("clm",)}


def list_parts(*models: str) -> list[str]:
    """Return the parts that these models need, with the linear one that gives an ordinal one its t."""
    return list(dict.fromkeys(name for model in models for name in _OF_MODELS.get(model, ())))


def prepare(*names: str) -> None:
    """Compile those of the parts that are not on disk, and wait for them; nothing happens where all of them
    are.

    A part that cannot be kept on disk is left to its first call, and the wait announced.
    """
    if _looked_at.issuperset(names):
        return
    with _lock:  # also for callers that come while another thread waits for the same
        missing = find_missing(*(name for name in names if name not in _looked_at))
        if missing and _APART not in os.environ:  # a process that compiles one part starts no others
            seconds = estimate_wait(missing)
            tell_wait(seconds)
            if all(can_be_kept(part.find_kernel()) for part in missing):
                compile_apart(missing, _show_progress(seconds))
        _looked_at.update(names)


def find_missing(*names: str) -> list[CompiledPart]:
    """Return those of the parts that are not on disk."""
    return [PARTS[name] for name in names if not is_compiled(PARTS[name].find_kernel())]


def find(name: str) -> Any:
    """Return the object named module:function."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def count_cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def estimate_wait(parts: Sequence[CompiledPart]) -> float:
    """Return about how many seconds the parts take, on this machine as busy as it is now."""
    return max(_sum_seconds(share) for share in share_out(parts)) * _probe() / _REFERENCE


def share_out(parts: Sequence[CompiledPart]) -> list[list[CompiledPart]]:
    """Return which parts each process compiles: one process per core, each with about as much to do.

    Parts have functions in common, which a process that compiles both compiles once.
    """
    shares: list[list[CompiledPart]] = [[] for _ in range(min(count_cores(), len(parts)))]
    for part in sorted(parts, key=lambda part: -part.seconds):
        min(shares, key=_sum_seconds).append(part)
    return shares


def _sum_seconds(parts: Sequence[CompiledPart]) -> float:
    return sum(part.seconds for part in parts)


def _probe() -> float:
    """Return the seconds that a sample of Python work takes; compiling is mostly such work."""
    start = time.perf_counter()
    _ = [str(number) for number in range(200_000)]
    return time.perf_counter() - start


def compile_apart(
    parts: Sequence[CompiledPart], show: Callable[[bool], None] | None = None, nice: int = 0
) -> None:
    """Compile the parts in other processes, one per core.

    What fails there fails again where it is called, and is reported there.
    """
    running = [_start([part.name for part in share], nice) for share in share_out(parts)]
    try:
        while running:
            with suppress(subprocess.TimeoutExpired):
                running[0].wait(0.2)
            running = [process for process in running if process.poll() is None]
            if show is not None:
                show(bool(running))
    finally:
        for process in running:
            process.kill()


def _start(names: list[str], nice: int) -> subprocess.Popen[bytes]:
    """Start a process that compiles the parts one after the other."""
    command = [sys.executable, "-m", "panelist.numerics.compile_ahead", str(nice), *names]
    nothing = subprocess.DEVNULL
    settings = {_APART: "1", "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1"}  # nobody sees its messages
    process = subprocess.Popen(
        command, stdin=nothing, stdout=nothing, stderr=nothing, env={**os.environ, **settings}
    )
    atexit.register(process.kill)  # if a daemon thread started it
    return process


def _show_progress(seconds: float) -> Callable[[bool], None]:
    """Return the function that rewrites a line on the terminal: how long it takes, and how long is left."""
    start, shown = time.monotonic(), sys.stderr is not None and sys.stderr.isatty()

    def show(going: bool) -> None:
        if shown:
            elapsed = time.monotonic() - start
            left = f"about {seconds - elapsed:.0f} s left" if elapsed < seconds - 1.0 else "nearly done"
            line = f"{elapsed:4.0f} s, {left}" if going else ""
            print(f"\r{line:<40}", end="" if going else "\r", file=sys.stderr, flush=True)

    return show


def main(arguments: Sequence[str]) -> None:
    """Compile the named parts in this process, or everything in others."""
    if not arguments:
        start = time.monotonic()
        prepare(*PARTS)
        print(f"The model code is compiled ({time.monotonic() - start:.0f} s).")
        return
    nice, *names = arguments
    if hasattr(os, "nice"):
        os.nice(int(nice))
    hasten_numba()
    for name in names:
        gc.collect()
        gc.disable()  # a compiler makes millions of objects that live: looking for dead ones takes a fifth
        find(PARTS[name].sample)()


if __name__ == "__main__":
    main(sys.argv[1:])
