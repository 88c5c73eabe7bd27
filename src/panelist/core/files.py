"""Files written in one step, and checks before the work that they can be written."""

import os
import tempfile
from collections.abc import Collection
from os import PathLike
from pathlib import Path

from panelist.core.errors import BadFile
from panelist.core.prose import listing


def replace_file(target: Path, content: bytes | str) -> None:
    """Put content into a file in one step: a reader sees the old or the new, never half of one."""
    place = target.resolve()  # a link stays a link
    name = ""
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}.", delete=False) as file:
            name = file.name
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
        mode = place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_read_umask()
        Path(name).chmod(mode)
        Path(name).replace(place)
    except OSError as error:
        if name:
            Path(name).unlink(missing_ok=True)
        raise BadFile(f"{target} cannot be written: {error.strerror or error}.") from error


def check_target(path: str | PathLike[str], what: str, endings: Collection[str]) -> Path:
    """Return the path if it ends as it should and a file can be put there, or raise BadFile."""
    target = Path(path)
    if target.suffix.casefold() not in endings:
        found = f"the ending {target.suffix!r}" if target.suffix else "no ending"
        raise BadFile(f"A {what} ends in {listing(endings, None, 'or')}; {str(path)!r} has {found}.")
    return check_place(target, what)


def check_place(target: Path, what: str) -> Path:
    """Return the path if a file can be put there, or raise BadFile; checked before the work starts."""
    if not target.parent.is_dir():
        raise BadFile(
            f"There is no folder {str(target.parent)!r} for the {what} {target.name}. Make it first."
        )
    if target.is_dir():
        raise BadFile(f"{str(target)!r} is a folder; name a file in it for the {what}.")
    if not os.access(target.parent, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise BadFile(
            f"{str(target)!r} cannot be written: there is no permission. Name another file for the {what}."
        )
    return target


def check_folder(folder: Path, what: str) -> Path:
    """Return the path of a folder that exists or can be made, or raise BadFile; it is not made yet."""
    near = folder
    while not near.exists() and near != near.parent:
        near = near.parent
    if not near.is_dir():
        raise BadFile(f"{str(near)!r} is a file; the {what} need a folder. Name another.")
    if not os.access(near, os.W_OK):
        raise BadFile(f"The folder {str(folder)!r} for the {what} cannot be written: there is no permission.")
    return folder


def _read_umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
