"""An old HIT in a study file: its template and its input, shown again as they were.

A template is HTML with ``${column}`` where a cell of the input file goes; each row of the input is a HIT, and
each HIT goes to a fixed number of raters. The study then has one criterion, the filled-in form, and the
design that gives every HIT exactly its number of assignments.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import Field, PositiveInt

from panelist.core.errors import BadFile, did_you_mean
from panelist.core.prose import count, listing
from panelist.core.schema import StudyPart, Text
from panelist.core.tables.cells import TEXT_TYPE
from panelist.core.tables.readers import read_table
from panelist.study.outputs import Outputs
from panelist.study.problems import Problem, find_line
from panelist.study.yaml_lines import YamlText

FORM = "form"
"""The one criterion of such a study: what was in the fields of the form."""
SYSTEM = "hit"
PREFIX = "Input."
LONGEST_FORM = 20_000
MOST_BYTES = 2 * 1024 * 1024

_COLUMN = re.compile(r"\$\{([^}\n]*)\}")
_CONTENT = re.compile(r"<HTMLContent>\s*<!\[CDATA\[(.*?)\]\]>\s*</HTMLContent>", re.DOTALL)
_LOADED = re.compile(r"""\b(?:src|href)\s*=\s*["']?(?:https?:)?//([^/"'\s>]+)""", re.IGNORECASE)
_HOST = r"^[A-Za-z0-9.-]+(:\d{1,5})?$"


class Hit(StudyPart):
    """A HIT of Mechanical Turk to be run again."""

    template: Text = "hit.html"
    """The HTML of the HIT, with ${column} where a cell of the input goes."""
    input: Text = "input.csv"
    """The input file, one HIT per row; or the batch results, whose Input columns have it."""
    assignments: PositiveInt
    """To how many different raters each HIT goes."""
    hits_per_rater: PositiveInt = 10
    """How many HITs one rater gets, one after the other."""
    mapping: str = ""
    """The mapping file that reads the answers as ratings: the one with which the original was imported."""
    hosts: tuple[str, ...] = Field(default=(), max_length=20)
    """Hosts from which the template may load scripts, styles and pictures; without any, none."""


def take_from_hit(data: Any) -> Any:
    """Return what a study file says, with criterion and design where a HIT decides them."""
    if not isinstance(data, Mapping) or not isinstance(data.get("hit"), Mapping):
        return data
    hit = data["hit"]
    form = {
        "name": FORM,
        "question": "Please fill in the form.",
        "scale": {"type": "text", "most": LONGEST_FORM},
    }
    design: dict[str, Any] = {"type": "lists"}
    numbers = {
        "trials_per_rater": hit.get("hits_per_rater", 10),
        "ratings_per_output": hit.get("assignments"),
    }
    # What is not a number is reported for the HIT itself, not for a design that nobody wrote.
    design |= {key: n for key, n in numbers.items() if isinstance(n, int) and n > 0}
    if isinstance(data.get("design"), Mapping) and "seed" in data["design"]:
        design["seed"] = data["design"]["seed"]
    # Criteria in the file are refused by a rule, which has to find them here.
    return {"noun": "task", "criteria": [form], **data, "design": design}


def read_input(path: Path) -> pd.DataFrame:
    """Return the input file: one HIT per row, every cell as text.

    Where the input is lost, the batch results have it: their columns ``Input.*``, each HIT once.
    """
    frame = read_table(path).frame
    shown = [name for name in frame.columns if str(name).startswith(PREFIX)]
    if shown:
        frame = frame[shown].drop_duplicates(ignore_index=True)
    columns = [str(name).removeprefix(PREFIX) for name in frame.columns]
    return frame.set_axis(columns, axis=1).astype(TEXT_TYPE).fillna("")


def read_template(path: Path) -> str:
    """Return the HTML of a HIT; taken out of the XML of an HTMLQuestion where it is in one."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(content) > MOST_BYTES:
        raise BadFile(f"{path} has {len(content):,} bytes; a template has at most {MOST_BYTES:,}.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    if not text.strip():
        raise BadFile(f"{path} is empty; it should be the HTML of the HIT.")
    if "<ExternalQuestion" in text:
        raise BadFile(
            f"{path} is an ExternalQuestion: it only says at which address the task was. The page itself is "
            "needed."
        )
    found = _CONTENT.search(text)
    return found[1] if found else text


def _find_inside(folder: Path, name: str) -> Path:
    """Return the file of a template: raters are sent it whole, so it is not just any file."""
    try:
        path = (folder / name).resolve()
    except (OSError, ValueError):  # a name that no file can have
        raise BadFile(f"{name!r} is not the name of a file.") from None
    if not path.is_relative_to(folder.resolve()):
        raise BadFile(f"{name} lies outside the folder of the study; put the template into it.")
    return folder / name


def find_columns(template: str) -> tuple[str, ...]:
    """Return the columns that a template needs, in order.

    >>> find_columns("<p>${text}</p> by ${system} and ${text}")
    ('text', 'system')
    """
    return tuple(dict.fromkeys(name.strip() for name in _COLUMN.findall(template)))


def fill_template(template: str, row: Mapping[str, str]) -> str:
    """Return the HTML of one HIT. Cells go in as they are, as the platform did: it is shown in a sandbox."""
    return _COLUMN.sub(lambda found: row.get(found[1].strip(), found[0]), template)


def name_hits(n: int) -> list[str]:
    """Return the names of the HITs in the order of the input.

    >>> name_hits(2)
    ['hit-001', 'hit-002']
    """
    width = max(3, len(str(n)))
    return [f"hit-{place:0{width}d}" for place in range(1, n + 1)]


def examine_hit(folder: Path, hit: Hit, text: YamlText, name: str) -> tuple[Outputs | None, list[Problem]]:
    """Return the HITs as outputs, None where they cannot be made, and every problem of the files."""
    problems: list[Problem] = []

    def tell(key: str, message: str, grave: bool = True) -> None:
        problems.append(Problem(name, find_line(text.lines, ("hit", key)), f"hit.{key}", message, grave))

    template, frame = None, None
    try:
        template = read_template(_find_inside(folder, hit.template))
    except BadFile as error:
        tell("template", str(error))
    try:
        frame = read_input(folder / hit.input)
    except BadFile as error:
        tell("input", str(error))
    if hit.mapping and not (folder / hit.mapping).is_file():
        tell("mapping", f"there is no file {hit.mapping} beside the study.")
    for host in hit.hosts:
        if not re.match(_HOST, host):
            tell(
                "hosts", f"{host!r} is not a host name such as cdn.example.org; write no scheme and no path."
            )
    if template is None or frame is None:
        return None, problems
    for column in find_columns(template):
        if column not in frame.columns:
            near = did_you_mean(column, map(str, frame.columns))
            tell(
                "template", f"{hit.template} needs ${{{column}}}, and {hit.input} has no such column. {near}"
            )
    problems += _check_numbers(hit, len(frame), name, text)
    strangers = sorted({host for host in _LOADED.findall(template) if host not in hit.hosts})
    if strangers:
        tell(
            "template",
            f"the template loads from {listing(strangers)}, which is blocked. If the HIT needs "
            f"that, allow it: hosts: [{strangers[0]}].",
            grave=False,
        )
    if any(problem.grave for problem in problems):
        return None, problems
    rows = [{str(key): str(cell) for key, cell in row.items()} for row in frame.to_dict("records")]
    return Outputs(
        pd.DataFrame(
            {
                "item": name_hits(len(rows)),
                "system": SYSTEM,
                "output": [fill_template(template, row) for row in rows],
                # Columns that nobody sees belong to the study too: they say whose texts these are.
                "context": [json.dumps(row, ensure_ascii=False) for row in rows],
            },
            dtype=TEXT_TYPE,
        )
    ), problems


def list_rows(outputs: Outputs) -> dict[str, dict[str, str]]:
    """Return the row of the input behind each HIT."""
    frame = outputs.frame
    return {item: json.loads(row) for item, row in zip(frame["item"], frame["context"], strict=True)}


def _check_numbers(hit: Hit, n: int, name: str, text: YamlText) -> list[Problem]:
    """Report where the places cannot give every HIT exactly its assignments."""
    line = find_line(text.lines, ("hit", "hits_per_rater"))
    each = hit.hits_per_rater
    if each > n:
        words = f"a rater cannot get {each} of {count(n, 'HIT')}; say hits_per_rater: {n} or fewer."
        return [Problem(name, line, "hit.hits_per_rater", words)]
    if n * hit.assignments % each:
        fits = [k for k in range(1, n + 1) if n * hit.assignments % k == 0]
        near = sorted(fits, key=lambda k: abs(k - each))[:3]
        words = (
            f"{count(n, 'HIT')} × {hit.assignments} assignments are {n * hit.assignments}, which raters with "
            f"{each} each cannot divide exactly. Numbers that work: {', '.join(map(str, sorted(near)))}."
        )
        return [Problem(name, line, "hit.hits_per_rater", words)]
    return []
