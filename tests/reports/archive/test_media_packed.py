"""Studies of sounds travel whole: in archives, and into repeats."""

import zipfile
from pathlib import Path

from panelist.reports.archive.verify import verify_archive
from panelist.reports.archive.write_archive import write_archive
from panelist.reports.repeat.begin import begin_repeat
from panelist.study.reading.load import load_study
from panelist.study.start import init_study


def test_sounds_are_packed_verified_and_taken_over_by_a_repeat(tmp_path: Path) -> None:
    init_study(tmp_path / "speech", "speech")
    study = load_study(tmp_path / "speech")
    write_archive(tmp_path / "speech", tmp_path / "speech.zip")
    with zipfile.ZipFile(tmp_path / "speech.zip") as file:
        packed = file.namelist()
    assert all(any(one.endswith(name) for one in packed) for name in study.files)
    assert verify_archive(tmp_path / "speech.zip").holds
    begin_repeat(tmp_path / "again", tmp_path / "speech.zip")
    again = load_study(tmp_path / "again")
    assert again.outputs.hash == study.outputs.hash
    assert again.files == study.files
