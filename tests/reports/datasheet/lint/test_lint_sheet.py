"""Every rule passes a sheet that is right and finds what is wrong, under its question."""

import json
from collections.abc import Callable

import pytest

from panelist.reports.datasheet.files.card import Entries, SheetLayout, parse_card
from panelist.reports.datasheet.files.read import make_sheet_of
from panelist.reports.datasheet.files.write_json import make_entries
from panelist.reports.datasheet.heds_questions import CRITERIA_KEY, VERSIONS, Version
from panelist.reports.datasheet.lint.lint_sheet import RULES, Lint, lint_sheet
from panelist.reports.datasheet.lint.rules import count_values
from panelist.reports.datasheet.sheet import Sheet, SheetAnswer
from tests.reports.datasheet.sheets import make_full

Change = Callable[[Entries], object]
TEXT = SheetAnswer(text="N/A")
NO_INSTRUMENT = {
    "q4_3_3": TEXT,
    "q4_3_4": TEXT,
    "q4_3_5": SheetAnswer(("4",)),
    "q4_3_6": SheetAnswer(text="Mark errors"),
}
PREREGISTERED = {"q1_1_1": SheetAnswer(("3",), "https://osf.io/1")}


def lint(version: Version = "3.0", /, **changed: SheetAnswer) -> Lint:
    return lint_sheet(make_full(version, **changed))


def lint_card(change: Change) -> Lint:
    entries = make_entries(make_full("2.x"))
    change(entries)
    return lint_sheet(make_sheet_of(parse_card(SheetLayout().write(entries), "c"), "c"))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_full_sheet_is_clean(version: Version) -> None:
    found = lint(version)
    assert found.findings == ()
    assert found.open == ()
    assert found.passed


WRONG = [
    ("one-option", "3.3.1", {"q3_3_1": SheetAnswer(("1", "2"), "x")}),
    ("alone", "3.3.3.1", {"q3_3_3_1": SheetAnswer(("2", "7"), "x")}),
    ("alone", "3.3.5", {"q3_3_5": SheetAnswer(("1", "5"))}),
    ("alone", "3.3.6", {"q3_3_6": SheetAnswer(("1", "5"))}),
    ("alone", "2.4", {"q2_4": SheetAnswer(("1", "42"), "x")}),
    ("whole", "3.2.1", {"q3_2_1": SheetAnswer(text="about 20")}),
    ("size-and-values", "4.3.3", {"q4_3_3": SheetAnswer(text="7")}),
    ("task-or-instrument", "4.3.6", {"q4_3_6": SheetAnswer(text="Mark all errors")}),
    ("task-or-instrument", "4.3.6", {**NO_INSTRUMENT, "q4_3_6": TEXT}),
    ("task-or-instrument", "4.3.3", {"q4_3_3": TEXT, "q4_3_4": TEXT}),
    ("relative", "4.2.2", {"q4_2_2": SheetAnswer(("2",))}),
    ("relative", "4.2.2", {"q4_3_8": SheetAnswer(("3",))}),
    ("quality-details", "3.3.3.2", {"q3_3_3_2": TEXT}),
    ("conditions", "3.3.8", {"q3_3_7": SheetAnswer(("4",))}),
    ("preregistration", "3.3.1", {**PREREGISTERED, "q3_3_1": SheetAnswer(("2",))}),
    ("preregistration", "3.3.1", {**PREREGISTERED, "q3_3_1": SheetAnswer(("1",), "https://osf.io/2")}),
    ("authors-known", "3.2.2.3", {"q3_2_2_4": SheetAnswer(("1",))}),
    ("agreement-value", "4.3.11.2", {"q4_3_11_2": SheetAnswer()}),
    ("agreement-value", "4.3.11.2", {"q4_3_11_2": TEXT}),
    ("agreement-value", "4.3.12.2", {"q4_3_12_2": SheetAnswer(text="0.7")}),
    (
        "pay-amount",
        "3.2.3",
        {"q3_2_3": SheetAnswer(text="An online panel."), "q3_2_5": SheetAnswer(text="adults")},
    ),
    ("platform-ids", "5.2", {"q3_2_3": SheetAnswer(text="Prolific, 9 GBP an hour")}),
    ("stale-text", "2.3", {"q2_3": SheetAnswer(("1",), "left over")}),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "number", "changed"), WRONG)
def test_a_rule_finds_what_is_wrong_and_only_that(
    rule: str, number: str, changed: dict[str, SheetAnswer]
) -> None:
    found = lint("3.0", **changed)
    assert {(one.rule, one.number) for one in found.findings} == {(rule, number)}
    criteria = {one.criterion for one in found.findings}
    assert criteria == ({"fluency", "adequacy"} if number.startswith("4") else {""})


