"""The door of the dashboard: few guesses, no session that another knows, no form of another site."""

import asyncio
import re
from http.cookies import SimpleCookie

import pytest
from starlette.requests import Request
from starlette.responses import Response

from panelist.collection.addresses import BadAddress, check_url
from panelist.web.config import find_hosts
from panelist.web.dashboard.login import FREE_GUESSES, SESSION_SECONDS, Guesses, Login, Refused, Session
from panelist.web.dashboard.passwords import find_weakness, hash_password, is_password, make_password
from panelist.web.security import Limiter, find_address

KNOWN = hash_password("a-good-password")


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def enter(login: Login, password: str = "a-good-password", address: str = "10.0.0.1") -> Session | Refused:
    return asyncio.run(login.enter(password, address))


def let_in(login: Login) -> Session:
    session = enter(login)
    assert isinstance(session, Session)
    return session


def make_request(cookie: str = "") -> Request:
    headers = [(b"cookie", cookie.encode())] if cookie else []
    return Request({"type": "http", "method": "GET", "path": "/dashboard", "headers": headers})


def keep(login: Login, session: Session) -> tuple[str, str]:
    """Return the cookie as it is sent back, and the header that set it."""
    response = Response()
    login.keep(response, session)
    header = response.headers["set-cookie"]
    cookie: SimpleCookie = SimpleCookie(header)
    ((name, morsel),) = cookie.items()
    return f"{name}={morsel.value}", header


def test_passwords_are_long_and_never_the_same() -> None:
    drawn = {make_password() for _ in range(100)}
    assert len(drawn) == 100
    assert all(len(password.replace("-", "")) == 16 for password in drawn)


def test_only_the_password_is_the_password() -> None:
    assert is_password(" a-good-password\n", KNOWN)  # copied with its line
    for wrong in ("", "a-good-passwor", "A-good-password", "a-good-password\0", "\ud800"):
        assert not is_password(wrong, KNOWN)
    assert b"good" not in KNOWN.digest
    assert "digest" not in repr(KNOWN)


def test_the_right_password_gives_a_session_that_every_process_knows() -> None:
    one, other = Login("secret", KNOWN, False), Login("secret", KNOWN, False)
    session = let_in(one)
    cookie, _ = keep(one, session)
    assert other.find(make_request(cookie)) == session


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites() -> None:
    for https in (False, True):
        login = Login("secret", KNOWN, https)
        _, header = keep(login, let_in(login))
        assert "HttpOnly" in header
        assert "SameSite=strict" in header
        assert ("Secure" in header) is https
        assert header.startswith("__Host-") is https
        assert "Domain" not in header


def test_a_session_that_somebody_brought_along_is_not_the_one_that_is_made() -> None:
    login = Login("secret", KNOWN, False)
    planted = f"{login.cookie}={'a' * 32}.9999999999.{'0' * 64}"
    assert login.find(make_request(planted)) is None
    first, second = let_in(login), let_in(login)
    assert len({"a" * 32, first.id, second.id}) == 3


def test_a_cookie_that_was_changed_or_is_over_opens_nothing() -> None:
    clock = Clock()
    login = Login("secret", KNOWN, False, clock)
    cookie, _ = keep(login, let_in(login))
    name, _, value = cookie.partition("=")
    session_id, until, mark = value.split(".")
    changed = [
        f"{'0' * 32}.{until}.{mark}",
        f"{session_id}.{int(until) + 1}.{mark}",
        f"{session_id}.{until}.{mark[:-1]}",
        f"{session_id}.{until}.",
        f"{session_id}.{until}.é",
        f"{session_id}.{'9' * 5000}.{mark}",
        "",
        "..",
    ]
    for other in changed:
        assert login.find(make_request(f"{name}={other}")) is None
    assert login.find(make_request(cookie)) is not None
    clock.now += SESSION_SECONDS + 1
    assert login.find(make_request(cookie)) is None


def test_a_new_password_or_another_study_ends_all_sessions() -> None:
    login = Login("secret", KNOWN, False)
    cookie, _ = keep(login, let_in(login))
    value = cookie.partition("=")[2]
    for other in (Login("secret", hash_password("another-password"), False), Login("other", KNOWN, False)):
        assert other.find(make_request(f"{other.cookie}={value}")) is None


def test_a_password_of_ones_own_keeps_its_sessions_over_a_restart() -> None:
    before = Login("secret", hash_password("a-password-of-my-own", b"salt of the study"), False)
    after = Login("secret", hash_password("a-password-of-my-own", b"salt of the study"), False)
    session = enter(before, "a-password-of-my-own")
    assert isinstance(session, Session)
    assert after.find(make_request(keep(before, session)[0])) == session


def test_forms_of_the_dashboard_need_the_token_of_their_session() -> None:
    login = Login("secret", KNOWN, False)
    one, other = let_in(login), let_in(login)
    assert login.is_ours(one, one.csrf)
    for token in (other.csrf, "", None, one.id, "é"):
        assert not login.is_ours(one, token)


