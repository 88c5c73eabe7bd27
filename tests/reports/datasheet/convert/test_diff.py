"""Two sheets side by side, also of different versions."""

from panelist.reports.datasheet.convert.diff import compare_sheets
from panelist.reports.datasheet.convert.versions import convert_sheet
from panelist.reports.datasheet.sheet import Sheet, SheetAnswer
from tests.reports.datasheet.sheets import make_full


def test_a_sheet_is_the_same_as_itself() -> None:
    found = compare_sheets(make_full(), make_full())
    assert found.differences == ()
    assert found.n_same == len(make_full().answers)


def test_differences_are_told_question_by_question_in_words() -> None:
    found = compare_sheets(
        make_full(), make_full(q3_2_1=SheetAnswer(text="12"), q5_2=SheetAnswer(("2",), "IDs"))
    )
    assert [(one.number, one.first, one.second) for one in found.differences] == [
        ("3.2.1", "24", "12"),
        (
            "5.2",
            "1. No, personal data as defined by GDPR was neither evaluated nor collected.",
            "2. Yes, personal data as defined by GDPR was evaluated and/or collected\nIDs",
        ),
    ]


def test_white_space_is_no_difference_and_open_answers_are() -> None:
    found = compare_sheets(
        make_full(q5_1=SheetAnswer(text="a  b\n")), make_full(q5_1=SheetAnswer(text="a b"))
    )
    assert found.differences == ()
    found = compare_sheets(make_full(), make_full(q5_1=SheetAnswer()))
    assert [(one.number, one.second) for one in found.differences] == [("5.1", "")]
    assert "(open)" in str(found)


def test_sheets_of_two_versions_are_compared_by_meaning() -> None:
    new = make_full(q4_3_1_2=SheetAnswer())
    old = convert_sheet(new, "2.x").sheet
    found = compare_sheets(new, old)
    assert found.version == "3.0"
    assert found.differences == ()


def test_criteria_are_paired_by_name_and_those_alone_are_named() -> None:
    one = Sheet("3.0", ("Fluency", "tone"), {("4.3.7", "Fluency"): SheetAnswer(text="a")}, "one")
    two = Sheet("3.0", ("fluency",), {("4.3.7", "fluency"): SheetAnswer(text="b")}, "two")
    found = compare_sheets(one, two)
    assert [(each.number, each.criterion) for each in found.differences] == [("4.3.7", "Fluency")]
    assert found.notes == ("Only one has 'tone'; section 4 is not compared there.",)
