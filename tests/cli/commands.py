"""Running the command line inside the test's own process."""

import re
from typing import NamedTuple

import pytest

from panelist.cli.main import main
from panelist.cli.terminal import MORE

FORMULA = "rating ~ system + (1 | rater) + (1 | item)"


_WHERE_MORE = re.compile(rf"^{MORE}(\S+)#([a-z-]+)\n", re.MULTILINE)


class Outcome(NamedTuple):
    """What a command left: exit code, stdout, stderr without the line that leads to the docs."""

    code: int
    out: str
    err: str


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> Outcome:
    """Return what ``panelist ARGUMENTS`` does."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    code = ended.value.code
    assert isinstance(code, int | None)
    return Outcome(code or 0, out, _WHERE_MORE.sub("", err))
