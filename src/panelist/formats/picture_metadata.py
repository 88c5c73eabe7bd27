"""Pictures without what was written into them beside the picture: prompts, names of models, cameras, places.

Pixels are not touched: what is left out are parts of the file that hold no picture. Only which way up it
belongs is kept. Each format is a file of parts with names, and the parts to keep are listed; AVIF files point
into themselves, so there the bytes are blanked out where they stand.
"""

import re
import zlib
from collections.abc import Callable, Iterator
from struct import calcsize, error, pack, unpack_from

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_KEPT = frozenset(
    b"IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD pHYs acTL fcTL fdAT".split()
)  # without tEXt, zTXt, iTXt, eXIf, tIME, caBX and whatever else there is
_WEBP_KEPT = frozenset((b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"))
_EXIF_FLAG, _XMP_FLAG = 0x08, 0x04
_JPEG_STANDALONE = frozenset((0x01, *range(0xD0, 0xD8)))
_LOOPS = (b"NETSCAPE2.0", b"ANIMEXTS1.0")
_ORIENTATION = 0x0112
_NO_EXIF = b"\0\0\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0"
_SVG_ASIDE = re.compile(
    r"<!--.*?-->|<\?(?!xml\s).*?\?>|<(metadata|title|desc|sodipodi:namedview)\b[^>]*?(?:/>|>.*?</\1\s*>)",
    re.DOTALL | re.IGNORECASE,
)
_SVG_TAG = re.compile(r"""<[A-Za-z](?:"[^"]*"|'[^']*'|[^>"'])*>""")
_SVG_FOREIGN = re.compile(
    r"""\s(?:(?!xml:|xlink:|xmlns[:\s=])[\w.-]+:[\w.-]+|data-[\w.-]+)\s*=\s*(?:"[^"]*"|'[^']*')"""
)


class NotAPicture(Exception):
    """A file that is none of the pictures that we know from inside."""


def strip_metadata(content: bytes) -> bytes:
    """Return a picture without anything but the picture; told by its content, whatever it is called."""
    for is_it, strip in _FORMATS:
        if is_it(content):
            try:
                return strip(content)
            except (error, IndexError, ValueError, KeyError) as problem:
                raise NotAPicture(f"the file is damaged ({problem})") from None
    raise NotAPicture("the file is no PNG, JPEG, GIF, WebP, AVIF or SVG")


def _strip_png(content: bytes) -> bytes:
    parts, turn, at = [_PNG], 1, len(_PNG)
    while at + 12 <= len(content):
        (size,) = unpack_from(">I", content, at)
        name, data = content[at + 4 : at + 8], content[at + 8 : at + 8 + size]
        at += 12 + size
        if name == b"eXIf":
            turn = _find_turn(data)
        elif name in _PNG_KEPT:
            if name == b"iCCP":  # the profile stays, its name does not
                data = b"icc" + data[data.index(0) :]
            if name in (b"IDAT", b"IEND") and turn != 1:
                parts.append(_make_png_part(b"eXIf", _write_turn(turn)))
                turn = 1
            parts.append(_make_png_part(name, data))
        if name == b"IEND":
            return b"".join(parts)
    raise ValueError("it ends too early")


def _make_png_part(name: bytes, data: bytes) -> bytes:
    return pack(">I", len(data)) + name + data + pack(">I", zlib.crc32(name + data))


def _strip_jpeg(content: bytes) -> bytes:
    parts, turn, at = [b"\xff\xd8"], 1, 2
    while True:
        while content[at] != 0xFF:  # a byte between two parts
            at += 1
        while content[at] == 0xFF:
            at += 1
        mark = content[at]
        at += 1
        if mark == 0xD9:
            break
        if mark in _JPEG_STANDALONE:
            parts.append(bytes((0xFF, mark)))
            continue
        (size,) = unpack_from(">H", content, at)
        data = content[at + 2 : at + size]
        at += size
        if mark == 0xE1 and data.startswith(b"Exif\0\0"):
            turn = _find_turn(data[6:])
        elif _is_kept_in_jpeg(mark, data):
            parts.append(bytes((0xFF, mark)) + pack(">H", size) + data)
        if mark == 0xDA:
            end = _find_end_of_scan(content, at)
            parts.append(content[at:end])
            at = end
    if turn != 1:
        data = b"Exif\0\0" + _write_turn(turn)
        parts.insert(1, b"\xff\xe1" + pack(">H", len(data) + 2) + data)
    return b"".join((*parts, b"\xff\xd9"))


def _is_kept_in_jpeg(mark: int, data: bytes) -> bool:
    """Return whether a part is picture, colour profile or how colours are stored; comments are not."""
    if mark == 0xE0:
        return data.startswith(b"JFIF\0")
    if mark == 0xE2:
        return data.startswith(b"ICC_PROFILE\0")
    return mark == 0xEE or not (0xE0 <= mark <= 0xEF or mark == 0xFE)


def _find_end_of_scan(content: bytes, at: int) -> int:
    while True:
        at = content.index(0xFF, at)
        if content[at + 1] != 0 and content[at + 1] not in _JPEG_STANDALONE and content[at + 1] != 0xFF:
            return at
        at += 1 if content[at + 1] == 0xFF else 2


def _strip_gif(content: bytes) -> bytes:
    flags = content[10]
    at = 13 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
    parts = [content[:at]]
    while content[at] != 0x3B:
        begin = at
        if content[at] == 0x21:
            kind, at = content[at + 1], at + 2
            keep = kind == 0xF9 or (kind == 0xFF and content[at + 1 : at + 12] in _LOOPS)
        elif content[at] == 0x2C:
            flags = content[at + 9]
            at += 10 + (3 << (flags & 7) + 1 if flags & 0x80 else 0) + 1
            keep = True
        else:
            raise ValueError("a part has no name")
        while content[at]:
            at += content[at] + 1
        at += 1
        if keep:
            parts.append(content[begin:at])
    return b"".join((*parts, b"\x3b"))


def _strip_webp(content: bytes) -> bytes:
    parts, turn, at = [], 1, 12
    while at + 8 <= len(content):
        name = content[at : at + 4]
        (size,) = unpack_from("<I", content, at + 4)
        data = content[at + 8 : at + 8 + size]
        at += 8 + size + size % 2
        if name == b"EXIF":
            turn = _find_turn(data.removeprefix(b"Exif\0\0"))
        elif name in _WEBP_KEPT:
            parts.append((name, data))
    if turn != 1:
        parts.append((b"EXIF", _write_turn(turn)))
    written = b"".join(_make_webp_part(name, data, turn) for name, data in parts)
    return b"RIFF" + pack("<I", len(written) + 4) + b"WEBP" + written


def _make_webp_part(name: bytes, data: bytes, turn: int) -> bytes:
    if name == b"VP8X":  # what its flags promise is there
        flags = data[0] & ~(_EXIF_FLAG | _XMP_FLAG) | (_EXIF_FLAG if turn != 1 else 0)
        data = bytes((flags,)) + data[1:]
    return name + pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def _blank_avif(content: bytes) -> bytes:
    """Return an AVIF with Exif, XMP and foreign boxes as zeros; which way up it belongs, another box says."""
    blanked = bytearray(content)
    for name, begin, end in _list_boxes(content, 0, len(content)):
        if name in (b"uuid", b"free", b"skip"):
            blanked[begin:end] = bytes(end - begin)
        elif name == b"meta":
            for first, last, exif in _find_items(content, begin + 4, end):
                nothing = _NO_EXIF if exif and last - first >= len(_NO_EXIF) else b""
                blanked[first:last] = nothing.ljust(last - first, b"\0")
    return bytes(blanked)


def _list_boxes(content: bytes, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    while at + 8 <= end:
        size, name = unpack_from(">I4s", content, at)
        head = 8
        if size == 1:
            (size,) = unpack_from(">Q", content, at + 8)
            head = 16
        last = at + size if size else end
        if last > end or last < at + head:
            raise ValueError("a box is longer than the file")
        yield name, at + head, last
        at = last


def _find_items(content: bytes, at: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Return where the texts of a picture stand, items of the kinds Exif and mime, and which are Exif."""
    boxes = {name: (begin, last) for name, begin, last in _list_boxes(content, at, end)}
    texts = {}
    if b"iinf" in boxes:
        begin, last = boxes[b"iinf"]
        head = 6 if content[begin] == 0 else 8
        for name, inside, after in _list_boxes(content, begin + head, last):
            wide = content[inside] >= 3
            number = unpack_from(">I" if wide else ">H", content, inside + 4)[0]
            place = inside + (10 if wide else 8)
            if name == b"infe" and content[inside] >= 2 and content[place : place + 4] in (b"Exif", b"mime"):
                texts[number] = content[place : place + 4] == b"Exif"
                yield place + 4, after - 1, False  # its name and type
    if b"iloc" in boxes and texts:
        store = boxes.get(b"idat", (0, 0))[0]
        for number, method, first, size in _list_places(content, boxes[b"iloc"][0]):
            if number in texts:
                start = first + (store if method == 1 else 0)
                yield start, min(start + size, len(content)), texts[number]


def _list_places(content: bytes, at: int) -> Iterator[tuple[int, int, int, int]]:
    """Return number, method, place and length of each stretch that an iloc box names."""
    version = content[at]
    (sizes,) = unpack_from(">H", content, at + 4)
    widths = {0: "", 4: ">I", 8: ">Q"}
    offset, length, base = (widths[(sizes >> shift) & 15] for shift in (12, 8, 4))
    index = widths[sizes & 15] if version else ""
    at += 6

    def read(form: str) -> int:
        nonlocal at
        if not form:
            return 0
        (value,) = unpack_from(form, content, at)
        at += calcsize(form)
        return int(value)

    wide = ">I" if version == 2 else ">H"
    for _ in range(read(wide)):
        number = read(wide)
        method = read(">H") & 15 if version else 0
        read(">H")
        start = read(base)
        for _ in range(read(">H")):
            read(index)
            yield number, method, start + read(offset), read(length)


def _strip_svg(content: bytes) -> bytes:
    text = _SVG_ASIDE.sub("", content.decode("utf-8-sig", "replace"))
    return _SVG_TAG.sub(lambda tag: _SVG_FOREIGN.sub("", tag[0]), text).encode()


def _find_turn(exif: bytes) -> int:
    """Return which way up an Exif block says that the picture belongs: 1 to 8, 1 where it says nothing."""
    order = {b"II": "<", b"MM": ">"}.get(exif[:2])
    if order is None:
        return 1
    try:
        (at,) = unpack_from(f"{order}I", exif, 4)
        (n,) = unpack_from(f"{order}H", exif, at)
        for place in range(at + 2, at + 2 + 12 * n, 12):
            tag, _, _, turn = unpack_from(f"{order}HHIH", exif, place)
            if tag == _ORIENTATION:
                return int(turn) if 1 <= turn <= 8 else 1
    except error:
        return 1
    return 1


def _write_turn(turn: int) -> bytes:
    """Return an Exif block that says which way up a picture belongs, and nothing else."""
    return pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, _ORIENTATION, 3, 1, turn, 0, 0)


_FORMATS: tuple[tuple[Callable[[bytes], bool], Callable[[bytes], bytes]], ...] = (
    (lambda content: content.startswith(_PNG), _strip_png),
    (lambda content: content.startswith(b"\xff\xd8"), _strip_jpeg),
    (lambda content: content.startswith((b"GIF87a", b"GIF89a")), _strip_gif),
    (lambda content: content[:4] == b"RIFF" and content[8:12] == b"WEBP", _strip_webp),
    (lambda content: content[4:8] == b"ftyp" and b"avi" in content[8:40], _blank_avif),
    (lambda content: b"<svg" in content[:4096].lower(), _strip_svg),
)
