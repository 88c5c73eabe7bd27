"""Archives of Inspect (.eval): a ZIP with a header and one JSON file per sample, packed by any method."""

import io
import json
import struct
import zipfile
from typing import Any

import pyarrow as pa

from panelist.core.errors import BadFile
from panelist.core.zip_files import check_directory

ZSTD = 93
MOST_FILES, MOST_BYTES = 200_000, 2 * 1024**3
_LOCAL_HEADER = 30


def is_archive(content: bytes, name: str) -> bool:
    """Return whether a file is such an archive, by its ending and its first bytes."""
    return name.casefold().endswith(".eval") and content.startswith(b"PK")


def read_archive(content: bytes, name: str) -> dict[str, Any]:
    """Return the log in an archive as the .json log has it: the header, and the samples."""
    check_directory(content, name, MOST_FILES)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [one for one in archive.infolist() if one.filename.endswith(".json")]
            if sum(one.file_size for one in members) > MOST_BYTES:
                raise BadFile(f"{name} is refused: unpacked it has more than {MOST_BYTES // 1024**3} GB.")
            header = next((one for one in members if one.filename == "header.json"), None)
            if header is None:
                raise BadFile(f"{name} has no header.json: it is no finished log of Inspect.")
            log: dict[str, Any] = json.loads(_unpack(archive, header, content))
            samples = [one for one in members if one.filename.startswith("samples/")]
            log["samples"] = [json.loads(_unpack(archive, one, content)) for one in samples]
    except (zipfile.BadZipFile, struct.error, pa.ArrowException, OSError, ValueError) as error:
        raise BadFile(f"{name} is damaged ({error}); save it again, or run: inspect log dump.") from error
    return log


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, content: bytes) -> bytes:
    """Return a member; zstd is unpacked by pyarrow, since zipfile knows it only from Python 3.14 on."""
    if member.compress_type != ZSTD:
        return archive.read(member)
    names, extra = struct.unpack("<HH", content[member.header_offset + 26 : member.header_offset + 30])
    start = member.header_offset + _LOCAL_HEADER + names + extra
    packed = content[start : start + member.compress_size]
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        unpacked: bytes = stream.read(member.file_size + 1)
    if len(unpacked) != member.file_size:
        raise BadFile(f"{member.filename} in the archive is not as long as it says.")
    return unpacked
