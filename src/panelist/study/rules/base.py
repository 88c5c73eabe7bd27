"""What the rules know about a study, and the list of the rules."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from panelist.core.errors import BadStudy
from panelist.study.model import StudyFile
from panelist.study.outputs import Outputs
from panelist.study.problems import Path, Problem, find_line, write_key
from panelist.study.sections.criteria import Criterion
from panelist.study.sections.design_choice import DesignFacts
from panelist.study.sections.sampling import ItemDraw, draw_items
from panelist.study.yaml_lines import YamlText

EVERY_CRITERION = "every criterion"  # what a rule needs that draws conclusions from all criteria


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
        """Return a problem about the value at a path."""
        return Problem(self.name, find_line(self.text.lines, path), write_key(path), message, grave)

    def note(self, path: Path, message: str) -> Problem:
        """Return a note about the value at a path."""
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
        """How many items people rate: those drawn, where there is a sample that can be drawn."""
        if self.outputs is None:
            return 0
        return len(self.outputs.items) if isinstance(self.draw, str | None) else self.draw.n

    @cached_property
    def draw(self) -> ItemDraw | str | None:
        """The draw of the items that people rate; in words, why there is none; None where they rate all."""
        sample = self.file.sample
        if sample is None or self.outputs is None or self.is_broken("sample"):
            return None
        try:
            return draw_items(sample, self.file.design.seed, self.outputs)
        except BadStudy as error:
            return str(error)

    @property
    def design(self) -> DesignFacts:
        """What is known about the design."""
        return self.file.design.facts

    @property
    def shows_one(self) -> bool:
        """Whether the pages of the design show one output each."""
        return self.design.unit == "output"

    @property
    def shown(self) -> int:
        """How many outputs a page shows."""
        return self.design.count_shown(self.n_systems, self.file.design)

    @property
    def pages_per_item(self) -> int:
        """How many different pages can be made of one item: outputs, pairs or tuples."""
        return self.design.count_pages(self.n_systems, self.file.design)


def name_scale(criterion: Criterion) -> str:
    """Return the type of a criterion's scale, as the file names it."""
    return str(getattr(criterion.scale, "type", ""))


Check = Callable[[Facts], Iterator[Problem]]
RULES: list[tuple[tuple[str, ...], Check]] = []


def rule(*sections: str) -> Callable[[Check], Check]:
    """Return the decorator that lists a rule, with the sections and keys it needs."""

    def add(check: Check) -> Check:
        RULES.append((sections, check))
        return check

    return add
