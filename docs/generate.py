"""Write the generated parts of the docs: ``python -m docs.generate``; ``--check`` says what is out of date.

- docs/cli.md, from ``--help`` and the words that the models know;
- docs/scales.md, from the registry of scales;
- docs/python.md, from the signatures and docstrings of the public names and of what they return;
- the tables of docs/architecture.md, from the docstring of every module;
- the lists of messages of docs/errors.md, from where errors are raised;
- what stands under each ``$`` command in a ``console`` block of README.md and docs/*.md, by running it on the
  demo's data. A line ``…`` in such a block stands for what was left out there;
- docs/images/*.png, drawn from the demo (these are not compared: fonts differ from machine to machine).
"""

import re
import shlex
import shutil
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from docs.error_messages import describe_errors
from docs.module_tables import describe_modules
from docs.python_reference import describe_python

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from panelist.scales.base import Scale

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
ARCHITECTURE = ROOT / "docs" / "architecture.md"
ERRORS = ROOT / "docs" / "errors.md"
IMAGES = ROOT / "docs" / "images"
DEMO = "panelist demo --sims 2"  # no page shows its power analysis, and its ratings are the same
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Write the pages, or with --check return 1 if one is out of date."""
    checking = "--check" in sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        prepare()
        pages = list(_pages())  # once: the commands on them make folders, and may not find them again
        stale = [
            path.relative_to(ROOT)
            for path, text in pages
            if not path.exists() or path.read_text("utf-8") != text
        ]
        if not checking:
            for path, text in pages:
                path.write_text(text, encoding="utf-8")
            _draw_images()
    missing = [name for name in ("systems.png", "shares.png") if not (IMAGES / name).exists()]
    for name in (*map(str, stale), *missing):
        print(f"{name} {'is out of date: run make docs' if checking else 'was written'}")
    return int(checking and bool(stale or missing))


def prepare() -> None:
    """Put what the commands in the docs read into the current folder: the demo, and files of other tools."""
    run(DEMO)
    shutil.copytree(ROOT / "examples" / "coming-from", "coming-from")


def refresh(text: str) -> str:
    """Return the page with every console block's output as it is now; run in a folder that has the demo."""
    return BLOCK.sub(lambda match: f"```console\n{_refresh_block(match[1])}```", text)


def run(command: str) -> str:
    """Return what a ``panelist`` command prints, stderr included, without starting a process."""
    from panelist.cli.main import A_BUG
    from panelist.cli.main import main as panelist
    from panelist.cli.power.progress import FIRST_WORDS
    from panelist.core.errors import MORE

    name, *words = shlex.split(command)
    arguments = [each for word in words for each in _expand(word)]
    if name != "panelist":
        raise ValueError(f"only panelist commands are run, not {command!r}")
    output = StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        try:
            panelist(arguments)
        except SystemExit as ended:
            if ended.code == A_BUG:  # never into a page
                raise RuntimeError(f"{command}: {output.getvalue()}") from ended
    lines = output.getvalue().splitlines(keepends=True)
    # The first depend on the clock, the second lead to these pages.
    return "".join(line for line in lines if not line.startswith((*FIRST_WORDS, MORE)))


def _expand(word: str) -> list[str]:
    """Return the files that a word with a star stands for, as a shell would; the word itself if none."""
    return (sorted(map(str, Path().glob(word))) if "*" in word else []) or [word]


def describe_commands() -> str:
    """Return docs/cli.md."""
    from panelist.models.fit import METHODS, MODELS
    from panelist.models.inference.adjust import ADJUSTMENTS
    from panelist.models.likelihoods.link_functions import LINKS
    from panelist.models.likelihoods.thresholds import STRUCTURES

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


def describe_scales() -> str:
    """Return docs/scales.md."""
    from panelist.scales import SCALES

    parts = ["# Scales", _SCALES]
    known = SCALES.items()
    for heading, comparative in (("one output at a time", False), ("outputs side by side", True)):
        rows = [
            f"| [`{name}`](#{name}) | {one.title} | {one.measurement} |"
            for name, one in known
            if one.comparative == comparative
        ]
        parts.append("\n".join([f"| {heading} | | level |", "|---|---|---|", *rows]))
    for name, one in known:
        parts += _describe_scale(name, one)
    return "\n\n".join(parts) + "\n"


