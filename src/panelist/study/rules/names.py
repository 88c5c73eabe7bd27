"""Names: each is unique, and those used in two places are the same."""

from collections.abc import Iterator, Sequence

from panelist.core.errors import did_you_mean
from panelist.core.prose import quoted
from panelist.study.problems import Path, Problem
from panelist.study.rules.base import Facts, rule


@rule()
def names_are_unique(facts: Facts) -> Iterator[Problem]:
    """Criteria, systems, groups and background questions have unique names."""
    file = facts.file
    lists: list[tuple[str, Sequence[tuple[Path, str]]]] = [
        ("criterion", [(("criteria", place), one.name) for place, one in facts.criteria]),
        ("system", [(("systems", place), one.name) for place, one in enumerate(file.systems)]),
        ("group", [(("raters", "groups", place), one.name) for place, one in enumerate(file.raters.groups)]),
        ("question", [(("background", place), one.name) for place, one in enumerate(file.background)]),
    ]
    for noun, entries in lists:
        first: dict[str, Path] = {}
        for path, name in entries:
            if name.casefold() in first:
                line = facts.problem((*first[name.casefold()], "name"), "").line
                yield facts.problem(
                    (*path, "name"), f"another {noun} is called {name!r} already (line {line}). Rename one."
                )
            first.setdefault(name.casefold(), path)


@rule("systems", "outputs")
def systems_have_outputs(facts: Facts) -> Iterator[Problem]:
    """The systems of the file and those of the outputs are the same."""
    if not facts.file.systems or facts.outputs is None:
        return
    there, listed = facts.outputs.systems, [system.name for system in facts.file.systems]
    for place, name in enumerate(listed):
        if name not in there:
            yield facts.problem(
                ("systems", place, "name"),
                f"{facts.file.outputs.file} has no outputs of system {name!r}. {did_you_mean(name, there)}",
            )
    if unlisted := [name for name in there if name not in listed]:
        yield facts.problem(
            ("systems",),
            f"{facts.file.outputs.file} also has outputs of {quoted(unlisted)}, which "
            f"{'is' if len(unlisted) == 1 else 'are'} not listed here. Add them, delete those rows, or leave "
            "systems out of the study file.",
        )
