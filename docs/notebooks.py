"""Run the notebooks of examples/notebooks and store what they show: ``python -m docs.notebooks``.

A notebook is its own source: the cells are run in order in one namespace and an empty folder, and the outputs
are written back. ``!panelist …`` runs the command, as it does in Jupyter; nothing of Jupyter is needed here.
"""

import ast
import json
import re
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from docs.generate import ROOT, run

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
_COMMAND = re.compile(r"^!(panelist .*)$", re.MULTILINE)

Output = dict[str, Any]


def main() -> int:
    """Run every notebook, or those that are named, and write what its cells show into it."""
    named = set(sys.argv[1:])
    for path in NOTEBOOKS:
        if not named or path.stem in named:
            notebook = read_notebook(path)
            for cell, outputs in zip(_code(notebook), run_notebook(notebook), strict=True):
                cell["outputs"] = outputs
            path.write_text(write_notebook(notebook), encoding="utf-8")
            print(f"{path.name} was written")
    return 0


def read_notebook(path: Path) -> dict[str, Any]:
    """Return a notebook, as its JSON says."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def write_notebook(notebook: dict[str, Any]) -> str:
    """Return the JSON of a notebook, its cells of code numbered."""
    for number, cell in enumerate(_code(notebook), start=1):
        cell["execution_count"] = number
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = number
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def run_notebook(notebook: dict[str, Any]) -> list[list[Output]]:
    """Return what each cell of code shows, run in order in an empty folder."""
    space: dict[str, Any] = {"_run_command": run}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        return [_run_cell("".join(cell["source"]), space) for cell in _code(notebook)]


def stored_outputs(notebook: dict[str, Any]) -> list[list[Output]]:
    """Return what each cell of code showed when the notebook was written."""
    return [cell["outputs"] for cell in _code(notebook)]


def describe_outputs(outputs: list[Output]) -> list[tuple[str, ...]]:
    """Return the kind of what a cell shows: the forms it comes in, and its words without the numbers."""
    kinds = []
    for one in outputs:
        forms = sorted(one.get("data", {}))
        text = "".join(one.get("text", one.get("data", {}).get("text/plain", "")))
        first = text.strip().split("\n")[0]
        kinds.append((one["output_type"], *forms, re.sub(r"[-\d.,]+", "#", first)))
    return kinds


def _code(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _run_cell(source: str, space: dict[str, Any]) -> list[Output]:
    """Return what a cell prints, and its last expression in the forms in which it shows itself."""
    plain = _COMMAND.sub(lambda found: f"print(_run_command({found[1]!r}).rstrip())", source)
    body = ast.parse(plain).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, value = StringIO(), None
    with redirect_stdout(printed), redirect_stderr(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), space)  # our own notebooks
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), space)
    outputs: list[Output] = []
    if text := printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(text)})
    if value is not None:
        outputs.append({"output_type": "execute_result", "metadata": {}, "data": _show(value)})
    return outputs


def _show(value: Any) -> dict[str, list[str]]:
    if not hasattr(value, "_repr_html_"):
        return {"text/plain": _lines(repr(value))}
    return {"text/html": _lines(value._repr_html_()), "text/plain": _lines(str(value))}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    sys.exit(main())
