"""YAML as a person writes it: every value with its line, and no surprises.

Words stay words: ``yes``, ``no`` and ``on`` are text and so are dates, times and ``0x1f``; only ``true`` and
``false`` are truth values, as in YAML 1.2 (https://yaml.org/spec/1.2.2/#103-core-schema). A number remembers
how it was written, so that the label ``5.10`` is not shown as 5.1. Keys are always text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from panelist.core.errors import BadFile
from panelist.study.problems import Path

MOST_VALUES = 200_000  # a study has hundreds; aliases of aliases reach this in a few lines
_TAG = "tag:yaml.org,2002:"
_HALF = re.compile("[\ud800-\udfff]")


class WrittenInt(int):
    """A whole number that shows itself as it was written."""

    text: str

    def __str__(self) -> str:
        return self.text


class WrittenFloat(float):
    """A number that shows itself as it was written."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class YamlText:
    """What a YAML text says, where each value is, and which keys occur twice."""

    data: Any
    lines: dict[Path, int]
    repeated: tuple[tuple[Path, int, int], ...]
    """The path of each key that is given again, with the lines of the first and of the second."""


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with the plain words of YAML 1.2."""


_Loader.yaml_implicit_resolvers = {}
for _kind, _pattern, _first in (
    ("bool", r"true|false", "tf"),
    ("null", r"~|null|", ["~", "n", ""]),
    ("int", r"[-+]?[0-9]{1,300}", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(f"{_TAG}{_kind}", re.compile(f"(?:{_pattern})$", re.ASCII), list(_first))


def read_yaml(path: FilePath) -> YamlText:
    """Return what a YAML file says; raise BadFile, with the line, where it is not UTF-8 or not YAML."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from None
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadFile(f"{path} is UTF-16 text; save it as UTF-8.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\r|\n", content[: error.start])) + 1
        raise BadFile(
            f"{path}:{line} is not UTF-8 text (byte {content[error.start]:#04x}); save the file as UTF-8."
        ) from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, name: str = "the text") -> YamlText:
    """Return what a YAML text says; raise BadFile, with the line, where it is not YAML.

    >>> found = parse_yaml("scale:\\n  labels: [no, yes]\\n  step: 0.50")
    >>> found.data["scale"]["labels"], str(found.data["scale"]["step"]), found.lines["scale", "step"]
    (['no', 'yes'], '0.50', 3)
    """
    try:
        node = yaml.compose(text, _Loader)
    except ReaderError as error:
        line, code = text.count("\n", 0, error.position) + 1, ord(text[error.position])
        raise BadFile(
            f"{name}:{line} holds the character U+{code:04X}, which YAML does not allow; delete it."
        ) from None
    except yaml.MarkedYAMLError as error:
        raise BadFile(f"{name}{_explain(error, text)}") from None
    except RecursionError:
        raise BadFile(f"{name} has lists inside lists too many levels deep to be read.") from None
    if node is None:
        return YamlText(None, {}, ())
    builder = _Builder(name)
    try:
        data = builder.build(node, ())
    except RecursionError:
        raise BadFile(f"{name} has keys inside keys too many levels deep to be read.") from None
    return YamlText(data, builder.lines, tuple((path, *lines) for lines, path in builder.repeated.items()))


