"""Paying: everybody who is due, nobody twice, whatever happens to requests, answers and processes."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from panelist.collection.recruiting.errors import BadRecruiting
from panelist.collection.recruiting.payments import Payments
from panelist.collection.store.operations.recruits import (
    CREATED,
    LEASE_SECONDS,
    PAID,
    PAYING,
    ClaimPayments,
    MarkPayments,
)
from tests.collection.recruiting.fake_prolific import FAULTS, Fake
from tests.collection.recruiting.people import Office, make_recruiter, open_office, write_paid

PEOPLE = 5


def fill(office: Office, people: int = PEOPLE) -> list[str]:
    """Let people take part and hand in; return their submissions."""
    fake, study = office.server.fake, office.campaign
    fake.studies[study]["total_available_places"] = 99
    code = fake.studies[study]["completion_codes"][0]["code"]
    made = [fake.take_place(study, f"person{n}") for n in range(people)]
    for submission in made:
        fake.hand_in(submission, code)
    return made


def payments(office: Office) -> Payments:
    recruiter = make_recruiter(office.study, office.store, office.server.url)
    return Payments(recruiter.repository, recruiter.api, "Ada", lambda _: None)


def count_paid(fake: Fake) -> Counter[tuple[str, str]]:
    return Counter((submission, what) for submission, what, _ in fake.paid)


@pytest.mark.parametrize("seed", range(8))
def test_nobody_is_ever_paid_twice_whatever_fails(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    study = write_paid(tmp_path / "study")
    with open_office(study) as office:
        fake = office.server.fake
        office.publish()
        made = fill(office)
        people = {submission: f"person{n}" for n, submission in enumerate(made)}
        amounts = {submission: 10 + n for n, submission in enumerate(made)}
        fake.slow_bonus = rng.randrange(3)
        fake.racing = set(rng.sample(made, 2))
        fake.faults = lambda method, path: rng.choice(FAULTS) if rng.random() < 0.45 else ""
        for _ in range(6):  # each round is a new process that knows only the database
            payer = payments(office)
            with suppress(BadRecruiting):
                payer.approve(made, 420)
            with suppress(BadRecruiting):
                payer.pay_bonuses(office.campaign, amounts, people)
            assert max(count_paid(fake).values(), default=0) <= 1
        fake.faults = lambda method, path: ""
        payer = payments(office)
        payer.approve(made, 420)
        payer.pay_bonuses(office.campaign, amounts, people)
        reward = fake.studies[office.campaign]["reward"]
        wanted = [(submission, "reward", reward) for submission in made]
        assert sorted(fake.paid) == sorted([*wanted, *((one, "bonus", n) for one, n in amounts.items())])
        journal = payer.repository.payments()
        assert {payment.state for payment in journal} == {PAID}
        assert len(journal) == 2 * len(made)


@pytest.mark.parametrize("seed", range(4))
def test_a_process_that_dies_anywhere_is_taken_over_without_paying_again(tmp_path: Path, seed: int) -> None:
    """Between any two steps the process ends, and another goes on when its claim has run out."""
    rng = random.Random(seed)
    study = write_paid(tmp_path / "study")
    with open_office(study) as office:
        fake = office.server.fake
        office.publish()
        made = fill(office, 3)
        people = {submission: f"person{n}" for n, submission in enumerate(made)}
        amounts = dict.fromkeys(made, 25)

        class Dies(BaseException):
            pass

        for step in range(1, 14):
            payer = payments(office)
            left = [step if rng.random() < 0.8 else 99]
            do = payer.repository.do

            def count(op: object, left: list[int] = left, do: object = do) -> object:
                left[0] -= 1
                if left[0] == 0:
                    raise Dies
                if left[0] < 0:
                    raise Dies  # dead is dead: not even the claim is given up
                return do(op)  # type: ignore[operator]

            payer.repository.do = count  # type: ignore[method-assign, assignment]
            with suppress(Dies):
                payer.pay_bonuses(office.campaign, amounts, people)
            assert max(count_paid(fake).values(), default=0) <= 1
            expire_claims(office)
        payments(office).pay_bonuses(office.campaign, amounts, people)
        assert sorted(fake.paid) == sorted((one, "bonus", 25) for one in made)


def expire_claims(office: Office) -> None:
    """Let the time pass after which claims may be taken over."""
    with office.store.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE payments SET claimed = claimed - ?", (2 * LEASE_SECONDS,))


def test_two_at_once_do_not_pay_the_same(tmp_path: Path) -> None:
    study = write_paid(tmp_path / "study")
    with open_office(study) as office:
        office.publish()
        (made,) = fill(office, 1)
        repository = payments(office).repository
        assert [one.key for one in repository.do(ClaimPayments("bonus", {made: 30}, "first"))] == [
            f"bonus {made}"
        ]
        assert repository.do(ClaimPayments("bonus", {made: 30}, "second")) == ()
        assert payments(office).pay_bonuses(office.campaign, {made: 30}, {made: "person0"}).done == ()
        expire_claims(office)
        assert repository.do(ClaimPayments("bonus", {made: 30}, "second"))
        assert repository.do(MarkPayments((f"bonus {made}",), "first", CREATED, "stale list")) == ()
        assert repository.payments()[0].batch == ""
        assert office.server.fake.paid == []


@pytest.mark.parametrize("seed", range(3))
def test_several_who_pay_at_the_same_moment_pay_once(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    study = write_paid(tmp_path / "study")
    with open_office(study) as office:
        office.publish()
        made = fill(office)
        people = {submission: f"person{n}" for n, submission in enumerate(made)}
        fake = office.server.fake
        fake.faults = lambda method, path: rng.choice(FAULTS) if rng.random() < 0.2 else ""

        def work(payer: Payments) -> None:
            with suppress(BadRecruiting):
                payer.approve(made, 420)
            with suppress(BadRecruiting):
                payer.pay_bonuses(office.campaign, dict.fromkeys(made, 15), people)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, [payments(office) for _ in range(8)]))
        fake.faults = lambda method, path: ""
        work(payments(office))
        assert count_paid(fake) == dict.fromkeys(
            [(one, what) for one in made for what in ("reward", "bonus")], 1
        )


def test_a_list_is_paid_only_once_it_is_written_down(tmp_path: Path) -> None:
    study = write_paid(tmp_path / "study")
    with open_office(study) as office:
        office.publish()
        made = fill(office, 2)
        fake = office.server.fake
        lost = ["lost after"] * 2

        def lose(method: str, path: str) -> str:
            return lost.pop() if path == "/submissions/bonus-payments/" and lost else ""

        fake.faults = lose
        amounts = dict.fromkeys(made, 40)
        people = {made[0]: "person0", made[1]: "person1"}
        assert payments(office).pay_bonuses(office.campaign, amounts, people).done == tuple(made)
        assert [batch["paid"] for batch in fake.batches.values()] == [False, False, True]
        assert sorted(fake.paid) == sorted((one, "bonus", 40) for one in made)


def test_a_bonus_whose_answer_was_lost_is_looked_up_before_it_is_repeated(tmp_path: Path) -> None:
    study = write_paid(tmp_path / "study")
    with open_office(study) as office:
        office.publish()
        (made,) = fill(office, 1)
        fake = office.server.fake
        lost = ["lost after"]
        fake.faults = lambda method, path: lost.pop() if path.endswith("/pay/") and lost else ""
        assert payments(office).pay_bonuses(office.campaign, {made: 40}, {made: "person0"}).done == (made,)
        paying = [path for _, path, _ in fake.asked if path.endswith("/pay/")]
        assert len(paying) == 1
        assert fake.paid == [(made, "bonus", 40)]


def test_a_refusal_to_pay_is_told_and_can_be_tried_again(tmp_path: Path) -> None:
    study = write_paid(tmp_path / "study")
    with open_office(study) as office:
        office.publish()
        (made,) = fill(office, 1)
        fake = office.server.fake
        answer = fake.answer
        fake.answer = lambda method, path, query, body: (  # type: ignore[method-assign]
            (400, {"error": {"detail": "Not enough funds."}})
            if path.endswith("/pay/")
            else answer(method, path, query, body)
        )
        settled = payments(office).pay_bonuses(office.campaign, {made: 40}, {made: "person0"})
        assert "Not enough funds." in settled.refused[made]
        assert [one.state for one in payments(office).repository.payments()] == [CREATED]
        assert office.recruiter.look().unfinished == 1
        fake.answer = answer  # type: ignore[method-assign]
        assert payments(office).pay_bonuses(office.campaign, {}, {}).done == (made,)
        assert fake.paid == [(made, "bonus", 40)]
        assert len(fake.batches) == 1


def test_approving_waits_for_a_participant_who_still_hands_in(tmp_path: Path) -> None:
    study = write_paid(tmp_path / "study")
    with open_office(study) as office:
        office.publish()
        fake = office.server.fake
        made = fill(office, 2)
        fake.racing = {made[0]}
        fake.submissions[made[1]]["status"] = "ACTIVE"
        settled = payments(office).approve(made, 420)
        assert settled.done == (made[0],)
        assert settled.later == (made[1],)
        fake.submissions[made[1]]["status"] = "AWAITING REVIEW"
        assert payments(office).approve(made, 420).done == (made[1],)
        assert count_paid(fake) == dict.fromkeys([(one, "reward") for one in made], 1)


def test_what_was_returned_meanwhile_is_not_approved(tmp_path: Path) -> None:
    study = write_paid(tmp_path / "study")
    with open_office(study) as office:
        office.publish()
        (made,) = fill(office, 1)
        office.server.fake.give_back(made)
        settled = payments(office).approve([made], 420)
        assert settled.refused == {made: "it is returned on Prolific"}
        assert office.server.fake.paid == []


@pytest.mark.parametrize("seed", range(4))
def test_screening_out_pays_each_once(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    study = write_paid(tmp_path / "study")
    with open_office(study) as office:
        office.publish()
        fake = office.server.fake
        made = fill(office, 4)
        fake.faults = lambda method, path: rng.choice(FAULTS) if rng.random() < 0.4 else ""
        for _ in range(4):
            with suppress(BadRecruiting):
                payments(office).screen_out(office.campaign, made, 50)
        fake.faults = lambda method, path: ""
        payments(office).screen_out(office.campaign, made, 50)
        assert sorted(fake.paid) == sorted((one, "screen out", 50) for one in made)


def test_the_journal_holds_on_either_database(database_url: str, tmp_path: Path) -> None:
    study = write_paid(tmp_path / "paid")
    with open_office(study, database_url) as office:
        office.publish()
        made = fill(office, 2)
        people = {one: f"person{n}" for n, one in enumerate(made)}
        payer = payments(office)
        assert payer.pay_bonuses(office.campaign, dict.fromkeys(made, 5), people).done == tuple(made)
        assert payer.pay_bonuses(office.campaign, dict.fromkeys(made, 5), people).done == ()
        assert {(one.state, one.claim) for one in payer.repository.payments()} == {(PAID, "")}
        assert PAYING not in {one.state for one in payer.repository.payments()}
        assert office.store.actions(1)[0].what == "bonus done"
