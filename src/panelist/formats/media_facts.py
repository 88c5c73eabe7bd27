"""What can be measured in a media file without decoding it: pixels, seconds, sample rate, the level of WAV.

Raters see and hear these, whatever the file is called, so the report gives them by system.
"""

from collections.abc import Iterator
from struct import error, unpack_from

import numpy as np

from panelist.formats.media_types import recognise, walk_boxes

Facts = dict[str, float]
"""``width`` and ``height`` in pixels, ``seconds``, ``kHz`` of the sample rate, and ``dB``: the level of the
whole against the loudest that the file can hold.
"""
_SILENCE = 1e-5
_JPEG_SIZES = frozenset((*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)))
_MP3_RATES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}


def measure_media(content: bytes) -> Facts:
    """Return what can be measured in a file; nothing where its format hides it or it is damaged.

    >>> measure_media(b"GIF89a" + bytes((4, 0, 3, 0)))
    {'width': 4.0, 'height': 3.0}
    """
    find = _MEASURES.get(recognise(content))
    try:
        return {name: float(value) for name, value in find(content)} if find is not None else {}
    except (error, IndexError, KeyError, ValueError, ZeroDivisionError):
        return {}


_Found = Iterator[tuple[str, float]]


def _measure_png(content: bytes) -> _Found:
    yield from zip(("width", "height"), unpack_from(">II", content, 16), strict=True)


def _measure_gif(content: bytes) -> _Found:
    yield from zip(("width", "height"), unpack_from("<HH", content, 6), strict=True)


def _measure_jpeg(content: bytes) -> _Found:
    at = 2
    while content[at] == 0xFF:
        mark, (size,) = content[at + 1], unpack_from(">H", content, at + 2)
        if mark in _JPEG_SIZES:
            yield from zip(("height", "width"), unpack_from(">HH", content, at + 5), strict=True)
            return
        at += 2 + size


def _measure_webp(content: bytes) -> _Found:
    kind = content[12:16]
    if kind == b"VP8X":
        width = int.from_bytes(content[24:27], "little") + 1
        height = int.from_bytes(content[27:30], "little") + 1
    elif kind == b"VP8L":
        (both,) = unpack_from("<I", content, 21)
        width, height = (both & 0x3FFF) + 1, (both >> 14 & 0x3FFF) + 1
    else:
        width, height = (side & 0x3FFF for side in unpack_from("<HH", content, 26))
    yield "width", width
    yield "height", height


def _measure_wav(content: bytes) -> _Found:
    kind = channels = rate = bits = 0
    at = 12
    while at + 8 <= len(content):
        name, (size,) = content[at : at + 4], unpack_from("<I", content, at + 4)
        if name == b"fmt ":
            kind, channels, rate, _, _, bits = unpack_from("<HHIIHH", content, at + 8)
            kind = unpack_from("<H", content, at + 32)[0] if kind == 0xFFFE else kind  # told further on
        elif name == b"data" and rate and channels and bits:
            data = content[at + 8 : at + 8 + size]
            yield "seconds", 8 * len(data) / (rate * channels * bits)
            yield "kHz", rate / 1000
            samples = _read_samples(data, kind, bits)
            if len(samples):
                yield "dB", 20 * np.log10(max(float(np.sqrt(np.mean(samples**2))), _SILENCE))
            return
        at += 8 + size + size % 2


def _read_samples(data: bytes, kind: int, bits: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return samples between -1 and 1; none where they are packed in a way that is not read."""
    wide = bits // 8
    data = data[: len(data) // max(wide, 1) * wide]
    if (kind, bits) == (3, 32):
        return np.frombuffer(data, "<f4").astype(float)
    if (kind, bits) == (1, 8):
        return np.frombuffer(data, np.uint8).astype(float) / 128 - 1
    if kind == 1 and bits in (16, 24, 32):
        padded = np.zeros((len(data) // wide, 4), np.uint8)
        padded[:, 4 - wide :] = np.frombuffer(data, np.uint8).reshape(-1, wide)
        return padded.view("<i4")[:, 0].astype(float) / 2**31
    return np.empty(0)


def _measure_flac(content: bytes) -> _Found:
    both = int.from_bytes(content[18:26])  # 20 bits of rate, 8 of channels and depth, 36 of samples
    rate, samples = both >> 44, both & (1 << 36) - 1
    if rate:
        yield from (("seconds", samples / rate), ("kHz", rate / 1000))


def _measure_mp3(content: bytes) -> _Found:
    at = 0
    if content.startswith(b"ID3"):
        at = 10 + sum(byte << shift for byte, shift in zip(content[6:10], (21, 14, 7, 0), strict=True))
    if content[at] == 0xFF and content[at + 1] >> 5 == 7:
        yield "kHz", _MP3_RATES[content[at + 1] >> 3 & 3][content[at + 2] >> 2 & 3] / 1000


def _measure_mp4(content: bytes) -> _Found:
    for name, begin, end in walk_boxes(content, 0, len(content)):
        for inner, first, last in walk_boxes(content, begin, end) if name == b"moov" else ():
            if inner == b"mvhd":
                long = content[first]  # times of 8 bytes
                scale, length = unpack_from(">IQ" if long else ">II", content, first + (20 if long else 12))
                yield "seconds", length / scale
            for part, start, _ in walk_boxes(content, first, last) if inner == b"trak" else ():
                if part == b"tkhd":
                    width, height = unpack_from(">II", content, start + (88 if content[start] else 76))
                    if width and height:
                        yield from (("width", width / 65536), ("height", height / 65536))


_MEASURES = {
    "png": _measure_png,
    "gif": _measure_gif,
    "jpeg": _measure_jpeg,
    "webp": _measure_webp,
    "wav": _measure_wav,
    "flac": _measure_flac,
    "mp3": _measure_mp3,
    "mp4": _measure_mp4,
}
