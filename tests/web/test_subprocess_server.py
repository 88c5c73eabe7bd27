"""A server beside the program that started it."""

import operator
from pathlib import Path

import pytest

from panelist.collection.robots.browser import BadServer
from panelist.study.start import init_study
from panelist.web import subprocess_server
from panelist.web.server import ServeOptions
from panelist.web.subprocess_server import serve_beside


@pytest.mark.slow
def test_a_server_that_ends_before_it_answers_is_told_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    init_study(tmp_path / "study", "likert")
    monkeypatch.setattr(subprocess_server, "run", operator.truth)  # ends at once
    options = ServeOptions(study=tmp_path / "study", port=0)
    with pytest.raises(BadServer, match=r"ended before it answered \(exit code 0\)"), serve_beside(options):
        pytest.fail("there is no server")
