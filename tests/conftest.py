"""A small study with its plan, and an empty store for it on each kind of database."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.examples import QUICK

if TYPE_CHECKING:  # a fixture imports what it needs: most tests need no database and no browser
    from playwright.sync_api import Browser

    from panelist.collection.store.store import Store
    from panelist.design.plan import Plan
    from panelist.study.study import Study
    from tests.collection.browsers import Windows
    from tests.collection.store.postgres import Server

NEEDS = {"windows": "browser", "browser": "browser", "postgres": "postgres", "postgres_server": "postgres"}
settings.register_profile("patient", settings(), deadline=None)  # a busy machine takes its time
settings.load_profile("patient")
settings.register_profile("quick", settings(), max_examples=QUICK)  # make test-quick


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Half as many processes again as there are cores: much of the time a test waits for a server or browser.

    Those of make test-quick never do: there, and where the environment gives a number, xdist decides.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ or "not browser" in config.option.markexpr:
        return None
    from panelist.numerics.compile_ahead import count_cores

    cores = count_cores()
    return cores + (cores + 1) // 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that needs a browser or PostgreSQL, by the fixtures that it uses."""
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            if fixture in NEEDS:
                item.add_marker(NEEDS[fixture])
        if getattr(getattr(item, "callspec", None), "params", {}).get("database_url") == "postgresql":
            item.add_marker("postgres")


@pytest.fixture
def study(tmp_path: Path) -> "Study":
    from tests.collection.store.studies import RATED, write_study

    return write_study(tmp_path / "study", RATED)


@pytest.fixture
def plan(study: "Study") -> "Plan":
    from panelist.design.make import plan_study

    return plan_study(study)


@pytest.fixture(scope="session")
def postgres_server() -> "Iterator[Server]":
    """A server of our own, which a test may stop and must start again."""
    from tests.collection.store.postgres import Server, find_programs

    programs = find_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: no initdb")
    server = Server(programs)
    yield server
    server.remove()


@pytest.fixture
def postgres(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty PostgreSQL database."""
    from tests.collection.store.postgres import ASKED_FOR, drop_database, find_programs, make_database

    asked = os.environ.get(ASKED_FOR)
    if asked is None and find_programs() is None:
        pytest.skip(f"PostgreSQL is not installed, and {ASKED_FOR} names no server")
    made = make_database(asked or request.getfixturevalue("postgres_server").url())
    yield made
    drop_database(made)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'collected.db'}"
    return str(request.getfixturevalue("postgres"))


@pytest.fixture
def store(database_url: str, study: "Study", plan: "Plan") -> "Iterator[Store]":
    """An empty store of the small study, on either kind of database."""
    from panelist.collection.store.store import open_store

    with open_store(database_url, study, plan) as opened:
        yield opened


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A browser for the tests of a file."""
    from tests.collection.browsers import CHROMIUM, use_browser

    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: no program 'chromium'")
    with use_browser() as started:
        yield started


@pytest.fixture(scope="module")
def windows(browser: "Browser") -> "Iterator[Windows]":
    """Windows of that browser, used again."""
    from tests.collection.browsers import Windows

    opened = Windows(browser)
    yield opened
    opened.close()
