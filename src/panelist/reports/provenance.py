"""The appendix: with what versions, from which data and which study, by which commands it can be repeated."""

import platform
import shlex
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from panelist.core.columns import NONE

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
    from_file = analysis.data.hash_of.startswith("the file ")
    if analysis.study is not None:
        path = analysis.study.path.name if analysis.study.path else "study.yaml"
        given = f" --ratings {source}" if from_file else ""
        commands = [f"panelist report {shlex.quote(path)}{given} -o {out}"]
    elif from_file:
        commands = [f"panelist report {source} -o {out}"]
    else:
        return ["panelist.write_report(panelist.analyse(study, ratings), " + repr(report) + ")"]
    settings = analysis.settings
    extra = f" --seed {settings.seed}" if settings.seed else ""
    extra += f" --resamples {settings.resamples}" if settings.resamples != 1000 else ""
    if settings.columns:
        mapped = ",".join(f"{name}={column or NONE}" for name, column in settings.columns.items())
        extra += f" --columns {shlex.quote(mapped)}"
    extra += "".join(f" --drop {word}" for word in settings.drop)
    extra += f" --by {shlex.quote(settings.by)}" if settings.by else ""
    return [f"pip install panelist=={version('panelist')}", commands[0] + extra]


def describe_provenance(analysis: "Analysis", report: str, date: str) -> dict[str, Any]:
    """Return everything that is needed to repeat the report, as names and values."""
    data = analysis.data
    return {
        "made": date,
        "versions": list_versions(),
        "data": {"source": data.source, "rows": data.n_rows, "sha256": data.hash, "of": data.hash_of},
        "study": {"title": analysis.study.title, "sha256": analysis.study.hash} if analysis.study else None,
        "settings": asdict(analysis.settings),
        "commands": list_commands(analysis, report),
    }
