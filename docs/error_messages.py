"""The lists of docs/errors.md: every message of each class of errors, as the sources write it.

A message is what stands where the error is raised; ``…`` is what is filled in. Texts that are put together
elsewhere are not found this way, and not listed.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path

from docs.module_tables import PACKAGE, first_sentence

ROOT_CLASS = "PanelistError"
BLOCK = re.compile(r"<!-- messages of (\w+), made by make docs -->\n.*?<!-- end -->", re.DOTALL)
FILLED_IN = "…"


def describe_errors(page: str) -> str:
    """Return docs/errors.md with the lists as the sources are now."""
    return BLOCK.sub(lambda found: f"{_begin(found[1])}\n{_list_messages(found[1])}<!-- end -->", page)


@cache
def find_classes() -> dict[str, str]:
    """Return every class of errors that a user can correct, with what its docstring says."""
    classes = {
        node.name: ({ast.unparse(base) for base in node.bases}, ast.get_docstring(node) or "")
        for _, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    known = {ROOT_CLASS}
    while more := {name for name, (bases, _) in classes.items() if bases & known} - known:
        known |= more
    return {name: classes[name][1] for name in sorted(known)}


@cache
def find_messages() -> dict[str, dict[str, list[str]]]:
    """Return the messages of each class, by the title of the module that raises them."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path, tree in _trees():
        for name, text in _raised(tree):
            message = " ".join(text.split())
            here = found[name][first_sentence(path)]
            if re.search(r"\w{3}", message) and message not in here:
                here.append(message)
    return {name: {title: texts for title, texts in by.items() if texts} for name, by in found.items()}


def _begin(name: str) -> str:
    return f"<!-- messages of {name}, made by make docs -->"


def _list_messages(name: str) -> str:
    """Return the list of a class as HTML that both Markdown readers and the site show folded."""
    modules = find_messages().get(name, {})
    n = sum(map(len, modules.values()))
    if not n:
        return ""
    parts = [f"<details><summary>{'The message' if n == 1 else f'{n} messages'}</summary>"]
    for title in sorted(modules):
        parts.append(f"<p><b>{escape(title.replace('`', ''))}</b></p>\n<ul>")
        parts += [f"<li>{escape(text)}</li>" for text in modules[title]]
        parts.append("</ul>")
    return "\n".join([*parts, "</details>"]) + "\n"


@cache
def _trees() -> tuple[tuple[Path, ast.Module], ...]:
    return tuple(
        (path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(PACKAGE.rglob("*.py"))
    )


def _raised(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the class and the text of every error, and of every problem of a study."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            name = ast.unparse(node.exc.func).rpartition(".")[2]
            if name in find_classes():
                yield name, _write(node.exc.args[0])
        match node:
            case ast.Call(func=ast.Attribute(attr="problem"), args=[_, text, *_]):  # a rule of studies
                yield "BadStudy", _write(text)


def _write(text: ast.expr) -> str:
    """Return the words of an expression that makes a text.

    >>> _write(ast.parse("f'No {kind} is called {name!r}.' + hint").body[0].value)
    'No … is called ….…'
    """
    match text:
        case ast.Constant(value=str(words)):
            return words
        case ast.JoinedStr(values=parts):
            return re.sub(f"{FILLED_IN}+", FILLED_IN, "".join(map(_write, parts)))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _write(left) + _write(right)
        case ast.IfExp(body=one, orelse=other):
            return f"{_write(one)} / {_write(other)}"
        case _:
            return FILLED_IN
