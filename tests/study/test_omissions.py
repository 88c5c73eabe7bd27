"""What ``check`` finds missing for raters: consent, contact and pay."""

from pathlib import Path

import pytest

from panelist.study.check_summary import check_study
from tests.study.studies import PLAIN, WHOLE, write_study


def list_notes(folder: Path, text: str) -> list[str]:
    found = check_study(write_study(folder, text))
    assert found.problems == ()
    return [str(note) for note in found.notes]


def test_a_bare_study_lacks_all_three(tmp_path: Path) -> None:
    notes = list_notes(tmp_path, PLAIN)
    assert [note.split()[1] for note in notes] == ["information.consent:", "information.contact:", "pay:"]
    assert all("is missing" in note for note in notes)


def test_a_whole_study_lacks_nothing(tmp_path: Path) -> None:
    assert list_notes(tmp_path, WHOLE) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WHOLE.replace("me@university.edu", "research@example.org"), "is only an example"),
        (WHOLE.replace("me@university.edu", "' '"), "information.contact: is missing"),
        (WHOLE.replace("living_wage: 12, ", ""), "pay: gives no wage"),
    ],
)
def test_what_is_there_in_name_only_is_told_too(tmp_path: Path, text: str, said: str) -> None:
    assert any(said in note for note in list_notes(tmp_path, text))


@pytest.mark.parametrize("paid", ["other", "no"])
def test_raters_who_get_no_money_need_no_pay(tmp_path: Path, paid: str) -> None:
    text = WHOLE.split("pay:")[0] + f"raters: {{paid: '{paid}'}}\n"
    assert list_notes(tmp_path, text) == []
