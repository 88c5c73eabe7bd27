"""Files in the shapes in which people publish ratings: recognised, written as a mapping, run again."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from panelist.collection.imports.importer import draft_for, import_results
from panelist.collection.imports.mapping import MappedComparison
from panelist.collection.imports.recognising import Ambiguous
from panelist.core.errors import BadFile
from panelist.core.tables.ratings import read_ratings
from tests.cli.commands import call
from tests.collection.imports.published import (
    CRITERIA,
    ITEMS,
    KNOWN,
    RATERS,
    SYSTEMS,
    TIDY,
    UNKNOWN,
    WIDE,
    count_wins,
    mean_ratings,
    write_frame,
    write_json,
)

SALT = "00112233445566778899aabbccddeeff"


@pytest.mark.parametrize("name", [*KNOWN, *UNKNOWN])
def test_every_shape_gives_the_same_ratings_and_its_mapping_gives_them_again(
    name: str, tmp_path: Path
) -> None:
    path = (KNOWN | UNKNOWN)[name](tmp_path)
    found = import_results(path, salt=SALT)
    assert len(found.frame) == len(TIDY)
    assert mean_ratings(found.frame) == mean_ratings(TIDY)
    assert found.frame["item"].nunique() == len(ITEMS)
    raters = set(found.frame["rater"]) - {""}
    assert len(raters) == (0 if name in UNKNOWN else found.frame["rater"].nunique())
    assert bool(raters) == (name in KNOWN)
    assert found.draft is not None
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(found.draft.write(), encoding="utf-8")
    again = import_results(path, mapping, salt=SALT)
    pd.testing.assert_frame_equal(again.frame, found.frame)
    told = dict(found.recognised)
    assert set(told) >= {"recognised", "rater", "item", "system", "ratings", "how sure"} - {"system"}


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in ("dict of dicts", "texts for items")])
def test_raters_are_told_apart_as_they_were(name: str, tmp_path: Path) -> None:
    frame = import_results(KNOWN[name](tmp_path), keep_ids=True).frame
    assert frame["rater"].nunique() == len(RATERS)
    each = frame.groupby("rater").size()
    assert sorted(each) == sorted(TIDY.groupby("rater").size())


def test_unknown_raters_leave_an_empty_column_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = UNKNOWN["lists in cells"](tmp_path)
    done = call(capsys, "import", path)
    assert done.code == 0
    assert "raters     unknown" in done.out
    assert not (tmp_path / "import.salt").exists()
    ratings = read_ratings("ratings.csv")
    assert "rater" in ratings.absent
    assert "rater" not in ratings.frame
    done = call(capsys, "compare", "ratings.csv")
    assert (done.code, "the raters are unknown" in " ".join(done.out.split())) == (0, True)
    done = call(capsys, "agreement", "ratings.csv", "--interval", "none")
    assert done.code == 0
    assert "by unknown raters" in " ".join(done.out.split())
    assert "spearman" not in done.out
    done = call(capsys, "agreement", "ratings.csv", "--coefficients", "spearman")
    assert (done.code, "distinguishes raters" in done.err) == (2, True)


PAIRS = [
    {"rater": r, "item": i, "a": a, "b": b, "won": (n + k) % 3}
    for n, i in enumerate(ITEMS)
    for k, r in enumerate(RATERS[:3])
    for a, b in (("x", "y"), ("y", "z"))
]


def expected_wins() -> dict[str, list[int]]:
    """Return the counts of the pairs: 0 is a tie."""
    counts: dict[str, list[int]] = {}
    for one in PAIRS:
        counts.setdefault(f"{one['a']}|{one['b']}", [0, 0, 0])[{1: 0, 2: 1, 0: 2}[int(str(one["won"]))]] += 1
    return counts


def write_arena(folder: Path) -> Path:
    words = {0: "tie (bothbad)", 1: "model_a", 2: "model_b"}
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    rows = [
        {"question_id": p["item"], "model_a": p["a"], "model_b": p["b"], "winner": words[int(str(p["won"]))]}
        | {"judge": ["human", p["rater"]], "turn": 1, "conversation_a": talk, "conversation_b": talk}
        for p in PAIRS
    ]
    return write_json(folder / "arena.jsonl", rows)


def write_votes(folder: Path) -> Path:
    frame = pd.DataFrame(PAIRS).assign(
        rater=lambda f: "annotator" + f["rater"].map(RATERS.index).add(1).astype(str)
    )
    wide = frame.pivot_table(index=["item", "a", "b"], columns="rater", values="won").reset_index()
    wide["annotator2"] = wide["annotator2"].astype(float)  # as a table with gaps is saved
    return write_frame(
        folder / "votes.csv", wide.rename(columns={"item": "idx", "a": "model1", "b": "model2"})
    )


def write_named(folder: Path) -> Path:
    rows = [
        {"prompt_id": p["item"], "System A": p["a"], "System B": p["b"], "annotator": p["rater"]}
        | {"preferred": {0: "no preference", 1: p["a"], 2: p["b"]}[int(str(p["won"]))]}
        for p in PAIRS
    ]
    return write_frame(folder / "named.csv", rows)


def write_worded(folder: Path) -> Path:
    words = {
        0: ["tie", "both are bad"],
        1: ["A is better", "A is slightly better"],
        2: ["B", "B is much better"],
    }
    rows = [
        {"doc": p["item"], "left": p["a"], "right": p["b"], "who": p["rater"]}
        | {"choice": words[int(str(p["won"]))][n % 2]}
        for n, p in enumerate(PAIRS)
    ]
    return write_frame(folder / "worded.csv", rows)


@pytest.mark.parametrize("write", [write_arena, write_votes, write_named, write_worded])
def test_pairs_in_any_words_give_the_same_counts(write: Any, tmp_path: Path) -> None:
    path = write(tmp_path)
    found = import_results(path, keep_ids=True)
    assert found.frame["trial"].nunique() == len(PAIRS)
    assert found.frame["rater"].nunique() == 3
    assert found.frame["item"].nunique() == len(ITEMS)
    assert count_wins(found.frame) == expected_wins()
    assert found.draft is not None
    (tmp_path / "m.yaml").write_text(found.draft.write(), encoding="utf-8")
    pd.testing.assert_frame_equal(import_results(path, tmp_path / "m.yaml", keep_ids=True).frame, found.frame)


def refuse(path: Path, *labels: str) -> Ambiguous:
    """Return the error that lists exactly these readings."""
    with pytest.raises(Ambiguous) as caught:
        import_results(path)
    assert len(caught.value.readings) == len(labels)
    for words, reading in zip(labels, caught.value.readings, strict=True):
        assert words in reading.label
        assert reading.label in str(caught.value)
    return caught.value


def test_several_outputs_in_a_row_are_asked_about(tmp_path: Path) -> None:
    rows = [
        {"ResponseId": r, "Item": i}
        | {f"Q1_{k}_{c}": v for k, s in enumerate(SYSTEMS, 1) for c, v in _scores(r, i, s)}
        for r in RATERS
        for i in ITEMS
        if _scores(r, i, SYSTEMS[0])
    ]
    path = write_frame(tmp_path / "survey.csv", rows)
    refuse(path, "are systems", "are places on the page")
    frame = import_results(path, reading=1).frame
    named = frame.assign(system=frame["system"].map(dict(zip("12", SYSTEMS, strict=True))))
    assert mean_ratings(named) == mean_ratings(TIDY)
    with pytest.raises(BadFile, match="There is no reading 3"):
        import_results(path, reading=3)


def _scores(rater: str, item: str, system: str) -> list[tuple[str, int]]:
    mine = WIDE[(WIDE["rater"] == rater) & (WIDE["item"] == item) & (WIDE["system"] == system)]
    return [(c, int(mine[c].iloc[0])) for c in CRITERIA] if len(mine) else []


def test_other_doubts_are_asked_about_too(tmp_path: Path) -> None:
    votes = [
        {"id": i, "model_a": "x", "model_b": "y", "label": n % 2, "worker": w}
        for w in "ab"
        for n, i in enumerate(ITEMS)
    ]
    refuse(write_frame(tmp_path / "zeros.csv", votes), "0 in label means model_a", "1 in label means model_a")
    wide = TIDY[TIDY["criterion"] == "fluency"].pivot_table(
        index=["rater", "item"], columns="system", values="rating"
    )
    refuse(write_frame(tmp_path / "systems.csv", wide.reset_index()), "are criteria", "are systems")
    odd = WIDE.rename(columns={"rater": "initials"})
    refuse(write_frame(tmp_path / "odd.csv", odd), "the raters are in initials", "the raters are unknown")
    both = [
        {"id": i, "model_id": s, "expert": [{"fluency": 1}, {"fluency": 2}], "crowd": [{"fluency": 3}] * 2}
        for i in ITEMS
        for s in SYSTEMS
    ]
    refuse(write_json(tmp_path / "both.jsonl", both), "unfolding expert", "unfolding crowd")


def test_grades_between_two_systems_are_asked_about(tmp_path: Path) -> None:
    pairs = [("r1", "i1", "x", "y", 1), ("r1", "i2", "y", "x", 5), ("r2", "i1", "x", "y", 3)]
    pairs += [("r2", "i2", "y", "x", 4), ("r3", "i1", "x", "y", 2)]
    frame = pd.DataFrame(pairs, columns=["rater", "item", "system_a", "system_b", "rating"])
    path = write_frame(tmp_path / "some.csv", frame)
    with pytest.raises(
        Ambiguous, match="1, 2 in rating mean system_a, 4, 5 mean system_b, 3 a tie"
    ) as caught:
        import_results(path, salt=SALT)
    assert len(caught.value.readings) == 2
    wins = []
    for number, sign in ((1, 1), (2, -1)):
        found = import_results(path, salt=SALT, reading=number).frame
        assert found["grade"].tolist() == [sign * grade for grade in (2, -2, -2, 2, 0, 0, -1, 1, 1, -1)]
        assert found.groupby("trial")["choice"].apply(lambda choices: (choices == "best").sum()).sum() == 4
        wins.append(found[found["choice"] == "best"]["system"].value_counts().to_dict())
    assert wins == [{"x": 4}, {"y": 4}]


def test_words_that_say_how_much_better_become_grades(tmp_path: Path) -> None:
    said = ["A is much better", "model_b is slightly better", "about the same", "A is better", ""]
    rows = [("r1", f"i{n}", "x", "y", word) for n, word in enumerate(said)]
    rows += [("r2", f"i{n}", "y", "x", word) for n, word in enumerate(said)]
    frame = pd.DataFrame(rows, columns=["rater", "item", "model_a", "model_b", "verdict"])
    made = import_results(write_frame(tmp_path / "some.csv", frame), salt=SALT)
    first = made.frame[made.frame["position"] == 1]
    assert first["grade"].tolist() == [3, -1, 0, 2, pd.NA] * 2
    assert first["choice"].tolist() == ["best", "", "", "best", ""] * 2
    second = made.frame[made.frame["position"] == 2]
    assert second["grade"].dropna().tolist() == [-3, 1, 0, -2] * 2
    plain = frame.assign(verdict=frame["verdict"].str.replace(r"(much|slightly) ", "", regex=True))
    assert "grade" not in import_results(write_frame(tmp_path / "plain.csv", plain), salt=SALT).frame


def test_grades_say_which_is_better_so_a_mapping_has_no_other_words() -> None:
    entry = {"name": "better", "shows": {"A": "one", "B": "two"}, "best": "said", "grades": {"1": 1, "2": -1}}
    assert MappedComparison.model_validate(entry).sides == {"1": "a", "2": "b"}
    with pytest.raises(ValidationError, match="leave out words and ties"):
        MappedComparison.model_validate(entry | {"ties": ["3"]})
    with pytest.raises(ValidationError, match="for two outputs"):
        MappedComparison.model_validate(entry | {"shows": {"A": "one", "B": "two", "C": "three"}})


def test_a_number_of_segments_is_nobodys_rating(tmp_path: Path) -> None:
    rows = [(f"r{n % 3}", "doc", n % 9, f"s{n % 2}", "major", "Accuracy/Addition") for n in range(36)]
    names = ["rater", "document", "segment", "system", "severity", "category"]
    with pytest.raises(BadFile, match="no column was recognised as somebody's ratings"):
        import_results(write_frame(tmp_path / "some.csv", pd.DataFrame(rows, columns=names)), salt=SALT)


def test_a_rating_that_no_name_says_is_not_sure(tmp_path: Path) -> None:
    rows = [(f"r{n % 3}", f"i{n % 6}", f"s{n % 2}", "fluency", 1 + n % 5) for n in range(36)]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system", "criterion", "burblings"])
    found = import_results(write_frame(tmp_path / "some.csv", frame), salt=SALT)
    assert dict(found.recognised)["how sure"] == "likely: check it"


def test_the_name_of_a_dataset_is_no_rater_and_what_a_system_said_no_rating(tmp_path: Path) -> None:
    samples = [{"id": n, "epoch": 1 + n % 2, "target": str(n % 3)} for n in range(8)]
    log = {"eval": {"dataset": {"name": "arithmetic", "samples": 8}, "model": "a/b"}, "samples": samples}
    with pytest.raises(BadFile, match="no column was recognised as somebody's ratings"):
        import_results(write_json(tmp_path / "log.json", log), salt=SALT)


def test_where_only_a_guess_about_raters_says_anything_a_person_is_asked(tmp_path: Path) -> None:
    frame = pd.DataFrame({"exact": [1, 0, 1, 1, 0, 1], "answered": [1, 2, 1, 3, 2, 1]})
    with pytest.raises(Ambiguous) as caught:
        import_results(write_frame(tmp_path / "some.csv", frame), salt=SALT)
    assert len(caught.value.readings) == 3


def test_a_file_without_a_header_is_described_and_read_once_it_has_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = WIDE[["rater", "system", "item", *CRITERIA]].assign(t=1700000000.5)
    table.to_csv("bare.csv", index=False, header=False)
    done = call(capsys, "import", "bare.csv")
    assert done.code == 2
    assert "column 2: bart and t5-base (2 different)" in done.err
    assert "1. --header" in done.err
    assert "2. --header" in done.err
    assert (
        call(capsys, "import", "bare.csv", "--header", "rater,system,item,fluency,coherence,time").code == 0
    )
    assert mean_ratings(pd.read_csv("ratings.csv")) == mean_ratings(TIDY)
    mapped = call(capsys, "import", "bare.csv", "--mapping", "ratings-mapping.yaml", "-o", "again.csv")
    assert mapped.code == 0
    assert Path("again.csv").read_bytes() == Path("ratings.csv").read_bytes()


def test_placeholders_and_stray_words_are_left_out_counted_and_said(tmp_path: Path) -> None:
    extra = [{"rater": "na", "item": i, "system": "bart", "criterion": "fluency", "rating": 1} for i in ITEMS]
    frame = pd.concat([TIDY, pd.DataFrame(extra)]).astype({"rating": object})
    frame.iloc[7, 4] = "good"
    found = import_results(write_frame(tmp_path / "set.csv", frame))
    told = {str(one) for one in found.left_out}
    assert told == {"6 rows whose rater is na", "1 answer on rating that is words among numbers ('good')"}
    assert len(found.frame) == len(TIDY) - 1


def test_ids_and_measures_are_no_criteria(tmp_path: Path) -> None:
    rows = WIDE.assign(doc_no=range(len(WIDE)), batch_id=3, bleu=0.4, turn=1, year=2021, seconds=12)
    path = write_frame(tmp_path / "set.csv", rows.rename(columns={"rater": "annotator"}))
    draft = draft_for(path)
    assert draft.data["rater"] == "annotator"
    assert [one["name"] for one in draft.data["criteria"]] == ["coherence", "fluency"]
    assert draft.open == []


def test_the_mapping_that_was_used_is_kept_beside_the_table_and_never_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    KNOWN["nested jsonl"](tmp_path)
    assert call(capsys, "import", "set.jsonl").code == 0
    kept = Path("ratings-mapping.yaml")
    edited = kept.read_text(encoding="utf-8") + "rename: {system: {bart: BART}}\n"
    kept.write_text(edited, encoding="utf-8")
    done = call(capsys, "import", "set.jsonl")
    assert done.code == 2
    assert "--mapping ratings-mapping.yaml" in done.err
    assert kept.read_text(encoding="utf-8") == edited
    assert call(capsys, "import", "set.jsonl", "--mapping", "ratings-mapping.yaml").code == 0
    assert set(pd.read_csv("ratings.csv")["system"]) == {"BART", "t5-base"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", bytes(range(256)) * 4, "zero bytes"),
        ("a.csv", b"<!DOCTYPE html><html><table><tr><td>1", "is a web page or XML"),
        ("a.csv", b"rater,item,rating\n", "has a header but no rows"),
        ("a.csv", b"r,i,f\na,1,3\nb,2,4\n\nsystem,mean,n\nx,3.5,2\ny,2,1\n", "holds two tables"),
        ("a.txt", b"Roses are red,\nviolets are blue.\n", "no column was recognised"),
        ("a.json", b'[{"a": 1, "b"', "line 1, is not JSON"),
        ("a.jsonl", b'{"a": 1}\n{"a": \n', "line 2, is not JSON"),
        ("a.json", b"[1, 2]", "entry 1 of its list is 1"),
        ("a.json", b"[" * 100_000, "nested more than 30 levels"),
        ("a.json", b'{"a":' * 50 + b"1" + b"}" * 50, "nested more than 30 levels"),
        ("a.parquet", b"PAR1 and no more", "damaged Parquet file"),
        ("a.csv.gz", b"\x1f\x8b\x08", "unpack it first .gunzip"),
        ("a.csv.bz2", b"BZh91AY", "compressed with bzip2; unpack it first .bunzip2"),
        ("a.csv.xz", b"\xfd7zXZ\x00\x00", "compressed with xz"),
        ("a.csv", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a pointer of Git LFS"),
        ("a.csv", b"rater,item,score,score\na,1,2,3\n", "several columns called score"),
    ],
)
def test_what_is_no_table_of_ratings_is_refused(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadFile, match=message):
        import_results(path)


def test_a_mapping_that_unfolds_nothing_is_told_so(tmp_path: Path) -> None:
    path = KNOWN["nested jsonl"](tmp_path)
    mapping = tmp_path / "m.yaml"
    mapping.write_text(
        "source: table\nunfold: [{lists: [experts_annotations]}]\nitem: id\n"
        "criteria: [{name: fluency, answer: x}]\n",
        encoding="utf-8",
    )
    with pytest.raises(BadFile, match=r"is nowhere a list in the files. Did you mean 'expert_annotations'"):
        import_results(path, mapping)
    mapping.write_text(
        "source: table\nrater: annotator\nitem: id\nleave_out: {'x{n}': [a]}\n"
        "criteria: [{name: fluency, answer: id}]\n",
        encoding="utf-8",
    )
    with pytest.raises(BadFile, match="about whole submissions"):
        import_results(path, mapping)
