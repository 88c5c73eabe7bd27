"""Pictures as they are served: every pixel there, the right way up, and not a word beside them."""

import struct
import zlib
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, PngImagePlugin, features

from panelist.formats.picture_metadata import NotAPicture, strip_metadata
from panelist.web.rater.images import send_media

SECRET = b"made-by-alto"
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/">' + SECRET + b"</x:xmpmeta>"
FORMATS = ("PNG", "JPEG", "WEBP", "AVIF")


def draw() -> Image.Image:
    pixels = np.random.default_rng(1).integers(0, 255, (24, 40, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def write(kind: str, turn: int = 1, **settings: Any) -> bytes:
    """Return a picture that says in every way its format has who made it."""
    if kind == "AVIF" and not features.check("avif"):
        pytest.skip("Pillow writes no AVIF here")
    exif = Image.Exif()
    exif[0x0112], exif[0x0131], exif[0x010E] = turn, SECRET.decode(), SECRET.decode()
    file = BytesIO()
    if kind == "PNG":
        said = PngImagePlugin.PngInfo()
        said.add_text("parameters", f"a cat, Model: {SECRET.decode()}")
        said.add_itxt("XML:com.adobe.xmp", XMP.decode(), zip=True)
        said.add_text("Comment", SECRET.decode(), zip=True)
        settings["pnginfo"] = said
    elif kind in ("JPEG", "WEBP", "AVIF"):
        settings["xmp"] = XMP
    if kind == "JPEG":
        settings["comment"] = SECRET
    draw().save(file, kind, exif=exif, **settings)
    return file.getvalue()


def texts_in(content: bytes) -> bytes:
    """Return a file with its compressed texts unpacked, as far as they can be."""
    found = [content]
    for place in range(len(content)):
        if content[place : place + 1] == b"\x78":
            try:
                found.append(zlib.decompressobj().decompress(content[place:]))
            except zlib.error:
                continue
    return b"".join(found)


@pytest.mark.parametrize("turn", [1, 6])
@pytest.mark.parametrize("kind", FORMATS)
def test_pixels_and_direction_stay_and_words_go(kind: str, turn: int) -> None:
    content = write(kind, turn)
    assert SECRET in texts_in(content)
    stripped = strip_metadata(content)
    assert SECRET not in texts_in(stripped)
    before, after = Image.open(BytesIO(content)), Image.open(BytesIO(stripped))
    assert np.array_equal(np.asarray(before), np.asarray(after))
    assert after.getexif().get(0x0112, 1) == turn
    assert set(after.getexif()) <= {0x0112}
    assert strip_metadata(stripped) == stripped


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("JPEG", {"progressive": True}),
        ("JPEG", {"icc_profile": b"profile" * 20}),
        ("WEBP", {"lossless": True}),
        ("WEBP", {"save_all": True, "append_images": [draw().rotate(90, expand=False)], "duration": 100}),
        ("PNG", {"save_all": True, "append_images": [draw().rotate(180)]}),
        ("GIF", {"save_all": True, "append_images": [draw().rotate(180)], "loop": 0}),
    ],
)
def test_all_that_belongs_to_the_picture_stays(kind: str, settings: dict[str, Any]) -> None:
    content = write(kind, 1, **settings, **({"comment": SECRET} if kind == "GIF" else {}))
    stripped = strip_metadata(content)
    before, after = Image.open(BytesIO(content)), Image.open(BytesIO(stripped))
    assert getattr(before, "n_frames", 1) == getattr(after, "n_frames", 1)
    for frame in range(getattr(before, "n_frames", 1)):
        before.seek(frame)
        after.seek(frame)
        assert np.array_equal(np.asarray(before.convert("RGB")), np.asarray(after.convert("RGB")))
    assert before.info.get("icc_profile") == after.info.get("icc_profile")
    assert before.info.get("loop") == after.info.get("loop")
    assert SECRET not in texts_in(stripped)


def test_what_follows_the_picture_is_cut_off() -> None:
    for kind in ("PNG", "JPEG", "GIF"):
        content = write(kind)
        assert SECRET not in texts_in(strip_metadata(content + SECRET))


def test_the_name_of_a_colour_profile_tells_nothing() -> None:
    content = write("PNG")
    data = b"alto profile\0\0" + zlib.compress(b"p" * 200)
    part = struct.pack(">I", len(data)) + b"iCCP" + data + struct.pack(">I", zlib.crc32(b"iCCP" + data))
    stripped = strip_metadata(content[:33] + part + content[33:])
    assert b"alto" not in stripped
    assert b"iCCPicc\0\0" in stripped


def test_a_drawing_keeps_its_shapes_alone() -> None:
    drawing = (
        '<?xml version="1.0"?><?made by alto?><!-- by alto --><svg xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" data-model="alto" inkscape:label="alto">'
        "<title>alto</title><desc>alto\nagain</desc><metadata><rdf>alto</rdf></metadata>"
        '<path xlink:href="#a" d="M0 0"/></svg>'
    )
    stripped = strip_metadata(drawing.encode()).decode()
    assert "alto" not in stripped
    assert '<path xlink:href="#a" d="M0 0"/></svg>' in stripped
    assert 'xmlns:xlink="http://www.w3.org/1999/xlink"' in stripped


@pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a"])
def test_what_cannot_be_looked_through_is_not_sent(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(NotAPicture):
        strip_metadata(content)
    path = tmp_path / "a.png"
    path.write_bytes(content)
    assert send_media(path, "salt") is None


@pytest.mark.parametrize("kind", FORMATS)
def test_a_damaged_picture_never_ends_in_a_fault(kind: str) -> None:
    content = write(kind)
    rng = np.random.default_rng(2)
    for _ in range(300):
        broken = bytearray(content[: rng.integers(1, len(content))])
        for place in rng.integers(0, len(broken), 3):
            broken[place] = rng.integers(256)
        with suppress(NotAPicture):
            strip_metadata(bytes(broken))
