"""Media files from inside: which types browsers show and play, and what is written in them beside the media.

A file is told by its first bytes, whatever it is called. What sound and film say about themselves (titles,
names of programs) is found, never removed: raters' browsers get the file as it is.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from struct import error, unpack_from
from typing import NamedTuple

from panelist.core.errors import did_you_mean


class MediaType(NamedTuple):
    """What files of an ending hold."""

    kind: str
    """``picture``, ``sound``, ``film`` or ``captions``."""
    mime: str
    family: str
    """What its first bytes must be like."""


TYPES = {
    ".avif": MediaType("picture", "image/avif", "avif"),
    ".gif": MediaType("picture", "image/gif", "gif"),
    ".jpeg": MediaType("picture", "image/jpeg", "jpeg"),
    ".jpg": MediaType("picture", "image/jpeg", "jpeg"),
    ".png": MediaType("picture", "image/png", "png"),
    ".svg": MediaType("picture", "image/svg+xml", "svg"),
    ".webp": MediaType("picture", "image/webp", "webp"),
    ".flac": MediaType("sound", "audio/flac", "flac"),
    ".m4a": MediaType("sound", "audio/mp4", "mp4"),
    ".mp3": MediaType("sound", "audio/mpeg", "mp3"),
    ".oga": MediaType("sound", "audio/ogg", "ogg"),
    ".ogg": MediaType("sound", "audio/ogg", "ogg"),
    ".opus": MediaType("sound", "audio/ogg", "ogg"),
    ".wav": MediaType("sound", "audio/wav", "wav"),
    ".mp4": MediaType("film", "video/mp4", "mp4"),
    ".webm": MediaType("film", "video/webm", "webm"),
    ".vtt": MediaType("captions", "text/vtt", "vtt"),
}
CLEAN = "ffmpeg -i IN -map_metadata -1 -c copy OUT"
"""The command that takes out what is written beside sound and film."""
_MEND = {
    "picture": "ffmpeg -i {} {}.png",
    "sound": "ffmpeg -i {} {}.mp3",
    "film": "ffmpeg -i {} -c:v libx264 -c:a aac -movflags +faststart {}.mp4",
}
_TEXTS = re.compile(
    rb"(?i)\b(title|artist|album|comment|description|performer|organization|copyright|publisher|software"
    rb"|encoder|encoded[-_]by)=([^\0]{1,200})"
)
_FFMPEG = (b"Lavf", b"Lavc")  # ffmpeg signs what it writes, even the files that CLEAN makes
_HEAD = 1 << 16


def find_type(name: str) -> MediaType | None:
    """Return what a file holds by the end of its name; None where no browser shows it for certain."""
    return TYPES.get(PurePosixPath(name).suffix.casefold())


def refuse_name(name: str, kinds: frozenset[str]) -> str:
    """Return why a cell cannot name such a file, as the end of a sentence; empty where it can."""
    if not name.strip():
        return "names no file."
    path = PurePosixPath(name)
    odd = "\\" in name or any(char < " " or "\ud800" <= char <= "\udfff" for char in name) or ":" in name
    if odd or path.is_absolute() or ".." in path.parts:
        return (
            f"names {name[:100]!r}; a file is named by its path inside the folder of media, with / and no .."
        )
    known = find_type(name)
    if known is not None and known.kind in kinds:
        return ""
    fitting = [ending for ending, one in TYPES.items() if one.kind in kinds]
    mend = _MEND[next(kind for kind in ("film", "sound", "picture") if kind in kinds)]
    found = f"ends in {path.suffix!r}" if path.suffix else "has no ending"
    return (
        f"names {name[:100]!r}, which {found}. {did_you_mean(path.suffix, fitting)} Other files become one "
        f"of these by: {mend.format(path.name, path.stem)}"
    )


def recognise(content: bytes) -> str:
    """Return the family of a file by its first bytes; empty where it is none that we know.

    >>> recognise(b"RIFF....WAVEfmt "), recognise(b"<!doctype html>")
    ('wav', '')
    """
    if content[:4] == b"RIFF":
        return {b"WAVE": "wav", b"WEBP": "webp"}.get(content[8:12], "")
    if content[4:8] == b"ftyp":
        return "avif" if b"avi" in content[8:40] else "mp4"
    for start, family in _STARTS:
        if content.startswith(start):
            return family
    if len(content) > 2 and content[0] == 0xFF and content[1] & 0xE6 == 0xE2:  # a frame of MPEG layer III
        return "mp3"
    return "svg" if b"<svg" in content[:4096].lower() else ""


_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"ID3", "mp3"),
    (b"OggS", "ogg"),
    (b"fLaC", "flac"),
    (b"\x1a\x45\xdf\xa3", "webm"),
    (b"WEBVTT", "vtt"),
    (b"\xef\xbb\xbfWEBVTT", "vtt"),
)


def list_tags(content: bytes) -> list[str]:
    """Return the tags in sound or film that tell where it comes from; none where nothing is written there."""
    find = _FINDERS.get(recognise(content))
    try:
        return list(dict.fromkeys(find(content))) if find is not None else []
    except (error, IndexError):  # damaged: whatever is left of it is not read
        return []


def _list_id3(content: bytes) -> Iterator[str]:
    if content.startswith(b"ID3"):
        size = _read_synchsafe(content[6:10])
        at, end = 10, min(10 + size, len(content))
        while at + 10 <= end and content[at]:
            name = content[at : at + 4]
            length = _read_synchsafe(content[at + 4 : at + 8]) if content[3] > 3 else _read(content, at + 4)
            if not any(mark in content[at + 10 : at + 10 + length] for mark in _FFMPEG):
                yield f"ID3 {name.decode('latin-1')}"
            at += 10 + length
    if content[-128:-125] == b"TAG":
        yield "ID3v1"


def _read_synchsafe(four: bytes) -> int:
    return four[0] << 21 | four[1] << 14 | four[2] << 7 | four[3]


def _read(content: bytes, at: int, form: str = ">I") -> int:
    return int(unpack_from(form, content, at)[0])


def _list_info(content: bytes) -> Iterator[str]:
    at = 12
    while at + 8 <= len(content):
        name, size = content[at : at + 4], _read(content, at + 4, "<I")
        data = content[at + 8 : at + 8 + size]
        if name == b"LIST" and data[:4] == b"INFO":
            inside = 4
            while inside + 8 <= len(data):
                length = _read(data, inside + 4, "<I")
                if not data[inside + 8 : inside + 8 + length].startswith(_FFMPEG):
                    yield f"LIST {data[inside : inside + 4].decode('latin-1')}"
                inside += 8 + length + length % 2
        elif name in (b"id3 ", b"ID3 ", b"bext", b"iXML", b"_PMX"):
            yield name.decode().strip()
        at += 8 + size + size % 2


def _list_atoms(content: bytes) -> Iterator[str]:
    for name, begin, end in walk_boxes(content, 0, len(content)):
        if name == b"moov":
            yield from _list_movie(content, begin, end)
        elif name in (b"uuid", b"meta"):
            yield name.decode()


def _list_movie(content: bytes, begin: int, end: int) -> Iterator[str]:
    """Give the tags of a film, and those of its tracks."""
    for name, first, last in walk_boxes(content, begin, end):
        if name == b"trak":
            yield from _list_movie(content, first, last)
        elif name == b"meta":
            yield from _list_items(content, first, last)
        elif name == b"udta":
            inside = list(walk_boxes(content, first, last))
            if not inside and content[first:last].strip(b"\0"):
                yield "udta"
            for inner, start, stop in inside:
                if inner == b"meta":
                    yield from _list_items(content, start, stop)
                elif not any(mark in content[start:stop] for mark in _FFMPEG):
                    yield f"udta {inner.decode('latin-1')}"


def _list_items(content: bytes, begin: int, end: int) -> Iterator[str]:
    """Give the items of a list of tags; ffmpeg's own signature beside them hides none."""
    start = begin + (0 if content[begin + 4 : begin + 8] == b"hdlr" else 4)  # of QuickTime, without a version
    for name, first, last in walk_boxes(content, start, end):
        if name == b"ilst":
            for item, at, stop in walk_boxes(content, first, last):
                if not any(mark in content[at:stop] for mark in _FFMPEG):
                    yield f"udta {item.decode('latin-1')}" if item > b"\0\xff" else "udta meta"


