"""Cards are read and written back unchanged, byte for byte; what is not a card is refused in a sentence."""

import json
from pathlib import Path

import pytest
from hypothesis import given

from panelist.core.errors import BadFile
from panelist.reports.datasheet.files.card import Card, SheetLayout, parse_card
from panelist.reports.datasheet.files.read import make_sheet_of, read_sheet
from panelist.reports.datasheet.files.write_json import make_entries, write_json
from panelist.reports.datasheet.heds_questions import CRITERIA_KEY, VERSIONS, Version
from panelist.reports.datasheet.sheet import Sheet, SheetAnswer
from tests.examples import examples
from tests.reports.datasheet.sheets import CARDS, CRITERIA, SAMPLES, SHARED, any_sheet, make_full

needs_cards = pytest.mark.skipif(not SHARED.is_dir(), reason=f"there are no public cards in {SHARED}")
LAYOUTS = {
    "a blank": SheetLayout(" "),
    "four blanks": SheetLayout("    ", end="\n"),
    "tabs": SheetLayout("\t", ascii=True),
    "windows": SheetLayout("  ", newline="\r\n", end="\n", mark=True),
    "one line": SheetLayout(None, comma=", "),
    "tight": SheetLayout(None, colon=":", comma=",", ascii=True),
    "loose colons": SheetLayout("  ", colon=":"),
}


def parse(content: bytes) -> Sheet:
    return make_sheet_of(parse_card(content, "card.json"), "card.json")


@needs_cards
@pytest.mark.parametrize("name", CARDS)
def test_public_cards_come_back_byte_for_byte(name: str) -> None:
    path = SHARED / name
    sheet = read_sheet(path)
    assert write_json(sheet) == path.read_bytes()
    assert not sheet.open()


@needs_cards
@pytest.mark.parametrize("name", SAMPLES)
def test_a_card_made_anew_from_the_answers_is_the_export_of_the_form(name: str) -> None:
    sheet = read_sheet(SHARED / name)
    assert SheetLayout().write(make_entries(sheet)) == (SHARED / name).read_bytes()


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_usual_layout_is_kept(name: str, version: Version) -> None:
    sheet = make_full(version, q1_3_1_1=SheetAnswer(text='Zoë 中 \u2028 "quoted" \\ /'))
    content = LAYOUTS[name].write(make_entries(sheet))
    again = parse(content)
    assert again.version == version
    assert write_json(again) == content
    assert not again.notes


def test_an_unusual_layout_gives_the_same_json_in_the_same_order_and_says_so() -> None:
    entries = make_entries(make_full("2.x"))
    content = json.dumps(entries, indent=3).replace('"data": {', '"data":   {').encode()
    again = parse(content)
    assert list(json.loads(write_json(again)).items()) == list(entries.items())
    assert "not the same bytes" in again.notes[0]


def test_foreign_keys_stale_texts_and_order_are_kept() -> None:
    entries = make_entries(make_full("2.x"))
    entries = dict(reversed(list(entries.items()))) | {
        "theme": "dark",
        "heds-later-question": {"data": {"": "x"}},
    }
    entries["heds-system-tasks-other_text"]["data"][""] = "left over"
    content = SheetLayout().write(entries)
    again = parse(content)
    assert write_json(again) == content
    assert [note.split(" (")[0] for note in again.notes] == [
        "1 keys do not belong to HEDS",
        "1 keys are unknown to HEDS 2.x",
    ]


def test_a_changed_sheet_is_written_with_its_change() -> None:
    sheet = parse(write_json(make_full("2.x"))).with_answers({("5.1", ""): SheetAnswer(text="Approved")})
    assert parse(write_json(sheet)).answer("5.1") == SheetAnswer(text="Approved")


@examples(25)
@given(any_sheet())
def test_any_sheet_survives_writing_and_reading(sheet: Sheet) -> None:
    again = make_sheet_of(Card(json.loads(write_json(sheet)), SheetLayout()), "x")
    assert again.criteria == sheet.criteria
    assert again.answers == sheet.answers
    if sheet.version == "3.0":  # an empty 2.x file cannot be told from an empty 3.0 file by its keys alone
        assert again.version == "3.0"


def test_exactly_one_criterion_is_shown_and_labels_are_those_of_the_ticked() -> None:
    entries = json.loads(write_json(make_full()))
    assert list(entries[CRITERIA_KEY]["control"].values()) == [True, False]
    ticked = entries["heds-system-output_languages-42"]
    assert ticked == {
        "data": {"": True}, "control": {}, "text": {"": "41. English"}, "number": "2.5",
    }  # fmt: skip
    assert entries["heds-system-output_languages-41"]["text"] == {"": ""}


def test_deleted_criteria_are_named_and_their_answers_not_shown() -> None:
    entries = make_entries(make_full())
    del entries[CRITERIA_KEY]["control"]["adequacy"]
    sheet = parse(SheetLayout().write(entries))
    assert sheet.criteria == ("fluency",)
    assert "still holds answers on 'adequacy'" in sheet.notes[0]
    assert not any(criterion == "adequacy" for _, criterion in sheet.answers)


def test_a_form_without_criteria_is_read() -> None:
    sheet = parse(write_json(Sheet("3.0", (), {("5.1", ""): SheetAnswer(text="x")})))
    assert sheet.criteria == ()
    assert sheet.answer("5.1").text == "x"


def test_a_2_x_file_with_nothing_but_shared_keys_is_2_x() -> None:
    assert parse(b'{"heds-ethics-review_body": {"data": {"": "None"}, "control": {}}}').version == "2.x"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not JSON: line 1"),
        (b'{"heds-x": ', "is not JSON: line 1, column 12"),
        (b"[1, 2]", "is not a HEDS file"),
        (b'{"a": 1}', "is not a HEDS file"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        (b'{"heds-ethics-review_body": 3}', "'heds-ethics-review_body' should hold an object"),
        (b'{"heds-ethics-review_body": {"data": {"": 3}}}', "should hold a text, or true or false; found 3"),
        (b'{"heds-criteria-criterion": {"control": {"a": "yes"}}}', "true or false for each criterion"),
        (b'{"heds-a": {"data": {}}, "heds-b": {"data": {}}}', "unknown version of HEDS: 2 of its 2 keys"),
        (b'{"heds-ethics-review_body": {}, "heds-ethics-review_body": {}}', "twice"),
        (b'{"heds-a":' + b"[" * 100_000, "nested too deeply|is not JSON"),
    ],
)
def test_what_is_no_card_is_refused_in_a_sentence(content: bytes, said: str) -> None:
    with pytest.raises(BadFile, match=said):
        parse(content)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="cannot be read: No such file"):
        read_sheet(tmp_path / "none.json")


def test_our_own_half_filled_card_is_read_and_written_back() -> None:
    path = Path(__file__).parent / "half-filled-2.x.json"
    sheet = read_sheet(path)
    assert (sheet.version, sheet.criteria, sheet.shown) == ("2.x", ("Clarity", "Tone"), "Tone")
    assert write_json(sheet) == path.read_bytes()
    assert len(list(sheet.places())) == 42 + 2 * 20
    assert len(sheet.open()) == 82 - 11
    assert set(CRITERIA).isdisjoint(sheet.criteria)
