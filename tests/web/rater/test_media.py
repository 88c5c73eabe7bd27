"""Media as they are served: blind, in parts, and only to those who have reached their page."""

import re
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from tests.formats.media_bytes import wav
from tests.patience import PATIENCE
from tests.web.researchers import enter
from tests.web.servers import Served, make_study, serve_in_thread
from tests.web.walking import Walker

SYSTEMS = ("Zorblax-7", "Quuxinator")
STUDY = """\
title: Pictures to spoken words
outputs: {file: outputs.csv, formats: {output: image, context: audio}, media: media}
criteria: [{name: fit, question: "Does it fit?", scale: {type: likert, points: 5}}]
design: {type: lists, ratings_per_output: 1}
raters: {count: 2}
"""


def make_picture(n: int) -> Image.Image:
    return Image.fromarray(np.random.default_rng(n).integers(0, 255, (8, 8, 3), dtype=np.uint8))


def write_study(folder: Path) -> Path:
    (folder / "media").mkdir(parents=True)
    rows = ["item,system,output,context,alt"]
    for item in range(3):
        (folder / "media" / f"said-{item}.wav").write_bytes(wav() + bytes(range(256)) * 20)
        (folder / "media" / f"said-{item}.vtt").write_text(
            "WEBVTT\n\nNOTE by Zorblax-7\n\n00:00.000 --> 00:01.000\nHello.\n", encoding="utf-8"
        )
        for number, system in enumerate(SYSTEMS):
            name, picture = f"{system}-{item}", make_picture(10 * item + number)
            if number:
                exif = Image.Exif()
                exif[0x0110] = system  # the model of the camera
                picture.save(folder / "media" / f"{name}.jpg", exif=exif, quality=95)
            else:
                about = PngImagePlugin.PngInfo()
                about.add_text("parameters", f"a cat, Model: {system}")
                picture.save(folder / "media" / f"{name}.png", pnginfo=about)
            ending = "jpg" if number else "png"
            rows.append(f"item-{item},{system},{name}.{ending},said-{item}.wav,A field of dots")
    (folder / "outputs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_in_thread(write_study(tmp_path_factory.mktemp("media") / "study")) as running:
        yield running


@pytest.fixture(scope="module")
def walker(served: Served) -> Iterator[Walker]:
    """A rater at the first page of the plan."""
    with httpx.Client(base_url=served.url, timeout=PATIENCE) as client:
        found = Walker(client, served.study).join()
        yield found


def test_a_page_names_its_media_by_numbers_alone(walker: Walker) -> None:
    html = walker.client.get(walker.link).text
    assert f'src="{walker.link}/media/1-1-1-1" alt="A field of dots"' in html
    assert f'src="{walker.link}/media/1-1-context-1"' in html
    assert "Hello." in html
    assert not any(word in html for word in (*SYSTEMS, "said-", ".wav", ".png", ".jpg"))
    assert 'data-ahead="1-2-1-1 1-2-context-1 1-2-context-2"' in html


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({}, 200, None),
        ({"Range": "bytes=0-1"}, 206, "bytes 0-1/"),
        ({"Range": "bytes=-3"}, 206, "bytes "),
        ({"Range": "bytes=999999-"}, 416, "bytes */"),
    ],
)
def test_sound_is_sent_in_the_parts_that_players_ask_for(
    walker: Walker, asked: dict[str, str], status: int, said: str | None
) -> None:
    address = f"{walker.link}/media/1-1-context-1"
    reply = walker.client.get(address, headers=asked)
    assert reply.status_code == status
    assert said is None or reply.headers["content-range"].startswith(said)
    if status == 206:
        assert len(reply.content) in (2, 3)
    if status != 416:
        assert reply.headers["content-type"] == "audio/wav"
        assert reply.headers["accept-ranges"] == "bytes"


def test_nothing_about_a_file_but_its_content_is_sent(served: Served, walker: Walker) -> None:
    for part in ("1-1-context-1", "1-1-context-2", "1-1-1-1"):
        reply = walker.client.get(f"{walker.link}/media/{part}")
        head = walker.client.head(f"{walker.link}/media/{part}")
        assert (reply.status_code, head.status_code, head.content) == (200, 200, b"")
        assert head.headers["content-length"] == str(len(reply.content))
        for sent in (reply, head):
            assert "last-modified" not in sent.headers
            assert sent.headers["content-disposition"] == "inline"
            assert sent.headers["cache-control"].startswith("private")
            assert sent.headers["content-security-policy"].startswith("default-src 'none'")
            assert not any(word in str(sent.headers) for word in (*SYSTEMS, "said", "media/"))
    tags = {walker.client.get(f"{walker.link}/media/1-1-context-1").headers["etag"] for _ in range(2)}
    assert len(tags) == 1
    path = served.study.outputs.media.find("said-0.wav")
    assert path is not None
    assert format(zlib.crc32(path.read_bytes()), "x") not in str(tags)


