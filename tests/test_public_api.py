"""The names that panelist promises, and what importing it costs."""

import subprocess
import sys

import pytest

import panelist

HEAVY = {"numpy", "pandas", "scipy", "numba", "formulaic", "matplotlib", "pyarrow", "narwhals", "rich"}
HEAVY |= {"pydantic", "yaml", "starlette", "sqlalchemy", "jinja2", "httpx"}


def test_public_names_are_a_decision() -> None:
    assert panelist.__all__ == [
        "PanelistError",
        "__version__",
        "analyse",
        "compare_fits",
        "compare_systems",
        "find_sample_size",
        "fit",
        "load_ratings",
        "load_study",
        "measure_agreement",
        "measure_judges",
        "open_study",
        "plan_study",
        "reproduce",
        "simulate_power",
        "write_datasheet",
        "write_report",
    ]
    assert len(panelist.__all__) <= 17


@pytest.mark.parametrize("name", panelist.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(panelist, name) is not None
    assert name in dir(panelist)


def test_nothing_else_is_shown() -> None:
    shown = [name for name in dir(panelist) if not name.startswith("__")]
    assert shown == [name for name in panelist.__all__ if not name.startswith("__")]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        _ = panelist.fitt


@pytest.mark.parametrize("module", ["panelist", "panelist.cli.main"])
def test_importing_brings_in_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(found.stdout.split())


def test_help_brings_in_nothing_heavy() -> None:
    code = (
        "import sys\nfrom panelist.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: print(*sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "compare" in found.stdout
    assert not HEAVY & set(found.stdout.split())
