"""Every connection to the fake Prolific of a test is closed after it, and none leads to the real one."""

from collections.abc import Iterator

import pytest

from panelist.collection.recruiting.prolific.client import HttpClient


@pytest.fixture(autouse=True)
def close_wires(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    opened: list[HttpClient] = []
    open_one = HttpClient.__post_init__

    def keep(client: HttpClient) -> None:
        assert client.url.startswith("http://127.0.0.1:"), "tests talk to the fake only"
        open_one(client)
        opened.append(client)

    monkeypatch.setattr(HttpClient, "__post_init__", keep)
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    monkeypatch.delenv("PROLIFIC_URL", raising=False)
    yield
    for client in opened:
        client.close()
