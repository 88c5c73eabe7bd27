"""Small media files, written byte by byte."""

import struct


def box(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", 8 + len(data)) + name + data


def chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def wav(*chunks: bytes) -> bytes:
    body = b"WAVE" + chunk(b"fmt ", bytes(16)) + b"".join(chunks) + chunk(b"data", bytes(8))
    return b"RIFF" + struct.pack("<I", len(body)) + body
