"""Archives: everything in, the same bytes each time, verified, and nothing that says who raters are."""

import hashlib
import json
import shutil
import zipfile
from datetime import date
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from panelist.cli.archive import archive, verify
from panelist.cli.report import report
from panelist.collection.store.store import open_store
from panelist.core.errors import BadFile, BadStudy
from panelist.design.make import plan_study
from panelist.design.plan_files import write_plan
from panelist.design.simulate import simulate_ratings
from panelist.reports.archive.anonymised import hide_people
from panelist.reports.archive.environment import list_packages
from panelist.reports.archive.verify import compare_numbers, verify_archive
from panelist.reports.archive.write_archive import ANALYSIS, _copy_study, write_archive
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from tests.cli.commands import call
from tests.collection.store.studies import RATED, finish, rate
from tests.collection.store.studies import write_study as write_rated
from tests.study.studies import PLAIN, write_study

SMALL = PLAIN + "design: {type: full}\nraters: {count: 6}\n"


def make_study(folder: Path, text: str = SMALL) -> Path:
    """Return a folder with a study, its plan and simulated ratings."""
    folder.mkdir()
    study = load_study(write_study(folder, text))
    plan = plan_study(study)
    write_plan(plan, folder)
    simulate_ratings(study, plan, 3).to_csv(folder / "ratings.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A study folder and its archive; tests that change either take a copy."""
    folder = make_study(tmp_path_factory.mktemp("archive") / "s")
    target = folder.parent / "s.zip"
    write_archive(folder, target, resamples=20)
    return folder, target


def names_in(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as opened:
        return opened.namelist()


def read_in(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as opened:
        return opened.read(name)


def rewrite(source: Path, target: Path, changes: dict[str, bytes | None]) -> Path:
    """Return a copy of an archive with files changed, added, or (None) left out."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            if name not in changes:
                new.writestr(name, old.read(name))
        for name, content in changes.items():
            if content is not None:
                new.writestr(name, content)
    return target


def failures(path: Path, analysis: bool = True) -> dict[str, str]:
    checks = verify_archive(path, analysis=analysis).checks
    return {one.name: one.found for one in checks if one.holds is False}


def test_an_archive_holds_study_plan_ratings_report_and_versions(packed: tuple[Path, Path]) -> None:
    folder, path = packed
    names = names_in(path)
    assert {"README.md", "manifest.json", "study.yaml", "outputs.csv", "plan.csv", "plan.json"} <= set(names)
    assert {"ratings.csv", "environment.json", "requirements.txt", "report/report.html", ANALYSIS} <= set(
        names
    )
    assert names == sorted(names)
    for name in ("study.yaml", "outputs.csv", "plan.csv", "ratings.csv"):
        assert read_in(path, name) == (folder / name).read_bytes(), name
    manifest = json.loads(read_in(path, "manifest.json"))
    assert [one["path"] for one in manifest["files"]] == [name for name in names if name != "manifest.json"]
    for one in manifest["files"]:
        assert one["sha256"] == hashlib.sha256(read_in(path, one["path"])).hexdigest()
    assert manifest["study_hash"] == load_study(folder).hash


def test_an_archive_is_compared_with_a_study_as_a_study_is(
    packed: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, path = packed
    done = call(capsys, "reproduce", folder, path, "--no-fit-models", "--json")
    found = json.loads(done.out)
    assert found["sources"][1].endswith(f"from {path}")
    assert "panelist-archive-" not in done.out  # where it was unpacked
    assert found["similarity"][0]["groups"][-1]["low"] == 1.0
    done = call(capsys, "heds", "diff", path, folder, "--json")
    assert json.loads(done.out)["similarity"]["groups"][-1]["low"] == 1.0
    assert str(path) in call(capsys, "reproduce", "size", path, "--sims", "5").out


def test_the_readme_says_what_each_file_is(packed: tuple[Path, Path]) -> None:
    readme = read_in(packed[1], "README.md").decode()
    for name in names_in(packed[1]):
        shown = "report/report_files/" if name.startswith("report/report_files/") else name
        assert f"| `{shown}` | " in readme, name
    assert "panelist verify" in readme


def test_the_same_study_gives_the_same_bytes(packed: tuple[Path, Path], tmp_path: Path) -> None:
    moved = shutil.copytree(packed[0], tmp_path / "elsewhere")
    again = write_archive(moved, tmp_path / "again.zip", resamples=20)
    assert (tmp_path / "again.zip").read_bytes() == packed[1].read_bytes()
    assert again.sha256 == hashlib.sha256(packed[1].read_bytes()).hexdigest()


def test_the_datasheet_is_in_it(packed: tuple[Path, Path]) -> None:
    sheet = json.loads(read_in(packed[1], "heds.json"))
    assert sheet["heds-criteria-criterion"]["control"] == {"fluency": True}
    assert b"fluency" in read_in(packed[1], "heds.html")


def test_nothing_in_it_names_this_machine(packed: tuple[Path, Path]) -> None:
    folder, path = packed
    for name in names_in(path):
        content = read_in(path, name)
        assert str(folder).encode() not in content, name
        assert str(Path.home()).encode() not in content, name


def test_versions_name_what_panelist_needs() -> None:
    found = list_packages()
    assert {"panelist", "numpy", "scipy", "pandas", "pydantic", "pydantic-core"} <= set(found)
    assert list(found) == sorted(found)


def test_a_whole_archive_is_verified(packed: tuple[Path, Path]) -> None:
    found = verify_archive(packed[1])
    assert found.holds
    by_name = {one.name: one.holds for one in found.checks}
    assert by_name["files"] is by_name["study"] is by_name["plan"] is by_name["analysis"] is True


def test_the_report_of_an_archive_has_the_same_numbers(packed: tuple[Path, Path], tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(report)
    out = tmp_path / "again.html"
    answer = CliRunner().invoke(app, [str(packed[1]), "-o", str(out), "--resamples", "20"])
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "again_files" / "analysis.json").read_bytes() == read_in(packed[1], ANALYSIS)


@pytest.mark.parametrize(
    ("name", "failed"),
    [("study.yaml", "study"), ("plan.csv", "plan"), ("ratings.csv", "analysis"), (ANALYSIS, "analysis")],
)
def test_a_changed_file_is_named_and_what_follows_from_it(
    packed: tuple[Path, Path], tmp_path: Path, name: str, failed: str
) -> None:
    content = read_in(packed[1], name)
    swap = {
        "study.yaml": (b"How fluent", b"How good"),
        "plan.csv": (b"i1", b"i2"),
        "ratings.csv": (b",i1,", b",i2,"),
        ANALYSIS: (b'"estimate": ', b'"estimate": 1'),
    }[name]
    assert swap[0] in content
    changed = rewrite(packed[1], tmp_path / "changed.zip", {name: content.replace(*swap)})
    found = failures(changed)
    assert f"{name} was changed" in found["files"]
    assert failed in found


def test_missing_and_unknown_files_are_named(packed: tuple[Path, Path], tmp_path: Path) -> None:
    changed = rewrite(packed[1], tmp_path / "c.zip", {"requirements.txt": None, "extra.txt": b"x"})
    found = failures(changed, analysis=False)["files"]
    assert "requirements.txt is in the manifest and not in the archive" in found
    assert "extra.txt is in the archive and not in the manifest" in found
    with pytest.raises(BadFile, match="not as it was packed"):
        _report(changed)


def test_a_manifest_that_was_made_to_fit_still_fails_by_its_hashes(
    packed: tuple[Path, Path], tmp_path: Path
) -> None:
    study = read_in(packed[1], "study.yaml").replace(b"How fluent", b"How good")
    manifest = json.loads(read_in(packed[1], "manifest.json"))
    for one in manifest["files"]:
        if one["path"] == "study.yaml":
            one |= {"sha256": hashlib.sha256(study).hexdigest(), "bytes": len(study)}
    changes: dict[str, bytes | None] = {"study.yaml": study, "manifest.json": json.dumps(manifest).encode()}
    found = failures(rewrite(packed[1], tmp_path / "c.zip", changes))
    assert set(found) == {"study", "analysis"}


def test_a_damaged_file_is_named(packed: tuple[Path, Path], tmp_path: Path) -> None:
    content = bytearray(packed[1].read_bytes())
    with zipfile.ZipFile(packed[1]) as opened:
        entry = opened.getinfo("ratings.csv")
    start = entry.header_offset + 30 + len("ratings.csv") + entry.compress_size // 2
    content[start] ^= 0xFF
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(content)
    assert "ratings.csv cannot be read" in failures(damaged)["files"]


def test_differences_in_numbers_are_told_from_rounding() -> None:
    assert list(compare_numbers({"a": [1.0, None]}, {"a": [1.0, None]})) == []
    assert list(compare_numbers({"a": 1.0}, {"a": 1.0 + 1e-12})) != []
    assert list(compare_numbers({"a": 1.0}, {"a": 1.0 + 1e-12}, 1e-9)) == []
    assert list(compare_numbers({"a": [1]}, {"a": [1, 2]}, 1e-9)) == ["a: [1] and now [1, 2]"]
    assert list(compare_numbers({"a": True}, {"a": 1}, 1.0)) == ["a: true and now 1"]
    assert list(compare_numbers({"a": 1}, {"b": 1})) == ["a: only in the archive", "b: only now"]


def test_a_study_without_ratings_is_packed_and_says_so(tmp_path: Path) -> None:
    found = write_archive(write_study(tmp_path), tmp_path / "s.zip")
    assert any("no ratings yet" in note for note in found.notes)
    assert verify_archive(tmp_path / "s.zip").holds
    with pytest.raises(BadFile, match="without ratings"):
        _report(tmp_path / "s.zip")


def test_pictures_are_packed_and_missing_ones_named(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    rows = ["item,system,output,image", "i1,a,x,pictures/one.png", "i1,b,y,two.png"]
    (tmp_path / "outputs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "one.png").write_bytes(b"\x89PNG")
    found = write_archive(path, tmp_path / "s.zip")
    assert "pictures/one.png" in names_in(tmp_path / "s.zip")
    assert any("two.png" in note for note in found.notes)


def test_what_lies_outside_the_folder_is_refused_and_nothing_written(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    path = write_study(inner, SMALL + "outputs: ../outputs.csv\n")
    shutil.move(inner / "outputs.csv", tmp_path / "outputs.csv")
    with pytest.raises(BadFile, match="outside the folder"):
        write_archive(path, tmp_path / "s.zip")
    assert not (tmp_path / "s.zip").exists()


def test_an_outputs_file_with_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    path = write_study(tmp_path, PLAIN + "outputs: report/outputs.csv\n")
    (tmp_path / "report").mkdir()
    shutil.move(tmp_path / "outputs.csv", tmp_path / "report" / "outputs.csv")
    with pytest.raises(BadFile, match="needs for something else"):
        write_archive(path, tmp_path / "s.zip")


@pytest.mark.parametrize("settings", [{}, {"resamples": 10**12, "seed": 0}, {"resamples": "20", "seed": 0}])
def test_settings_that_would_keep_the_machine_busy_are_not_followed(
    packed: tuple[Path, Path], tmp_path: Path, settings: dict[str, object]
) -> None:
    manifest = json.loads(read_in(packed[1], "manifest.json")) | {"report": settings}
    changed = rewrite(packed[1], tmp_path / "c.zip", {"manifest.json": json.dumps(manifest).encode()})
    assert "resamples and seed" in failures(changed)["analysis"]


@pytest.mark.parametrize("out", ["s.tar", "missing/s.zip", "."])
def test_a_bad_target_is_refused_before_the_work(tmp_path: Path, out: str) -> None:
    with pytest.raises(BadFile):
        write_archive(write_study(tmp_path), tmp_path / out)


def test_a_study_made_in_python_has_no_file_to_pack(tmp_path: Path) -> None:
    loaded = load_study(write_study(tmp_path))
    with pytest.raises(BadStudy, match="in a file"):
        write_archive(Study(loaded.file, loaded.outputs), tmp_path / "s.zip")


SECRETS = ("PID-5f2d8a", "sess-77", "203.0.113.9", "SECRET-CODE", "anna@example.org")


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[bytes]]:
    """A study whose database holds ids, addresses and codes, its archive, and what must not be in it."""
    place = tmp_path_factory.mktemp("collected")
    study = write_rated(place / "s", RATED)
    secrets = [word.encode() for word in SECRETS]
    with open_store(None, study, plan_study(study)) as store:
        for number in range(3):
            params = {"PROLIFIC_PID": f"PID-5f2d8a{number}", "SESSION_ID": "sess-77", "ip": "203.0.113.9"}
            visit = store.join(outside_id=f"PID-5f2d8a{number}", params=params)
            words = "I am PID-5f2d8a0, write to anna@example.org or 203.0.113.9"
            rate(store, visit, value=str(number + 2), words=words)
            finish(store, visit)
            secrets.append(visit.token.encode())
        record = store.snapshot().study
        secrets += [record.salt.encode(), record.secret.encode()]
    write_archive(place / "s", place / "s.zip", resamples=20)
    return place / "s", place / "s.zip", secrets


def test_nothing_in_an_archive_says_who_raters_are(collected: tuple[Path, Path, list[bytes]]) -> None:
    folder, path, secrets = collected
    assert "study.db" not in names_in(path)
    for name in names_in(path):
        content = read_in(path, name)
        for secret in secrets:
            assert secret not in content, (name, secret)
    found = verify_archive(path)
    assert found.holds, str(found)
    manifest = json.loads(read_in(path, "manifest.json"))
    assert manifest["plan_hash"] == plan_study(load_study(folder)).hash


def test_ids_are_packed_when_they_are_asked_for(
    collected: tuple[Path, Path, list[bytes]], tmp_path: Path
) -> None:
    write_archive(collected[0], tmp_path / "s.zip", ids=True, resamples=20)
    assert b"PID-5f2d8a1" in read_in(tmp_path / "s.zip", "ratings.csv")
    assert b"says who the raters are" in read_in(tmp_path / "s.zip", "README.md")
    checks = {one.name: one for one in verify_archive(tmp_path / "s.zip", analysis=False).checks}
    assert checks["no ids of people"].holds is None


def test_the_report_bears_the_day_of_the_last_answer(collected: tuple[Path, Path, list[bytes]]) -> None:
    rows = read_in(collected[1], "ratings.csv").decode().splitlines()
    last = max(row.rsplit(",", 1)[1] for row in rows[1:])
    day = date.fromisoformat(last[:10])
    assert f"{day.day} {day:%B %Y}".encode() in read_in(collected[1], "report/report.html")


def test_a_table_of_ratings_loses_its_ids_and_keeps_its_numbers() -> None:
    frame = pd.DataFrame(
        {
            "rater": ["5f2d8a5f2d8a5f2d8a5f2d8a", "A2XYZ12345678", "5f2d8a5f2d8a5f2d8a5f2d8a"],
            "rating": [1, 2, 3],
            "trial": ["5f2d8a5f2d8a5f2d8a5f2d8a-1", "A2XYZ12345678-1", "5f2d8a5f2d8a5f2d8a5f2d8a-2"],
            "reason": ["ask anna@example.org", "fine", "from 203.0.113.9"],
            "Prolific PID": ["x", "y", "x"],
            "ip_address": ["203.0.113.9"] * 3,
        }
    )
    hidden, notes = hide_people(frame)
    assert hidden["rater"].tolist() == ["r001", "r002", "r001"]
    assert hidden["trial"].tolist() == ["r001-1", "r002-1", "r001-2"]
    assert hidden["reason"].tolist() == ["ask [id]", "fine", "from [id]"]
    assert hidden["rating"].tolist() == [1, 2, 3]
    assert list(hidden.columns) == ["rater", "rating", "trial", "reason"]
    assert "Prolific PID, ip_address" in notes[0]
    assert len(notes) == 3


def test_pseudonyms_and_places_keep_their_names() -> None:
    frame = pd.DataFrame({"rater": ["r001", "pabcdefgh2"], "rating": [1, 2], "reason": ["", "short"]})
    hidden, notes = hide_people(frame)
    assert hidden["rater"].tolist() == ["r001", "pabcdefgh2"]
    assert notes == []


def test_ids_in_a_table_beside_the_study_are_not_packed(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "s")
    table = folder / "ratings.csv"
    frame = pd.read_csv(table)
    frame["rater"] = "WORKER-" + frame["rater"]
    frame.assign(email="anna@example.org").to_csv(table, index=False)
    write_archive(folder, tmp_path / "s.zip", resamples=20)
    for name in names_in(tmp_path / "s.zip"):
        content = read_in(tmp_path / "s.zip", name)
        assert b"WORKER-" not in content, name
        assert b"anna@example.org" not in content, name
    rows = read_in(tmp_path / "s.zip", "ratings.csv").decode().splitlines()
    assert len(rows) == len(frame) + 1
    assert verify_archive(tmp_path / "s.zip", analysis=False).holds


def make_app() -> typer.Typer:
    app = typer.Typer()
    app.command()(archive)
    app.command()(verify)
    return app


def _report(path: Path) -> None:
    app = typer.Typer()
    app.command()(report)
    answer = CliRunner().invoke(app, [str(path), "-o", str(path.with_suffix(".html"))])
    if answer.exception is not None:
        raise answer.exception


def test_the_commands_pack_and_verify(tmp_path: Path) -> None:
    folder = write_study(tmp_path).parent
    run = CliRunner()
    out = tmp_path / "out.zip"
    answer = run.invoke(make_app(), ["archive", str(folder), "-o", str(out)])
    assert answer.exit_code == 0, answer.output
    assert f"Written: {out}" in answer.stdout
    answer = run.invoke(make_app(), ["verify", str(out), "--no-analysis"])
    assert answer.exit_code == 0, answer.output
    assert "holds what it says." in answer.stdout
    rewrite(out, tmp_path / "changed.zip", {"README.md": b"other"})
    answer = run.invoke(make_app(), ["verify", str(tmp_path / "changed.zip"), "--no-analysis", "--json"])
    assert answer.exit_code == 1
    found = json.loads(answer.stdout)
    assert found["ok"] is False
    assert found["checks"][0]["holds"] is False


def test_ratings_that_cannot_be_analysed_are_archived_without_a_report(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "s")
    ratings = pd.read_csv(folder / "ratings.csv", dtype=str, keep_default_na=False)
    ratings.assign(rating="3").to_csv(folder / "ratings.csv", index=False)
    made = write_archive(folder, tmp_path / "s.zip", resamples=20)
    assert any("The archive has no report: " in note and "do not vary" in note for note in made.notes)
    assert any(note.startswith("Simulated ratings: not data from people") for note in made.notes)
    assert "ratings.csv" in names_in(tmp_path / "s.zip")
    assert "report/report.html" not in names_in(tmp_path / "s.zip")
    assert failures(tmp_path / "s.zip") == {}


def test_a_placeholder_keeps_its_name_among_pseudonyms() -> None:
    frame = pd.DataFrame({"rater": ["Ann Lee", "na", "Bo Ray"], "rating": [1, 2, 3]})
    assert list(hide_people(frame)[0]["rater"]) == ["r001", "na", "r002"]


def test_an_old_hit_is_packed_with_its_template_and_input(tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "examples" / "old-hit" / "again"
    folder = tmp_path / "again"
    shutil.copytree(example, folder)
    write_archive(folder, tmp_path / "hit.zip")
    assert {"hit.html", "input.csv", "mapping.yaml", "study.yaml"} <= set(names_in(tmp_path / "hit.zip"))
    assert verify_archive(tmp_path / "hit.zip").holds


def test_a_sample_travels_with_the_scores_behind_its_strata(tmp_path: Path) -> None:
    text = SMALL + "sample: {items: 4, strata: {judges: scores.csv, parts: 2}}\n"
    folder = tmp_path / "s"
    folder.mkdir()
    scores = [f"i{item},{system},{item * (system == 'a')}" for item in range(1, 7) for system in "ab"]
    (folder / "scores.csv").write_text("\n".join(["item,system,rating", *scores]))
    study = load_study(write_study(folder, text))
    plan = plan_study(study)
    write_plan(plan, folder)
    simulate_ratings(study, plan, 3).to_csv(folder / "ratings.csv", index=False)
    target = tmp_path / "s.zip"
    write_archive(folder, target, resamples=20)
    assert study.draw is not None
    assert read_in(target, "sample.csv").decode() == study.draw.text
    assert "scores.csv" in names_in(target)
    assert verify_archive(target).holds


def test_the_scores_of_a_judge_beside_the_study_are_packed(tmp_path: Path) -> None:
    study = write_study(tmp_path, PLAIN)
    (tmp_path / "judges.csv").write_text("judge,item,system,rating\n", encoding="utf-8")
    folder = tmp_path / "packed"
    folder.mkdir()
    assert _copy_study(load_study(study), folder) == []
    assert (folder / "judges.csv").read_bytes() == (tmp_path / "judges.csv").read_bytes()
