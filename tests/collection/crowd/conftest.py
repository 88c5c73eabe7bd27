"""Every way to the fake Prolific that a test opens is closed after it, and none leads to the real one."""

from collections.abc import Iterator

import pytest

from panelist.collection.crowd.prolific.wire import HttpWire


@pytest.fixture(autouse=True)
def close_wires(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    opened: list[HttpWire] = []
    open_one = HttpWire.__post_init__

    def keep(wire: HttpWire) -> None:
        assert wire.url.startswith("http://127.0.0.1:"), "tests talk to the fake only"
        open_one(wire)
        opened.append(wire)

    monkeypatch.setattr(HttpWire, "__post_init__", keep)
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    monkeypatch.delenv("PROLIFIC_URL", raising=False)
    yield
    for wire in opened:
        wire.close()
