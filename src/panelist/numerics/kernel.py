"""Compiled functions: how every kernel is compiled, and when its compiled form on disk is out of date."""

import atexit
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit, types
from numba.extending import intrinsic

from panelist.numerics.numba_internals import compile_inner, find_cache_file, is_on_disk, stamp_cache

P = ParamSpec("P")
R = TypeVar("R")
_kept: list[Any] = []  # kernels whose compiled form is on disk, or will be
PACKAGES = ("agreement", "models", "numerics")  # the packages with compiled code
_MARKS = (b"@kernel", b"@inner", b"@part", b"intrinsic(")  # of files that compiled code is made from


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function on its first call: cached on disk, free of the GIL, with IEEE division."""
    return _compile(function, inline="never")


def inner(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that only kernels call (see numba_internals); it is cached with those that do."""
    return cast(Callable[P, R], compile_inner(function, {"nogil": True, "error_model": "numpy"}))


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function as a part of every kernel that calls it, and on its own only if Python calls it.

    A kernel is optimised on its own, and again in every kernel that contains it: deep nests of kernels
    compile for a long time. What has one caller, and is not small, is better a part of it.
    """
    return _compile(function, inline="always")


def _compile(function: Callable[P, R], inline: str) -> Callable[P, R]:
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "inline": inline,
        "no_cfunc_wrapper": True,  # it is not called from C
    }
    try:
        compiled: Any = njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written, neither ours nor the user's: compile in every process
        return cast(Callable[P, R], njit(**options)(function))
    stamp_cache(compiled, _stamp)
    _kept.append(compiled)
    return cast(Callable[P, R], compiled)


def _type_apart(typingctx: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), codegen


# Called in a kernel it keeps the kernel out of the code of its callers, where every copy would be optimised
# again. For functions that do much work per call, and are called in several places.
noinline: Any = intrinsic(_type_apart)


def tell_wait(seconds: float) -> None:
    """Log that compiling begins, and about how long it takes.

    It is logged as a warning, which Python shows on stderr unless the program says otherwise.
    """
    logging.getLogger("panelist").warning(
        "Compiling the model code, once: about %.0f s; later runs start at once.", max(seconds, 1.0)
    )


def is_compiled(compiled: Any) -> bool:
    """Return whether the kernel was called before, or its form on disk is that of the present sources."""
    return bool(compiled.overloads) or is_on_disk(compiled)


def can_be_kept(compiled: Any) -> bool:
    """Return whether the compiled form of a kernel can be written to disk, for other processes to load."""
    return find_cache_file(compiled) is not None


@cache
def _stamp() -> str:
    """Return a digest of all source files that compiled code is made from."""
    digest = blake2b(digest_size=16)
    package = Path(__file__).parents[1]
    for path in sorted(path for name in PACKAGES for path in (package / name).rglob("*.py")):
        text = path.read_bytes()
        if any(mark in text for mark in _MARKS):
            digest.update(path.name.encode() + b"\0" + text)
    return digest.hexdigest()


@atexit.register
def list_as_installed() -> None:
    """Add what was compiled in this process to the installed files of Panelist, so that pip uninstalls it."""
    folders = {Path(kernel.stats.cache_path) for kernel in _kept if kernel.stats.cache_misses}
    if folders:
        with suppress(OSError, PackageNotFoundError):
            add_to_record(distribution("panelist"), folders)


def add_to_record(installed: Distribution, folders: set[Path]) -> None:
    """Add the compiled files in the folders to the record of an installation; a checkout has none."""
    root, listed = Path(str(installed.locate_file(""))), {file.as_posix() for file in installed.files or ()}
    records = [file for file in installed.files or () if file.name == "RECORD"]
    if "panelist/__init__.py" not in listed or not records:
        return
    found = (file for folder in folders if folder.is_relative_to(root) for file in folder.glob("*.nb[ic]"))
    new = sorted({file.relative_to(root).as_posix() for file in found} - listed)
    with Path(str(records[0].locate())).open("a", encoding="utf-8") as record:
        record.write("".join(f"{name},,\n" for name in new))
