"""Small media files, written byte by byte."""

import io
import struct
import wave


def box(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", 8 + len(data)) + name + data


def chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def wav(*chunks: bytes) -> bytes:
    body = b"WAVE" + chunk(b"fmt ", bytes(16)) + b"".join(chunks) + chunk(b"data", bytes(8))
    return b"RIFF" + struct.pack("<I", len(body)) + body


def film(items: bytes) -> bytes:
    """An MP4 whose list of tags holds these items."""
    about = box(b"meta", bytes(4) + box(b"hdlr", bytes(25)) + box(b"ilst", items))
    return box(b"ftyp", b"isom") + box(b"moov", box(b"trak", box(b"tkhd", bytes(8))) + box(b"udta", about))


SIGNED = box(b"\xa9too", box(b"data", bytes(8) + b"Lavf59.27.100"))
"""The signature of ffmpeg, which is in every file that it writes."""


def element(name: int, data: bytes) -> bytes:
    return name.to_bytes((name.bit_length() + 7) // 8) + (len(data) | 1 << 28).to_bytes(4) + data


def webm(title: bytes = b"", app: bytes = b"Lavf59", tag: bytes = b"Lavc59 libvpx") -> bytes:
    """A WebM with a title, the program that wrote it and a comment; the tags stand behind the film."""
    about = (element(0x7BA9, title) if title else b"") + element(0x5741, app)
    said = element(0x67C8, element(0x45A3, b"COMMENT") + element(0x4487, tag))
    parts = (
        element(0x1549A966, about)
        + element(0x1F43B675, bytes(40))
        + element(0x1254C367, element(0x7373, said))
    )
    return element(0x1A45DFA3, bytes(3)) + element(0x18538067, parts)


def record(wide: int, rate: int = 8000, level: float = 0.5) -> bytes:
    """Return a second of a square wave, whose level is its height; ``wide`` bytes a sample, two channels."""
    height = int(level * 2 ** (8 * wide - 1))
    if wide == 1:
        tone = struct.pack("BB", 128 + height, 128 - height)
    else:
        tone = b"".join((side * height).to_bytes(wide, "little", signed=True) for side in (1, -1))
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(2)
        sound.setsampwidth(wide)
        sound.setframerate(rate)
        sound.writeframes(tone * rate)
    return file.getvalue()
