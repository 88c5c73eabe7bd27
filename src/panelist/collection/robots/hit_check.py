"""What is known about an old HIT before a rater has filled it in: whether a mapping can read what its form
will give, and which cells of the input hold more than words."""

from panelist.collection.hits.fill import find_text_columns
from panelist.collection.hits.safe_cells import clean_cell
from panelist.collection.imports.mapping_file import find_missing, load_mapping
from panelist.collection.imports.programs.mturk import COLUMNS, LAST
from panelist.collection.robots.hit_forms import Controls
from panelist.core.errors import BadFile
from panelist.core.prose import count, listing
from panelist.study.problems import Problem, find_line, write_key
from panelist.study.sections.hit import SYSTEM, list_rows, read_template
from panelist.study.study import Study

MOST_NAMED = 3


def check_hit(study: Study) -> list[Problem]:
    """Return the problems of a study's HIT: cells with active content, a mapping that cannot read it."""
    return [*check_hit_cells(study), *check_hit_mapping(study)]


def check_hit_cells(study: Study) -> list[Problem]:
    """Return a note that names the cells from which something is left out, since it is active content."""
    hit = study.file.hit
    if hit is None:
        return []
    columns = find_text_columns(read_template(study.folder / hit.template))
    named: list[str] = []
    n = 0
    for place, row in enumerate(list_rows(study.outputs).values(), start=1):
        for column in columns:
            if left_out := clean_cell(row.get(column, "")).left_out:
                n += 1
                if n <= MOST_NAMED:
                    named.append(f"{column} of HIT {place} ({listing(left_out)})")
    if not n:
        return []
    more = f" and {count(n - MOST_NAMED, 'more cell')}" if n > MOST_NAMED else ""
    words = (
        f"cells hold scripts, form controls or the like: {'; '.join(named)}{more}. They are shown without "
        "these, since a cell could answer for the rater. What the form needs belongs in the template."
    )
    return [Problem(hit.input, None, "", words, grave=False)]


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
