"""The table of questions: complete, and the same as the description of the forms, where that is available."""

import json

import pytest

from panelist.core.errors import UnknownName
from panelist.reports.datasheet.files.card import list_keys
from panelist.reports.datasheet.heds_questions import (
    VERSIONS,
    Version,
    find_question,
    list_questions,
    list_sections,
    read_version,
)
from panelist.reports.datasheet.languages import find_language, list_languages
from tests.reports.datasheet.sheets import SHARED

DESCRIPTION = SHARED / "heds.json"
needs_description = pytest.mark.skipif(not DESCRIPTION.exists(), reason=f"there is no {DESCRIPTION}")
NAMES = {"3.0": "3.0", "2.x": "2.web-2022-11-18"}


@pytest.mark.parametrize("version", VERSIONS)
def test_both_versions_ask_62_questions_with_keys_and_titles_of_their_own(version: Version) -> None:
    questions = list_questions(version)
    assert len(questions) == 62
    assert len({one.number for one in questions}) == len({one.key for one in questions}) == 62
    assert all(one.title.endswith("?") or "," in one.title for one in questions)
    assert {one.section for one in questions} == set(list_sections())


def test_an_export_of_3_0_holds_569_keys() -> None:
    assert len(list_keys("3.0")) == len(set(list_keys("3.0"))) == 569


def test_codes_of_3_0_differ_from_the_numbers_of_labels_where_the_form_has_them_so() -> None:
    english = next(one for one in find_question("3.0", "2.5").options if one.words == "English")
    assert (english.code, english.number) == ("42", "41")
    assert find_question("3.0", "2.2").by_code["13"].number == "14"
    assert find_question("2.x", "2.5").by_code["41"].words == "English"


def test_languages_are_found_by_their_tags() -> None:
    assert len(list_languages()) == 183
    assert find_language("de-AT") == 55
    assert find_language("EN_gb") == 41
    assert find_language("") is None


@pytest.mark.parametrize(
    ("word", "version"), [("3.0", "3.0"), ("3", "3.0"), ("2.x", "2.x"), ("HEDS 2.0", "2.x")]
)
def test_versions_are_read_as_people_write_them(word: str, version: Version) -> None:
    assert read_version(word) == version


def test_unknown_versions_and_questions_say_which_there_are() -> None:
    with pytest.raises(UnknownName, match=r"no HEDS version '4\.0'.*3\.0 and 2\.x"):
        read_version("4.0")
    with pytest.raises(UnknownName, match=r"no question '3\.1\.9'.*Did you mean"):
        find_question("3.0", "3.1.9")


@needs_description
@pytest.mark.parametrize("version", VERSIONS)
def test_keys_kinds_and_labels_are_those_of_the_forms(version: Version) -> None:
    described = json.loads(DESCRIPTION.read_text("utf-8"))["versions"][NAMES[version]]
    kinds = {"free_text": "text", "integer": "whole", "single_choice": "one", "multiple_choice": "many"}
    for ours, theirs in zip(list_questions(version), described["questions"], strict=True):
        assert (ours.number, ours.key, ours.kind) == (
            theirs["id"],
            theirs["form_key"],
            kinds[theirs["answer_type"]],
        )
        assert ours.per_criterion == theirs["per_criterion"]
        listed = described[theirs["options_ref"]] if "options_ref" in theirs else theirs.get("options", [])
        wanted = [
            (one["code"], one["label"], one.get("needs_text", False), one.get("exclusive_none", False))
            for one in listed
        ]
        assert [(one.code, one.label, one.needs_text, one.alone) for one in ours.options] == wanted
