"""The base of everything a person writes into a study file: strict, frozen, and described for editors."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

Name = Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f,;|=]+$")]
"""A name that is also used in tables and on the command line: no commas, no ``= ; |``, no line breaks."""

Text = Annotated[str, StringConstraints(min_length=1)]
"""Words for people; never empty."""

Kept = Annotated[str, StringConstraints(strip_whitespace=False)]
"""A text to judge: white space around it is part of it."""


class StudyPart(BaseModel):
    """A part of a study file: unknown keys are refused, and nothing changes after it is read.

    The docstrings under the fields are their descriptions in the JSON Schema that ``panelist schema`` prints.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        str_strip_whitespace=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        coerce_numbers_to_str=True,  # a label that reads 5 in YAML is still a label
    )
