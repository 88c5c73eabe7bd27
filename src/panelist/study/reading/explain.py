"""What the models find wrong with a study file, in the words of the person who wrote it."""

import re
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from panelist.core.errors import did_you_mean, nearest, suggest
from panelist.core.schema import StudyPart
from panelist.scales import SCALES, Scale
from panelist.study.problems import Path, Problem, find_line, show_value, write_key
from panelist.study.yaml_lines import YamlText

Error = Mapping[str, Any]
TAGS = ("type", "kind")  # the keys that say which kind of part this is
ABOUT_KEYS = ("missing", "extra_forbidden")  # errors whose last step is a key, there or not


def explain_errors(
    error: ValidationError, text: YamlText, file: str, model: type[StudyPart]
) -> list[Problem]:
    """Return a problem for each place at which the models found something wrong."""
    groups = _gather(error, text.data)
    misspelt = {
        (*path[:-1], meant)
        for path, errors in groups.items()
        if _is(errors, "extra_forbidden")
        for meant in _find_meant(path, text.data, model)
    }
    problems = []
    for path, errors in groups.items():
        if path in misspelt and _is(errors, "missing"):
            continue  # it is there under another name, and that is reported instead
        words = _explain_unknown_key(path, text.data, model) if _is(errors, "extra_forbidden") else ""
        words = words or _explain_missing_key(path, text.data, model) if _is(errors, "missing") else words
        problems.append(
            Problem(file, find_line(text.lines, path), write_key(path), words or _explain(errors))
        )
    return problems


def explain_repeated(text: YamlText, file: str) -> list[Problem]:
    """Return a problem for each key that occurs twice."""
    return [
        Problem(
            file,
            again,
            write_key(path),
            f"the key occurs twice, in lines {first} and {again}; the second would be lost. Keep one.",
        )
        for path, first, again in text.repeated
    ]


def find_broken(error: ValidationError, data: Any, model: type[StudyPart]) -> set[Path]:
    """Return the paths of what cannot be used; for an unknown key also the key that it was meant to be."""
    groups = _gather(error, data)
    broken = set(groups)
    for path, errors in groups.items():
        if _is(errors, "extra_forbidden"):
            broken |= {(*path[:-1], meant) for meant in _find_meant(path, data, model)}
    return broken


def _gather(error: ValidationError, data: Any) -> dict[Path, list[Error]]:
    """Return the errors by their path in the file: a choice of several types gives one for each."""
    groups: dict[Path, list[Error]] = {}
    for one in error.errors(include_url=False):
        groups.setdefault(_find_path(one, data), []).append(one)
    return {
        path: errors
        for path, errors in groups.items()  # pydantic does not count entries with problems of their own
        if not (_is(errors, "too_short") and any(other[: len(path)] == path != other for other in groups))
    }


def _is(errors: list[Error], kind: str) -> bool:
    return bool(errors[0]["type"] == kind)


def _find_path(error: Error, data: Any) -> Path:
    """Return the path of an error as it is in the file: without the names that pydantic gives to choices."""
    path: list[str | int] = []
    steps = error["loc"]
    for place, step in enumerate(steps):
        last = place == len(steps) - 1
        if isinstance(data, Mapping):
            tagged = step in [data.get(tag) for tag in TAGS] and step not in ("type", "kind")
            if tagged and not (last and error["type"] in ABOUT_KEYS):
                continue
            if step in data or (last and error["type"] in ABOUT_KEYS):
                path.append(step)
                data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            path.append(step)
            data = data[step]
    if error["type"].startswith("union_tag"):
        path.append(str(error["ctx"]["discriminator"]).strip("'"))
    return tuple(path)


def _explain_unknown_key(path: Path, data: Any, model: type[StudyPart]) -> str:
    return f"unknown key. {did_you_mean(str(path[-1]), _free_keys(path, data, model))}"


def _find_meant(path: Path, data: Any, model: type[StudyPart]) -> list[str]:
    """Return the key that an unknown one was probably meant to be, as the only one in a list."""
    return nearest(str(path[-1]), _free_keys(path, data, model))[:1]


def _free_keys(path: Path, data: Any, model: type[StudyPart]) -> list[str]:
    """Return the keys that are allowed where an unknown one was found."""
    part = _find_part(path[:-1], data, model)
    known = list(part.model_fields) if part else []
    there = _get(path[:-1], data)
    return [name for name in known if name not in there] or known


def _explain_missing_key(path: Path, data: Any, model: type[StudyPart]) -> str:
    part = _find_part(path[:-1], data, model)
    field = part.model_fields.get(str(path[-1])) if part else None
    what = (
        f" It says: {field.description[:1].lower()}{field.description[1:]}"
        if field and field.description
        else ""
    )
    return f"the key {path[-1]!r} is missing.{what}"


