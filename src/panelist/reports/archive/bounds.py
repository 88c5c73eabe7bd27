"""What an archive from elsewhere may not do: name files outside it, or keep this machine busy for ever."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import FrameType
from typing import Any

from panelist.core.errors import BadFile, PanelistError
from panelist.study.study import Study
from panelist.study.yaml_lines import read_yaml

NAMED = ["outputs", "outputs.file", "outputs.media", "repeat.of", "hit.template", "hit.input", "hit.mapping"]
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
