"""Answers written into study.yaml under ``heds:``, line by line: comments and everything else stay."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from panelist.core.errors import BadFile, BadStudy
from panelist.core.files import replace_file
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from panelist.study.yaml_lines import read_yaml

Given: TypeAlias = str | tuple[str, ...] | Mapping[str, Any]
SECTION = "heds"


def save_answers(study: Study, answers: Mapping[str, Given]) -> Study:
    """Write answers into the study's file and return the study as it is then.

    The new text is read before it is put in place: it must say what the old one said, plus the answers.
    """
    path = study.path
    if path is None:
        raise BadFile("This study was made in Python and has no file to write answers into.")
    before = path.read_bytes()
    text = before.decode("utf-8-sig")
    newline = "\r\n" if "\r\n" in text else "\n"
    made = insert_answers(text.replace("\r\n", "\n"), answers).replace("\n", newline)
    content = (b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b"") + made.encode("utf-8")
    trial = path.with_name(f".{path.name}.answers")
    try:
        replace_file(trial, content)
        _check_same(path, trial, answers)
        fresh = load_study(trial)
    finally:
        trial.unlink(missing_ok=True)
    replace_file(path, content)
    return Study(fresh.file, fresh.outputs, path, fresh.notes)


def insert_answers(text: str, answers: Mapping[str, Given]) -> str:
    """Return the text of a study file with the answers in its ``heds:`` section, older ones replaced.

    >>> text = 'title: x\\nheds: # people only\\n  "5.1": y # ours\\n'
    >>> print(insert_answers(text, {"5.4": "none made"}), end="")
    title: x
    heds: # people only
      "5.1": y # ours
      "5.4": "none made"
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        raise BadFile("The study file holds no keys such as title: and criteria:.")
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    found = next(((key, value) for key, value in root.value if key.value == SECTION), None)
    if found is None:
        return "".join([*lines, "\n", f"{SECTION}:\n", *_write_lines(answers, "  ")])
    key, value = found
    if isinstance(value, yaml.MappingNode) and not value.flow_style:
        return _extend_block(lines, value, answers)
    return _open_block(lines, key, value, answers)


def _extend_block(lines: list[str], section: yaml.MappingNode, answers: Mapping[str, Given]) -> str:
    """Return the lines with answers after the last one of a block, and without those they replace."""
    indent = " " * section.value[0][0].start_mark.column
    gone: set[int] = set()
    last = 0
    for key, value in section.value:
        end = _find_end(lines, value)
        last = max(last, end)
        if str(key.value) in answers:
            gone |= set(range(key.start_mark.line, end + 1))
    kept = [line for place, line in enumerate(lines[: last + 1]) if place not in gone]
    return "".join([*kept, *_write_lines(answers, indent), *lines[last + 1 :]])


def _open_block(lines: list[str], key: yaml.Node, value: yaml.Node, answers: Mapping[str, Given]) -> str:
    """Return the lines with ``heds:`` or ``heds: {…}`` made into a block."""
    line, end = key.start_mark.line, value.end_mark.line
    empty = isinstance(value, yaml.ScalarNode) and not value.value
    if empty:
        return "".join([*lines[: line + 1], *_write_lines(answers, "  "), *lines[line + 1 :]])
    if not isinstance(value, yaml.MappingNode) or end != line:
        raise BadFile(
            f"The section {SECTION}: of the study (line {line + 1}) cannot take answers as it is "
            'written. Put each answer on a separate line, such as "5.1": Approved by …'
        )
    here = {str(name.value): _read_plain(node) for name, node in value.value}
    comment = lines[line][value.end_mark.column :].strip()
    head = f"{SECTION}:{f' {comment}' if comment else ''}\n"
    return "".join([*lines[:line], head, *_write_lines({**here, **answers}, "  "), *lines[line + 1 :]])


def _find_end(lines: list[str], node: yaml.Node) -> int:
    """Return the last line of a value: a block ends where the next thing begins, less what is empty there."""
    end = node.end_mark.line if node.end_mark.column else node.end_mark.line - 1
    end = max(end, node.start_mark.line)
    while end > node.start_mark.line and (not lines[end].strip() or lines[end].lstrip().startswith("#")):
        end -= 1
    return end


def _read_plain(node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return tuple(str(one.value) for one in node.value)
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _read_plain(one) for key, one in node.value}
    return str(node.value)


def _write_lines(answers: Mapping[str, Given], indent: str) -> list[str]:
    lines = []
    for number, value in answers.items():
        if isinstance(value, Mapping):
            lines.append(f'{indent}"{number}":\n')
            lines += [f"{indent}  {_quote(name)}: {_write_value(one)}\n" for name, one in value.items()]
        else:
            lines.append(f'{indent}"{number}": {_write_value(value)}\n')
    return lines


def _write_value(value: Given) -> str:
    return _quote(value) if isinstance(value, str) else f"[{', '.join(_quote(one) for one in value)}]"


def _quote(text: str) -> str:
    """Return the text as a YAML scalar in double quotes, on one line."""
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=10**9).removesuffix("\n")


def _check_same(path: Path, trial: Path, answers: Mapping[str, Given]) -> None:
    """Raise BadStudy unless the new file says what the old one said, and the answers."""
    old, new = read_yaml(path).data, read_yaml(trial).data
    wanted = {**(old.get(SECTION) or {}), **{number: _plain(value) for number, value in answers.items()}}
    rest = {key: value for key, value in old.items() if key != SECTION}
    if {key: value for key, value in new.items() if key != SECTION} != rest or _plain(new[SECTION]) != _plain(
        wanted
    ):
        raise BadStudy(
            f"The answers could not be written into {path} without changing something else. Add them by hand."
        )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return str(value) if not isinstance(value, bool) else value
