"""Zip files from others: how long their list of contents is, checked before any of it is read."""

import struct
from pathlib import Path

from panelist.core.errors import BadFile

_END, _END_SIZE = b"PK\x05\x06", 22
_LONGEST_COMMENT = 65_535
BYTES_PER_ENTRY = 400  # the record of an entry has 46 bytes and its name; extra fields are short


def check_directory(source: Path | bytes, name: str, most: int) -> None:
    """Raise BadFile where the list of contents could hold far more than ``most`` entries.

    Reading a list of millions takes minutes and gigabytes, whatever the entries hold.
    """
    if isinstance(source, bytes):
        tail = source[-(_END_SIZE + _LONGEST_COMMENT) :]
    else:
        with source.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _END_SIZE - _LONGEST_COMMENT))
            tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_SIZE:
        return  # not a zip file, as the code that opens it will say
    count, length = struct.unpack("<HL", tail[at + 10 : at + 16])
    if length > most * BYTES_PER_ENTRY or (count == 0xFFFF and most < 0xFFFF):
        raise BadFile(
            f"{name} is refused: its list of contents has {length:,} bytes; {most:,} files are allowed."
        )
