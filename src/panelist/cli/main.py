"""The ``panelist`` command: its subcommands, and what becomes of errors.

Only Typer is imported here; a command imports what it needs when it runs, so that ``--help`` answers at once.
"""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from panelist.cli.agreement import agreement
from panelist.cli.archive import archive
from panelist.cli.backup import backup
from panelist.cli.check import check
from panelist.cli.compare import compare
from panelist.cli.demo import demo
from panelist.cli.examples import write_epilog
from panelist.cli.export import export
from panelist.cli.fit import fit
from panelist.cli.forget import forget
from panelist.cli.heds import heds
from panelist.cli.import_ import import_
from panelist.cli.init import init
from panelist.cli.links import links
from panelist.cli.plan import plan
from panelist.cli.power import power
from panelist.cli.preregister import preregister
from panelist.cli.recruit import recruit
from panelist.cli.report import report
from panelist.cli.reproduce import reproduce
from panelist.cli.restore import restore
from panelist.cli.scales import scales
from panelist.cli.schema import schema
from panelist.cli.serve import serve
from panelist.cli.simulate import simulate
from panelist.cli.size import size
from panelist.cli.terminal import say, tell
from panelist.cli.verify import verify
from panelist.core.errors import PanelistError

BAD_INPUT, A_BUG, INTERRUPTED = 2, 70, 130  # 70 is EX_SOFTWARE of sysexits.h
TRACEBACK = "--traceback"

app = typer.Typer(
    name="panelist",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
COMMANDS = (
    *(demo, init, check, power, size, plan, preregister, simulate),
    *(serve, links, recruit, export, backup, restore, forget, import_),
    *(report, heds, archive, verify, agreement, compare, scales, reproduce, fit, schema),
)
for _command in COMMANDS:
    _name = _command.__name__.rstrip("_")  # import is a word of Python
    app.command(_name, epilog=write_epilog(_name))(_command)


def _show_version(asked: bool) -> None:
    if asked:
        import panelist

        say(f"panelist {panelist.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
    traceback: Annotated[
        bool, typer.Option(TRACEBACK, help="Show where an error arose (also: PANELIST_TRACEBACK=1).")
    ] = False,
) -> None:
    """Human evaluation of language systems, from the plan to the paper."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 the answer is no, 2 bad usage or input."""
    if arguments is None:
        _collect_seldom()
    given = list(sys.argv[1:] if arguments is None else arguments)
    traceback = bool(os.environ.get("PANELIST_TRACEBACK")) or TRACEBACK in given
    given = [word for word in given if word != TRACEBACK]  # allowed anywhere, also after the command
    try:
        app(given, prog_name="panelist")
    except PanelistError as error:
        if traceback:
            raise
        tell(f"Error: {error}")
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        tell("Interrupted.")
        sys.exit(INTERRUPTED)
    except MemoryError:
        if traceback:
            raise
        tell(
            "Error: the memory of this machine is not enough. Take fewer rows (--where), or a smaller model."
        )
        sys.exit(BAD_INPUT)
    except Exception as error:
        if traceback:
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        tell(
            f"Panelist met a fault of its own ({what}). Please report it, with what the same command prints "
            f"when {TRACEBACK} is added."
        )
        sys.exit(A_BUG)


def _collect_seldom() -> None:
    """Look for garbage seldom, and not at the end: what a command makes mostly lives as long as the command.

    A report for 300 ratings takes a sixth less.
    """
    gc.set_threshold(100_000, 20, 50)
    atexit.register(gc.freeze)
