"""The notebooks run from top to bottom, and show what is stored in them."""

from pathlib import Path

import pytest

from docs.generate import ROOT
from docs.notebooks import (
    NOTEBOOKS,
    describe_outputs,
    read_notebook,
    run_notebook,
    stored_outputs,
    write_notebook,
)

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_is_a_notebook_for_each_main_job_and_the_docs_list_it() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["analyse", "judges", "plan", "reproduce"]
    page = (ROOT / "docs" / "examples.md").read_text("utf-8")
    assert all(f"../examples/notebooks/{path.name}" in page for path in NOTEBOOKS)


@every_notebook
def test_every_cell_of_a_notebook_runs_and_shows_the_same_kind_of_thing(path: Path) -> None:
    notebook = read_notebook(path)
    stored = [describe_outputs(outputs) for outputs in stored_outputs(notebook)]
    assert any(stored), "run python -m docs.notebooks"
    assert [describe_outputs(outputs) for outputs in run_notebook(notebook)] == stored


@every_notebook
def test_a_notebook_is_stored_as_jupyter_stores_it(path: Path) -> None:
    notebook = read_notebook(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 4)
    assert write_notebook(notebook) == path.read_text("utf-8")


def test_a_cell_that_raises_or_shows_something_else_is_found() -> None:
    def cell(source: str) -> dict[str, object]:
        return {"cells": [{"cell_type": "code", "source": [source], "outputs": []}]}

    with pytest.raises(ZeroDivisionError):
        run_notebook(cell("1 / 0"))
    one, other, table = (
        describe_outputs(run_notebook(cell(source))[0])
        for source in ("'12 ratings'", "'13 ratings'", "import pandas\npandas.DataFrame({'a': [1]})")
    )
    assert one == other
    assert one != table
