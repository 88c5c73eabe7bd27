"""The outputs section of a study file: where the outputs are, and the format of each column."""

from typing import Any, Literal

from pydantic import model_serializer, model_validator

from panelist.core.schema import StudyPart, Text
from panelist.formats.base import FormatName, FormatOptions


class ColumnFormats(StudyPart):
    """The format of each column that raters see."""

    output: FormatName = "plain"
    context: FormatName = "plain"
    """What was asked, the original, the input."""
    reference: FormatName = "plain"


class OutputsFile(FormatOptions):
    """The file of outputs and what its columns hold; a file name alone stands for plain text."""

    file: Text = "outputs.csv"
    """The file, beside the study file: columns item, system, output."""
    formats: ColumnFormats = ColumnFormats()
    missing: Literal["refuse", "plan"] = "refuse"
    """What happens where a system has no output for an item: it is a mistake, or the plan does without."""
    media: str = ""
    """The folder of pictures, sound and film, beside the study file; by default that of the study file."""
    transcripts: str = ""
    """The column with the transcript of sound or film."""
    differences: Literal["hidden", "shown"] = "hidden"
    """Whether words that differ between two plain outputs on a page are underlined."""
    examples: Literal["shown", "hidden"] = "shown"
    """Whether the report shows some outputs as examples."""

    @model_validator(mode="before")
    @classmethod
    def _read_name(cls, written: Any) -> Any:
        return {"file": str(written)} if isinstance(written, str | int | float) else written

    @model_serializer(mode="wrap")
    def _write_name(self, write: Any) -> Any:
        """Write a file name alone where nothing else is said, so that plain studies keep their hash.

        Those with formats keep theirs where nothing is said about examples.
        """
        if self == OutputsFile(file=self.file):
            return self.file
        said = write(self)
        return (
            said if self.examples == "hidden" else {name: said[name] for name in said if name != "examples"}
        )
