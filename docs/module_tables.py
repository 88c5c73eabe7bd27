"""The tables of docs/architecture.md: every module of each package and what it holds, from its docstring."""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "panelist"
BEGIN, END = "<!-- the modules, made by make docs -->", "<!-- the end of the modules -->"
LAYERS = re.compile(r"^core < .* < cli$", re.MULTILINE)


def describe_modules(page: str) -> str:
    """Return docs/architecture.md with the tables as the sources are now.

    The order of the packages is that of the layers, which the page itself says.
    """
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    found = LAYERS.search(before)
    if found is None or not rest:
        raise ValueError("docs/architecture.md has lost the line of its layers, or the mark of its tables")
    tables = "\n\n".join(_describe_package(name) for name in found[0].split(" < "))
    return f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}"


def _describe_package(name: str) -> str:
    rows = [
        f"| {_place(path, name)} | {first_sentence(path)} |"
        for path in sorted((PACKAGE / name).rglob("*.py"), key=_order)
        if path != PACKAGE / name / "__init__.py"
    ]
    head = f"### {name}\n\n{first_sentence(PACKAGE / name / '__init__.py')}\n\n"
    return head + "\n".join(["| module | what it holds |", "|---|---|", *rows])


def _order(path: Path) -> tuple[object, ...]:
    """Modules of a folder before the folders in it; a folder's own line first."""
    parts = path.relative_to(PACKAGE).parts
    return (*((1, part) for part in parts[:-1]), (0, "" if parts[-1] == "__init__.py" else parts[-1]))


def _place(path: Path, package: str) -> str:
    inside = path.relative_to(PACKAGE / package)
    return f"**`{inside.parent.as_posix()}/`**" if inside.name == "__init__.py" else f"`{inside.as_posix()}`"


def first_sentence(path: Path) -> str:
    """Return the first sentence of a module's docstring.

    >>> first_sentence(PACKAGE / "scales" / "likert.py")
    'Numbered points with words at the ends (a Likert-type item)'
    """
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    sentence = re.split(r"(?<=[^.]\w[\w)\]`»\"'])\. (?=[A-Z`])", paragraph)[0]
    return sentence.rstrip(".").replace("``", "`").replace("|", "\\|")
