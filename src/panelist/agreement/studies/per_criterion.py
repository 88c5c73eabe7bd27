"""Results of the same kind, one for each criterion, shown one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from panelist.core.display.result import Part, Result


@dataclass(frozen=True, eq=False)
class PerCriterion(Result):
    """A heading and a result for each criterion."""

    heading: str
    criteria: Sequence[Result]

    def title(self) -> str:
        """Return the heading."""
        return self.heading

    def parts(self) -> list[Part]:
        """Return the parts of every criterion in turn."""
        return [part for one in self.criteria for part in one.parts()]

    def to_dict(self) -> dict[str, Any]:
        """Return the dictionary of every criterion."""
        return {"criteria": [one.to_dict() for one in self.criteria]}
