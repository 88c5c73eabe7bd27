"""Archives as zip files: the same content gives the same bytes, and no zip file from elsewhere is trusted."""

import hashlib
import io
import json
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from panelist.core.errors import BadFile
from panelist.core.files import replace_file
from panelist.core.zip_files import check_directory
from panelist.study.file_names import STUDY_FILE

FORMAT = 1
MANIFEST = "manifest.json"
MOST_FILES, MOST_BYTES = 20_000, 2 * 1024**3
MOST_DEPTH, LONGEST_NAME = 12, 240
BOMB_BYTES, BOMB_RATIO = 64 * 1024**2, 400  # deflate reaches 1,032; tables of ratings stay below 100
TOGETHER_BYTES = 128 * 1024**2
LARGEST = {STUDY_FILE: 4 * 1024**2, MANIFEST: 16 * 1024**2}
LARGEST_ENDING = {".yaml": 4 * 1024**2, ".json": 64 * 1024**2, ".csv": 256 * 1024**2, ".jsonl": 256 * 1024**2}
"""How large files that are read as a whole may be; 10 MB of YAML take a minute."""
CHUNK = 1024**2
_YEAR_ZERO = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can hold
_PLAIN_FILE = (stat.S_IFREG | 0o644) << 16
_UNIX = 3


@dataclass(frozen=True)
class Unpacked:
    """A file that came out of an archive; ``damage`` says why its content cannot be read."""

    size: int
    sha256: str
    damage: str = ""


