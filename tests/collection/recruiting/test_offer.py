"""What a panel is offered, the codes of each end, and declared panels."""

from decimal import Decimal
from pathlib import Path

import pytest

from panelist.collection.recruiting.devices import find_device
from panelist.collection.recruiting.errors import BadRecruiting
from panelist.collection.recruiting.offer import check_promise, make_offer
from panelist.collection.recruiting.outcomes import CODE_TYPES, KINDS, dress_study, fill_outcomes
from panelist.collection.recruiting.panel import describe_panel
from panelist.collection.recruiting.study_draft import write_codes, write_study
from panelist.core.errors import BadStudy, UnknownName
from panelist.design.make import plan_study
from panelist.study.panels import find_panel, list_panels, write_link
from panelist.study.reading.load import find_problems, load_study
from panelist.study.sections.recruiting import Recruiting
from tests.collection.recruiting.people import PAID, URL, write_paid
from tests.collection.store.studies import write_study as write_files


def test_the_price_follows_from_plan_and_pay_rule_and_is_rounded_up(tmp_path: Path) -> None:
    study = write_paid(tmp_path)
    offer = make_offer(study, plan_study(study), 4)
    assert (offer.minutes, offer.reward, offer.wage) == (8, 168, Decimal("12.60"))  # 2 + 6 pages, 1 min each
    assert offer.total == Decimal("8.96")  # 4 x 1.68 and 33.3 %
    odd = write_paid(tmp_path / "odd", "", "minutes_per_trial: 1,", "minutes_per_trial: 1.01,")
    offer = make_offer(odd, plan_study(odd), 4)
    assert (offer.minutes, offer.reward) == (9, 189)
    assert offer.hourly >= offer.wage


def test_announcing_fewer_minutes_does_not_lower_the_price(tmp_path: Path) -> None:
    study = write_paid(tmp_path, "  minutes: 3\n")
    offer = make_offer(study, plan_study(study), 1)
    assert (offer.minutes, offer.reward) == (3, 168)


def test_less_than_promised_is_refused(tmp_path: Path) -> None:
    study = write_paid(tmp_path, "  reward: 1.67\n")
    with pytest.raises(
        BadRecruiting, match=r"1\.67 GBP for 8 minutes is less than the 12\.60 GBP an hour.*1\.68"
    ):
        make_offer(study, plan_study(study), 4)
    check_promise(study, 168, 8)
    with pytest.raises(BadRecruiting, match=r"Set the reward to 1\.89 there"):
        check_promise(study, 168, 9)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("living_wage: 12.60, ", "", "promises no wage"),
        ("minutes_per_trial: 1, ", "", "how long a page takes"),
        ("design: {type: latin-square}", "design: {type: latin-square, occasions: 2}", "2 sittings"),
    ],
)
def test_without_a_price_it_is_said_what_lacks(tmp_path: Path, old: str, new: str, words: str) -> None:
    study = write_paid(tmp_path, "", old, new)
    with pytest.raises(BadRecruiting, match=words):
        make_offer(study, plan_study(study), 4)


def test_each_end_has_a_code_that_nobody_guesses_and_the_file_goes_first(tmp_path: Path) -> None:
    study = write_paid(tmp_path, "collecting: {outcomes: {declined: {code: NOPE}}}\n")
    outcomes = fill_outcomes(study, "secret")
    codes = [getattr(outcomes, kind).code for kind in KINDS]
    assert len(set(codes)) == len(KINDS)
    assert outcomes.declined.code == "NOPE"
    assert outcomes == fill_outcomes(study, "secret")
    assert outcomes.finished.code != fill_outcomes(study, "another").finished.code
    assert {getattr(outcomes, kind).redirect for kind in KINDS} == {
        "https://app.prolific.com/submissions/complete?cc={code}"
    }
    assert study.file.collecting.outcomes.finished.code == ""
    assert dress_study(study, "secret").file.collecting.outcomes == outcomes


def test_prolific_is_told_what_to_do_with_each_code(tmp_path: Path) -> None:
    study = write_paid(tmp_path, "  approve: at once\n  screen_out: {reward: 0.501}\n")
    recruiting = study.file.recruiting
    assert recruiting is not None
    codes = {one["code_type"]: one for one in write_codes(recruiting, fill_outcomes(study, "s"))}
    assert set(codes) == set(CODE_TYPES.values())
    assert codes["COMPLETED"]["actions"] == [{"action": "AUTOMATICALLY_APPROVE"}]
    (action,) = codes["SCREENED_OUT"]["actions"]
    assert (action["action"], action["fixed_screen_out_reward"]) == ("FIXED_SCREEN_OUT_PAYMENT", 51)
    assert codes["NO_CONSENT"]["actions"] == [{"action": "MANUALLY_REVIEW"}]


