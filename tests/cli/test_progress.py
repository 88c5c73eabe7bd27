"""How far a simulation is, where there is no terminal: lines in a log."""

import threading

import pytest

from panelist.cli.power import progress
from panelist.core.progress import Progress
from tests.patience import PATIENCE


def test_a_log_gets_a_line_though_no_data_set_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "MOMENTS", (0.01, 0.02))
    monkeypatch.setattr(progress, "EVERY", 0.01)
    written = threading.Event()
    said: list[str] = []

    class Lines:
        def write(self, text: str) -> None:
            said.append(text)
            if "of at most 340" in text:
                written.set()

        def flush(self) -> None: ...

        def isatty(self) -> bool:
            return False

    monkeypatch.setattr("sys.stderr", Lines())
    with progress.show_power_progress() as report:
        report(Progress(0, 340, "expected: 470 items", in_work=6, at_most=True))
        assert written.wait(PATIENCE)
    assert any("0 of at most 340 data sets" in text and "expected: 470 items" in text for text in said)


def test_nothing_is_said_of_what_is_done_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.show_power_progress() as report:
        report(Progress(1, 1, ""))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("now", "passed", "said"),
    [
        (Progress(100, 400, ""), 60.0, "about 3 min left"),
        (Progress(100, 400, "", at_most=True), 60.0, "at most 3 min left"),
        (Progress(0, 400, "", in_work=8), 10.0, "more than 8 min left"),
        (Progress(0, 400, "", in_work=8), 1.0, ""),
        (Progress(0, 400, ""), 100.0, ""),
        (Progress(0, 100, "", in_work=100), 8.0, ""),  # all of it is in work: never "more than 0 s"
    ],
)
def test_the_time_left_follows_from_what_is_done_or_in_work(now: Progress, passed: float, said: str) -> None:
    assert progress.say_left(now, passed) == said