RIGHT = [
    {"q3_3_3_1": SheetAnswer(("7",), "small pilot"), "q3_3_3_2": TEXT},
    {"q3_2_1": TEXT},
    {"q4_3_3": SheetAnswer(text="continuous"), "q4_3_4": SheetAnswer(text="0 to 100")},
    {"q4_3_3": SheetAnswer(text="7"), "q4_3_4": SheetAnswer(text="1-7")},
    NO_INSTRUMENT,
    {"q4_2_2": SheetAnswer(("2",)), "q4_3_8": SheetAnswer(("3",))},
    {"q3_3_7": SheetAnswer(("2",)), "q3_3_8": TEXT},
    {**PREREGISTERED, "q3_3_1": SheetAnswer(("1",), "https://osf.io/1")},
    {"q3_2_2_4": SheetAnswer(("1",)), "q3_2_2_3": SheetAnswer(("1",))},
    {"q4_3_11_2": SheetAnswer(text="planned")},
    {
        "q3_2_3": SheetAnswer(text="Prolific, 9 GBP an hour"),
        "q5_2": SheetAnswer(("2",), "Prolific IDs, deleted in a month"),
    },
    {"q3_2_2_2": SheetAnswer(("3",)), "q3_2_3": SheetAnswer(text="Friends")},
]


@pytest.mark.parametrize("changed", RIGHT)
def test_what_is_right_passes(changed: dict[str, SheetAnswer]) -> None:
    assert lint("3.0", **changed).findings == ()


@pytest.mark.parametrize(
    ("rule", "number", "changed"),
    [
        ("size-and-values", "4.3.3", {"q4_3_3": SheetAnswer(("1",), "7")}),
        ("alone", "3.3.5", {"q3_3_5": SheetAnswer(("1", "3"), "x")}),
        ("agreement-value", "4.3.11.2", {"q4_3_11_1": SheetAnswer(("2",))}),
    ],
)
def test_rules_know_the_codes_of_2_x(rule: str, number: str, changed: dict[str, SheetAnswer]) -> None:
    assert {(one.rule, one.number) for one in lint("2.x", **changed).findings} == {(rule, number)}


def _copy_code(entries: Entries) -> None:
    entries["heds-system-output_languages-41"]["text"][""] = "40. Dzongkha"


def _mix(entries: Entries) -> None:
    entries["heds-ethics-personal_data-1"] = {"data": {"": True}, "control": {}, "text": {"": "1. No"}}


def _delete(entries: Entries) -> None:
    del entries[CRITERIA_KEY]["control"]["adequacy"]


def _hide(entries: Entries) -> None:
    entries[CRITERIA_KEY]["control"]["fluency"] = False


@pytest.mark.parametrize(
    ("rule", "number", "change"),
    [
        ("labels", "2.5", _copy_code),
        ("mixed-versions", "5.2", _mix),
        ("orphans", "4", _delete),
        ("criterion-names", "4", _hide),
    ],
)
def test_rules_about_the_file_itself(rule: str, number: str, change: Change) -> None:
    assert lint_card(lambda entries: None).findings == ()
    assert {(one.rule, one.number) for one in lint_card(change).findings} == {(rule, number)}


def test_names_of_criteria_that_the_form_garbles_are_found() -> None:
    found = lint_sheet(Sheet("3.0", ("a & b", "c"), {}))
    assert [(one.rule, one.criterion) for one in found.findings] == [("criterion-names", "a & b")]
    assert [one.text for one in lint_sheet(Sheet("3.0", (), {})).findings] == ["the sheet has no criterion"]


def test_every_rule_is_tested_here() -> None:
    tested = {rule for rule, _, _ in WRONG} | {"labels", "mixed-versions", "orphans", "criterion-names"}
    assert tested == set(RULES)


def test_advice_does_not_fail_the_check_and_findings_do() -> None:
    assert lint(q2_3=SheetAnswer(("1",), "left over")).passed
    assert not lint(q4_3_3=SheetAnswer(text="7")).passed


def test_open_questions_are_listed_with_what_is_missing() -> None:
    found = lint(q3_3_1=SheetAnswer(("1",)), q1_1_1=SheetAnswer((), "a text"), q5_1=SheetAnswer())
    assert {one.question.number: one.missing for one in found.open} == {
        "1.1.1": "say which option; the text is there",
        "3.3.1": "an explanation is missing",
        "5.1": "no answer",
    }
    assert found.passed
    assert json.loads(found.to_json())["open"][0]["number"] == "1.1.1"


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("1 (a, b), 2 (c)", 2),
        ("1 (a (x), b), 2", 2),
        ("yes, no", 2),
        ("Excellent; Good; Poor", 3),
        ("0..10", 11),
        ("0 (low) to 100 (high), one decimal", None),
        ("any number above 0", None),
        ("1 (smile :)), 2", None),
    ],
)
def test_values_are_counted_where_they_can_be(text: str, n: int | None) -> None:
    assert count_values(text) == n
