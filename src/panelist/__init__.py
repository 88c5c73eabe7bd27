"""Human evaluation of language systems, from the plan to the paper.

Each name below is imported when it is first used (PEP 562), so that ``import panelist`` costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from panelist.agreement.measure import measure_agreement
    from panelist.analysis.analyse import analyse
    from panelist.core.errors import PanelistError
    from panelist.core.tables.ratings import read_ratings as load_ratings
    from panelist.design.make import plan_study
    from panelist.judges.compare import compare_systems
    from panelist.judges.worth.measure import measure_judges
    from panelist.models.fit import fit
    from panelist.models.inference.likelihood_ratio import compare_fits
    from panelist.power.curve import simulate_power
    from panelist.power.search.size import find_sample_size
    from panelist.reports.datasheet.write_datasheet import write_datasheet
    from panelist.reports.report.write_report import write_report
    from panelist.reports.study_folder import open_study
    from panelist.reproduction.reproduce import reproduce
    from panelist.study.reading.load import load_study

    __version__: str

__all__ = [
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

_HOMES = {
    "PanelistError": ("panelist.core.errors", "PanelistError"),
    "analyse": ("panelist.analysis.analyse", "analyse"),
    "compare_fits": ("panelist.models.inference.likelihood_ratio", "compare_fits"),
    "compare_systems": ("panelist.judges.compare", "compare_systems"),
    "find_sample_size": ("panelist.power.search.size", "find_sample_size"),
    "fit": ("panelist.models.fit", "fit"),
    "load_ratings": ("panelist.core.tables.ratings", "read_ratings"),
    "load_study": ("panelist.study.reading.load", "load_study"),
    "measure_agreement": ("panelist.agreement.measure", "measure_agreement"),
    "measure_judges": ("panelist.judges.worth.measure", "measure_judges"),
    "open_study": ("panelist.reports.study_folder", "open_study"),
    "plan_study": ("panelist.design.make", "plan_study"),
    "reproduce": ("panelist.reproduction.reproduce", "reproduce"),
    "simulate_power": ("panelist.power.curve", "simulate_power"),
    "write_datasheet": ("panelist.reports.datasheet.write_datasheet", "write_datasheet"),
    "write_report": ("panelist.reports.report.write_report", "write_report"),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("panelist")
    elif name in _HOMES:
        from importlib import import_module

        module, attribute = _HOMES[name]
        value = getattr(import_module(module), attribute)
    else:
        raise AttributeError(f"module 'panelist' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
