"""Files: what reads, what reads back, and what is refused with words."""

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from panelist.core.errors import BadFile, BadRatings, PanelistError
from panelist.core.tables.ratings import Ratings, read_ratings, write_ratings
from panelist.core.tables.readers import READERS
from panelist.core.tables.writers import WRITERS
from tests.examples import examples

SHARED = Path(__file__).parents[3].parent / "shared" / "data"
ENDINGS = sorted(READERS)

# Names that other programs like to spoil.
TRICKY = ["NA", "null", "None", "nan", "007", "1.0", "1e5", "True", "=1+1", "#N/A", 'say "hi"', "a,b", "a;b"]
TRICKY += [
    "a\tb",
    "two\nlines",
    " padded ",
    "-",
    "'",
    "é",
    "日本",
    "2024-05-01",
    "12345678901234567890",
    "\ufeffx",
]
# Surrogates are no text; the other control characters are not allowed in Excel.
LETTERS = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")
IDENTIFIER = st.sampled_from(TRICKY) | st.text(LETTERS, min_size=1, max_size=6)
FINITE = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
RATING = st.lists(st.integers(-7, 100), min_size=1) | st.lists(st.none() | FINITE, min_size=1)


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    ratings = draw(RATING)
    n = len(ratings)
    frame = pd.DataFrame({"rating": pd.Series(ratings, dtype=None if None not in ratings else float)})
    for name in ("rater", "item", "system", "list"):
        frame[name] = draw(st.lists(st.none() | IDENTIFIER, min_size=n, max_size=n))
    frame["seconds"] = draw(st.lists(FINITE, min_size=n, max_size=n))
    frame["text"] = draw(
        st.lists(st.none() | st.text(LETTERS, max_size=9).map("t{}".format), min_size=n, max_size=n)
    )
    frame["text"] = frame["text"].where(frame["text"].notna(), None)
    return frame


