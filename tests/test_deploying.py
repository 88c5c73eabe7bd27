"""The page on deploying: the files that it shows are understood by the program."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from panelist.cli.export import DATABASE_VARIABLE
from panelist.cli.main import app
from panelist.collection.addresses import check_url
from panelist.web.config import check_proxy
from panelist.web.dashboard.passwords import find_weakness
from panelist.web.server import PASSWORD_VARIABLE
from tests.cli.commands import call

TEXT = (Path(__file__).parents[1] / "docs" / "deploying.md").read_text(encoding="utf-8")
BLOCKS: list[str] = re.findall(r"^```text\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def find_block(word: str) -> str:
    return next(block for block in BLOCKS if word in block)


def parse(words: list[str]) -> dict[str, Any]:
    """Return what a command line means, without running it."""
    commands: Any = typer.main.get_command(app)
    command = commands.commands[words[0]]
    with command.make_context(words[0], list(words[1:])) as context:
        parameters: dict[str, Any] = context.params
        return parameters


def test_the_unit_starts_a_server_as_the_program_understands_it() -> None:
    unit = find_block("[Service]")
    found = re.search(r"^ExecStart=(\S+) (.*)$", unit, re.MULTILINE)
    assert found
    asked = parse(shlex.split(found[2]))
    assert check_url(asked["url"]) == "https://rate.example.org"
    assert (asked["host"], asked["port"]) == ("127.0.0.1", 8000)
    assert str(asked["study"]).startswith(re.findall(r"^ReadWritePaths=(\S+)$", unit, re.MULTILINE)[0])


def test_the_container_starts_a_server_that_believes_its_proxy() -> None:
    words = re.search(r"^CMD (\[.*\])$", find_block("ENTRYPOINT"), re.MULTILINE)
    assert words
    asked = parse(json.loads(words[1]))
    assert check_url(asked["url"])
    assert [check_proxy(one) for one in asked["trusted_proxy"]]
    assert asked["host"] == "0.0.0.0"


def test_the_secrets_have_the_names_that_the_program_reads() -> None:
    lines = dict(line.split("=", 1) for line in find_block("PANELIST_PASSWORD=").splitlines())
    assert set(lines) == {PASSWORD_VARIABLE, DATABASE_VARIABLE, "PROLIFIC_TOKEN"}
    assert find_weakness(lines[PASSWORD_VARIABLE]) == ""


OTHERS = sorted(set(re.findall(r"panelist (backup|restore|forget) (.*)$", TEXT, re.MULTILINE)))


@pytest.mark.parametrize("command", OTHERS)
def test_every_other_command_is_understood(command: tuple[str, str]) -> None:
    words = re.sub(r"\$\(date [^)]*\)", "today", command[1])
    assert parse([command[0], *shlex.split(words, comments=True)])


def test_every_folder_that_is_written_to_is_made_first() -> None:
    made = re.findall(r"install -d [^\n]*?(/[\w/.-]+)$", TEXT, re.MULTILINE)
    written = re.findall(r"(?:-o |append:)(/[\w/-]+)/[^/\n]+$", TEXT, re.MULTILINE)
    assert {"/srv/panelist/backups", "/var/log/panelist"} <= set(written)
    assert set(written) <= {*made, "/srv/panelist"}, "useradd makes the last"


def test_the_log_is_cut_in_place_and_its_mode_is_not_left_to_an_ignored_line() -> None:
    rotation = find_block("rotate 4")
    assert "copytruncate" in rotation
    assert "create" not in rotation.split(), "logrotate ignores it beside copytruncate"


def test_the_proxies_pass_on_what_the_server_reads() -> None:
    nginx = find_block("proxy_pass")
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in nginx
    assert "proxy_buffering off;" in nginx, "the live dashboard is one reply that never ends"
    assert "127.0.0.1:8000" in nginx
    assert check_url("https://lab.example.org/rating") in TEXT


def test_the_database_comes_from_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(capsys, "init", tmp_path / "study").code == 0
    monkeypatch.setenv(DATABASE_VARIABLE, "postgresql://nobody:hidden-word@127.0.0.1:1/x")
    done = call(capsys, "export", tmp_path / "study", "-o", tmp_path / "ratings.csv")
    assert (done.code, "cannot be reached" in done.err, "hidden-word" in done.err) == (2, True, False), (
        done.err
    )