def test_after_five_wrong_passwords_even_the_right_one_must_wait() -> None:
    clock = Clock()
    login = Login("secret", KNOWN, False)
    login._guesses = Guesses(clock)
    waits = []
    for _ in range(FREE_GUESSES):
        refused = enter(login, "wrong-password")
        assert isinstance(refused, Refused)
        waits.append(refused.wait)
    assert waits == [0, 0, 0, 0, 1]
    assert isinstance(enter(login), Refused)
    assert isinstance(enter(login, address="10.0.0.2"), Session)  # others are not locked out
    clock.now += 1.1
    refused = enter(login, "wrong-password")
    assert isinstance(refused, Refused)
    assert refused.wait == 2  # and each further one costs twice as much
    clock.now += 2.1
    assert isinstance(enter(login), Session)


def test_a_browser_that_was_let_in_before_is_not_kept_out_by_who_guesses_beside_it() -> None:
    login = Login("secret", KNOWN, False)
    response = Response()
    login.keep(response, let_in(login))
    known = next(value for value in response.headers.getlist("set-cookie") if value.startswith(login.known))
    assert "HttpOnly" in known
    assert "SameSite=strict" in known
    request = make_request(known.partition(";")[0])
    browser = login.find_browser(request)
    assert browser
    for _ in range(20):
        enter(login, "wrong-password")
    assert isinstance(enter(login), Refused), "another client on the same network guesses"
    assert isinstance(asyncio.run(login.enter("a-good-password", "10.0.0.1", browser)), Session)
    forged = make_request(f"{login.known}={browser}.{'0' * 64}")
    assert login.find_browser(forged) == ""
    assert login.find_browser(make_request()) == ""


def test_wrong_passwords_are_forgotten_after_a_quarter_of_an_hour() -> None:
    clock = Clock()
    guesses = Guesses(clock)
    for _ in range(10):
        guesses.note_wrong("10.0.0.1")
    clock.now += 901
    assert guesses.note_wrong("10.0.0.1") == 0


@pytest.mark.parametrize(
    ("password", "words"),
    [
        ("short", "5 characters"),
        ("aaaaaaaaaaaaaaaa", "1 different"),
        ("abcabcabcabcabc", "3 different"),
        ("k7qdm2k7qdm2", "repeats the same"),
        ("password1234", "common password"),
        ("Panelist-2026!", "common password"),
        ("qwertyuiop123", "common password"),
        ("739154820617", "digits only"),
        ("bcdefghijklmn", "common password|row of keys"),
        ("nmlkjihgfedcb", "row of keys"),
    ],
)
def test_a_password_that_is_tried_first_is_weak(password: str, words: str) -> None:
    assert re.search(words, find_weakness(password)), find_weakness(password)


@pytest.mark.parametrize(
    "password", ["correct-horse-battery", "a-password-of-my-own", "k7qd-m2xw-9rta-hv3e", "Über den Wolken 7"]
)
def test_a_password_of_random_words_or_letters_will_do(password: str) -> None:
    assert find_weakness(password) == ""
    assert all(find_weakness(make_password()) == "" for _ in range(200))


def test_guessing_never_costs_more_than_a_minute_nor_memory_without_end() -> None:
    clock = Clock()
    guesses = Guesses(clock, most=100)
    assert max(guesses.note_wrong("10.0.0.1") for _ in range(200)) == 60
    for n in range(1000):
        guesses.note_wrong(f"10.0.1.{n}")
    assert len(guesses._wrong) == 100


def test_so_many_a_minute_come_in_from_one_address() -> None:
    clock = Clock()
    limiter = Limiter(60, clock, most=50)
    assert [limiter.wait("a") for _ in range(60)] == [0.0] * 60
    assert limiter.wait("a") == pytest.approx(1.0)
    assert limiter.wait("b") == 0.0
    clock.now += 1.0
    assert limiter.wait("a") == 0.0
    assert limiter.wait("a") > 0
    for n in range(200):
        limiter.wait(f"other-{n}")
    assert len(limiter._left) == 50


def test_addresses_of_one_network_count_as_one() -> None:
    assert find_address({"client": ("2001:db8:1:2:3:4:5:6", 1)}) == "2001:db8:1:2"
    assert find_address({"client": ("192.0.2.7", 1)}) == "192.0.2.7"
    assert find_address({"client": None}) == ""


@pytest.mark.parametrize(
    "url",
    [
        "",
        "rate.example.org",
        "ftp://a.org",
        "https://",
        "https://a.org/a b",
        "https://a.org//evil.example",
        "https://a.org/..",
        "https://[a",
        "https://a.org?x=1",
        "https://u:p@a.org",
    ],
)
def test_an_address_that_cannot_be_the_pages_is_refused(url: str) -> None:
    with pytest.raises(BadAddress, match="is not an address for the pages"):
        check_url(url)


def test_a_server_answers_to_its_own_names_only() -> None:
    assert "rate.example.org" in find_hosts("127.0.0.1", "https://rate.example.org")
    assert set(find_hosts("127.0.0.1", None)) == {"127.0.0.1", "localhost", "[::1]"}
    assert "192.0.2.1" in find_hosts("192.0.2.1", None)
    assert find_hosts("0.0.0.0", None) == ()