def test_every_ending_that_reads_also_writes() -> None:
    assert sorted(WRITERS) == ENDINGS


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
@settings(examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frame=tables())
def test_what_is_written_reads_back_the_same(ending: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    before = read_ratings(frame)
    write_ratings(before, tmp_path / f"ratings{ending}")
    after = read_ratings(tmp_path / f"ratings{ending}")
    # An all-missing text column has no type in a file, and whole seconds may come back as integers.
    assert after.absent == before.absent  # an empty column of raters says that they are unknown
    typed = [name for name in ("rating", "rater", "item", "system", "list") if name in before.frame]
    pd.testing.assert_frame_equal(after.frame[typed], before.frame[typed], check_exact=True)
    pd.testing.assert_frame_equal(after.frame, before.frame, check_dtype=False, check_exact=True)


@pytest.mark.parametrize("ending", ENDINGS)
def test_text_ratings_and_true_and_false_read_back_the_same(ending: str, tmp_path: Path) -> None:
    before = read_ratings(
        pd.DataFrame({"rating": ["A", "b ", None], "check": [False, False, False], "x": [1, 2, 3]})
    )
    write_ratings(before, tmp_path / f"ratings{ending}")
    pd.testing.assert_frame_equal(read_ratings(tmp_path / f"ratings{ending}").frame, before.frame)


def test_parquet_keeps_the_order_of_an_ordered_categorical(tmp_path: Path) -> None:
    order = pd.CategoricalDtype(["poor", "fair", "good"], ordered=True)
    before = read_ratings(pd.DataFrame({"rating": pd.Series(["good", "poor"], dtype=order)}))
    write_ratings(before, tmp_path / "ratings.parquet")
    assert read_ratings(tmp_path / "ratings.parquet").frame["rating"].dtype == order


def _read(tmp_path: Path, content: str | bytes, name: str = "ratings.csv") -> Ratings:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_ratings(path)


@pytest.mark.parametrize(
    "content",
    [
        "rater,item,rating\nP1,a,3\nP2,b,4\n",
        "\ufeffrater,item,rating\nP1,a,3\nP2,b,4\n",
        "rater;item;rating\nP1;a;3\nP2;b;4\n",
        "rater\titem\trating\nP1\ta\t3\nP2\tb\t4\n",
        "rater,item,rating\r\nP1,a,3\r\nP2,b,4\r\n",
        "rater,item,rating\nP1,a,3\n\nP2,b,4",
        '"rater","item","rating"\n"P1","a"," 3 "\n"P2","b","4.0"\n',
        "\nParticipant, Item ,Score\nP1,a,3\nP2,b,4\n",
    ],
)
def test_the_dialects_of_csv_give_one_table(content: str, tmp_path: Path) -> None:
    frame = _read(tmp_path, content).frame
    assert frame.to_dict(orient="list") == {"rater": ["P1", "P2"], "item": ["a", "b"], "rating": [3, 4]}
    assert frame["rating"].dtype == np.int64


def test_cells_may_hold_line_breaks_separators_and_quotation_marks(tmp_path: Path) -> None:
    ratings = _read(tmp_path, 'item,text,rating\n1,"one\r\ntwo, ""three""",3\n')
    assert ratings.frame["text"].tolist() == ['one\r\ntwo, "three"']


def test_semicolons_bring_decimal_commas(tmp_path: Path) -> None:
    frame = _read(tmp_path, "item;rating;seconds\n1;3,5;0,25\n2;4;1\n").frame
    assert frame["rating"].tolist() == [3.5, 4.0]
    assert frame["seconds"].tolist() == [0.25, 1.0]


def test_a_comma_between_commas_is_no_decimal(tmp_path: Path) -> None:
    assert _read(tmp_path, 'item,rating\n1,"1,000"\n2,"2,000"\n').frame["rating"].tolist() == [
        "1,000",
        "2,000",
    ]


def test_a_column_without_a_name_gets_one(tmp_path: Path) -> None:
    assert list(_read(tmp_path, '"",item,rating\n"1",a,3\n').frame.columns) == ["column_1", "item", "rating"]


def test_numbers_are_found_in_other_columns_but_codes_stay_text(tmp_path: Path) -> None:
    content = "position,code,account,word,flag,rating\n1,007,12345678901234567,NA,TRUE,1\nNA,08,2,x,false,2\n"
    ratings = _read(tmp_path, content)
    assert np.isnan(ratings.frame["position"][1])
    assert ratings.frame["code"].tolist() == ["007", "08"]
    assert ratings.frame["account"].tolist() == ["12345678901234567", "2"]
    assert ratings.frame["word"].tolist() == ["NA", "x"]
    assert ratings.frame["flag"].tolist() == [True, False]
    assert "position: 1 cell 'NA' read as missing" in ratings.notes


def test_floats_are_read_to_the_last_bit(tmp_path: Path) -> None:
    numbers = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 123456.78901234567]
    content = "item,rating,seconds\n" + "".join(f"{i},{x!r},{x!r}\n" for i, x in enumerate(numbers))
    frame = _read(tmp_path, content).frame
    assert frame["rating"].tolist() == numbers
    assert frame["seconds"].tolist() == numbers


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"", "r.csv", "r.csv is empty"),
        (b"\n \n", "r.csv", "nothing but empty lines"),
        (b"rater,item,rating\n", "r.csv", "has a header but no rows"),
        (b"rater,item\nP1,\xff\xe9\n", "r.csv", "not UTF-8 text .byte 0xff at position 14"),
        ("rater,item\nP1,é\n".encode("utf-16"), "r.csv", "is UTF-16 text"),
        (b"a,b\n1,2\n3\n", "r.csv", "Row #3: Expected 2 columns, got 1"),
        (b"a,b\n1,2\n3,4,5\n", "r.csv", "Row #3: Expected 2 columns, got 3"),
        (b'a,b\n1,"2\n3,4\n5,6\n', "r.csv", "opens a quotation mark and never closes it"),
        (b"PK\x03\x04rest", "r.csv", "comma-separated text by its name but is an Excel workbook"),
        (b"a,b\n1,2\n", "r.xlsx", "an Excel workbook by its name but is not"),
        (b"PK\x03\x04rest", "r.xlsx", "damaged Excel workbook"),
        (b"a,b\n1,2\n", "r.parquet", "a Parquet file by its name but is not"),
        (b"PAR1 and no more", "r.parquet", "damaged Parquet file"),
        (b"a,b\n1,2\n", "r.doc", r"ends in '.doc'.*Allowed: .csv, .json"),
        (b"a,b\n1,2\n", "r", "has no ending"),
        (b"a,b\n1,2\n", "r.xls", "save it as .xlsx"),
        (b"\x1f\x8b\x08", "r.csv.gz", "unpack it first .gunzip r.csv.gz., or write r.csv"),
        (b'{"a": 1}\n{"a": \n', "r.jsonl", "line 2, is not a JSON table"),
        (b'{"a": 1}\n3\n', "r.jsonl", "line 2 is 3; every line must be an object"),
        (b'{"a": 1, "a": 2}\n', "r.jsonl", "line 1, .*names a column twice: 'a'"),
        (b'{"a": 1}\n{"a": 2}\n', "r.json", "A file with one object per line should end in .jsonl"),
        (b'{"a": [1, 2]}', "r.json", "must hold a list of objects"),
        (b"[]", "r.json", "no rows"),
        (b"[" * 100_000, "r.json", "not a JSON table"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_the_reason(
    content: bytes, name: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(BadFile, match=message):
        _read(tmp_path, content, name)


def test_lists_in_a_column_of_ours_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRatings, match="'item' holds lists or objects"):
        _read(tmp_path, '{"item": ["a"], "rating": 1}\n', "r.jsonl")


def test_columns_with_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRatings, match="several columns called 'item'"):
        _read(tmp_path, "item,item,rating\n1,2,3\n")
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["item", "item"])
    book.active.append([1, 2])
    book.save(tmp_path / "r.xlsx")
    with pytest.raises(BadRatings, match="several columns called 'item'"):
        read_ratings(tmp_path / "r.xlsx")


