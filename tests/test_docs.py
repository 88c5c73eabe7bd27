"""README and docs: every command and every Python block runs, every output shown is the program's own."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

import panelist
from docs.error_messages import describe_errors, find_classes, find_messages
from docs.generate import ARCHITECTURE, BLOCK, ERRORS, PAGES, ROOT, describe_commands, prepare, refresh
from docs.module_tables import PACKAGE, describe_modules
from docs.python_reference import describe_python
from tests.registries import keep_registries

TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(\w*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    with chdir(folder):
        prepare()
    assert (folder / "panelist-demo" / "ratings.csv").exists()
    return folder


@pytest.fixture
def inside(demo: Path) -> Iterator[None]:
    with chdir(demo):
        yield


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize(
    "name", [n for n, text in TEXTS.items() if BLOCK.search(text) or PYTHON.search(text)]
)
def test_what_a_page_shows_is_what_comes_out(name: str) -> None:
    if BLOCK.search(TEXTS[name]):  # first, since Python goes on with the folders that the commands made
        assert TEXTS[name] == refresh(TEXTS[name]), "run make docs"
    space: dict[str, object] = {}
    with keep_registries():  # a page shows how to add to them
        for block in PYTHON.findall(TEXTS[name]):
            exec(compile(block, name, "exec"), space)  # our own pages, in order, as a reader would


def test_command_page_is_made_from_the_help() -> None:
    assert TEXTS["docs/cli.md"] == describe_commands(), "run make docs"


def test_python_page_is_made_from_the_sources() -> None:
    assert TEXTS["docs/python.md"] == describe_python(), "run make docs"


def test_every_public_name_and_what_it_returns_is_on_the_python_page() -> None:
    headings = set(re.findall(r"^##+ (?:panelist\.)?(\w+)$", TEXTS["docs/python.md"], re.MULTILINE))
    assert set(panelist.__all__) - {"__version__"} <= headings
    assert {"Fit", "Comparison", "Reliability", "Analysis", "Plan", "PowerCurve"} <= headings


def test_tables_of_modules_are_made_from_their_docstrings() -> None:
    assert ARCHITECTURE.read_text("utf-8") == describe_modules(ARCHITECTURE.read_text("utf-8")), (
        "run make docs"
    )


def test_lists_of_error_messages_are_made_from_the_sources() -> None:
    assert ERRORS.read_text("utf-8") == describe_errors(ERRORS.read_text("utf-8")), "run make docs"


def test_every_class_of_errors_has_its_heading_and_its_messages_on_the_page_of_errors() -> None:
    page = ERRORS.read_text("utf-8")
    headings = {_anchor(line) for line in page.splitlines()}
    listed = re.findall(r"^<!-- messages of (\w+), made by make docs -->$", page, re.MULTILINE)
    assert sorted(listed) == sorted(find_classes())
    assert len(listed) > 30
    for name in listed:
        assert re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower() in headings
    assert set(find_messages()) <= set(listed)


def test_classes_of_errors_found_in_the_sources_are_those_that_exist() -> None:
    def below(one: type[Exception]) -> set[str]:
        ours = [sub for sub in one.__subclasses__() if sub.__module__.startswith("panelist.")]
        return {one.__name__}.union(*map(below, ours))

    for module in pkgutil.walk_packages(panelist.__path__, "panelist."):
        importlib.import_module(module.name)
    assert below(panelist.PanelistError) == set(find_classes())


def test_every_name_of_a_walk_through_the_program_exists() -> None:
    walks = ARCHITECTURE.read_text("utf-8").partition("## Six walks")[2].partition("\n## ")[0]
    named = re.findall(r"`([a-z_/]+)\.(\w+)`", walks)
    assert len(named) > 30
    for module, name in named:
        tree = ast.parse((PACKAGE / f"{module}.py").read_text("utf-8"))
        names = {getattr(node, "name", "") for node in tree.body}
        names |= {
            node.target.id
            for node in tree.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }
        assert name in names, f"{module} has no {name}: mend the walks of docs/architecture.md"


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_fence_says_what_it_holds(name: str) -> None:
    opening = FENCE.findall(TEXTS[name])[::2]
    assert set(opening) <= {"bash", "console", "python", "text", "yaml", "math", "r"}


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_make_target_in_the_docs_exists(name: str) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([\w-]+)", TEXTS[name], re.MULTILINE)) <= targets


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_link_leads_somewhere(name: str) -> None:
    for target in LINK.findall(TEXTS[name]):
        if not target.startswith("http"):
            file, _, heading = target.partition("#")
            path = (ROOT / name).parent / file if file else ROOT / name
            assert path.exists(), target
            if heading:
                assert heading in {_anchor(line) for line in path.read_text("utf-8").splitlines()}, target


def _anchor(line: str) -> str:
    words = re.sub(r"[^\w\s-]", "", line.lstrip("#")).strip().lower()
    return words.replace(" ", "-") if line.startswith("#") else ""
