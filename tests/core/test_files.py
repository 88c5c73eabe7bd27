"""Files put in their place in one step."""

from pathlib import Path

import pytest

from panelist.core.errors import BadFile
from panelist.core.files import replace_file


def test_the_new_content_stands_in_the_place_of_the_old(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o640)
    replace_file(target, "neu: ü")
    assert target.read_bytes() == "neu: ü".encode()
    assert target.stat().st_mode & 0o777 == 0o640
    replace_file(target, b"\x00\x01")
    assert target.read_bytes() == b"\x00\x01"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_what_cannot_be_written_leaves_everything_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(BadFile, match="folder cannot be written"):
        replace_file(folder, "text")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(BadFile, match="cannot be written"):
        replace_file(tmp_path / "nowhere" / "a.txt", "text")