_EXITS = """\
| code | means |
|---|---|
| 0 | done |
| 1 | the answer is no: a check failed |
| 2 | bad usage or bad input; one message on stderr says what to do |
| 70 | a fault of Panelist's own: please report it |
| 130 | interrupted |"""


_SCALES = """\
Made from the scales themselves by `make docs`; do not edit.

How raters answer the question of a criterion. In a study file a criterion has one `scale`, named by its
`type`. Whatever the order of display, **a higher value is a better one**; where outputs are compared, each is
recorded as `best`, `worst` or neither, in a ranking by its rank, 1 the best, and on `preference` by its grade
as well.

A label may be a word or a number; no two labels of a scale may be the same. Put `yes`, `no`, `on` and `off`
in quotes: to YAML they may mean true and false.

Simulated raters judge on one latent line, whatever the scale: the judgement of an output plus standard normal
noise. The thresholds between points are .62 apart, as in Howcroft & Rieser (2021,
<https://aclanthology.org/2021.emnlp-main.703>), and centred on 0; a line from 0 to 100 is as long as six
points; where outputs are compared, each has noise of its own (Thurstone 1927), a lead below .31 is a tie
where there are ties, and each 1.24 more a grade."""


def _describe_scale(name: str, one: "type[Scale]") -> list[str]:
    """Return the section of one scale: what it is, an example, what is recorded, when to use it, its keys."""
    import yaml

    from panelist.scales.base import MODEL_OF_LEVEL

    made = one(**one.example)
    block = yaml.safe_dump({"scale": one.example}, sort_keys=False, width=100).rstrip()
    model = "" if one.comparative else MODEL_OF_LEVEL.get(one.measurement, "")
    facts = {
        "Level of measurement": one.measurement + (f" (mixed model: `{model}`)." if model else "."),
        "Values": f"{made.values()}.",
        "In a methods section": made.describe(),
    }
    keys = [
        f"| `{key}` | {_describe_default(field)} | {_one_line(field.description)} |"
        for key, field in one.model_fields.items()
        if key != "type"
    ]
    return [
        f"## {name}",
        f"**{one.title}.** {_one_line(one.__doc__)}",
        f"```yaml\n{block}\n```",
        "\n".join(f"- {fact}: {text}" for fact, text in facts.items()),
        one.advice,
        *(["\n".join(["| key | without it | |", "|---|---|---|", *keys])] if keys else []),
        *([one.source] if one.source else []),
    ]


def _describe_default(field: "FieldInfo") -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is None or value == "":
        return "–"
    texts = map(str, value if isinstance(value, tuple) else [value])
    return f"`{', '.join(texts)}`" if not isinstance(value, bool) else f"`{str(value).lower()}`"


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split()).replace("``", "`")


def _pages() -> list[tuple[Path, str]]:
    made = {
        ROOT / "docs" / "cli.md": describe_commands(),
        ROOT / "docs" / "scales.md": describe_scales(),
        ROOT / "docs" / "python.md": describe_python(),
        ARCHITECTURE: describe_modules(ARCHITECTURE.read_text("utf-8")),
    }
    pages = {path: refresh(path.read_text("utf-8")) for path in PAGES if path not in made}
    pages[ERRORS] = describe_errors(pages[ERRORS])
    return [*made.items(), *pages.items()]


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
    from panelist.core.tables.ratings import read_ratings
    from panelist.reports.figures.style import draw_shares, draw_systems

    IMAGES.mkdir(exist_ok=True)
    ratings = read_ratings("panelist-demo/ratings.csv")
    draw_systems(compare_systems(ratings), IMAGES / "systems.png")
    draw_shares(ratings, IMAGES / "shares.png")


if __name__ == "__main__":
    sys.exit(main())