def write_zip(contents: Mapping[str, bytes], path: Path) -> None:
    """Write the files, sorted by name and without times, into a zip file; all of it or nothing."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, _YEAR_ZERO)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, _UNIX
            entry.external_attr = _PLAIN_FILE
            archive.writestr(entry, contents[name])
    replace_file(path, packed.getvalue())


def make_manifest(contents: Mapping[str, bytes], about: Mapping[str, Any]) -> bytes:
    """Return the manifest: what the archive is about, and each file with its size and SHA-256."""
    files = [
        {"path": name, "bytes": len(contents[name]), "sha256": hashlib.sha256(contents[name]).hexdigest()}
        for name in sorted(contents)
    ]
    whole = {"format": FORMAT, **about, "files": files}
    return (json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def unpack_zip(path: Path, folder: Path) -> dict[str, Unpacked]:
    """Return what came out of a zip file into an empty folder; raise BadFile for one that is not harmless.

    Every name is checked before the first file is written. A file whose content is damaged is returned with
    the damage, and not written.
    """
    if path.is_dir():
        raise BadFile(f"{path} is a folder; name the archive, a .zip file.")
    if not path.is_file():
        raise BadFile(f"There is no file {path}.")
    try:
        check_directory(path, str(path), MOST_FILES)
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not _check_entry(path, entry)]
            _check_together(path, entries)
            return {entry.filename: _unpack(archive, entry, folder) for entry in entries}
    except (zipfile.BadZipFile, UnicodeDecodeError, EOFError) as error:
        raise BadFile(f"{path} is not a complete zip file ({error}). Download or make it again.") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be unpacked: {error.strerror or error}.") from None


def read_manifest(folder: Path, archive: Path) -> dict[str, Any]:
    """Return the manifest of an archive that was unpacked into a folder, or say what is wrong with it."""
    again = "Make the archive again with: panelist archive STUDY"
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadFile(
            f"{archive} holds no {MANIFEST}, so it is not an archive of panelist. {again}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise BadFile(f"The {MANIFEST} in {archive} is not JSON ({error}). {again}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise BadFile(
            f"The {MANIFEST} in {archive} is of format {found!r}; this version reads {FORMAT}. {again}"
        )
    files = manifest.get("files")
    if not isinstance(files, list) or not all(_is_record(one) for one in files):
        raise BadFile(f"The {MANIFEST} in {archive} has no list of files with path, bytes, sha256. {again}")
    return manifest


def compare_files(manifest: Mapping[str, Any], found: Mapping[str, Unpacked]) -> list[tuple[str, str]]:
    """Return each file that is damaged, changed, missing or unknown, with what is wrong."""
    listed = {str(one["path"]): one for one in manifest["files"]}
    matters = []
    for name in sorted({*listed, *found} - {MANIFEST}):
        shown = name if name.isprintable() else ascii(name)
        if name not in found:
            matters.append((shown, "is in the manifest and not in the archive"))
        elif name not in listed:
            matters.append((shown, "is in the archive and not in the manifest"))
        elif found[name].damage:
            matters.append((shown, f"cannot be read: {found[name].damage}"))
        elif found[name].sha256 != listed[name]["sha256"]:
            want, have = listed[name]["sha256"][:12], found[name].sha256[:12]
            matters.append((shown, f"was changed: its SHA-256 begins {have}, the manifest says {want}"))
        elif found[name].size != listed[name]["bytes"]:
            matters.append(
                (shown, f"has {found[name].size:,} bytes, the manifest says {listed[name]['bytes']}")
            )
    return matters


def _is_record(one: Any) -> bool:
    return (
        isinstance(one, dict)
        and isinstance(one.get("path"), str)
        and isinstance(one.get("sha256"), str)
        and isinstance(one.get("bytes"), int)
    )


def _check_entry(path: Path, entry: zipfile.ZipInfo) -> bool:
    """Return whether the entry is only a folder; raise BadFile where it is not harmless."""
    name = entry.orig_filename
    shown = ascii(name[:100])
    parts = name.rstrip("/").split("/")
    if (
        name.startswith("/")
        or "\\" in name
        or ":" in name
        or any(part in ("", ".", "..") for part in parts)
        or any(unicodedata.category(sign) == "Cc" for sign in name)
    ):
        raise BadFile(f"{path} is refused: the path {shown} in it could lead out of its folder.")
    if len(name) > LONGEST_NAME or len(parts) > MOST_DEPTH:
        raise BadFile(f"{path} is refused: the path {shown} in it is longer than any that panelist writes.")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or (kind == stat.S_IFDIR) > name.endswith("/"):
        raise BadFile(f"{path} is refused: {shown} in it is a link or a device, not a plain file.")
    if entry.flag_bits & 1:
        raise BadFile(f"{path} is refused: {shown} in it is encrypted.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BadFile(f"{path} is refused: {shown} in it is packed in a way that panelist never uses.")
    if entry.file_size > BOMB_BYTES and entry.file_size > BOMB_RATIO * max(entry.compress_size, 1):
        raise BadFile(
            f"{path} is refused: {shown} in it would grow from {entry.compress_size:,} to "
            f"{entry.file_size:,} bytes, as only a trap does."
        )
    most = LARGEST.get(name, LARGEST_ENDING.get(PurePosixPath(name).suffix.casefold(), MOST_BYTES))
    if entry.file_size > most:
        raise BadFile(
            f"{path} is refused: {shown} in it has {entry.file_size:,} bytes; {most:,} are allowed."
        )
    return name.endswith("/")


def _check_together(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Raise BadFile for too many files, too much of them, or two that would be one file on some disk."""
    if len(entries) > MOST_FILES:
        raise BadFile(f"{path} is refused: it holds {len(entries):,} files; {MOST_FILES:,} are allowed.")
    total = sum(entry.file_size for entry in entries)
    if total > MOST_BYTES:
        raise BadFile(f"{path} is refused: it unpacks to {total:,} bytes; {MOST_BYTES:,} are allowed.")
    if total > TOGETHER_BYTES and total > BOMB_RATIO * path.stat().st_size:
        raise BadFile(
            f"{path} is refused: it would grow from {path.stat().st_size:,} to {total:,} bytes, as only a "
            "trap does."
        )
    seen = set[str]()
    for entry in entries:
        name = unicodedata.normalize("NFC", entry.filename).casefold()
        if name in seen:
            raise BadFile(f"{path} is refused: it holds {entry.filename[:100]!a} twice.")
        seen.add(name)
    for name in seen:
        if clash := seen & {parent.as_posix() for parent in PurePosixPath(name).parents}:
            raise BadFile(f"{path} is refused: {min(clash)[:100]!a} in it is a file and a folder.")


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> Unpacked:
    target = folder / entry.filename
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    try:
        with archive.open(entry) as source, target.open("wb") as copy:
            while chunk := source.read(CHUNK):
                size += len(chunk)
                digest.update(chunk)
                copy.write(chunk)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        target.unlink(missing_ok=True)
        return Unpacked(size, "", " ".join(str(error).split()) or type(error).__name__)
    return Unpacked(size, digest.hexdigest())
