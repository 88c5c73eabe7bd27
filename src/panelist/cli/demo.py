"""``panelist demo``: the whole life of a study, from its file to its report, in a minute."""

from contextlib import closing
from pathlib import Path
from textwrap import TextWrapper
from typing import Annotated

import typer

from panelist.cli.options import option
from panelist.cli.terminal import say, show_progress
from panelist.study.file_names import RATINGS_FILE

MARK = "demo.json"
MADE = ("study", RATINGS_FILE, "report.html", "report_files", "heds.json", "heds.html")
_WRAP = TextWrapper(98, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def demo(
    out: Annotated[
        Path, option("DIR", "The folder to fill; an earlier demo in it is replaced.", "--output", "-o")
    ] = Path("panelist-demo"),
    keep_serving: Annotated[
        bool, typer.Option("--keep-serving", help="Keep the server running, with places for people to rate.")
    ] = False,
    port: Annotated[int, option("N", "The server's port; 0 takes any that is free.", min=0, max=65535)] = 0,
    raters: Annotated[
        int | None, option("N", "How many simulated raters take part. Default: 24.", min=2, max=500)
    ] = None,
    sims: Annotated[
        int, option("N", "Simulated studies for each effect of the power analysis.", min=2)
    ] = 100,
    seed: Annotated[int, option("N", "The seed of the simulated raters.", min=0)] = 90,
) -> None:
    """Walk through a whole study: power, plan, rating pages, analysis, report."""
    import time

    from panelist.cli.whole_life import DemoOptions, live
    from panelist.web.server import take_port

    start = time.perf_counter()
    if port:
        take_port("127.0.0.1", port).close()  # said now rather than after the power analysis
    _make_folder(out)
    options = DemoOptions(
        folder=out, seed=seed, raters=raters, sims=sims, port=port, keep_serving=keep_serving
    )
    say("A study from its file to its report. Nobody gives these ratings: the raters are simulated.")
    with closing(live(options, show_progress)) as steps:
        for number, line in enumerate(steps, start=1):
            say(_WRAP.fill(f"{number:2}. {line}"))
    say()
    say(f"Done in {time.perf_counter() - start:.0f} s. Open {out / 'report.html'} in a browser. Then try:")
    say(f"  panelist compare {out / 'study'}")
    say(f"  panelist serve {out / 'study'}")
    say("  panelist init my-study")


def _make_folder(out: Path) -> None:
    """Make the folder, or clear what an earlier demo left in it and nothing else."""
    import json
    import shutil

    from panelist import __version__
    from panelist.core.errors import BadFile

    try:
        if out.is_dir() and any(out.iterdir()) and not (out / MARK).is_file():
            raise BadFile(
                f"The folder {str(out)!r} is not empty and holds no demo; nothing was written. Name another "
                "with --output."
            )
        out.mkdir(parents=True, exist_ok=True)
        for name in MADE:
            path = out / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        (out / MARK).write_text(json.dumps({"panelist": __version__, "made": MADE}) + "\n", encoding="utf-8")
    except OSError as error:
        raise BadFile(
            f"The folder {str(out)!r} cannot be made: {error.strerror}. Name another with --output."
        ) from error
