"""The Python reference, docs/python.md: every public name, and what its result has, read from the sources.

Nothing is imported: signatures, types and docstrings are taken as they are written, types that are imported
for the type checker alone included.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

SOURCES = Path(__file__).resolve().parent.parent / "src"
INTRODUCTION = """\
Made from the sources by `make docs`; do not edit.

Every name below is imported from `panelist`. Ratings may be a path, a pandas or polars frame, or what
`load_ratings` returned. Every result is a frozen object that prints itself in a terminal, a notebook and as
LaTeX; its tables are pandas frames, and `Floats` are numpy arrays. The [glossary](glossary.md) explains the
words."""
RESULT = ("panelist.core.display.result", "Result")
ERRORS = "panelist.core.errors"
# Parts of a result that have pages of their own, or that only the program itself works with.
ELSEWHERE = (
    "panelist.agreement.criterion_table",
    "panelist.core.display",
    "panelist.models.blocks",
    "panelist.models.formulas",
    "panelist.models.inference.kenward_roger",
    "panelist.models.inference.small_sample",
    "panelist.models.likelihoods",
    "panelist.models.solvers.lmm",
    "panelist.models.solvers.solution.Solution",
    "panelist.power.layouts",
    "panelist.power.search.probit_search",
    "panelist.scales",
    "panelist.study.model",
    "panelist.study.sections",
)
NAMES_OF_INNER_WORK = {"with_notes", "with_degrees"}
Place: TypeAlias = tuple[str, str]  # a module, and a name in it
Function: TypeAlias = ast.FunctionDef


@dataclass(frozen=True)
class Module:
    """The sources of one module: what it defines, and where the names that it imports come from."""

    defined: dict[str, ast.ClassDef | Function]
    imported: dict[str, Place]


@dataclass(frozen=True)
class Member:
    """One attribute or method: how it is written, its type, where that is looked up, and what it is."""

    name: str
    call: str | None
    type: ast.expr | None
    module: str
    text: str


def describe_python() -> str:
    """Return docs/python.md."""
    parts = ["# Python reference", INTRODUCTION]
    public = {name: _find_public(name, place) for name, place in _public_names()}
    returned = {one for module, node in public.values() for one in _returned(module, node)}
    known = {RESULT, *returned}  # each is described where it is returned, not where another one holds it
    for name, (module, node) in public.items():
        parts.append(f"## panelist.{name}")
        if isinstance(node, ast.ClassDef):
            parts += _describe_errors()
            continue
        parts += [f"```text\n{_signature(node, name)}\n```", *_describe_text(node)]
        own = [one for one in _returned(module, node) if one in returned]
        returned -= set(own)
        inner = [one for result in own for one in _reach_from(result, known)]
        parts += [part for one in [*own, *inner] for part in _describe_class(one)]
    parts += ["## Every result", "What all of them have; `print(result)` shows it in a terminal."]
    parts += _list_members(list(_members(RESULT, with_result=True)))
    return "\n\n".join(parts) + "\n"


def find(module: str, name: str) -> tuple[str, ast.ClassDef | Function] | None:
    """Return where a class or function is defined, and its source; None for what is not ours."""
    if not module.startswith("panelist"):
        return None
    read = read_module(module)
    if name in read.defined:
        return module, read.defined[name]
    return find(*read.imported[name]) if name in read.imported else None


@cache
def read_module(name: str) -> Module:
    """Return what a module of ours defines and imports."""
    path = SOURCES / name.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    defined = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | Function)}
    imported = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    return Module(defined, imported)


def _public_names() -> list[tuple[str, Place]]:
    """Return what ``panelist.__all__`` has, functions first, and where each is."""
    names = read_module("panelist").imported
    public = {name: place for name, place in names.items() if place[0].startswith("panelist.")}
    return sorted(public.items(), key=lambda one: (one[0][0].isupper(), one[0]))


def _find_public(name: str, place: Place) -> tuple[str, ast.ClassDef | Function]:
    found = find(*place)
    if found is None:
        raise LookupError(f"{name}: there is no {place[1]} in {place[0]}")
    return found


def _returned(module: str, node: ast.ClassDef | Function) -> list[Place]:
    """Return the classes of ours that a function returns."""
    return list(_reach(module, node.returns, {RESULT}, deep=False)) if isinstance(node, Function) else []


def _signature(node: Function, name: str) -> str:
    """Return a call as a reader would write it: one line, or one parameter on each."""
    arguments = _arguments(node)
    returned = f" -> {_type(node.returns)}" if node.returns else ""
    line = f"{name}({', '.join(arguments)}){returned}"
    if len(line) <= 100:
        return line
    return "\n".join([f"{name}(", *(f"    {argument}," for argument in arguments), f"){returned}"])


def _arguments(node: Function) -> list[str]:
    """Return the parameters as they are written, without ``self``."""
    given = node.args
    ordered = [*given.posonlyargs, *given.args]
    first_default = len(ordered) - len(given.defaults)
    texts = [
        _argument(one, given.defaults[place - first_default] if place >= first_default else None)
        for place, one in enumerate(ordered)
        if one.arg not in ("self", "cls")
    ]
    if given.vararg:
        texts.append(f"*{_argument(given.vararg, None)}")
    elif given.kwonlyargs:
        texts.append("*")
    texts += [
        _argument(one, default) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    return [*texts, f"**{_argument(given.kwarg, None)}"] if given.kwarg else texts


def _argument(one: ast.arg, default: ast.expr | None) -> str:
    typed = f"{one.arg}: {_type(one.annotation)}" if one.annotation else one.arg
    if default is None:
        return typed
    return f"{typed} = {ast.unparse(default)}" if one.annotation else f"{typed}={ast.unparse(default)}"


class _Unquoted(ast.NodeTransformer):
    """Types without the quotes of those that are imported for the type checker alone."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Leave the words of a Literal as they are."""
        return node if ast.unparse(node.value) == "Literal" else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Return the type that a text names."""
        return ast.parse(node.value, mode="eval").body if isinstance(node.value, str) else node


def _type(annotation: ast.expr | None) -> str:
    return ast.unparse(_unquote(annotation)) if annotation else ""


def _unquote(annotation: ast.expr) -> ast.AST:
    copied: ast.AST = _Unquoted().visit(ast.parse(ast.unparse(annotation), mode="eval").body)
    return copied


def _describe_text(node: ast.ClassDef | Function) -> list[str]:
    """Return a docstring as Markdown: paragraphs as they are, examples as text."""
    paragraphs = (ast.get_docstring(node) or "").split("\n\n")
    return [f"```text\n{one}\n```" if one.startswith(">>>") else _prose(one) for one in paragraphs if one]


def _prose(text: str) -> str:
    return text.replace("``", "`").replace("<", "&lt;")


def _describe_errors() -> list[str]:
    """Return the section of the errors that a caller may catch."""
    rows = [
        f"| `{name}` | {_one_line(ast.get_docstring(node))} |"
        for name, node in read_module(ERRORS).defined.items()
        if isinstance(node, ast.ClassDef)
    ]
    return ["What a user can fix; the message says how.", "\n".join(["| error | |", "|---|---|", *rows])]


def _reach(module: str, annotation: ast.expr | None, known: set[Place], deep: bool = True) -> Iterator[Place]:
    """Give each class of ours that a type leads to, and those that its members lead to, each once."""
    for name in _names_in(annotation):
        found = find(module, name)
        if found is None or not isinstance(found[1], ast.ClassDef):
            continue
        place = (found[0], found[1].name)
        inner = ".".join(place).startswith(ELSEWHERE) and RESULT not in _ancestors(place)
        if place in known or inner:
            continue
        known.add(place)
        yield place
        if deep:
            yield from _reach_from(place, known)


def _reach_from(place: Place, known: set[Place]) -> Iterator[Place]:
    for member in _members(place):
        yield from _reach(member.module, member.type, known)


def _names_in(annotation: ast.expr | None) -> list[str]:
    nodes = ast.walk(_unquote(annotation)) if annotation else ()
    return [node.id for node in nodes if isinstance(node, ast.Name)]


def _ancestors(place: Place) -> list[Place]:
    """Return a class and the classes of ours that it is made from, nearest first."""
    found = find(*place)
    if found is None or not isinstance(found[1], ast.ClassDef):
        return []
    bases = [(found[0], base.id) for base in found[1].bases if isinstance(base, ast.Name)]
    return [(found[0], found[1].name), *(one for base in bases for one in _ancestors(base))]


def _members(place: Place, with_result: bool = False) -> Iterator[Member]:
    """Give the public attributes and methods of a class, inherited ones included."""
    seen = set(NAMES_OF_INNER_WORK)
    if not with_result:
        seen |= {member.name for member in _members(RESULT, with_result=True)}
    for module, name in _ancestors(place):
        node = read_module(module).defined[name]
        for member in _own_members(module, node):
            if member.name not in seen and not member.name.startswith("_"):
                seen.add(member.name)
                yield member


def _own_members(module: str, node: ast.AST) -> Iterator[Member]:
    body = getattr(node, "body", [])
    for place, one in enumerate(body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            after = body[place + 1] if place + 1 < len(body) else None
            said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            text = str(after.value.value) if said else ""  # type: ignore[union-attr]
            if "ClassVar" not in ast.unparse(one.annotation):
                yield Member(one.target.id, None, one.annotation, module, text)
        elif isinstance(one, Function):
            marks = {ast.unparse(mark) for mark in one.decorator_list}
            attribute = bool(marks & {"property", "cached_property"})
            call = None if attribute else f"{one.name}({', '.join(_arguments(one))})"
            yield Member(one.name, call, one.returns, module, ast.get_docstring(one) or "")


def _describe_class(place: Place) -> list[str]:
    """Return the section of one class: what it is, its attributes, its methods."""
    found = find(*place)
    assert found is not None
    return [f"### {place[1]}", *_describe_text(found[1]), *_list_members(list(_members(place)))]


def _list_members(members: list[Member]) -> list[str]:
    tables = (
        ("attribute", [one for one in members if one.call is None]),
        ("method", [one for one in members if one.call is not None]),
    )
    return [
        "\n".join([f"| {kind} | type | |", "|---|---|---|", *map(_row, rows)])
        for kind, rows in tables
        if rows
    ]


def _row(one: Member) -> str:
    return f"| {_code(one.call or one.name)} | {_code(_type(one.type))} | {_one_line(one.text)} |"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


def _one_line(text: str | None) -> str:
    """Return the first paragraph of a docstring in one line of a table."""
    return " ".join(_prose((text or "").split("\n\n")[0]).split()).replace("|", "\\|")
