"""From a path to a study: every problem at once, or the study."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from panelist.core.errors import BadFile, BadStudy, nearest, suggest
from panelist.core.prose import count
from panelist.study.file_names import STUDY_FILE
from panelist.study.model import StudyFile
from panelist.study.outputs import Outputs, examine_outputs
from panelist.study.problems import Path as KeyPath
from panelist.study.problems import Problem
from panelist.study.reading.explain import explain_errors, explain_repeated, find_broken
from panelist.study.rules import find_clashes
from panelist.study.rules.base import Facts
from panelist.study.sections.hit import examine_hit
from panelist.study.study import Study
from panelist.study.yaml_lines import YamlText, read_yaml

# What a study must have; replaces what cannot be read, so that the rest is still checked.
STAND_INS: Mapping[str, Any] = {
    "title": "…",
    "criteria": [{"name": "…", "question": "…", "scale": {"type": "text"}}],
}


def load_study(source: str | Path | Study) -> Study:
    """Return the study at a path (of study.yaml or its folder), or raise BadStudy that lists all problems."""
    if isinstance(source, Study):
        return source
    study, problems = examine_study(source)
    grave = [problem for problem in problems if problem.grave]
    if study is None:
        heading = f"The study has {count(len(grave), 'problem')}:"
        raise BadStudy("\n".join([heading, *(f"  {problem}" for problem in grave)]), grave)
    return study


def find_problems(source: str | Path) -> list[Problem]:
    """Return every problem of a study; those that are not grave are notes."""
    return examine_study(source)[1]


def examine_study(source: str | Path) -> tuple[Study | None, list[Problem]]:
    """Return the study, None where a problem is grave, and all problems: file, outputs, then the whole.

    Raises BadFile where there is no file, or none that can be read as YAML.
    """
    path = find_study_file(Path(source))
    text = read_yaml(path)
    if not isinstance(text.data, dict):
        found = "is empty" if text.data is None else "holds no keys such as title: and criteria:"
        raise BadFile(f"{path} {found}. Begin one with: panelist init FOLDER")
    file, problems, broken = _read_file(text, path.name)
    outputs: Outputs | None = None
    found_there: list[Problem] = []
    if file.hit is not None:
        outputs, found_there = examine_hit(path.parent, file.hit, text, path.name)
    elif ("outputs",) not in broken and text.data.get("hit") is None:
        name = file.outputs.file
        strata = file.sample.strata.column if file.sample and file.sample.strata else ""
        style = file.analysis.style_columns
        outputs, found_there = examine_outputs(
            path.parent / name, name, file.outputs, path.parent, strata, style
        )
    problems += find_clashes(Facts(file, outputs, text, path.name, broken))
    problems = sorted(problems, key=lambda problem: problem.line or 0) + found_there
    if outputs is None or any(problem.grave for problem in problems):
        return None, problems
    return Study(file, outputs, path, tuple(problems)), problems


def find_study_file(path: Path) -> Path:
    """Return the study file that a path names: the file itself, or study.yaml in the folder."""
    if path.is_dir():
        path = path / STUDY_FILE
    if path.is_file():
        return path
    beside = path.parent if path.parent.is_dir() else Path()
    studies = [other.parent.name for other in beside.glob(f"*/{STUDY_FILE}")]
    near = nearest(path.name, [*studies, *(other.name for other in beside.glob("*.y*ml"))])
    hint = suggest(near) or " Make one with: panelist init FOLDER"
    raise BadFile(f"There is no file {path}.{hint}")


def _read_file(text: YamlText, name: str) -> tuple[StudyFile, list[Problem], frozenset[KeyPath]]:
    """Return the study file without what is broken, the problems, and the paths of what is broken."""
    problems = explain_repeated(text, name)
    try:
        return StudyFile.model_validate(text.data), problems, frozenset()
    except ValidationError as error:
        problems += explain_errors(error, text, name, StudyFile)
        broken = {_cut(place) for place in find_broken(error, text.data, StudyFile)}
    while True:
        try:
            return StudyFile.model_validate(_leave_out(text.data, broken)), problems, frozenset(broken)
        except ValidationError as error:  # a section cannot be used without what was broken in it
            broken |= {place[:1] for place in find_broken(error, text.data, StudyFile)}


def _cut(path: KeyPath) -> KeyPath:
    """Return the part of the file that cannot be used if this is broken: a key of a section, a criterion,
    or the whole of any other list."""
    return path[:1] if len(path) > 1 and isinstance(path[1], int) and path[0] != "criteria" else path[:2]


def _leave_out(data: Mapping[str, Any], broken: Collection[KeyPath]) -> dict[str, Any]:
    """Return the data without what is broken, and with stand-ins for what a study must have."""
    kept: dict[str, Any] = {}
    for key, value in data.items():
        if (key,) in broken or key not in StudyFile.model_fields:
            continue
        if isinstance(value, dict):
            value = {word: one for word, one in value.items() if (key, word) not in broken}
        elif isinstance(value, list):
            value = [one for place, one in enumerate(value) if (key, place) not in broken]
        kept[key] = value
    if not kept.get("criteria"):
        kept.pop("criteria", None)
    return {**STAND_INS, **kept}
