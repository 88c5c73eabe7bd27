"""What every command prints: results on stdout, everything else on stderr."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from panelist.core.errors import MORE, find_causes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from panelist.core.display.result import Result
    from panelist.core.progress import OnProgress
    from panelist.core.tables.ratings import Ratings

THE_ANSWER_IS_NO = 1
CLOSED_PIPE = 141  # what a shell reports for a program whose reader went away


def show(result: "Result", as_json: bool = False) -> None:
    """Print a result: as one JSON object, in a terminal with colour and its width, else as plain text."""
    if as_json:
        say(result.to_json())
    elif sys.stdout.isatty():
        from rich.console import Console

        Console().print(result)
    else:
        say(str(result))


def show_all(results: "Mapping[str, Result]", as_json: bool = False) -> None:
    """Print several results; as JSON they are one object: the first's, with each other under its name."""
    if not as_json:
        for place, result in enumerate(results.values()):
            if place:
                say()
            show(result)
        return
    import json

    from panelist.core.display.result import json_ready

    first, *others = results
    whole = results[first].to_dict() | {name: results[name].to_dict() for name in others}
    say(json.dumps(json_ready(whole), ensure_ascii=False, allow_nan=False))


def show_planned(planned: "Result | None", results: "Mapping[str, Result]", as_json: bool = False) -> None:
    """Print what a study declares, if there is one, then the results; in JSON it is under ``planned``."""
    if planned is None:
        show_all(results, as_json)
        return
    if as_json:
        show_all({**results, "planned": planned}, as_json=True)
        return
    show(planned)
    say()
    show_all(results)


@contextmanager
def show_progress(what: str) -> "Iterator[OnProgress]":
    """Give a function that shows how far the work is; the bar is drawn on stderr."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    with Bar(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what)
        yield lambda now: bar.update(task, completed=now.done, total=now.total)


def say(text: str = "") -> None:
    """Print a line of the answer; end quietly if the reader has gone, as with ``| head``."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes stdout once more at its end, and would complain there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED_PIPE)
    except UnicodeEncodeError:  # a terminal that is not UTF-8: the numbers matter more than the characters
        encoding = sys.stdout.encoding or "ascii"
        print(text.encode(encoding, "replace").decode(encoding), flush=True)


def tell(text: str) -> None:
    """Print a line about the work, on stderr."""
    print(text, file=sys.stderr, flush=True)


def lead_on(heading: str) -> None:
    """Print where causes and cures are."""
    tell_dimly(MORE + find_causes(heading))


def tell_dimly(text: str) -> None:
    """Print a line that matters less, on stderr; dimmed where that is a terminal with colours."""
    from rich.console import Console

    Console(stderr=True, highlight=False, markup=False).print(text, style="dim", soft_wrap=True)


def open_ratings(
    path: Path, columns: str | None, where: list[str] | None, drop: list[str] | None = None
) -> "Ratings":
    """Return the ratings table in a file, its columns mapped and its rows chosen as the options say."""
    from panelist.core.tables.ratings import parse_columns, parse_where, read_ratings

    mapping, wanted = parse_columns(columns), parse_where(where or [])
    ratings = read_ratings(path, mapping or None, drop=drop or ())
    return ratings.where(**wanted) if wanted else ratings
