"""Running the command line inside the test's own process."""

import re
from typing import NamedTuple

import pytest

from panelist.cli.main import main
from panelist.core.errors import MORE

FORMULA = "rating ~ system + (1 | rater) + (1 | item)"

NAMES = [
    "demo",
    "init",
    "check",
    "power",
    "power paper",
    "size",
    "plan",
    "plan extend",
    "preregister",
    "simulate",
]
NAMES += ["serve", "links", "recruit", "export", "backup", "restore", "forget", "import"]
NAMES += ["report", "heds fill", "heds lint", "heds convert", "heds diff", "archive", "verify"]
NAMES += [
    "agreement",
    "compare",
    "judges prompts",
    "judges read",
    "judges worth",
    "scales",
    "reproduce",
    "reproduce size",
    "fit",
    "schema",
]

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
