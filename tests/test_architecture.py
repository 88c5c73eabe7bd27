"""The house rules that a program can hold: small modules, small functions, imports that go one way."""

import ast
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "src" / "panelist"
LAYERS = ["core", "numerics", "models", "agreement", "scales", "formats"]
LAYERS += ["study", "design", "collection", "analysis", "judges", "power", "reproduction", "reports"]
LAYERS += ["web", "cli"]
MODULES = {path.relative_to(ROOT).as_posix(): path for path in ROOT.rglob("*.py")}
MOST_LINES, MOST_FUNCTION_LINES, MOST_MODULES = 400, 80, 16
SEARCHING = ("startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition")
GROUPING = ("groupby", "pivot_table")
FROM_TESTS = re.compile(r"^\s*from (tests\.[\w.]+) import", re.MULTILINE)


@dataclass(frozen=True)
class Facts:
    """What the rules need to know about a module; its tree is not kept, which would take memory and time."""

    classes: list[str]
    functions: list[tuple[str, int]]
    """Every function, and the lines after its first."""
    imports: list[str]
    """Every module of ours that is imported, anywhere in the file."""
    imports_on_top: list[str]
    searched: list[str]
    """The texts that code looks for in others: ``"…" in x``, ``x.startswith("…")`` and the like."""
    attrs: bool
    grouped: list[int]
    """The lines that group a table without saying what becomes of categories that no row has."""


@cache
def read_facts(path: Path) -> Facts:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
    on_top = [str(node.module) for node in tree.body if isinstance(node, ast.ImportFrom)]
    functions, imports, attrs, grouped = [], [], False, []
    searched: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append((node.name, (node.end_lineno or 0) - node.lineno))
        elif isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute: from panelist.x.y import z"
            imports += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            attrs = attrs or node.attr == "attrs"
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            searched.append(node.left)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in GROUPING:
            grouped += [node.lineno] if "observed" not in {one.arg for one in node.keywords} else []
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in SEARCHING:
            searched += [*node.args, *(one for given in node.args for one in getattr(given, "elts", []))]
    texts = [str(one.value) for one in searched if isinstance(one, ast.Constant)]
    ours = [name for name in imports if name.split(".")[0] == "panelist"]
    return Facts(classes, functions, ours, on_top, texts, attrs, grouped)


def test_there_are_modules_to_look_at() -> None:
    assert {"core/errors.py", "models/fit.py", "cli/main.py"} <= set(MODULES)


def test_modules_and_functions_are_small() -> None:
    for name, path in MODULES.items():
        assert path.read_text(encoding="utf-8").count("\n") <= MOST_LINES, f"split {name}"
        long = [function for function, lines in read_facts(path).functions if lines >= MOST_FUNCTION_LINES]
        assert not long, f"split {long} of {name}"


def test_modules_look_only_down() -> None:
    for name, path in MODULES.items():
        if "/" not in name:
            continue  # panelist/__init__.py names what is public, wherever it lives
        layer = name.split("/")[0]
        assert layer in LAYERS, f"the folder {layer} has no place in the order of layers"
        above = LAYERS[LAYERS.index(layer) + 1 :]
        for module in read_facts(path).imports:
            parts = module.split(".")
            assert len(parts) < 2 or parts[1] not in above, f"{name} must not import {module}"


def test_categories_that_no_row_has_are_left_out_whatever_the_version_of_pandas() -> None:
    # pandas 2 counts them, with a warning, unless told otherwise; pandas 3 does not
    found = {name: lines for name, path in MODULES.items() if (lines := read_facts(path).grouped)}
    assert not found, "say observed=True"


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
        for one in read_facts(path).classes:
            found.setdefault(one, []).append(name)
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


PROSE = re.compile(r"[A-Za-z]{2,} |Did\b")
FOREIGN = {
    "collection/imports/guessing/draft.py": "the name of a column in files of Qualtrics",
    "core/tables/readers.py": "pyarrow says what is wrong in words only",
    "study/yaml_lines.py": "PyYAML says what is wrong in words only",
}
"""Modules that look for words which are not prose of ours, and why."""


def test_no_decision_depends_on_the_words_of_a_sentence() -> None:
    for name, path in MODULES.items():
        searched = [text for text in read_facts(path).searched if PROSE.search(text)]
        assert bool(searched) == (name in FOREIGN), f"{name}: decide by a code or a field, not by {searched}"
        stowed = read_facts(path).attrs
        assert not stowed, f"{name}: what goes with a frame is a field beside it, not in frame.attrs"


def test_the_page_on_architecture_has_the_same_layers() -> None:
    page = (ROOT.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert " < ".join(LAYERS) in page


def test_nothing_is_imported_from_a_test_module() -> None:
    for path in Path(__file__).parent.rglob("*.py"):
        for module in FROM_TESTS.findall(path.read_text(encoding="utf-8")):
            place = f"{path.name} imports from {module}"
            assert "test_" not in module, f"{place}: move what both need to a module of its own"


def test_folders_beside_each_other_import_one_way() -> None:
    """What a folder imports from those beside it never leads back to it; imports in functions apart."""
    graph: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for name, path in MODULES.items():
        own = name.split("/")[:-1]
        for module in read_facts(path).imports_on_top:
            other = module.split(".")[1:]
            shared = next((n for n, (a, b) in enumerate(zip(own, other, strict=False)) if a != b), None)
            if shared and (ROOT / "/".join(other[: shared + 1])).is_dir():
                parent = "/".join(own[:shared])
                graph.setdefault((parent, own[shared]), set()).add((parent, other[shared]))
    sorter = TopologicalSorter(graph)
    sorter.prepare()  # raises CycleError, which names the folders
