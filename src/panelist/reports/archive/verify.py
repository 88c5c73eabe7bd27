"""Does an archive hold what it says? Files, hashes and ids are checked, and the analysis is repeated."""

import csv
import json
import re
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import isfinite
from os import PathLike
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import FrameType
from typing import Any

from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.errors import BadFile, PanelistError
from panelist.core.progress import OnProgress, Progress, ignore
from panelist.core.prose import count
from panelist.design.plan_files import read_plan
from panelist.reports.archive.anonymised import PERSONAL
from panelist.reports.archive.environment import describe_environment
from panelist.reports.archive.write_archive import ANALYSIS, analyse_archive
from panelist.reports.archive.zip_content import Unpacked, compare_files, read_manifest, unpack_zip
from panelist.study.file_names import PLAN_TABLE, RATINGS_FILE, STUDY_FILE
from panelist.study.preregistration import read_registrations
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from panelist.study.yaml_lines import read_yaml

NAMED = [
    "outputs", "outputs.file", "outputs.media", "sample.strata.judges", "repeat.of",
    "hit.template", "hit.input", "hit.mapping",
]  # fmt: skip
"""The keys of a study file that name another file."""


class OutOfTime(BaseException):
    """The time is over; no ``except Exception`` may catch it by mistake."""


def check_paths(study: Path, archive: Path) -> None:
    """Raise BadFile where the study file of an archive names a file that is not in the archive.

    Called before the study is loaded: loading it would read the file.
    """
    if not study.is_file():
        return
    try:
        said = read_yaml(study).data
    except PanelistError:
        return  # loading it reports what is wrong, and reads nothing else
    for keys in NAMED:
        value: Any = said
        for key in keys.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str):
            _check_inside(value, f"{keys}:", archive)


def check_images(study: Study, archive: Path) -> None:
    """Raise BadFile where the outputs of an archive name a file that is not in the archive."""
    for name in study.files:
        _check_inside(name, "the outputs:", archive)


def _check_inside(name: str, where: str, archive: Path) -> None:
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    outside = posix.is_absolute() or windows.drive or windows.root or ".." in windows.parts
    if outside:
        raise BadFile(
            f"{archive} is refused: {where} in it names {name[:100]!a}, which lies outside the archive. An "
            "archive may name only files that it holds."
        )


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in what is done inside once the time is over, where the system can do so."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


MOST_NAMED = 5
MOST_RESAMPLES = 100_000  # an archive that asks for more would only keep this machine busy
MOST_SECONDS = 1800.0
NOT_DONE = "not checked"


@dataclass(frozen=True)
class Check:
    """One check: whether it holds, None where it was left out, and what was found."""

    name: str
    holds: bool | None
    found: str


@dataclass(frozen=True, kw_only=True)
class Verification(Result):
    """Everything that was checked in an archive."""

    archive: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing failed."""
        return all(check.holds is not False for check in self.checks)

    def sentence(self) -> str:
        """Return the answer in a sentence."""
        failed = sum(check.holds is False for check in self.checks)
        if not failed:
            return f"{self.archive} holds what it says."
        return f"{self.archive} does not hold what it says: {failed} of {len(self.checks)} checks failed."

    def title(self) -> str:
        """Return the heading."""
        return f"Verification of {self.archive}"

    def parts(self) -> list[Part]:
        """Return the checks and the answer."""
        words = {True: "yes", False: "NO", None: NOT_DONE}
        rows = [(check.name, words[check.holds], check.found) for check in self.checks]
        return [Table("Checks", ("check", "holds", "found"), rows), Sentence(self.sentence())]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer and each check."""
        return {"archive": self.archive, "ok": self.holds, "checks": [asdict(check) for check in self.checks]}


