"""How fast Panelist is, in one run on one machine (docs/benchmarks.md)."""

import argparse
import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.report import Options

MODULES = {
    "designs": "bench.designs",
    "families": "bench.families",
    "start": "bench.start",
    "threads": "bench.threads",
    "glmm": "bench.rust",
    "million": "bench.million",
    "agreement": "bench.agreement",
    "plans": "bench.plans",
    "batch": "bench.batch",
    "power": "bench.power",
    "choices": "bench.choices",
    "choices-clustered": "bench.choices_clustered",
    "choices-mixed": "bench.choices_mixed",
    "choices-order": "bench.choices_order",
    "judges": "bench.judges",
    "reports": "bench.reports",
    "collecting": "bench.collecting",
    "faults": "bench.collecting_faults",
    "abuse": "bench.collecting_abuse",
}
USUAL = ("designs", "start", "threads", "glmm")


def main(arguments: list[str] | None = None) -> None:
    """Measure the sections asked for, print their tables, and put them into the page if wanted."""
    parser = _make_parser()
    asked = parser.parse_args(arguments)
    names = list(dict.fromkeys(asked.sections or USUAL))
    if unknown := [name for name in names if name not in MODULES]:
        parser.error(f"no section is called {unknown[0]!r}; there are {', '.join(MODULES)}")
    if asked.seeds < 1:
        parser.error(f"--seeds must be 1 or more, not {asked.seeds}")

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy comes; later processes inherit it
    from bench.report import Options
    from bench.simulate import SIZES

    sizes = tuple(size for size in SIZES if size.n_rows <= (asked.most_ratings or SIZES[-1].n_rows))
    if not sizes:
        parser.error(f"the smallest design has {SIZES[0].n_rows} ratings")
    seeds = tuple(range(1, asked.seeds + 1))
    run(names, Options(full=asked.full, use_r=not asked.no_r, sizes=sizes, seeds=seeds), asked.write)


def run(names: list[str], options: "Options", write: bool) -> None:
    """Measure the sections called so, printing and writing each as soon as it is there."""
    from bench.clock import n_cores
    from bench.report import PAGE, describe_machine, say, show, write_page

    print(f"{describe_machine()}\n", flush=True)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > 0.5 * n_cores():
        say(f"The machine is busy (load {load:.1f}): what is measured now is too long.")
    for name in names:
        say(f"{name} …")
        section = import_module(MODULES[name])
        result = section.measure(options)
        show(result)
        if write:
            write_page({name: result}, getattr(section, "PAGE", PAGE))


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    known = f"of {', '.join(MODULES)}; otherwise {', '.join(USUAL)}"
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=known)
    parser.add_argument("--full", action="store_true", help="ask R for the larger designs too (minutes)")
    parser.add_argument("--no-r", action="store_true", help="leave R out")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="data sets a design (default 3)")
    parser.add_argument("--most-ratings", type=int, metavar="N", help="leave larger designs out")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/benchmarks.md")
    return parser


if __name__ == "__main__":
    main()
