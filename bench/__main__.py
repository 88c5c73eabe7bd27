"""``python -m bench``: how fast Panelist is, in one run on one machine (docs/benchmarks.md)."""

import argparse
import os
from importlib import import_module

from bench.settle import settle

settle()  # before numpy and numba come

from bench.clock import n_cores
from bench.report import PAGE, Options, describe_machine, say, show, write_page
from bench.simulate import SIZES
from panelist.core.result import Result

MODULES = {
    "designs": "bench.designs",
    "start": "bench.start",
    "threads": "bench.threads",
    "glmm": "bench.rust",
    "million": "bench.million",
}
USUAL = ("designs", "start", "threads", "glmm")


def main(arguments: list[str] | None = None) -> None:
    """Measure the sections asked for, print their tables, and put them into the page if wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "sections",
        nargs="*",
        metavar="SECTION",
        help=f"of {', '.join(MODULES)}; otherwise {', '.join(USUAL)}",
    )
    parser.add_argument("--full", action="store_true", help="ask R for the larger designs too (minutes)")
    parser.add_argument("--no-r", action="store_true", help="leave R out")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="simulated data sets a design (3)")
    parser.add_argument(
        "--most-ratings", type=int, metavar="N", help="leave out designs with more ratings than this"
    )
    parser.add_argument("--write", action="store_true", help=f"write the tables into docs/{PAGE.name}")
    asked = parser.parse_args(arguments)
    names = list(dict.fromkeys(asked.sections or USUAL))
    if unknown := [name for name in names if name not in MODULES]:
        parser.error(f"no section is called {unknown[0]!r}; there are {', '.join(MODULES)}")
    sizes = tuple(size for size in SIZES if size.n_rows <= (asked.most_ratings or SIZES[-1].n_rows))
    if not sizes:
        parser.error(f"the smallest design has {SIZES[0].n_rows} ratings")
    if asked.seeds < 1:
        parser.error("--seeds must be 1 or more")

    options = Options(asked.full, not asked.no_r, sizes, tuple(range(1, asked.seeds + 1)))
    print(f"{describe_machine()}\n", flush=True)
    _warn_if_busy()
    results: dict[str, Result] = {}
    for name in names:
        say(f"{name} …")
        results[name] = import_module(MODULES[name]).measure(options)
        show(results[name])
        if asked.write:
            write_page({name: results[name]})


def _warn_if_busy() -> None:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > 0.5 * n_cores():
        say(f"The machine is busy (load {load:.1f}): what is measured now is too long.")


if __name__ == "__main__":
    main()
