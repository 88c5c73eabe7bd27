"""Zip files from elsewhere: each trap is refused with a sentence, and nothing is written outside."""

import hashlib
import json
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from panelist.core.errors import BadFile
from panelist.reports.archive.verify import unpack_archive, verify_archive
from panelist.reports.archive.zip_content import MANIFEST, unpack_zip


def make_zip(path: Path, *entries: tuple[str, bytes, int]) -> Path:
    """Return a zip file with these names, contents and file modes."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content, mode in entries:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            archive.writestr(entry, content)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "../evil.txt",
        "a/../../evil.txt",
        "/etc/evil.txt",
        "a//b",
        "./a",
        "C:/evil.txt",
        "a\\..\\evil",
        "a\nb",
        "a\x1bb",
    ],
)
def test_paths_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "deep" / "in"
    folder.mkdir(parents=True)
    path = make_zip(tmp_path / "z.zip", ("fine.txt", b"x", 0), (name, b"x", 0))
    with pytest.raises(BadFile, match=r"is refused: the path .* could lead out"):
        unpack_zip(path, folder)
    assert list(folder.iterdir()) == []
    assert sorted(one.name for one in tmp_path.iterdir()) == ["deep", "z.zip"]


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, stat.S_IFIFO | 0o644, stat.S_IFDIR | 0o755])
def test_links_and_devices_are_refused(tmp_path: Path, mode: int) -> None:
    path = make_zip(tmp_path / "z.zip", ("link", b"/etc/passwd", mode))
    with pytest.raises(BadFile, match="link or a device"):
        unpack_zip(path, tmp_path / "in")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "z.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("zeros", bytes(65 * 1024**2))
    with pytest.raises(BadFile, match="as only a trap does"):
        unpack_zip(path, tmp_path / "in")
    assert not (tmp_path / "in").exists()


def test_a_size_that_lies_is_found_out(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "z.zip", ("a", b"0123456789", 0))
    content = path.read_bytes()
    place = content.index(b"PK\x01\x02") + 24  # the size in the central directory
    path.write_bytes(content[:place] + struct.pack("<I", 4) + content[place + 4 :])
    (tmp_path / "in").mkdir()
    found = unpack_zip(path, tmp_path / "in")
    assert found["a"].damage
    assert not (tmp_path / "in" / "a").exists()


@pytest.mark.parametrize("names", [("a.txt", "A.TXT"), ("a", "a/b"), ("é", "e\u0301")])
def test_two_names_for_one_file_are_refused(tmp_path: Path, names: tuple[str, str]) -> None:
    path = make_zip(tmp_path / "z.zip", *((name, b"x", 0) for name in names))
    with pytest.raises(BadFile, match=r"twice|a file and a folder"):
        unpack_zip(path, tmp_path / "in")


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("panelist.reports.archive.zip_content.MOST_FILES", 3)
    path = make_zip(tmp_path / "z.zip", *((f"f{number}", b"", 0) for number in range(4)))
    with pytest.raises(BadFile, match="holds 4 files; 3 are allowed"):
        unpack_zip(path, tmp_path / "in")


def test_too_much_in_all_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("panelist.reports.archive.zip_content.MOST_BYTES", 15)
    path = make_zip(tmp_path / "z.zip", ("a", b"0123456789", 0), ("b", b"0123456789", 0))
    with pytest.raises(BadFile, match="unpacks to 20 bytes"):
        unpack_zip(path, tmp_path / "in")


def test_folders_in_a_zip_file_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = make_zip(
        tmp_path / "z.zip", ("a/", b"", stat.S_IFDIR | 0o755), ("a/b", b"x", stat.S_IFREG | 0o644)
    )
    assert set(unpack_zip(path, tmp_path / "in")) == {"a/b"}


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x03\x04 cut short"])
def test_what_is_no_zip_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "z.zip"
    path.write_bytes(content)
    with pytest.raises(BadFile, match="not a complete zip file"):
        verify_archive(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="There is no file"):
        verify_archive(tmp_path / "z.zip")
    with pytest.raises(BadFile, match="is a folder"):
        verify_archive(tmp_path)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (None, "holds no manifest.json"),
        ("{", "is not JSON"),
        ("[]", "format None"),
        (json.dumps({"format": 99, "files": []}), "format 99"),
        (json.dumps({"format": 1}), "no list of files"),
        (json.dumps({"format": 1, "files": [{"path": 1}]}), "no list of files"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused(
    tmp_path: Path, manifest: str | None, message: str
) -> None:
    entries = [("a", b"x", 0)] + ([(MANIFEST, manifest.encode(), 0)] if manifest is not None else [])
    with pytest.raises(BadFile, match=message):
        verify_archive(make_zip(tmp_path / "z.zip", *entries))


def test_an_archive_without_a_study_fails_and_says_so(tmp_path: Path) -> None:
    manifest = json.dumps(
        {"format": 1, "files": [], "study_hash": "0", "report": {"resamples": 2, "seed": 0}}
    )
    path = make_zip(tmp_path / "z.zip", (MANIFEST, manifest.encode(), 0))
    found = verify_archive(path)
    failed = [one.name for one in found.checks if one.holds is False]
    assert failed == ["study", "analysis"]
    assert str(tmp_path) not in str(found)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("outputs: /etc/passwd\n", "outputs:"),
        ("outputs: ../secret.csv\n", "outputs:"),
        ("outputs: 'C:\\secret.csv'\n", "outputs:"),
        ("outputs: a/../../secret.csv\n", "outputs:"),
        ("hit: {template: ../x, assignments: 3}\n", "hit.template:"),
        ("hit: {template: t.html, input: /etc/passwd, assignments: 3}\n", "hit.input:"),
        ("hit: {mapping: ../m.yaml, assignments: 3}\n", "hit.mapping:"),
        ("outputs: o.csv\nrepeat: {of: ../other/study.yaml}\n", "repeat.of:"),
    ],
)
def test_a_study_that_names_files_outside_its_archive_is_refused(tmp_path: Path, text: str, key: str) -> None:
    study = f"title: T\n{text}".encode()
    record = {"path": "study.yaml", "bytes": len(study), "sha256": hashlib.sha256(study).hexdigest()}
    manifest = json.dumps({"format": 1, "files": [record]}).encode()
    path = make_zip(tmp_path / "z.zip", ("study.yaml", study, 0), (MANIFEST, manifest, 0))
    (tmp_path / "in").mkdir()
    for open_it in (verify_archive, lambda one: unpack_archive(one, tmp_path / "in")):
        with pytest.raises(BadFile, match=rf"is refused: {key} in it names .* outside the archive"):
            open_it(path)


def test_many_small_bombs_are_one_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("panelist.reports.archive.zip_content.TOGETHER_BYTES", 4 * 1024**2)
    with zipfile.ZipFile(tmp_path / "z.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for number in range(5):
            archive.writestr(f"zeros{number}", bytes(1024**2))
    with pytest.raises(BadFile, match=r"would grow from .* to 5,242,880 bytes, as only a trap does"):
        unpack_zip(tmp_path / "z.zip", tmp_path / "in")


def test_a_study_file_of_megabytes_and_an_endless_list_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_zip(tmp_path / "z.zip", ("study.yaml", b"a" * (4 * 1024**2 + 1), 0))
    with pytest.raises(BadFile, match=r"'study\.yaml' in it has 4,194,305 bytes; 4,194,304 are allowed"):
        unpack_zip(path, tmp_path / "in")
    monkeypatch.setattr("panelist.reports.archive.zip_content.MOST_FILES", 2)
    path = make_zip(tmp_path / "many.zip", *((f"a-rather-long-name-{n}", b"", 0) for n in range(50)))
    with pytest.raises(BadFile, match="its list of contents has"):
        unpack_zip(path, tmp_path / "in")


def test_what_takes_for_ever_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr("panelist.reports.archive.verify.read_registrations", wait)
    manifest = json.dumps({"format": 1, "files": []}).encode()
    path = make_zip(tmp_path / "z.zip", (MANIFEST, manifest, 0))
    found = verify_archive(path, limit=0.2)
    assert found.checks[-1].holds is False
    assert "not done after 0.2 seconds" in found.checks[-1].found
