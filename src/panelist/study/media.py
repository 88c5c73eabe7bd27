"""The media of a study: where the files are, how they are sent, and what is wrong with them."""

import hashlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from panelist.core.errors import did_you_mean, nearest
from panelist.core.prose import count, listing
from panelist.formats.media_types import CLEAN, find_type, list_tags, read_captions, recognise, strip_captions
from panelist.formats.picture_metadata import NotAPicture, strip_metadata

LARGEST = 50_000_000
"""The most bytes of a file: what is larger does not reach raters on a phone."""
FILES_KEPT = 64


def find_media(folder: Path, name: str) -> Path | None:
    """Return the file of a name in the folder of media; None where there is none, or it lies outside."""
    if not name or "\0" in name or find_type(name) is None:
        return None
    try:
        path = (folder / name).resolve()
        inside = path.is_relative_to(folder.resolve()) and find_type(path.name) is not None
        return path if inside and path.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


def find_captions(folder: Path, name: str) -> str:
    """Return the name of the captions beside a file; empty where there are none."""
    known = find_type(name)
    if known is None or known.kind not in ("sound", "film"):
        return ""
    beside = name[: name.rindex(".")] + ".vtt"
    return beside if find_media(folder, beside) is not None else ""


def read_transcript(folder: Path, captions: str) -> str:
    """Return the words of captions; empty where there are none."""
    path = find_media(folder, captions)
    return read_captions(path.read_bytes()) if path is not None else ""


def read_sent(path: Path) -> bytes:
    """Return a file as raters get it: pictures and captions without what tells where they come from.

    Raises NotAPicture where a picture cannot be read.
    """
    about = path.stat()
    return _read_sent(path, about.st_mtime_ns, about.st_size)


@lru_cache(FILES_KEPT)
def _read_sent(path: Path, changed: int, size: int) -> bytes:
    """Return what is sent, as long as the file is the same."""
    known, content = find_type(path.name), path.read_bytes()
    if known is not None and known.kind == "picture":
        return strip_metadata(content)
    return strip_captions(content) if known is not None and known.kind == "captions" else content


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    about = path.stat()
    return _hash_file(path, about.st_mtime_ns, about.st_size)


@lru_cache(100_000)
def _hash_file(path: Path, changed: int, size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def examine_files(folder: Path, named: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """Give what is wrong with media files, and whether it is grave; ``named`` says where each is named."""
    there: dict[str, Path] = {}
    missing = []
    for name in named:
        path = find_media(folder, name)
        if path is None:
            missing.append(name)
        else:
            there[name] = path
    if missing:
        yield _tell_missing(folder, missing, named), True
    large = [name for name, path in there.items() if path.stat().st_size > LARGEST]
    if large:
        told = listing(f"{name} ({there[name].stat().st_size / 1e6:,.0f} MB)" for name in large)
        yield (
            f"{count(len(large), 'file is', 'files are')} larger than {LARGEST / 1e6:.0f} MB: {told}. Cut or "
            "compress: raters on a phone would wait for minutes.",
            True,
        )
    broken, tagged = [], []
    for name, path in there.items():
        if name in large:
            continue
        content = path.read_bytes()
        if problem := _find_broken(name, content):
            broken.append(f"{name} ({named[name]}) {problem}")
        elif tags := list_tags(content):
            tagged.append(f"{name} ({listing(tags)})")
    if broken:
        words = count(len(broken), "file cannot", "files cannot")
        yield f"{words} be shown or played: {listing(broken)}.", True
    if tagged:
        yield (
            f"{count(len(tagged), 'file says', 'files say')} more than is heard or seen: {listing(tagged)}. "
            f"It can tell raters the system. Take it out: {CLEAN}",
            False,
        )
    if late := [name for name in there if name.casefold().endswith((".ogg", ".oga", ".opus"))]:
        yield f"Safari before 18.4 does not play {listing(late)}; mp3 and m4a play everywhere.", False


def _tell_missing(folder: Path, missing: list[str], named: Mapping[str, str]) -> str:
    told = listing(f"{name} ({named[name]})" for name in missing)
    near: list[str] = []
    if folder.is_dir():
        there = [one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file()]
        near = nearest(missing[0], there)
    hint = f" {did_you_mean(missing[0], near)}" if near else ""
    return f"{count(len(missing), 'file is', 'files are')} not in {folder.name or '.'}/: {told}.{hint}"


def _find_broken(name: str, content: bytes) -> str:
    """Return why no browser can show a file; empty where its beginning is as it should be."""
    known = find_type(name)
    assert known is not None, "only files of known types are found"
    if not content:
        return "is empty"
    if (found := recognise(content)) != known.family:
        return f"is no {known.family} file" + (f" but {found}" if found else "")
    if known.kind == "picture":
        try:
            strip_metadata(content)
        except NotAPicture as error:
            return f"cannot be read: {error}"
    if known.family == "wav" and b"data" not in content[:65536]:
        return "has no sound in it"
    return ""
