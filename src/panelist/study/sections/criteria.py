"""Criteria: what raters judge, in which words, on which scale, and what kind of quality it is."""

from typing import Literal

from panelist.core.prose import capitalise
from panelist.core.schema import Name, StudyPart, Text
from panelist.scales import AnyScale


class Quality(StudyPart):
    """What kind of quality a criterion is, in the terms of the Human Evaluation Datasheet (HEDS 4.1, 4.2)."""

    type: Literal["correctness", "goodness", "feature"]
    """Right or wrong, better or worse, or having a property to some degree (HEDS 4.1.1)."""
    aspect: Literal["form", "content", "both"]
    """Which aspect of the output is judged (HEDS 4.1.2)."""
    reference: Literal["own", "input", "external"]
    """In its own right, against the input, or against something outside (HEDS 4.1.3)."""
    judgement: Literal["objective", "subjective"] = "subjective"
    """HEDS 4.2.1."""
    effect: Literal["intrinsic", "extrinsic"] = "intrinsic"
    """Judged in itself, or by its effect on something else (HEDS 4.2.3)."""
    standard_name: str = ""
    """The name in a taxonomy of criteria, such as QCET (HEDS 4.3.1.2)."""


class Criterion(StudyPart):
    """One thing to judge: its name, the question put to raters, its definition and its scale."""

    name: Name
    """The name in data files and tables."""
    label: str = ""
    """The heading that raters see; by default the name with a capital letter."""
    question: Text
    """The question, as raters read it."""
    definition: str = ""
    """What the criterion means, shown to raters (Markdown)."""
    scale: AnyScale
    """How they answer."""
    better: Literal["higher", "lower"] = "higher"
    """Which answers are better: ``lower`` where the scale counts errors or says how bad it is."""
    quality: Quality | None = None
    """What kind of quality it is; the datasheet asks for it."""

    @property
    def heading(self) -> str:
        """Return the heading that raters see."""
        return self.label or capitalise(self.name)
