"""Further shapes in which people publish ratings: read right, or refused with what to do."""

import json
from pathlib import Path

import pandas as pd
import pytest

from panelist.collection.imports.importer import import_results
from panelist.collection.imports.recognising import Ambiguous
from panelist.core.errors import BadFile
from tests.collection.imports.published import RATERS, SYSTEMS, TIDY, WIDE, mean_ratings, write_frame

RATED = ["fluency", "coherence"]


def check_same(path: Path | list[Path], reading: int | None = None) -> None:
    """Check that files give the ratings of all shapes, each to its rater, and the mapping the same again."""
    found = import_results(path, keep_ids=True, reading=reading)
    columns = ["rater", "item", "system", "criterion", "rating"]
    rows = found.frame[columns].assign(rating=found.frame["rating"].astype(float)).sort_values(columns)
    wanted = TIDY[columns].assign(rating=TIDY["rating"].astype(float)).sort_values(columns)
    assert rows.to_numpy().tolist() == wanted.to_numpy().tolist()
    assert found.draft is not None
    first = path if isinstance(path, Path) else path[0]
    mapping = first.with_name("mapping.yaml")
    mapping.write_text(found.draft.write(), encoding="utf-8")
    pd.testing.assert_frame_equal(import_results(path, mapping, keep_ids=True).frame, found.frame)


@pytest.mark.parametrize("pattern", ["{}_{}", "{} [{}]"])
def test_marks_in_the_names_of_systems_lose_no_column(pattern: str, tmp_path: Path) -> None:
    new = dict(zip(SYSTEMS, ("gpt-4.1", "llama_3"), strict=True))
    wide = TIDY.assign(
        column=[pattern.format(c, new[s]) for c, s in zip(TIDY["criterion"], TIDY["system"], strict=True)]
    ).pivot_table(index=["rater", "item"], columns="column", values="rating")
    frame = import_results(write_frame(tmp_path / "wide.csv", wide.reset_index())).frame
    renamed = TIDY.assign(system=TIDY["system"].map(new))
    assert mean_ratings(frame) == mean_ratings(renamed)


def test_an_object_of_raters_for_each_criterion_loses_none(tmp_path: Path) -> None:
    rows = [
        {"id": item, "model": system}
        | {name: dict(zip(part["rater"], map(int, part[name]), strict=True)) for name in RATED}
        for (item, system), part in WIDE.groupby(["item", "system"])
    ]
    path = tmp_path / "by_criterion.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    check_same(path)


def test_what_a_file_says_of_itself_is_no_criterion(tmp_path: Path) -> None:
    path = tmp_path / "wrapped.json"
    data = {"meta": {"release": 1}, "data": json.loads(WIDE.to_json(orient="records"))}
    path.write_text(json.dumps(data), encoding="utf-8")
    check_same(path)
    assert ("not used", "file.meta.release") in import_results(path).recognised


@pytest.mark.parametrize("column", ["subject_nr", "ParticipantCode", "coder number"])
def test_codes_of_people_are_raters(column: str, tmp_path: Path) -> None:
    codes = {name: str(place) for place, name in enumerate(RATERS)}
    table = TIDY.assign(rater=TIDY["rater"].map(codes)).rename(columns={"rater": column})
    found = import_results(write_frame(tmp_path / "codes.csv", table), keep_ids=True)
    assert set(found.frame["rater"]) == set(codes.values())


def test_columns_of_systems_are_named_without_the_word_score(tmp_path: Path) -> None:
    table = TIDY[TIDY["criterion"] == "fluency"].pivot_table(
        index=["rater", "item"], columns="system", values="rating"
    )
    path = write_frame(tmp_path / "systems.csv", table.add_suffix("_score").reset_index())
    assert set(import_results(path, reading=2).frame["system"]) == set(SYSTEMS)


