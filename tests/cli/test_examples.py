"""The examples in every command's help: there are some, and every option in them exists."""

import shlex

import pytest
import typer

from panelist.cli.examples import EXAMPLES
from panelist.cli.main import Commands, app
from tests.cli.commands import call

GROUP = Commands(commands=typer.main.get_command(app).commands)  # type: ignore[attr-defined]
COMMANDS = GROUP.commands


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_help_ends_with_examples(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert EXAMPLES[command]
    shown = call(capsys, *command.split(), "--help")
    assert shown.code == 0
    for line in EXAMPLES[command]:
        assert f"  {line}\n" in shown.out


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_fits_a_terminal(capsys: pytest.CaptureFixture[str], command: str) -> None:
    lines = call(capsys, *command.split(), "--help").out.splitlines()
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_every_example_can_be_parsed(line: str) -> None:
    program, *rest = shlex.split(line)
    assert program == "panelist"
    name, command, rest = GROUP.resolve_command(GROUP.make_context(program, rest), rest)
    assert line in EXAMPLES[str(name)]
    command.make_context(name, rest)


def test_there_is_no_example_of_a_command_that_is_gone() -> None:
    assert set(EXAMPLES) == set(COMMANDS)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_where_a_result_goes_is_called_output_everywhere(command: str) -> None:
    for option in COMMANDS[command].params:
        assert "--out" not in option.opts
        if "-o" in option.opts:
            assert "--output" in option.opts
