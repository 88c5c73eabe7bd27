"""The house rules that a program can hold: small modules, small functions, imports that go one way."""

import ast
import re
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "src" / "panelist"
LAYERS = ["core", "numerics", "models", "agreement", "scales", "study", "design", "collection", "analysis"]
LAYERS += ["judges", "power", "reproduction", "reports", "web", "cli"]
MODULES = {path.relative_to(ROOT).as_posix(): path for path in ROOT.rglob("*.py")}
MOST_LINES, MOST_FUNCTION_LINES, MOST_MODULES = 400, 80, 16


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.AST) -> list[str]:
    """Return every module of ours that is imported, anywhere in a file."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute: from panelist.x.y import z"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in found if name.split(".")[0] == "panelist"]


def test_there_are_modules_to_look_at() -> None:
    assert {"core/errors.py", "models/fit.py", "cli/main.py"} <= set(MODULES)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_module_is_small(name: str) -> None:
    source = MODULES[name].read_text(encoding="utf-8")
    assert source.count("\n") <= MOST_LINES, "split this module"
    for node in ast.walk(parse(MODULES[name])):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < MOST_FUNCTION_LINES, f"split {node.name}"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_module_looks_only_down(name: str) -> None:
    layer = name.split("/")[0]
    if "/" not in name:
        return  # panelist/__init__.py names what is public, wherever it lives
    assert layer in LAYERS, f"the folder {layer} has no place in the order of layers"
    above = LAYERS[LAYERS.index(layer) + 1 :]
    for module in imported(parse(MODULES[name])):
        parts = module.split(".")
        assert len(parts) < 2 or parts[1] not in above, f"{layer} must not import {module}"


def test_no_module_is_named_for_nothing() -> None:
    empty_words = {"utils", "helpers", "misc", "manager", "common"}
    assert not {path.stem for path in MODULES.values()} & empty_words


def test_no_folder_is_long_to_look_through() -> None:
    modules = [path.parent.relative_to(ROOT).as_posix() for path in MODULES.values() if path.stem[0] != "_"]
    long = {name: size for name, size in Counter(modules).items() if size > MOST_MODULES}
    assert set(long) <= {"cli"}, long  # one module per command


def test_a_class_has_a_name_of_its_own() -> None:
    """Two classes of one name are told apart only by their imports; a search finds both."""
    found: dict[str, list[str]] = {}
    for name, path in MODULES.items():
        for node in parse(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(name)
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


SEARCHING = ("startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition")
PROSE = re.compile(r"[A-Za-z]{2,} |Did\b")
FOREIGN = {
    "collection/imports/guessing/draft.py": "the name of a column in files of Qualtrics",
    "core/tables/readers.py": "pyarrow says what is wrong in words only",
    "study/yaml_lines.py": "PyYAML says what is wrong in words only",
}
"""Modules that look for words which are not prose of ours, and why."""


def find_searched(tree: ast.AST) -> list[str]:
    """Return the texts that code looks for in others: ``"…" in x``, ``x.startswith("…")`` and the like."""
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            found.append(node.left)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in SEARCHING:
            found += [*node.args, *(one for given in node.args for one in getattr(given, "elts", []))]
    return [str(one.value) for one in found if isinstance(one, ast.Constant)]


@pytest.mark.parametrize("name", sorted(MODULES))
def test_no_decision_depends_on_the_words_of_a_sentence(name: str) -> None:
    tree = parse(MODULES[name])
    searched = [text for text in find_searched(tree) if PROSE.search(text)]
    assert bool(searched) == (name in FOREIGN), f"decide by a code or a field, not by {searched}"
    stowed = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "attrs"]
    assert not stowed, "what goes with a frame is a field beside it, not in frame.attrs"


def test_the_page_on_architecture_has_the_same_layers() -> None:
    page = (ROOT.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert " < ".join(LAYERS) in page


def test_nothing_is_imported_from_a_test_module() -> None:
    for path in Path(__file__).parent.rglob("*.py"):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
                place = f"{path.name} imports from {node.module}"
                assert "test_" not in str(node.module), f"{place}: move what both need to a module of its own"


def test_folders_beside_each_other_import_one_way() -> None:
    """What a folder imports from those beside it never leads back to it; imports in functions apart."""
    graph: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for name, path in MODULES.items():
        own = name.split("/")[:-1]
        for node in parse(path).body:
            other = str(node.module).split(".")[1:] if isinstance(node, ast.ImportFrom) else []
            shared = next((n for n, (a, b) in enumerate(zip(own, other, strict=False)) if a != b), None)
            if shared and (ROOT / "/".join(other[: shared + 1])).is_dir():
                parent = "/".join(own[:shared])
                graph.setdefault((parent, own[shared]), set()).add((parent, other[shared]))
    sorter = TopologicalSorter(graph)
    sorter.prepare()  # raises CycleError, which names the folders
