"""The ``panelist`` command: its subcommands, and how errors are reported.

Only Typer is imported here; a command imports what it needs when it runs, so that ``--help`` answers at once.
"""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from panelist.cli.agreement import agreement
from panelist.cli.archive import archive, verify
from panelist.cli.backup import backup, restore
from panelist.cli.check import check
from panelist.cli.compare import compare
from panelist.cli.demo import demo
from panelist.cli.examples import write_epilog
from panelist.cli.export import export
from panelist.cli.fit import fit
from panelist.cli.forget import forget
from panelist.cli.heds.convert import heds_convert, heds_diff, heds_lint
from panelist.cli.heds.fill import heds_fill
from panelist.cli.import_ import import_
from panelist.cli.init import init
from panelist.cli.judges.prompts import judges_prompts, judges_read
from panelist.cli.judges.worth import judges_worth
from panelist.cli.links import links
from panelist.cli.plain_values import PlainCommand, PlainValues
from panelist.cli.plan import plan, plan_extend
from panelist.cli.power.power import power, power_paper
from panelist.cli.power.size import size
from panelist.cli.preregister import preregister
from panelist.cli.recruit import recruit
from panelist.cli.report import report
from panelist.cli.reproduce.reproduce import reproduce, reproduce_size
from panelist.cli.scales import scales
from panelist.cli.schema import schema
from panelist.cli.serve import serve
from panelist.cli.simulate import simulate
from panelist.cli.terminal import lead_on, say, tell
from panelist.core.errors import PanelistError, find_anchor

BAD_INPUT, A_BUG, INTERRUPTED = 2, 70, 130  # 70 is EX_SOFTWARE of sysexits.h
TRACEBACK = "--traceback"
USAGE_ERROR = typer.BadParameter.__base__


class Commands(PlainValues, TyperGroup):
    """Commands with names of one word or two: ``plan`` and ``plan extend`` have options of their own."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first words name, longest name first, and the rest."""
        name = " ".join(args[:2])
        if name in self.commands:
            return name, self.commands[name], args[2:]
        own = {two: one for two, one in self.commands.items() if two.startswith(f"{args[0]} ")}
        if own and args[0] not in self.commands:
            if args[1:] and args[1] in ctx.help_option_names:
                say("\n".join(f"panelist {two}: {one.get_short_help_str(90)}" for two, one in own.items()))
                ctx.exit()
            ctx.fail(f"say what {args[0]} should do: {', '.join(two.split()[1] for two in own)}.")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="panelist",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
COMMANDS = (
    *(demo, init, check, power, power_paper, size, plan, plan_extend, preregister, simulate),
    *(serve, links, recruit, export, backup, restore, forget, import_),
    *(report, heds_fill, heds_lint, heds_convert, heds_diff, archive, verify),
    *(
        agreement,
        compare,
        judges_prompts,
        judges_read,
        judges_worth,
        scales,
        reproduce,
        reproduce_size,
        fit,
        schema,
    ),
)
for _command in COMMANDS:
    _name = _command.__name__.rstrip("_").replace("_", " ")  # import is a keyword of Python
    app.command(_name, cls=PlainCommand, epilog=write_epilog(_name))(_command)


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
        bool, typer.Option(TRACEBACK, help="Show where an error occurred (also: PANELIST_TRACEBACK=1).")
    ] = False,
) -> None:
    """Human evaluation of language systems, from the plan to the paper."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 the answer is no, 2 bad usage or input."""
    if arguments is None:
        _collect_seldom()
    given = list(sys.argv[1:] if arguments is None else arguments)
    traceback = bool(os.environ.get("PANELIST_TRACEBACK")) or TRACEBACK in given
    given = [word for word in given if word != TRACEBACK]  # allowed anywhere, even after the command
    try:
        app(given, prog_name="panelist")
    except PanelistError as error:
        if traceback:
            raise
        tell(f"Error: {error}")
        lead_on(find_anchor(type(error)))
        sys.exit(BAD_INPUT)
    except SystemExit as ended:
        if given and USAGE_ERROR is not None and isinstance(ended.__context__, USAGE_ERROR):
            lead_on("usage")
        raise
    except KeyboardInterrupt:
        tell("Interrupted.")
        sys.exit(INTERRUPTED)
    except MemoryError:
        if traceback:
            raise
        tell("Error: this machine has not enough memory. Use fewer rows (--where), or a smaller model.")
        lead_on("not-enough-memory")
        sys.exit(BAD_INPUT)
    except Exception as error:
        if traceback:
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        tell(
            f"This is a bug in Panelist ({what}). Please report it, with what the same command prints "
            f"when {TRACEBACK} is added."
        )
        lead_on("a-fault-of-panelist")
        sys.exit(A_BUG)


def _collect_seldom() -> None:
    """Collect garbage seldom, and not at the end: most of what a command makes lives as long as the command.

    A report on 300 ratings takes a sixth less time; a small fit makes fewer objects than are waited for here.
    """
    gc.set_threshold(300_000, 20, 50)
    atexit.register(gc.freeze)