def test_a_missing_file_is_answered_with_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("rating\n1\n")
    with pytest.raises(BadFile, match=r"There is no file .*Did you mean 'ratings\.csv'\?"):
        read_ratings(tmp_path / "rating.csv")
    with pytest.raises(BadFile, match=r"the folder .* does not exist"):
        read_ratings(tmp_path / "nowhere" / "rating.csv")
    with pytest.raises(BadFile, match="is a folder"):
        read_ratings(tmp_path)


def test_json_rows_may_lack_columns_and_keep_long_identifiers(tmp_path: Path) -> None:
    frame = _read(tmp_path, '{"rater": 12345678901234567, "rating": 1}\n{"rating": "2"}\n', "r.jsonl").frame
    assert frame["rater"].tolist()[0] == "12345678901234567"
    assert frame["rater"].isna().tolist() == [False, True]
    assert frame["rating"].tolist() == [1, 2]


def test_json_keeps_nested_values_of_other_columns_as_text(tmp_path: Path) -> None:
    frame = _read(tmp_path, json.dumps([{"item": 1, "meta": {"a": [1]}, "rating": 2}]), "r.json").frame
    assert frame["meta"].tolist() == ['{"a": [1]}']


def test_excel_reads_the_first_sheet_and_names_the_others(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in ([], ["Participant", "item", "rating"], ["P1", 3, "4"], [None, None, None], ["P2", 7.0, 5]):
        sheet.append(row)
    book.create_sheet("more")
    book.save(tmp_path / "r.xlsx")
    ratings = read_ratings(tmp_path / "r.xlsx")
    assert ratings.frame.to_dict(orient="list") == {
        "rater": ["P1", "P2"],
        "item": ["3", "7"],
        "rating": [4, 5],
    }
    assert ratings.notes[0] == "sheet 'Sheet' was read; the workbook also has 'more'"


def test_what_excel_cannot_hold_is_refused_rather_than_cut(tmp_path: Path) -> None:
    for text, message in (("x" * 32_768, "holds 32767 characters"), ("\x00", "control characters")):
        with pytest.raises(BadFile, match=message):
            write_ratings(read_ratings(pd.DataFrame({"item": [text], "rating": [1]})), tmp_path / "r.xlsx")


def test_writing_to_a_bad_place_is_explained(tmp_path: Path) -> None:
    ratings = read_ratings(pd.DataFrame({"rating": [1]}))
    for path in (tmp_path / "nowhere" / "r.csv", tmp_path / "r.doc"):
        with pytest.raises(BadFile):
            write_ratings(ratings, path)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A sound file of each ending."""
    folder = tmp_path_factory.mktemp("sound")
    ratings = read_ratings(pd.DataFrame({"item": TRICKY, "rating": range(len(TRICKY)), "seconds": 0.5}))
    for ending in ENDINGS:
        write_ratings(ratings, folder / f"r{ending}")
    return {ending: (folder / f"r{ending}").read_bytes() for ending in ENDINGS}


@settings(examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), ending=st.sampled_from(ENDINGS))
def test_no_bytes_whatever_bring_a_traceback(
    data: st.DataObject, ending: str, tmp_path: Path, sound: dict[str, bytes]
) -> None:
    whole = bytearray(sound[ending])
    scraps = st.binary(max_size=40) | st.text('ab1,;\t\n"{}[]: -', max_size=40).map(str.encode)
    if data.draw(st.booleans(), label="damaged rather than made up"):
        start = data.draw(st.integers(0, len(whole) - 1))
        stop = data.draw(st.integers(start, min(start + 200, len(whole))))
        whole[start:stop] = data.draw(scraps)
    else:
        whole = bytearray(data.draw(scraps))
    with suppress(PanelistError):  # a message, as it should be; anything else fails the test
        assert len(_read(tmp_path, bytes(whole), f"r{ending}")) > 0


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize("path", sorted(SHARED.rglob("*.csv")), ids=lambda path: path.stem)
def test_every_shared_table_is_read_whole(path: Path) -> None:
    plain = pd.read_csv(path, dtype=str, keep_default_na=False)
    ratings = read_ratings(path, drop="invalid")
    assert len(ratings) == len(plain)
    assert ratings.frame.shape[1] == plain.shape[1]
    if {"participant", "rating"} <= set(plain.columns):
        assert ratings.frame["rater"].tolist() == plain["participant"].tolist()
        assert ratings.names == {"participant": "rater"}
        said = [str(value) for value in ratings.frame["rating"]]
        assert said == plain["rating"].tolist() or [float(x) for x in said] == [
            float(x) for x in plain["rating"]
        ]