def _explain(errors: list[Error]) -> str:
    """Return what one place should hold and what was found there."""
    first = errors[0]
    if first["type"] in ("literal_error", "union_tag_invalid"):
        return _explain_choice(first)
    if first["type"] == "union_tag_not_found":
        return f"the key {first['ctx']['discriminator']} is missing; it says which kind this is."
    if first["type"] in ("value_error", "assertion_error"):
        words = str(first["ctx"]["error"])
        return words if words.endswith((".", "?")) else words + "."
    wanted = " or ".join(dict.fromkeys(_want(error) for error in errors))
    found = first["input"]
    if found is None:
        return f"no value is given; it should be {wanted}. Leave the key out if you do not need it."
    if isinstance(found, bool) and any(error["type"] == "string_type" for error in errors):
        return f"should be {wanted}; found {show_value(found)}. Put the word in quotation marks."
    return f"should be {wanted}; found {show_value(found)}."


def _explain_choice(error: Error) -> str:
    context = error["ctx"]
    listed = str(context.get("expected", context.get("expected_tags", "")))
    known = re.findall(r"'((?:[^'\\]|\\.)*)'", listed) or re.findall(r"\w+", listed.replace(" or ", " "))
    found = context.get("tag", error["input"])
    hint = suggest(nearest(str(found), known))
    return f"should be one of {', '.join(known)}; found {show_value(found)}.{hint}"


_WANTED = {
    "string_type": "text",
    "string_too_short": "text of at least {min_length} character",
    "string_too_long": "text of at most {max_length} characters",
    "string_pattern_mismatch": "a name without commas, line breaks and the signs = ; |",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "decimal_type": "a number",
    "decimal_parsing": "a number",
    "decimal_max_digits": "a number of at most {max_digits} digits",
    "decimal_max_places": "a number of at most {decimal_places} decimals",
    "decimal_whole_digits": "a smaller number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than": "less than {lt:g}",
    "less_than_equal": "{le:g} or less",
    "tuple_type": "a list (lines that begin with '- ')",
    "list_type": "a list (lines that begin with '- ')",
    "dict_type": "keys with values (lines such as 'key: value')",
    "model_type": "keys with values (lines such as 'key: value')",
    "model_attributes_type": "keys with values (lines such as 'key: value')",
    "too_short": "at least {min_length} of them",
    "too_long": "at most {max_length} of them",
}


def _want(error: Error) -> str:
    """Return in words what pydantic expected."""
    pattern = str((error.get("ctx") or {}).get("pattern", ""))
    if error["type"] == "string_pattern_mismatch" and "," not in pattern:
        return "text without line breaks and control characters"
    words = _WANTED.get(error["type"])
    if words is None:
        return f"something else ({error['msg']})"
    return words.format(**(error.get("ctx") or {}))


def _get(path: Path, data: Any) -> Any:
    for step in path:
        data = data[step]
    return data


def _find_part(path: Path, data: Any, model: type[StudyPart]) -> type[StudyPart] | None:
    """Return the model of the part at a path, which the data help to choose."""
    choices: list[Any] = [model]
    for step in path:
        part = _choose(choices, data)
        choices = list(_step(choices, part, step))
        data = data[step]
    return _choose(choices, data)


def _step(choices: list[Any], part: type[StudyPart] | None, step: str | int) -> Iterator[Any]:
    """Yield the types that the value one step further may have."""
    if part is not None and isinstance(step, str) and step in part.model_fields:
        yield from _alternatives(part.model_fields[step])
        return
    for choice in choices:
        arguments = [argument for argument in get_args(choice) if argument is not Ellipsis]
        if get_origin(choice) in (tuple, list, dict) and arguments:
            yield from _alternatives(arguments[-1])


def _alternatives(kind: Any) -> Iterator[Any]:
    """Yield the members of a union, however it is wrapped."""
    if isinstance(kind, FieldInfo):
        yield from _alternatives(kind.annotation)
    elif get_origin(kind) is Annotated:
        yield from _alternatives(get_args(kind)[0])
    elif get_origin(kind) in (Union, UnionType):
        for member in get_args(kind):
            yield from _alternatives(member)
    elif kind is Scale:
        yield from (scale for _, scale in SCALES.items())
    else:
        yield kind


def _choose(choices: list[Any], data: Any) -> type[StudyPart] | None:
    """Return the part among the choices; of several, the one whose tag the data have."""
    parts = [choice for choice in choices if isinstance(choice, type) and issubclass(choice, StudyPart)]
    if len(parts) < 2 or not isinstance(data, Mapping):
        return parts[0] if parts else None
    for part in parts:
        tags = [part.model_fields[tag].default for tag in TAGS if tag in part.model_fields]
        if any(data.get(tag) in tags for tag in TAGS):
            return part
    return None