def test_the_draft_has_what_the_study_file_says(tmp_path: Path) -> None:
    more = "  name: Judge texts\n  project: p1\n  most_minutes: 40\n"
    more += "  filters: [{filter_id: age, selected_range: {lower: 18}}]\n"
    study = write_paid(tmp_path, more + "collecting: {devices: [desktop]}\n")
    body = write_study(
        study, make_offer(study, plan_study(study), 4), fill_outcomes(study, "s"), URL, "mark", "native ü"
    )
    assert body["name"] == "Judge texts"
    assert body["project"] == "p1"
    assert body["maximum_allowed_time"] == 40
    assert body["device_compatibility"] == ["desktop"]
    assert body["filters"] == [{"filter_id": "age", "selected_range": {"lower": 18}}]
    assert body["external_study_url"].endswith("&SESSION_ID={{%SESSION_ID%}}&group=native%20%C3%BC")
    assert "mark" in body["internal_name"]


@pytest.mark.parametrize("name", ["prolific", "connect", "sona", "class"])
def test_every_panel_that_is_known_has_a_link(name: str) -> None:
    panel = list_panels()[name]
    link = write_link(panel, f"{URL}/join")
    assert link.startswith(f"{URL}/join")
    assert "{join}" not in link
    assert panel.id


def test_any_other_panel_is_declared(tmp_path: Path) -> None:
    more = (
        "  panels:\n    - {name: ours, id: who, extra: [room], codes: {finished: YES}, "
        "redirect: 'https://x.example/?c={code}&i={id}'}\n"
    )
    study = write_paid(tmp_path, more, "panel: prolific", "panel: ours")
    outcomes = fill_outcomes(study, "s")
    assert outcomes.finished.code == "YES"
    assert outcomes.finished.redirect == "https://x.example/?c={code}&i={id}"
    said = "\n".join(describe_panel(study, URL, "s"))
    assert f"{URL}/join?who=ID" in said
    assert "YES  finished" in said
    with pytest.raises(UnknownName, match="Did you mean 'ours'"):
        find_panel(study.file.recruiting or Recruiting(), "our")


def test_a_class_gets_codes_of_their_own(tmp_path: Path) -> None:
    study = write_paid(tmp_path, "", "panel: prolific", "panel: class")
    assert fill_outcomes(study, "s").finished.code == ""
    assert "an individual" in "\n".join(describe_panel(study, URL, "s"))


@pytest.mark.parametrize(
    ("more", "key", "words"),
    [
        ("  panel: prolofic\n", "recruiting.panel", "Did you mean 'prolific'"),
        ("  panels: [{name: a, id: b, redirect: 'http://x'}]\n", "recruiting.panels[0].redirect", "https"),
        ("  rejections: [{when: failed checks, message: No.}]\n", "message", "100 characters"),
        ("  filters: [{filter_id: a}]\n  filter_set: b\n", "recruiting.filter_set", "not both"),
        (
            "comprehension: {questions: [{question: What, options: [a, b], right: [c]}], pass_mark: 2}\n",
            "comprehension.questions[0].right",
            "'c' is not among the options",
        ),
        (
            "comprehension: {questions: [{question: What, options: [a, b], right: [a]}], attempts: 1}\n",
            "attempts",
            "2",
        ),
        ("collecting: {devices: [phone]}\n", "devices", "mobile"),
    ],
)
def test_mistakes_are_found_before_anybody_comes(tmp_path: Path, more: str, key: str, words: str) -> None:
    text = PAID.replace("  panel: prolific\n", "") + more if "panel: " in more else PAID + more
    with pytest.raises(BadStudy):
        write_files(tmp_path, text)
    found = [problem for problem in find_problems(tmp_path) if words in problem.message]
    assert found, find_problems(tmp_path)
    assert key in found[0].key


def test_a_study_without_recruiting_has_the_hash_that_it_had(tmp_path: Path) -> None:
    plain = PAID.split("recruiting:")[0]
    first = write_files(tmp_path / "a", plain)
    second = write_files(tmp_path / "b", plain + "collecting: {devices: [desktop, tablet, mobile]}\n")
    assert first.hash == second.hash
    assert load_study(tmp_path / "a").file.recruiting is None


@pytest.mark.parametrize(
    ("agent", "hint", "device"),
    [
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/130.0", "?0", "desktop"),
        ("Mozilla/5.0 (Linux; Android 10; K) Chrome/130.0 Mobile Safari/537.36", "?1", "mobile"),
        ("Mozilla/5.0 (Linux; Android 10; K) Chrome/130.0 Safari/537.36", "?0", "tablet"),
        ("Mozilla/5.0 (iPad; CPU OS 12_0 like Mac OS X) Mobile/15E148", "", "tablet"),
        ("Mozilla/5.0 (Android 14; Mobile; rv:132.0) Firefox/132.0", "", "mobile"),
        ("Mozilla/5.0 (Android 14; Tablet; rv:132.0) Firefox/132.0", "", "tablet"),
        ("", "", "desktop"),
    ],
)
def test_devices_are_told_apart(agent: str, hint: str, device: str) -> None:
    assert find_device(agent, hint) == device
