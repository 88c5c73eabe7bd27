"""A study opened in its folder: what the commands do with it, from Python and by the same rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from panelist.collection.study_files import StudyFiles
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.study.reading.load import load_study
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import Analysis
    from panelist.analysis.planned import Planned
    from panelist.analysis.systems.comparison import Comparison
    from panelist.reports.archive.write_archive import Archive
    from panelist.reports.datasheet.sheet import Sheet
    from panelist.reports.preregistration.declare import Preregistration

AnyPath = str | PathLike[str]


def open_study(
    study: Study | AnyPath,
    *,
    ratings: AnyPath | None = None,
    database: str | None = None,
    power: AnyPath | None = None,
    on_note: Callable[[str], None] | None = None,
) -> "StudyFolder":
    """Return the study in a folder, with its plan, its ratings and everything made from them.

    ``study`` is the folder, its study file, or a study. Ratings are what was collected (``database``, else
    study.db), else ratings.csv in the folder; ``ratings`` names another table in place of both. ``power``
    names a power analysis that is not power.json in the folder. ``on_note`` is called with what is worth
    knowing about collected ratings.
    """
    return StudyFolder(
        load_study(study),  # type: ignore[arg-type]
        None if ratings is None else Path(ratings),
        database,
        None if power is None else Path(power),
        on_note,
    )


class StudyFolder(StudyFiles):
    """A study, everything in its folder, and what can be made from it. ``open_study`` makes it."""

    def ratings(self, *, columns: Mapping[str, str | None] | None = None) -> Ratings:
        """Return the ratings without checks and exclusions that are marked, or raise BadFile."""
        found = self.ask_ratings()
        read = read_ratings(found.table, columns)
        return replace(read, source=found.name, notes=(*found.notes, *read.notes))

    def planned(self, **how: Any) -> "Planned":
        """Return the ratings that count by the study's rules, and the analysis that it declares.

        ``how`` takes ``columns``, ``margin``, ``better`` and ``across_criteria``, as ``analyse`` does.
        """
        from panelist.analysis.planned import read_planned

        found = self.ask_ratings()
        return read_planned(self.study, found.table, source=found.name, **how)

    def compare(self, criteria: Sequence[str] | None = None, **how: Any) -> "Comparison":
        """Return the systems compared as the study declares; ``how`` is that of ``planned``."""
        from panelist.analysis.planned import compare_planned

        return compare_planned(self.planned(**how), criteria)

    def analyse(self, **how: Any) -> "Analysis":
        """Return the whole analysis, as the study plans it; ``how`` takes the keywords of ``analyse``."""
        from panelist.analysis.analyse import analyse

        found = self.ask_ratings()
        return analyse(self.study, found.table, source=found.name, **how)

    def report(self, path: AnyPath, *, files: bool = True, **how: Any) -> list[Path]:
        """Write the report to ``path`` and return all files that were written; ``how`` is for ``analyse``."""
        from panelist.reports.report.write_report import check_report_path, write_report

        check_report_path(path, files=files)  # before the work starts
        return write_report(self.analyse(**how), path, files=files)

    def datasheet(self, *paths: AnyPath, version: str = "3.0", resamples: int = 1000) -> "Sheet":
        """Return the datasheet as far as study, plan and ratings can answer it, and write it to ``paths``."""
        from panelist.reports.datasheet.fill import fill_sheet
        from panelist.reports.datasheet.heds_questions import read_version
        from panelist.reports.datasheet.write_datasheet import check_target, save_sheet

        targets = [check_target(path) for path in paths]
        found = self.find_ratings()
        sheet = fill_sheet(
            self.study,
            self.find_plan(),
            None if found is None or found.empty else found.table,
            read_version(version),
            power=self.power_file,
            collected=found is not None and found.collected,
            resamples=resamples,
        )
        save_sheet(sheet, targets)
        return sheet

    def preregister(self, *, forms: Sequence[str] = (), reason: str = "") -> "Preregistration":
        """Return the preregistration, kept in the folder; ``reason`` makes an amendment of a change."""
        from panelist.reports.preregistration.declare import preregister

        return preregister(self.study, power=self.power_file, forms=forms, reason=reason)

    def archive(self, path: AnyPath, **how: Any) -> "Archive":
        """Return the record of an archive written to ``path``; ``how`` is for write_archive."""
        from panelist.reports.archive.write_archive import write_archive

        return write_archive(self.study, path, ratings=self.ratings_file, db=self.database, **how)
