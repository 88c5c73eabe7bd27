"""Pictures, sound and film as formats: which names they take, what they show, what files hold."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.collection.pages.renderings import place_media
from panelist.collection.pages.translations import find_languages, load_words
from panelist.formats import FORMATS, FormatOptions, Stimulus
from panelist.formats.media_types import (
    TYPES,
    list_tags,
    read_captions,
    recognise,
    refuse_name,
    strip_captions,
)
from panelist.web.rendering import address_media
from tests.formats.media_bytes import SIGNED, box, chunk, film, wav, webm

OPTIONS = FormatOptions()
HOSTILE = [
    "../a.wav",
    "/etc/a.wav",
    "a\\b.wav",
    "C:a.wav",
    "http://example.org/a.wav",
    "a\0.wav",
    "b/../../a.wav",
]
MEDIA = ("image", "images", "audio", "video")
EXAMPLES = {
    "image": "a.png",
    "images": '["a.png", {"file": "b.jpg", "alt": "B"}]',
    "audio": "a.wav",
    "video": "a.mp4",
}


def test_a_wrong_ending_is_answered_with_the_nearest_and_the_command_that_mends_it() -> None:
    said = FORMATS["audio"].find_problem(Stimulus("talk.aiff"), OPTIONS)
    assert "names 'talk.aiff', which ends in '.aiff'" in said
    assert "ffmpeg -i talk.aiff talk.mp3" in said
    assert "Did you mean '.wav'?" in FORMATS["audio"].find_problem(Stimulus("talk.wva"), OPTIONS)
    assert "talk.mp4" in FORMATS["video"].find_problem(Stimulus("talk.mov"), OPTIONS)
    assert FORMATS["audio"].find_problem(Stimulus("film.mp4"), OPTIONS)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_lead_outside_the_folder_are_refused(name: str) -> None:
    assert "by its path inside the folder of media" in refuse_name(name, frozenset({"sound"}))


def test_pictures_are_a_list_of_names() -> None:
    pictures = FORMATS["images"]
    assert pictures.list_files(Stimulus(EXAMPLES["images"]), OPTIONS) == ("a.png", "b.jpg")
    for wrong in ("a.png", "{}", "[]", "[1]", '["a.txt"]', '["../a.png"]'):
        assert pictures.find_problem(Stimulus(wrong), OPTIONS), wrong


@given(st.sampled_from(MEDIA), st.text(), st.text(), st.text())
def test_no_cell_however_odd_becomes_markup_or_an_address(
    name: str, text: str, alt: str, transcript: str
) -> None:
    for cell in (text, EXAMPLES[name]):
        shown = FORMATS[name].show(
            Stimulus(cell, alt=alt, transcript=transcript), OPTIONS, load_words("en").say
        )
        bare = shown.replace(str(shown.escape(alt)), "") if alt.strip() else shown
        assert bare.count("<") == bare.count(">")
        assert "<script" not in shown.lower()
        placed = address_media(place_media(shown, "1-2-3"), "/r/TOKEN")
        assert placed.count('src="/r/TOKEN/media/1-2-3-') == shown.count('src="media:')


def test_words_that_look_like_a_mark_stay_words() -> None:
    cell = Stimulus("a.wav", transcript='<audio src="media:1"> src="media:1"')
    shown = place_media(FORMATS["audio"].show(cell, OPTIONS, load_words("en").say), "1-1-1")
    assert address_media(shown, "/r/T").count("/r/T/media/") == 1


@pytest.mark.parametrize("language", find_languages())
def test_every_format_speaks_every_language(language: str) -> None:
    for name, text in EXAMPLES.items():
        assert FORMATS[name].show(Stimulus(text, transcript="x"), OPTIONS, load_words(language).say)


def test_nothing_plays_by_itself_and_nothing_offers_a_copy() -> None:
    for name in ("audio", "video"):
        shown = FORMATS[name].show(Stimulus(EXAMPLES[name], captions="a.vtt"), OPTIONS, load_words("en").say)
        assert "autoplay" not in shown
        assert 'controlslist="nodownload"' in shown
        assert 'src="media:2"' in shown
        assert not any(name in shown for name in ("a.wav", "a.mp4", "a.vtt"))


@pytest.mark.parametrize(
    ("content", "tags"),
    [
        (wav(), []),
        (wav(chunk(b"LIST", b"INFO" + chunk(b"INAM", b"model X"))), ["LIST INAM"]),
        (wav(chunk(b"LIST", b"INFO" + chunk(b"ISFT", b"Lavf60"))), []),
        (
            b"ID3\x03\0\0\0\0\0\x15" + b"TIT2" + struct.pack(">I", 11) + b"\0\0" + b"\0by model X",
            ["ID3 TIT2"],
        ),
        (b"\xff\xfb\x90\0" + bytes(300) + b"TAG" + bytes(125), ["ID3v1"]),
        (box(b"ftyp", b"isom") + box(b"moov", box(b"udta", b"model X")), ["udta"]),
        (box(b"ftyp", b"isom") + box(b"moov", box(b"mvhd", bytes(8))), []),
        (film(SIGNED), []),
        (film(SIGNED + box(b"\xa9nam", b"model X")), ["udta ©nam"]),
        (film(box(b"\0\0\0\x01", b"model X")), ["udta meta"]),
        (webm(), []),
        (webm(title=b"model X"), ["Title"]),
        (webm(app=b"model X"), ["WritingApp"]),
        (webm(tag=b"model X"), ["Tag COMMENT"]),
        (b"OggS" + bytes(40) + b"TITLE=model X\0", ["TITLE"]),
        (b"fLaC" + bytes(40) + b"artist=X\0", ["ARTIST"]),
        (b"OggS" + bytes(40) + b"encoder=Lavc59.37 libopus\0", []),
        (b"OggS" + bytes(40) + b"encoder=model X\0", ["ENCODER"]),
    ],
)
def test_tags_that_tell_the_maker_are_found(content: bytes, tags: list[str]) -> None:
    assert list_tags(content) == tags


@given(
    st.sampled_from(
        [
            *(b"ID3\x04", b"RIFF\0\0\0\0WAVE", b"\0\0\0\x10ftypisom", b"OggS", b"fLaC", b""),
            *(webm()[:n] for n in (4, 12, 20, 30)),
        ]
    ),
    st.binary(),
)
def test_damaged_files_are_read_without_harm(start: bytes, rest: bytes) -> None:
    list_tags(start + rest)
    recognise(start + rest)
    strip_captions(rest)
    read_captions(b"WEBVTT\n\n" + rest)


def test_captions_lose_their_notes_and_keep_their_cues() -> None:
    head = "WEBVTT - made by X\nKind: captions\n\nNOTE\nmodel X\n\nSTYLE\n::cue {}\n\nid-X\n"
    text = head + "00:00.000 --> 00:01.000\nHi.\nYou.\n"
    assert strip_captions(text.encode()) == b"WEBVTT\n\n00:00.000 --> 00:01.000\nHi.\nYou.\n"
    assert read_captions(text.encode()) == "Hi.\nYou."


def test_every_type_has_a_family_that_its_content_is_told_by() -> None:
    assert {one.kind for one in TYPES.values()} == {"picture", "sound", "film", "captions"}
