"""Media of a study: part of its hash, and looked at by ``panelist check``."""

import json
import re
from pathlib import Path

import pytest

from panelist.collection.study_changes import declare, find_changes
from panelist.design.assess.media_load import measure_load
from panelist.design.make import plan_study
from panelist.study import media
from panelist.study.outputs import examine_outputs
from panelist.study.reading.load import examine_study, load_study
from panelist.study.sections.outputs_file import OutputsFile
from panelist.study.start import init_study
from tests.formats.media_bytes import chunk, wav

SOUNDS = Path("sounds")


@pytest.fixture
def speech(tmp_path: Path) -> Path:
    init_study(tmp_path / "speech", "speech")
    return tmp_path / "speech"


def problems_of(folder: Path) -> str:
    return "\n".join(map(str, examine_study(folder)[1]))


def test_the_template_has_no_problem_with_its_media(speech: Path) -> None:
    study, found = examine_study(speech)
    assert study is not None
    assert [str(one) for one in found if "sound" in str(one)] == []
    assert len(study.files) == 18 + 2 + 2 + 1  # outputs, example and practice with captions, sound check


def test_a_changed_sound_is_a_changed_study_and_a_changed_output(speech: Path) -> None:
    before = load_study(speech)
    declared = declare(before)
    path = speech / SOUNDS / "moon-2.wav"
    path.write_bytes(path.read_bytes() + bytes(2))
    after = load_study(speech)
    assert before.hash != after.hash
    assert [one.text for one in find_changes(declared, after)] == ["1 changed (moon by rowan)"]


def test_a_changed_sound_of_the_practice_is_a_changed_study(speech: Path) -> None:
    before = load_study(speech).hash
    path = speech / SOUNDS / "melon-1.wav"
    path.write_bytes(path.read_bytes() + bytes(2))
    assert load_study(speech).hash != before


def test_the_image_column_of_older_studies_does_not_enter_the_hash(tmp_path: Path) -> None:
    init_study(tmp_path / "old")
    table = tmp_path / "old" / "outputs.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    rows = [lines[0] + ",image,alt", *(f"{line},p.png,words" for line in lines[1:])]
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    before = load_study(tmp_path / "old")
    (tmp_path / "old" / "p.png").write_bytes(b"anything")
    after = load_study(tmp_path / "old")
    assert before.hash == after.hash
    assert "alt" not in after.outputs.frame
    assert after.files == ("p.png",)


def test_check_names_files_that_are_missing_with_the_nearest(speech: Path) -> None:
    (speech / SOUNDS / "moon-2.wav").rename(speech / SOUNDS / "moon-22.wav")
    said = problems_of(speech)
    assert "1 file is not in sounds/: moon-2.wav (line 6)" in said
    assert "Did you mean" in said


def test_check_names_files_that_no_browser_plays(speech: Path) -> None:
    (speech / SOUNDS / "moon-2.wav").write_bytes(b"<!doctype html>")
    (speech / SOUNDS / "moon-3.wav").write_bytes(b"")
    said = problems_of(speech)
    assert "2 files cannot be shown or played" in said
    assert "moon-2.wav (line 6) is no wav file" in said
    assert "moon-3.wav (line 7) is empty" in said


def test_check_names_files_that_are_too_large(speech: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "LARGEST", 8_000)
    assert "larger than 0 MB" in problems_of(speech)


def test_check_names_tags_in_sounds_with_the_command_that_takes_them_out(speech: Path) -> None:
    (speech / SOUNDS / "moon-2.wav").write_bytes(wav(chunk(b"LIST", b"INFO" + chunk(b"IART", b"rowan"))))
    said = problems_of(speech)
    assert "moon-2.wav (LIST IART)" in said
    assert "ffmpeg -i IN -map_metadata -1 -c copy OUT" in said
    assert examine_study(speech)[0] is not None


def test_check_notes_sounds_without_transcript(speech: Path) -> None:
    file = speech / "study.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace("  transcripts: transcript", "  # transcripts: transcript"), encoding="utf-8"
    )
    assert "18 sounds or films have no transcript" in problems_of(speech)
    file.write_text(text.replace("transcripts: transcript", "transcripts: words"), encoding="utf-8")
    assert "the file has no column 'words'" in problems_of(speech)
    file.write_text(text.replace("transcripts: transcript", "transcripts: transcrpt"), encoding="utf-8")
    assert "the file has no column 'transcrpt'. Is it 'transcript'?" in problems_of(speech)


def test_captions_beside_a_sound_are_its_transcript(speech: Path) -> None:
    cell = load_study(speech).outputs.media.cell("output", "melon-1.wav")
    assert (cell.captions, cell.transcript) == ("melon-1.vtt", "Many earn a melon.")


def test_practice_must_name_a_file_that_is_there_and_nothing_is_spoilt(speech: Path) -> None:
    file = speech / "study.yaml"
    text = file.read_text(encoding="utf-8").replace("output: melon-3.wav", "output: lemon.wav")
    start, _, rest = text.partition("checks:\n")
    end = rest.index("collecting:")
    spoilt = "checks: {items: [{kind: degraded, count: 1}], then: flag}\n"
    file.write_text(start + spoilt + rest[end:], encoding="utf-8")
    said = problems_of(speech)
    assert "practice.items" in said
    assert "lemon.wav" in said
    assert "degraded spoils words" in said


def test_sounds_that_raters_would_read_of_as_texts_are_noted(speech: Path) -> None:
    file = speech / "study.yaml"
    text = file.read_text(encoding="utf-8")
    assert "raters read" not in problems_of(speech)
    file.write_text(re.sub(r"(?m)^noun:.*\n", "", text), encoding="utf-8")
    assert "noun: is missing, so raters read 'Text' above what is a sound" in problems_of(speech)


def test_links_out_of_the_folder_are_not_followed(speech: Path) -> None:
    outside = speech.parent / "outside.wav"
    outside.write_bytes(wav())
    (speech / SOUNDS / "moon-2.wav").unlink()
    (speech / SOUNDS / "moon-2.wav").symlink_to(outside)
    assert "not in sounds/: moon-2.wav" in problems_of(speech)


def test_lists_of_pictures_hash_alike_in_every_table(tmp_path: Path) -> None:
    (tmp_path / "p.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
    lines = [f'i1,{system},"[ ""p.svg"" ]"' for system in ("a", "b")]
    (tmp_path / "o.csv").write_text("\n".join(["item,system,output", *lines]) + "\n", encoding="utf-8")
    rows = [{"item": "i1", "system": system, "output": ["p.svg"]} for system in ("a", "b")]
    (tmp_path / "o.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    hashes = set()
    for table in ("o.csv", "o.jsonl"):
        options = OutputsFile.model_validate({"file": table, "formats": {"output": "images"}})
        outputs, problems = examine_outputs(tmp_path / table, table, options)
        assert outputs is not None
        assert [str(one) for one in problems if one.grave] == []
        hashes.add(outputs.hash)
    assert len(hashes) == 1


def test_a_plan_says_what_raters_download(speech: Path) -> None:
    study = load_study(speech)
    load = measure_load(plan_study(study), study)
    assert load is not None
    assert 0 < load.least <= load.most < load.files
    assert "MB of media" in str(load)