def test_raters_in_a_list_beside_an_object_of_lists_are_told_apart(tmp_path: Path) -> None:
    rows = [
        {"doc": item, "model": system, "annotators": list(part["rater"])}
        | {"ratings": {name: [int(one) for one in part[name]] for name in RATED}}
        for (item, system), part in WIDE.groupby(["item", "system"])
    ]
    path = tmp_path / "lists.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    check_same(path)


def write_sheets(path: Path, by: str, columns: list[str]) -> Path:
    """Write a sheet for each value of a column, beside one with a few words."""
    table = TIDY if by == "criterion" else WIDE
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"Read me": ["Three systems", "Ask us"]}).to_excel(book, sheet_name="about", index=False)
        for name, part in table.groupby(by):
            part[columns].to_excel(book, sheet_name=str(name), index=False)
    return path


@pytest.mark.parametrize(
    ("by", "columns"),
    [
        ("criterion", ["rater", "item", "system", "rating"]),
        ("rater", ["item", "system", *RATED]),
        ("system", ["rater", "item", *RATED]),
    ],
)
def test_what_the_sheets_of_a_workbook_are_is_asked(by: str, columns: list[str], tmp_path: Path) -> None:
    path = write_sheets(tmp_path / "book.xlsx", by, columns)
    with pytest.raises(Ambiguous, match="the names of the sheets, are "):
        import_results(path)
    check_same(path, reading=1)


def test_a_first_sheet_without_a_table_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"Read me": ["Three systems", "Ask us"]}).to_excel(book, sheet_name="about", index=False)
        WIDE.to_excel(book, sheet_name="votes", index=False)
    check_same(path)
    assert "book.xlsx: sheet 'votes' was read; there is also 'about'" in import_results(path).notes


def test_a_file_for_each_rater_is_asked_about(tmp_path: Path) -> None:
    paths = [
        write_frame(tmp_path / f"votes_{name}.csv", part.drop(columns="rater"))
        for name, part in WIDE.groupby("rater")
    ]
    with pytest.raises(Ambiguous, match="the names of the files, are raters"):
        import_results(paths)
    check_same(paths, reading=1)


def test_what_is_known_of_raters_and_outputs_and_their_means_are_no_criteria(tmp_path: Path) -> None:
    about = WIDE.assign(
        education=WIDE["rater"].map(RATERS.index) % 3 + 1,
        difficulty=WIDE["item"].str[-1].map(ord) % 3,
        average=(WIDE["fluency"] + WIDE["coherence"]) / 2,
    )
    path = write_frame(tmp_path / "about.csv", about)
    check_same(path)
    told = dict(import_results(path).recognised)
    assert told["not used"] == "education, difficulty and average"


def test_a_row_of_averages_is_left_out(tmp_path: Path) -> None:
    last = pd.DataFrame([{"rater": "Average", **WIDE[RATED].mean()}])
    path = write_frame(tmp_path / "table.csv", pd.concat([WIDE, last]))
    check_same(path)
    assert [str(one) for one in import_results(path).left_out] == ["1 row whose rater is Average"]


def test_known_labels_are_numbered_and_others_named(tmp_path: Path) -> None:
    words = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]
    said = WIDE.assign(**{name: [words[int(one) - 1] for one in WIDE[name]] for name in RATED})
    check_same(write_frame(tmp_path / "said.csv", said))
    own = said.replace(dict(zip(words, ["meh", "so-so", "fine", "nice", "wow"], strict=True)))
    notes = import_results(write_frame(tmp_path / "own.csv", own)).notes
    assert any("the ratings of fluency are words" in note for note in notes)


def test_labels_are_listed_from_the_lowest_up(tmp_path: Path) -> None:
    for words in (["n", "y"], ["Very poor", "Poor", "Fair", "Good", "Very good"]):
        named = [words[(int(number) - 1) % len(words)] for number in WIDE["fluency"]]
        found = import_results(write_frame(tmp_path / "labels.csv", WIDE.assign(fluency=named)))
        assert found.draft is not None
        values = next(one["values"] for one in found.draft.data["criteria"] if one["name"] == "fluency")
        assert list(values) == [word for word in words if word in named]
        assert list(values.values()) == sorted(values.values())


