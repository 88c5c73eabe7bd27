"""Write the generated parts of the docs: ``python -m docs.generate``; ``--check`` says what is out of date.

- docs/cli.md, from ``--help`` and the words that the models know;
- what stands under each ``$`` command in a ``console`` block of README.md and docs/*.md, by running it on the
  demo's data. A line ``…`` in such a block stands for what was left out there;
- docs/images/*.png, drawn from the demo (these are not compared: fonts differ from machine to machine).
"""

import re
import shlex
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
IMAGES = ROOT / "docs" / "images"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Write the pages, or with --check return 1 if one is out of date."""
    checking = "--check" in sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        run("panelist demo")
        stale = [
            path.relative_to(ROOT)
            for path, text in _pages()
            if not path.exists() or path.read_text("utf-8") != text
        ]
        if not checking:
            for path, text in _pages():
                path.write_text(text, encoding="utf-8")
            _draw_images()
    missing = [name for name in ("systems.png", "shares.png") if not (IMAGES / name).exists()]
    for name in (*map(str, stale), *missing):
        print(f"{name} {'is out of date: run make docs' if checking else 'was written'}")
    return int(checking and bool(stale or missing))


def refresh(text: str) -> str:
    """Return the page with every console block's output as it is now; run in a folder that has the demo."""
    return BLOCK.sub(lambda match: f"```console\n{_refresh_block(match[1])}```", text)


def run(command: str) -> str:
    """Return what a ``panelist`` command prints, stderr included, without starting a process."""
    from panelist.cli.main import A_BUG
    from panelist.cli.main import main as panelist

    name, *arguments = shlex.split(command)
    if name != "panelist":
        raise ValueError(f"only panelist commands are run, not {command!r}")
    output = StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        try:
            panelist(arguments)
        except SystemExit as ended:
            if ended.code == A_BUG:  # never into a page
                raise RuntimeError(f"{command}: {output.getvalue()}") from ended
    return output.getvalue()


def describe_commands() -> str:
    """Return docs/cli.md."""
    from panelist.models.fit import METHODS, MODELS
    from panelist.models.inference.adjust import ADJUSTMENTS
    from panelist.models.solvers.links import LINKS
    from panelist.models.solvers.thresholds import STRUCTURES

    parts = ["# The command line", "Made from `--help` by `make docs`; do not edit."]
    for command in ("panelist", *(f"panelist {name}" for name in _command_names())):
        parts += [f"## {command}", f"```text\n{_help(command)}\n```"]
    parts += ["## Exit codes", _EXITS, "## Words"]
    words = {"models": MODELS, "links": LINKS, "threshold structures": STRUCTURES}
    words |= {"methods of a linear mixed model": METHODS, "adjustments": ADJUSTMENTS}
    parts.append(
        "\n".join(f"- {kind}: {', '.join(f'`{name}`' for name in names)}" for kind, names in words.items())
    )
    return "\n\n".join(parts) + "\n"


_EXITS = """\
| code | means |
|---|---|
| 0 | done |
| 1 | the answer is no: a check failed |
| 2 | bad usage or bad input; one message on stderr says what to do |
| 70 | a fault of Panelist's own: please report it |
| 130 | interrupted |"""


def _pages() -> list[tuple[Path, str]]:
    commands = ROOT / "docs" / "cli.md"
    pages = [(path, refresh(path.read_text("utf-8"))) for path in PAGES if path != commands]
    return [(commands, describe_commands()), *pages]


def _refresh_block(block: str) -> str:
    """Return the commands of a block, each followed by what it prints now."""
    lines: list[str] = []
    for part in re.split(r"^(?=\$ )", block, flags=re.MULTILINE):
        if not part.strip():
            continue
        command, *old = part.rstrip("\n").split("\n")
        while command.endswith("\\"):
            command += "\n" + old.pop(0)
        new = run(command.removeprefix("$ ").replace("\\\n", " ")).rstrip("\n").split("\n")
        lines += [command, *_shorten(new, old)]
    return "\n".join(lines) + "\n"


def _shorten(new: list[str], old: list[str]) -> list[str]:
    """Return the new lines with the same cut, if the old ones had one."""
    if "…" not in old:
        return new
    cut = old.index("…")
    tail = len(old) - cut - 1
    return [*new[:cut], "…", *new[len(new) - tail :]]


def _command_names() -> list[str]:
    from panelist.cli.main import app

    return [
        str(command.name or command.callback.__name__)
        for command in app.registered_commands
        if command.callback
    ]


def _help(command: str) -> str:
    import os

    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "100"  # the width that help texts are broken at
    try:
        return run(f"{command} --help").rstrip()
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def _draw_images() -> None:
    from panelist.analysis.compare import compare_systems
    from panelist.core.ratings import read_ratings
    from panelist.reports.figures import draw_shares, draw_systems

    IMAGES.mkdir(exist_ok=True)
    ratings = read_ratings("panelist-demo/ratings.csv")
    draw_systems(compare_systems(ratings), IMAGES / "systems.png")
    draw_shares(ratings, IMAGES / "shares.png")


if __name__ == "__main__":
    sys.exit(main())
