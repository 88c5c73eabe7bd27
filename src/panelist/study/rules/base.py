"""What the rules know about a study, and the list of the rules."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import comb, gcd

from panelist.study.criteria import Criterion
from panelist.study.model import StudyFile
from panelist.study.outputs import Outputs
from panelist.study.problems import Path, Problem, find_line, write_key
from panelist.study.yaml_lines import YamlText

SINGLE = ("latin-square", "williams", "lists", "full")  # designs whose pages show one output
UNITS = {
    "pairs": "pair",
    "best-worst": "tuple",
    "pages": "page",
}  # what is rated where it is no single output
EVERY_CRITERION = "every criterion"  # what a rule needs that concludes from what no criterion is
USUALLY_SHOWN = 4  # in a best-worst tuple, if there are as many systems


@dataclass(frozen=True, eq=False)
class Facts:
    """A study as far as it can be read; ``broken`` are the sections, keys and criteria left out."""

    file: StudyFile
    outputs: Outputs | None
    text: YamlText
    name: str
    broken: frozenset[Path] = frozenset()

    def is_broken(self, key: str) -> bool:
        """Return whether a section (``design``) or a key of it (``design.type``) cannot be read.

        Single broken criteria do not break the others; rules look at those that are left.
        """
        wanted = tuple(key.split("."))
        if key == EVERY_CRITERION:
            return any(path[0] == "criteria" for path in self.broken)
        if key == "outputs" and self.outputs is None:
            return True
        return any(
            wanted[: len(path)] == path or path[: len(wanted)] == wanted
            for path in self.broken
            if not (path[0] == "criteria" and len(path) > 1)
        )

    def problem(self, path: Path, message: str, grave: bool = True) -> Problem:
        """Return the problem of what stands at a path."""
        return Problem(self.name, find_line(self.text.lines, path), write_key(path), message, grave)

    def note(self, path: Path, message: str) -> Problem:
        """Return the note on what stands at a path."""
        return self.problem(path, message, grave=False)

    @cached_property
    def criteria(self) -> list[tuple[int, Criterion]]:
        """The criteria that can be read, each with its place in the file."""
        written = self.text.data.get("criteria")
        if ("criteria",) in self.broken or not isinstance(written, list):
            return []
        places = [place for place in range(len(written)) if ("criteria", place) not in self.broken]
        return list(zip(places, self.file.criteria, strict=True)) if places else []

    @cached_property
    def criterion_names(self) -> list[str]:
        """The names of all criteria, those that cannot be read for other reasons included."""
        written = self.text.data.get("criteria")
        entries = written if isinstance(written, list) else []
        return [str(one["name"]).strip() for one in entries if isinstance(one, dict) and "name" in one]

    def criterion(self, name: str) -> Criterion | None:
        """Return the criterion of this name, None where there is none or it cannot be read."""
        return next((one for _, one in self.criteria if one.name == name), None)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems: those of the file, else those of the outputs."""
        listed = tuple(system.name for system in self.file.systems)
        return listed or (self.outputs.systems if self.outputs else ())

    @property
    def n_systems(self) -> int:
        """How many systems."""
        return len(self.systems)

    @property
    def n_items(self) -> int:
        """How many items."""
        return len(self.outputs.items) if self.outputs else 0

    @property
    def shown(self) -> int:
        """How many outputs a page shows."""
        design = self.file.design
        if design.type in SINGLE:
            return 1
        if design.type == "best-worst":
            return design.shown or min(USUALLY_SHOWN, self.n_systems)
        return 2 if design.type == "pairs" else self.n_systems

    @property
    def pages_per_item(self) -> int:
        """How many different pages can be made of one item: outputs, pairs or tuples."""
        if self.file.design.type in SINGLE:
            return self.n_systems
        if self.file.design.type == "pairs":
            return comb(self.n_systems, 2)
        if self.file.design.type == "best-worst":
            enough = self.n_systems // gcd(self.n_systems, self.shown)
            return self.file.design.tuples_per_item or enough
        return 1


def name_scale(criterion: Criterion) -> str:
    """Return the type of a criterion's scale, as the file names it."""
    return str(getattr(criterion.scale, "type", ""))


Check = Callable[[Facts], Iterator[Problem]]
RULES: list[tuple[tuple[str, ...], Check]] = []


def rule(*sections: str) -> Callable[[Check], Check]:
    """Return the decorator that lists a rule, with the sections and keys it cannot do without."""

    def add(check: Check) -> Check:
        RULES.append((sections, check))
        return check

    return add
