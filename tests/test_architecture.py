"""The house rules that a program can hold: small modules, small functions, imports that go one way."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "src" / "panelist"
LAYERS = ["core", "models", "agreement", "scales", "study", "design", "collection", "analysis", "power"]
LAYERS += ["reproduction", "reports", "cli"]
MODULES = {path.relative_to(ROOT).as_posix(): path for path in ROOT.rglob("*.py")}
MOST_LINES, MOST_FUNCTION_LINES = 400, 80


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
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < MOST_FUNCTION_LINES, f"split {node.name}"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_module_looks_only_down(name: str) -> None:
    layer = name.split("/")[0]
    if "/" not in name:
        return  # panelist/__init__.py names what is public, wherever it lives
    assert layer in LAYERS, f"the folder {layer} has no place in the order of layers"
    above = LAYERS[LAYERS.index(layer) + 1 :]
    for module in imported(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        parts = module.split(".")
        assert len(parts) < 2 or parts[1] not in above, f"{layer} must not import {module}"


def test_no_module_is_named_for_nothing() -> None:
    empty_words = {"utils", "helpers", "misc", "manager", "common"}
    assert not {path.stem for path in MODULES.values()} & empty_words