def test_many_words_among_numbers_stay_and_are_named(tmp_path: Path) -> None:
    odd = ["unsure" if place % 4 == 0 else rating for place, rating in enumerate(WIDE["fluency"])]
    found = import_results(write_frame(tmp_path / "unsure.csv", WIDE.assign(fluency=odd)))
    n = odd.count("unsure")
    assert any(f"{n} ratings of fluency are words among numbers ('unsure')" in note for note in found.notes)


def test_decimal_commas_are_points(tmp_path: Path) -> None:
    path = tmp_path / "comma.csv"
    WIDE.assign(fluency=WIDE["fluency"] + 0.25).to_csv(path, sep=";", decimal=",", index=False)
    frame = import_results(path).frame
    read = frame[frame["criterion"] == "fluency"]["rating"].astype(float)
    assert sorted(read) == sorted(WIDE["fluency"] + 0.25)


def test_cells_that_count_for_the_rows_below_are_refused(tmp_path: Path) -> None:
    table = WIDE.sort_values(["rater", "item"])
    once = table.assign(rater=table["rater"].mask(table["rater"].duplicated(), ""))
    with pytest.raises(BadFile, match=r"name no rater \(rater is empty\).*write it into each"):
        import_results(write_frame(tmp_path / "once.csv", once))


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"fluency": 99}, "1 rating of fluency is 99, far from the others"),
        ({"coherence": -1}, "1 rating of coherence is -1, far from the others"),
    ],
)
def test_codes_for_no_answer_are_named(change: dict[str, int], note: str, tmp_path: Path) -> None:
    table = WIDE.reset_index(drop=True)
    table.loc[0, list(change)] = list(change.values())
    assert any(note in one for one in import_results(write_frame(tmp_path / "t.csv", table)).notes)


def test_means_and_ranks_are_named(tmp_path: Path) -> None:
    means = WIDE.groupby(["item", "system"])[RATED].mean().reset_index().assign(fluency=7 / 3)
    notes = import_results(write_frame(tmp_path / "means.csv", means)).notes
    assert any("the ratings of fluency look like means (2.333)" in note for note in notes)
    ranked = WIDE.rename(columns={"fluency": "fluency_rank"}).drop(columns="coherence")
    notes = import_results(write_frame(tmp_path / "ranked.csv", ranked)).notes
    assert any("fluency_rank may be ranks, of which 1 is the best" in note for note in notes)


def test_names_of_columns_in_translation_tables_are_known(tmp_path: Path) -> None:
    path = write_frame(
        tmp_path / "mt.csv",
        WIDE.rename(columns={"item": "segment", "system": "mt_system", "rater": "annotator"}),
    )
    check_same(path)


def test_ratings_without_an_upper_end_are_read_where_they_are_named_so(tmp_path: Path) -> None:
    large = TIDY.assign(rating=TIDY["rating"] * 135.5)
    frame = import_results(write_frame(tmp_path / "magnitude.csv", large)).frame
    assert mean_ratings(frame) == mean_ratings(large)


def test_a_column_with_the_name_of_the_winner_alone_is_a_choice(tmp_path: Path) -> None:
    rows = [
        {"rater": r, "item": i, "system_a": a, "system_b": b, "winner": (a, b, "")[n % 3]}
        for n, (r, i) in enumerate((r, i) for r in RATERS for i in range(6))
        for a, b in (("x", "y"), ("y", "z"))
    ]
    frame = import_results(write_frame(tmp_path / "won.csv", rows)).frame
    won = frame[frame["choice"] == "best"]["system"].value_counts().to_dict()
    assert won == {"x": 8, "y": 16, "z": 8}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_its_mark_is_read(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    path.write_bytes(WIDE.to_csv(index=False).encode(encoding))
    check_same(path)
    assert "without a byte order mark" in import_results(path).notes[0]


def test_json_under_the_name_of_a_csv_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(WIDE.to_json(orient="records"), encoding="utf-8")
    check_same(path)
