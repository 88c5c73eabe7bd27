"""The appendix: the versions, the data and study, and the commands with which it can be repeated."""

import platform
import shlex
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from panelist.core.tables.columns import NONE
from panelist.study.file_names import STUDY_FILE

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import Analysis

PACKAGES = ("panelist", "numpy", "scipy", "pandas", "numba", "formulaic", "matplotlib")


def list_versions() -> dict[str, str]:
    """Return the versions of Python and of what the numbers depend on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed as a package"
    return found


def list_commands(analysis: "Analysis", report: str) -> list[str]:
    """Return the commands that repeat the report, with the names of files as they were."""
    out = shlex.quote(report)
    source = shlex.quote(analysis.data.source)
    from_file = analysis.data.from_file
    if analysis.study is not None:
        path = analysis.study.path.name if analysis.study.path else STUDY_FILE
        given = f" --ratings {source}" if from_file else ""
        commands = [f"panelist report {shlex.quote(path)}{given} -o {out}"]
    elif from_file:
        commands = [f"panelist report {source} -o {out}"]
    else:
        return ["panelist.write_report(panelist.analyse(study, ratings), " + repr(report) + ")"]
    spec = analysis.spec
    extra = f" --seed {spec.seed}" if spec.seed else ""
    extra += f" --resamples {spec.resamples}" if spec.resamples != 1000 else ""
    if spec.columns:
        mapped = ",".join(f"{name}={column or NONE}" for name, column in spec.columns.items())
        extra += f" --columns {shlex.quote(mapped)}"
    extra += "".join(f" --drop {word}" for word in spec.drop)
    if analysis.beside is not None:
        extra += f" --judge {shlex.quote(analysis.beside.to_dict()['source'])}"
    extra += f" --by {shlex.quote(spec.by)}" if spec.by else ""
    return [f"pip install panelist=={version('panelist')}", commands[0] + extra]


def say_settings(settings: Mapping[str, Any]) -> str:
    """Return the settings of an analysis in words; what was neither set nor mapped is not mentioned.

    >>> say_settings({"model": "auto", "formula": None, "margin": None, "columns": {}, "seed": 0})
    'model auto, formula maximal, seed 0'
    """
    said = dict(settings) | {"formula": settings["formula"] or "maximal"}
    if columns := said.get("columns"):
        said["columns"] = " ".join(f"{name}={column or NONE}" for name, column in columns.items())
    if drop := said.get("drop"):
        said["drop"] = " ".join(drop)
    return ", ".join(f"{name} {value}" for name, value in said.items() if value not in (None, (), {}))


def describe_provenance(analysis: "Analysis", report: str, date: str) -> dict[str, Any]:
    """Return everything that is needed to repeat the report, as names and values."""
    data = analysis.data
    return {
        "made": date,
        "versions": list_versions(),
        "data": {"source": data.source, "rows": data.n_rows, "sha256": data.hash, "of": data.hash_of},
        "study": {"title": analysis.study.title, "sha256": analysis.study.hash} if analysis.study else None,
        "settings": analysis.spec.to_dict(),
        "commands": list_commands(analysis, report),
    }