def verify_archive(
    path: str | PathLike[str],
    *,
    analysis: bool = True,
    tolerance: float = 0.0,
    limit: float = MOST_SECONDS,
    on_progress: OnProgress | None = None,
) -> Verification:
    """Return which checks an archive passes; raise BadFile for a zip file that is damaged as a whole or not
    an archive.

    ``analysis`` False leaves out computing the analysis again; ``tolerance`` is the largest relative
    difference of its numbers (0: none). After ``limit`` seconds the rest is abandoned.
    """
    archive = Path(path)
    tell = on_progress or ignore
    with tempfile.TemporaryDirectory(prefix="panelist-verify-") as place:
        folder = Path(place)
        tell(Progress(0, 2, "files"))
        found = unpack_zip(archive, folder)
        manifest = read_manifest(folder, archive)
        check_paths(folder / STUDY_FILE, archive)
        checks: list[Check] = [_check_files(manifest, found)]
        doing = "study"
        try:
            with limit_time(limit):
                checks += _check_hashes(manifest, folder, archive)
                checks.append(_check_registrations(folder))
                checks.append(_check_people(manifest, folder))
                doing = "analysis"
                if not analysis:
                    checks.append(Check("analysis", None, "left out, as asked"))
                else:
                    tell(Progress(1, 2, "analysis"))
                    checks.append(_check_analysis(manifest, folder, tolerance))
        except OutOfTime:
            checks.append(Check(doing, False, _say_late(limit)))
    return Verification(archive=archive.name, checks=tuple(checks))


def _say_late(limit: float) -> str:
    return (
        f"not done after {limit:g} seconds, and given up. Give it more time with --limit SECONDS, or leave "
        "the analysis out with --no-analysis"
    )


def open_archive(path: Path, folder: Path) -> tuple[Study, Path]:
    """Return the study of an archive and the file of its ratings, unpacked into an empty folder.

    Raises BadFile where a file is not the one of the manifest, or there are no ratings.
    """
    unpack_archive(path, folder)
    if not (folder / RATINGS_FILE).is_file():
        raise BadFile(f"{path} is an archive without ratings, so there is nothing to report.")
    study = load_study(folder / STUDY_FILE)
    check_images(study, path)
    return study, folder / RATINGS_FILE


def unpack_archive(path: Path, folder: Path) -> None:
    """Unpack an archive into an empty folder; raise BadFile where a file is not the one of the manifest."""
    found = unpack_zip(path, folder)
    if matters := compare_files(read_manifest(folder, path), found):
        name, matter = matters[0]
        more = f" (and {len(matters) - 1} more)" if len(matters) > 1 else ""
        raise BadFile(f"{path} is not as it was packed: {name} {matter}{more}. See: panelist verify {path}")
    check_paths(folder / STUDY_FILE, path)


def _check_files(manifest: dict[str, Any], found: dict[str, Unpacked]) -> Check:
    matters = compare_files(manifest, found)
    if not matters:
        return Check(
            "files",
            True,
            f"{count(len(manifest['files']), 'file has', 'files have')} the SHA-256 of the manifest",
        )
    return Check("files", False, "; ".join(f"{name} {matter}" for name, matter in matters))


def _check_hashes(manifest: dict[str, Any], folder: Path, archive: Path) -> Iterator[Check]:
    """Yield whether study and plan are those of the manifest, and belong to each other."""
    try:
        study = load_study(folder / STUDY_FILE)
        check_images(study, archive)
        yield _compare_hash("study", study.hash, manifest.get("study_hash"))
    except PanelistError as error:
        yield Check("study", False, _say(error, folder))
    if manifest.get("plan_hash") is None:
        unlisted = (folder / PLAN_TABLE).exists()
        yield Check(
            "plan",
            not unlisted and None,
            "there is one that is not in the manifest" if unlisted else "there is none",
        )
        return
    try:
        plan = read_plan(folder)
    except PanelistError as error:
        yield Check("plan", False, _say(error, folder))
        return
    yield _compare_hash("plan", plan.hash, manifest["plan_hash"])
    if plan.study_hash == manifest.get("study_hash"):
        yield Check("plan of the study", True, "the plan was made for this study")
    elif plan.study_hash == manifest.get("plan_study_hash"):
        yield Check("plan of the study", None, "the study was changed after planning, as the archive says")
    else:
        yield Check("plan of the study", False, f"the plan is of a study with hash {plan.study_hash[:12]}…")


def _compare_hash(name: str, found: str, said: Any) -> Check:
    if found == said:
        return Check(name, True, f"its hash is {found[:12]}…, as the manifest says")
    return Check(name, False, f"its hash is {found[:12]}…, the manifest says {str(said)[:12]}…")


def _check_registrations(folder: Path) -> Check:
    try:
        found = read_registrations(folder)
    except PanelistError as error:
        return Check("preregistration", False, _say(error, folder))
    if not found:
        return Check("preregistration", None, "there is none")
    more = f", amended {len(found) - 1} times" if len(found) > 1 else ""
    return Check("preregistration", True, f"of {found[0].time}{more}, unchanged since")