def walk_boxes(content: bytes, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Give the boxes of MP4 between two places: the name of each, and from where to where its content is."""
    while at + 8 <= end:
        size, head = _read(content, at), 8
        if size == 1:
            size, head = _read(content, at + 8, ">Q"), 16
        last = at + size if size else end
        if last > end or last < at + head:
            return
        yield content[at + 4 : at + 8], at + head, last
        at = last


def _list_texts(content: bytes) -> Iterator[str]:
    for found in _TEXTS.finditer(content[:_HEAD]):
        if not found[2].startswith(_FFMPEG):
            yield found[1].decode().upper()


_SEGMENT, _INFO, _TAGS, _TAG, _SIMPLE = 0x18538067, 0x1549A966, 0x1254C367, 0x7373, 0x67C8  # of WebM
_TOLD = {0x7BA9: "Title", 0x4D80: "MuxingApp", 0x5741: "WritingApp"}
_TAG_NAME, _TAG_TEXT = 0x45A3, 0x4487


def _list_elements(content: bytes) -> Iterator[str]:
    for segment, begin, end in _walk_elements(content, 0, len(content)):
        if segment != _SEGMENT:
            continue
        for name, first, last in _walk_elements(content, begin, end):
            inside = list(_walk_elements(content, first, last)) if name in (_INFO, _TAGS) else []
            for inner, start, stop in inside:
                if inner in _TOLD and not content[start:stop].startswith(_FFMPEG):
                    yield _TOLD[inner]
                elif inner == _TAG:
                    yield from _list_simple(content, start, stop)


def _list_simple(content: bytes, begin: int, end: int) -> Iterator[str]:
    for name, first, last in _walk_elements(content, begin, end):
        if name == _SIMPLE:
            parts = {part: content[start:stop] for part, start, stop in _walk_elements(content, first, last)}
            told = parts.get(_TAG_NAME, b"").decode("utf-8", "replace")
            if told != "DURATION" and not parts.get(_TAG_TEXT, b"").startswith(_FFMPEG):
                yield f"Tag {told}"


def _walk_elements(content: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Give the elements of WebM: which, and from where to where; one without a length goes to the end."""
    while at + 2 <= end:
        wide = 9 - content[at].bit_length()
        name, at = int.from_bytes(content[at : at + wide]), at + wide
        long = 9 - content[at].bit_length()
        size, most = int.from_bytes(content[at : at + long]), 1 << 7 * long
        begin, size = at + long, size % most
        at = end if size == most - 1 else begin + size
        if wide > 4 or long > 8 or at > end:
            return
        yield name, begin, at


_FINDERS = {
    "mp3": _list_id3,
    "wav": _list_info,
    "mp4": _list_atoms,
    "webm": _list_elements,
    "ogg": _list_texts,
    "flac": _list_texts,
}
_NOTE = re.compile(r"(?:\A|\n\n+)(?:NOTE|STYLE|REGION)\b[^\n]*(?:\n[^\n]+)*")
_HEADER = re.compile(r"\AWEBVTT[^\n]*(?:\n[^\n]+)*")
_CUE = re.compile(r"(?:[^\n]*\n)?[^\n]*-->[^\n]*\n?(.*)", re.DOTALL)


def strip_captions(content: bytes) -> bytes:
    """Return captions without notes, styles, names of cues and what stands beside the first line.

    >>> strip_captions(b"WEBVTT by X\\n\\nNOTE made by X\\n\\nX-1\\n00:00.000 --> 00:01.000\\nHello.\\n")
    b'WEBVTT\\n\\n00:00.000 --> 00:01.000\\nHello.\\n'
    """
    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    body = _NOTE.sub("", _HEADER.sub("", text))
    blocks = [block[block.rfind("\n", 0, block.index("-->")) + 1 :] for block in _list_cues(body)]
    return ("\n\n".join(["WEBVTT", *blocks]) + "\n").encode()


def read_captions(content: bytes) -> str:
    """Return the words of captions, a line for each cue.

    >>> read_captions(b"WEBVTT\\n\\n00:00.000 --> 00:01.000\\n<v Anna>Hello.\\n")
    'Hello.'
    """
    text = strip_captions(content).decode()
    spoken = (found[1] for block in _list_cues(text) if (found := _CUE.fullmatch(block)))
    return "\n".join(re.sub(r"<[^>]*>", "", words).strip() for words in spoken)


def _list_cues(text: str) -> list[str]:
    return [block.strip("\n") for block in re.split(r"\n\n+", text) if "-->" in block]
