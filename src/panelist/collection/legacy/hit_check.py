"""Whether a mapping can read what the form of a HIT will give, told before anybody has filled it in."""

from panelist.collection.legacy.mapping_file import find_missing, load_mapping
from panelist.collection.legacy.mturk import COLUMNS, LAST
from panelist.collection.robots.hits import Controls
from panelist.core.errors import BadFile
from panelist.study.hit import SYSTEM, list_rows
from panelist.study.problems import Problem, find_line, write_key
from panelist.study.study import Study


def check_hit_mapping(study: Study) -> list[Problem]:
    """Return what is wrong with the mapping of a study's HIT.

    A field that the template does not have may still be made by a script of its own, so that is a note; a
    column that the input does not have is a mistake.
    """
    hit = study.file.hit
    if hit is None or not hit.mapping:
        return []
    try:
        mapping, text = load_mapping(study.folder / hit.mapping)
    except BadFile as error:
        return [Problem(hit.mapping, None, "", str(error))]
    if mapping.source != "mturk":
        words = f"answers to a HIT are read as mturk; found {mapping.source!r}."
        return [Problem(hit.mapping, find_line(text.lines, ("source",)), "source", words)]
    item, row = next(iter(list_rows(study.outputs).items()))
    fields = Controls(study.outputs.text(item, SYSTEM)).fields()
    columns = [*COLUMNS, *LAST, *(f"Input.{name}" for name in row), *(f"Answer.{name}" for name in fields)]
    problems = []
    for path, column, message in find_missing(mapping, columns, (hit.template,)):
        answer = column.startswith("Answer.")
        words = f"{message} A script of the template may still make it." if answer else message
        problems.append(
            Problem(hit.mapping, find_line(text.lines, path), write_key(path), words, grave=not answer)
        )
    return problems