def _check_people(manifest: dict[str, Any], folder: Path) -> Check:
    """Return whether the ratings have no column that says who raters are."""
    if manifest.get("ids"):
        return Check("no ids of people", None, "the archive was made to hold them")
    path = folder / RATINGS_FILE
    if not path.is_file():
        return Check("no ids of people", None, "there are no ratings")
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            names = next(csv.reader(file), [])
    except csv.Error as error:
        return Check("no ids of people", False, f"the header of {RATINGS_FILE} cannot be read: {error}")
    telling = [name for name in names if re.sub(r"[^a-z]", "", name.lower()) in PERSONAL]
    if telling:
        return Check("no ids of people", False, f"{RATINGS_FILE} has the columns {', '.join(telling)}")
    return Check("no ids of people", True, f"no column of {RATINGS_FILE} holds ids or addresses")


def _check_analysis(manifest: dict[str, Any], folder: Path, tolerance: float) -> Check:
    """Return whether the analysis, computed again from study and ratings, is the one in the archive."""
    settings = manifest.get("report")
    if not isinstance(settings, dict):
        return Check("analysis", None, "there is none")
    resamples, seed = settings.get("resamples"), settings.get("seed")
    if not (type(resamples) is type(seed) is int and 2 <= resamples <= MOST_RESAMPLES and seed >= 0):
        return Check("analysis", False, f"the manifest has no resamples and seed to repeat it: {settings}")
    try:
        packed = json.loads((folder / ANALYSIS).read_text(encoding="utf-8"))
        analysis = analyse_archive(folder, resamples, seed)
    except PanelistError as error:
        return Check("analysis", False, f"could not be computed again: {_say(error, folder)}")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return Check("analysis", False, f"cannot be read: {type(error).__name__} {_say(error, folder)}")
    different = list(compare_numbers(packed, json.loads(analysis.to_json()), tolerance))
    if not different:
        how = "to the last digit" if not tolerance else f"to a relative {tolerance:g}"
        return Check("analysis", True, f"computed again, it is the same {how}")
    named = "; ".join(different[:MOST_NAMED]) + ("; …" if len(different) > MOST_NAMED else "")
    return Check("analysis", False, f"differs in {len(different):,} places: {named}.{_tell_versions(folder)}")


def compare_numbers(packed: Any, again: Any, tolerance: float = 0.0, place: str = "") -> Iterator[str]:
    """Yield where two JSON values differ, with both values.

    >>> list(compare_numbers({"p": [0.5, "a"]}, {"p": [0.25, "a"]}))
    ['p.0: 0.5 and now 0.25']
    """
    if isinstance(packed, dict) and isinstance(again, dict):
        for key in dict.fromkeys([*packed, *again]):
            inside = f"{place}.{key}" if place else str(key)
            if key in packed and key in again:
                yield from compare_numbers(packed[key], again[key], tolerance, inside)
            else:
                yield f"{inside}: {'only in the archive' if key in packed else 'only now'}"
    elif isinstance(packed, list) and isinstance(again, list) and len(packed) == len(again):
        for number, (one, other) in enumerate(zip(packed, again, strict=True)):
            yield from compare_numbers(one, other, tolerance, f"{place}.{number}" if place else str(number))
    elif (packed != again or type(packed) is not type(again)) and not _are_near(packed, again, tolerance):
        yield f"{place}: {_shorten(packed)} and now {_shorten(again)}"


def _are_near(one: Any, other: Any, tolerance: float) -> bool:
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in (one, other)):
        return False
    if not (isfinite(one) and isfinite(other)):
        return False
    return bool(abs(one - other) <= tolerance * max(abs(one), abs(other)))


def _shorten(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"


def _tell_versions(folder: Path) -> str:
    """Return which packages have other versions here, if any."""
    try:
        then = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
        packed = {"python": then["python"], **then["packages"]}
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    now = describe_environment()
    here = {"python": now["python"], **now["packages"]}
    other = [
        f"{name} {packed[name]}, here {here[name]}"
        for name in packed
        if here.get(name, packed[name]) != packed[name]
    ]
    if not other:
        return " The versions are the same."
    return f" Other versions: {'; '.join(other[:MOST_NAMED])}{'; …' if len(other) > MOST_NAMED else ''}."


def _say(error: Exception, folder: Path) -> str:
    """Return an error in one line, without the temporary folder."""
    return " ".join(str(error).replace(f"{folder}/", "").split())
