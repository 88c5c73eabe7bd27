"""What can be measured in media files, against files of known size, length, rate and level."""

import io
import struct
from typing import Any

import numpy as np
import pytest
from PIL import Image

from panelist.formats.media_facts import measure_media
from tests.formats.media_bytes import box, record

SIZE = {"width": 37.0, "height": 21.0}


def draw(kind: str, mode: str = "RGB", **settings: Any) -> bytes:
    file = io.BytesIO()
    Image.new(mode, (37, 21)).save(file, kind, **settings)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        draw("PNG"),
        draw("GIF"),
        draw("JPEG"),
        draw("JPEG", progressive=True),
        draw("WEBP"),
        draw("WEBP", lossless=True),
        draw("WEBP", "RGBA", exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0"),
    ],
    ids=["png", "gif", "jpeg", "progressive", "webp", "lossless", "extended"],
)
def test_pictures_have_the_pixels_that_they_were_drawn_with(content: bytes) -> None:
    assert measure_media(content) == SIZE


@pytest.mark.parametrize("wide", [1, 2, 3, 4])
def test_a_wave_of_half_the_height_is_six_decibels_below_the_loudest(wide: int) -> None:
    found = measure_media(record(wide))
    assert (found["seconds"], found["kHz"]) == (1.0, 8.0)
    assert found["dB"] == pytest.approx(20 * np.log10(0.5), abs=0.1)  # 8 bits are rounded to 1/128
    assert measure_media(record(wide, level=0))["dB"] == pytest.approx(-100)


def test_flac_mp3_and_film_say_what_is_in_their_heads() -> None:
    facts = (48_000 << 44 | 1 << 41 | 15 << 36 | 72_000).to_bytes(8)
    assert measure_media(b"fLaC" + bytes(14) + facts) == {"seconds": 1.5, "kHz": 48.0}
    frame = b"\xff\xfb\x94\x00"  # MPEG 1, layer III, 48 kHz
    assert measure_media(b"ID3\x03\0\0\0\0\0\x02ab" + frame) == {"kHz": 48.0}
    head = box(b"mvhd", bytes(12) + struct.pack(">II", 600, 1200))
    track = box(b"trak", box(b"tkhd", bytes(76) + struct.pack(">II", 320 << 16, 180 << 16)))
    film = box(b"ftyp", b"isom") + box(b"moov", head + track)
    assert measure_media(film) == {"seconds": 2.0, "width": 320.0, "height": 180.0}


@pytest.mark.parametrize("kind", ["PNG", "GIF", "JPEG", "WEBP"])
def test_of_a_damaged_file_nothing_is_said(kind: str) -> None:
    content = draw(kind)
    for length in range(0, min(len(content), 64)):
        assert measure_media(content[:length]) in ({}, SIZE)
    for length in range(0, 60):
        measure_media(record(2)[:length])