def test_captions_are_sent_without_notes(walker: Walker) -> None:
    reply = walker.client.get(f"{walker.link}/media/1-1-context-2")
    assert reply.headers["content-type"].startswith("text/vtt")
    assert reply.text == "WEBVTT\n\n00:00.000 --> 00:01.000\nHello.\n"


def test_pictures_lose_the_name_of_the_model_and_no_pixel(served: Served) -> None:
    media = served.study.outputs.media
    seen = set()
    with httpx.Client(base_url=served.url, timeout=PATIENCE) as client:
        walker = Walker(client, served.study).join()
        for sheet in walker.walk():
            if not sheet.names:
                continue
            reply = client.get(f"{walker.link}/media/{sheet.page}-1-1")
            assert not any(word.encode() in reply.content for word in SYSTEMS)
            own = np.asarray(Image.open(BytesIO(reply.content)))
            same = [
                name
                for name in media.names
                if name.endswith(("png", "jpg"))
                and np.array_equal(own, np.asarray(Image.open(str(media.find(name)))))
            ]
            assert len(same) == 1
            seen.add(same[0][-3:])
    assert seen == {"png", "jpg"}


@pytest.mark.parametrize(
    "address",
    [
        *("1-1-9-1", "1-1-1-9", "1-3-1-1", "2-1-1-1", "1-1-0-1", "examples-1o1-1", "1-1-reference-1"),
        *("1-1-1-0", "x", "..%2F..%2Fstudy.yaml", "1-1-1-1%00", "1-1-%D9%A1-1", "0-1-1-1", "1-1--1-1"),
    ],
)
def test_other_addresses_lead_nowhere(walker: Walker, address: str) -> None:
    assert walker.client.get(f"{walker.link}/media/{address}").status_code == 404


def test_media_are_given_to_nobody_without_a_link(served: Served) -> None:
    with served.client() as client:
        assert client.get(f"/r/{'A' * 26}/media/1-1-1-1").status_code == 404


def test_a_preview_sends_the_media_of_its_pages_blind_and_to_researchers_alone(served: Served) -> None:
    with enter(served) as desk:
        link = desk.post("/preview", place="r001").headers["location"]
        while "/media/1-1-1-1" not in (html := desk.client.get(link).text):  # what stands before the pages
            walker = Walker(desk.client, served.study)
            walker.link = link
            link = walker.send(walker.fill(walker.look())).headers["location"]
        assert not any(word in html for word in (*SYSTEMS, "said-", ".wav", ".png", ".jpg"))
        for part, kind in (
            ("1-1-1-1", "image/"),
            ("1-1-context-1", "audio/wav"),
            ("1-1-context-2", "text/vtt"),
        ):
            assert f'src="{link}/media/{part}"' in html
            reply = desk.client.get(f"{link}/media/{part}")
            assert reply.status_code == 200
            assert reply.headers["content-type"].startswith(kind)
            assert not any(word in str(reply.headers) for word in (*SYSTEMS, "said"))
        begun = desk.client.get(f"{link}/media/1-1-context-1", headers={"Range": "bytes=0-1"})
        assert (begun.status_code, len(begun.content)) == (206, 2)
        assert desk.client.get(f"{link}/media/1-3-1-1").status_code == 404  # a page that is not reached
    with served.client() as stranger:
        assert stranger.get(f"{link}/media/1-1-1-1").status_code == 404


def test_media_of_the_sound_check_examples_and_practice_reach_raters_and_previews(tmp_path: Path) -> None:
    """Each page is walked as a rater does and as a preview: every address on it is a file that is sent."""
    folder = make_study(tmp_path / "speech", "speech", trials_per_rater="trials_per_rater: 2")
    with serve_in_thread(folder) as served, enter(served) as desk, served.client() as client:
        visits = []
        for own in (client, desk.client):
            walker = Walker(own, served.study)
            if own is client:
                walker.join()
            else:
                walker.link = desk.post("/preview", place="r001").headers["location"]
            sent: dict[str, int] = {}
            while (sheet := walker.look()).action and not re.search(r"/media/1-2-1-1\b", sheet.html):
                assert not any(word in sheet.html for word in (".wav", *served.study.systems))
                for address in re.findall(rf'src="{re.escape(walker.link)}/media/([\w-]+)"', sheet.html):
                    reply = own.get(f"{walker.link}/media/{address}", headers={"Range": "bytes=0-11"})
                    kind = reply.headers["content-type"].partition(";")[0]
                    assert (reply.status_code, kind) in ((206, "audio/wav"), (200, "text/vtt"))
                    assert reply.content.startswith(b"RIFF" if kind == "audio/wav" else b"WEBVTT")
                    assert reply.headers["content-disposition"] == "inline"
                    sent[f"{sheet.page.partition('-')[0]} {address}"] = len(sent)
                form = walker.fill(sheet) | ({"word": "lemon"} if "word" in sheet.words else {})
                reply = walker.send(form)
                assert reply.status_code == 303
                walker.link = reply.headers["location"] if own is desk.client else walker.link
            visits.append(sent)
        rater, preview = visits
        assert {one.partition(" ")[0] for one in rater} == {"sound", "examples", "1", "feedback"}
        assert list(rater) == list(preview)