class _Builder:
    """Turns the nodes of one text into plain values, and keeps the lines."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: dict[Path, int] = {}
        self.repeated: dict[tuple[int, int], Path] = {}
        self.n_values = 0
        self.open: set[int] = set()

    def build(self, node: Node, path: Path) -> Any:
        """Return the value of a node."""
        self._count(node)
        if id(node) in self.open:
            raise BadFile(
                f"{self.name}:{_line(node)} has an alias (*name) inside the very thing it stands for."
            )
        self.lines.setdefault(path, _line(node))
        if isinstance(node, ScalarNode):
            return self._read_scalar(node)
        self.open.add(id(node))
        try:
            self._check_tag(node)
            if isinstance(node, SequenceNode):
                return [self.build(child, (*path, place)) for place, child in enumerate(node.value)]
            return self._read_mapping(node, path)
        finally:
            self.open.discard(id(node))

    def _count(self, node: Node) -> None:
        self.n_values += 1
        if self.n_values > MOST_VALUES:
            raise BadFile(
                f"{self.name}:{_line(node)} stands for more than {MOST_VALUES:,} values once its aliases "
                "(*name) are filled in; write out what you mean, or move texts into the outputs file."
            )

    def _read_mapping(self, node: Node, path: Path) -> dict[str, Any]:
        own: dict[str, tuple[int, Node]] = {}
        merged: dict[str, tuple[int, Node]] = {}
        for key_node, value_node in node.value:
            if key_node.tag == f"{_TAG}merge":
                for key, pair in self._merge(value_node):
                    merged.setdefault(key, pair)
                continue
            key = self._read_key(key_node)
            if key in own:
                self.repeated.setdefault((own[key][0], _line(key_node)), (*path, key))
                continue
            own[key] = (_line(key_node), value_node)
        data = {}
        for key, (line, value_node) in (merged | own).items():
            self.lines[*path, key] = line
            data[key] = self.build(value_node, (*path, key))
        return data

    def _merge(self, node: Node, depth: int = 0) -> Iterator[tuple[str, tuple[int, Node]]]:
        """Yield the keys that ``<<: *name`` brings in, those of the first of several first."""
        if isinstance(node, SequenceNode) and depth == 0:
            for child in node.value:
                yield from self._merge(child, 1)
            return
        if not isinstance(node, MappingNode):
            raise BadFile(f"{self.name}:{_line(node)} merges (<<) something that is not a set of keys.")
        inherited = []
        for key_node, value_node in node.value:
            self._count(key_node)
            if key_node.tag == f"{_TAG}merge":
                inherited.append(value_node)
            else:
                yield self._read_key(key_node), (_line(key_node), value_node)
        for value_node in inherited:
            yield from self._merge(value_node)

    def _read_key(self, node: Node) -> str:
        if not isinstance(node, ScalarNode):
            raise BadFile(
                f"{self.name}:{_line(node)} has a list or braces where a key should be; a key is "
                "a plain word. Text that begins with [ or { must be in quotation marks."
            )
        return self._join_halves(node)

    def _join_halves(self, node: ScalarNode) -> str:
        """Return the text of a node; a letter that JSON writes as two escapes is one."""
        text = str(node.value)
        if not _HALF.search(text):
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise BadFile(
                f"{self.name}:{_line(node)} has half a character, such as \\ud83d without its other half."
            ) from None

    def _read_scalar(self, node: ScalarNode) -> Any:
        text, kind = self._join_halves(node), node.tag.removeprefix(_TAG)
        if kind == "null":
            return None
        if kind == "bool" and text in ("true", "false"):
            return text == "true"
        if kind in ("int", "float"):
            return self._read_number(node, text, whole=kind == "int")
        if kind in ("str", "merge", "bool"):
            return text
        return self._check_tag(node)

    def _read_number(self, node: Node, text: str, whole: bool) -> WrittenInt | WrittenFloat | str:
        try:
            number = WrittenInt(text) if whole else WrittenFloat(text)
        except ValueError:  # an explicit tag, as in !!int many
            raise BadFile(f"{self.name}:{_line(node)}: {text[:60]!r} is not a number.") from None
        number.text = text
        return number

    def _check_tag(self, node: Node) -> None:
        if node.tag not in (f"{_TAG}map", f"{_TAG}seq"):
            tag = node.tag.replace(_TAG, "!!")
            raise BadFile(
                f"{self.name}:{_line(node)} has the tag {tag!r}, which a study file does not allow; remove "
                "it, or put text that begins with ! in quotation marks."
            )


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


# What PyYAML says, and what it means to somebody who has not read the specification.
_MEANINGS = (
    ("'\\t'", "a tab where YAML requires spaces; indent with spaces"),
    (
        "mapping values are not allowed",
        "a key where none can be: text that holds ': ' belongs in quotation marks, and a key above it needs "
        "its colon and the same indentation",
    ),
    (
        "could not find expected ':'",
        "this line is neither 'key: value' nor '- entry'; a colon may be missing",
    ),
    (
        "sequence entries are not allowed",
        "a '-' where no list can begin; put each entry on a line of its own",
    ),
    ("expected <block end>", "this line is not indented like the lines it belongs to"),
    ("unindent does not match", "this line is not indented like the lines it belongs to"),
    ("unknown escape character", "a backslash in double quotation marks; write \\\\ or use single ones"),
    ("while scanning a quoted scalar", "a quotation mark is opened here and never closed"),
    ("found unexpected end of stream", "a quotation mark or bracket is opened and never closed"),
    (
        "found undefined alias",
        "an alias (*name) without its anchor (&name); text that begins with * needs quotation marks",
    ),
    ("expected alphabetic or numeric", "text that begins with * or & must be in quotation marks"),
    ("found duplicate anchor", "two anchors (&name) have one name"),
    ("expected a single document", "'---' begins a second document; a study file has one"),
    ("but got '?'", "a question mark in text between { and } or [ and ]; put the text in quotation marks"),
    ("expected ',' or", "a bracket is opened and not closed, or a comma is missing in it"),
    ("cannot start any token", "a sign at which no value can begin; put the text in quotation marks"),
    ("expected the node content", "a sign at which no value can begin; put the text in quotation marks"),
    ("undefined tag handle", "text that begins with ! must be in quotation marks"),
    ("indentation indicator", "odd signs after | or >; the text goes into the lines below"),
)


def _explain(error: yaml.MarkedYAMLError, text: str) -> str:
    """Return the line and the plain words of a syntax error, to follow the name of the file."""
    said = f"{error.context or ''} {error.problem or ''}"
    mark, begun = error.problem_mark or error.context_mark, error.context_mark
    if "quoted scalar" in said and begun is not None:
        mark = begun  # where it opens says more than where the file ends
    line = 1 if mark is None else mark.line + 1
    lines = re.split(r"\r\n|\r|\n", text)
    found = lines[line - 1] if line <= len(lines) else ""
    if re.match(r" *\t", found):
        said = "'\\t'"
    words = next((meaning for sign, meaning in _MEANINGS if sign in said), " ".join(said.split()))
    if begun is not None and begun.line + 1 != line:
        words += f" (what it belongs to begins in line {begun.line + 1})"
    shown = f" Found: {found.strip()[:80]!r}." if found.strip() else ""
    return f":{line} cannot be read as YAML: {words}.{shown}"
