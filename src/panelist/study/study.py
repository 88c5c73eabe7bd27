"""The study: its file and its outputs, read, checked and frozen."""

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.core.errors import UnknownName, did_you_mean
from panelist.core.prose import count
from panelist.study.model import StudyFile
from panelist.study.outputs import Outputs
from panelist.study.problems import Problem
from panelist.study.sections.criteria import Criterion
from panelist.study.sections.sampling import ItemDraw, draw_items


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """Everything a person decided, and the outputs it is about. ``load_study`` makes it."""

    file: StudyFile
    outputs: Outputs
    path: Path | None = None
    """Where study.yaml is; None for a study made in Python."""
    notes: tuple[Problem, ...] = field(default=(), repr=False)
    """What is worth knowing although nothing is wrong."""

    def __repr__(self) -> str:
        size = f"{count(len(self.systems), 'system')} × {count(len(self.items), 'item')}"
        return f"Study({self.title!r}, {size}, {count(len(self.criteria), 'criterion', 'criteria')})"

    @property
    def title(self) -> str:
        """The title."""
        return self.file.title

    @property
    def folder(self) -> Path:
        """The folder of the study, which holds its plan and what is collected."""
        return Path() if self.path is None else self.path.parent

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria, in the order of the file."""
        return self.file.criteria

    @property
    def items(self) -> tuple[str, ...]:
        """The items that people rate, in the order of the outputs file: all, or those that were drawn."""
        return self.outputs.items if self.draw is None else self.draw.chosen

    @cached_property
    def draw(self) -> ItemDraw | None:
        """The draw of the items that people rate; None where they rate all."""
        sample = self.file.sample
        return None if sample is None else draw_items(sample, self.file.design.seed, self.outputs)

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order of ``systems:``, else of the outputs file."""
        return tuple(system.name for system in self.file.systems) or self.outputs.systems

    @property
    def families(self) -> dict[str, str]:
        """The family of models of each system that states one."""
        return {system.name: system.family for system in self.file.systems if system.family}

    @cached_property
    def there(self) -> NDArray[np.bool_] | None:
        """Which outputs exist (items × systems); None where all do."""
        if not self.outputs.lacking:
            return None
        frame = self.outputs.frame
        found = np.zeros((len(self.items), len(self.systems)), dtype=bool)
        places = (
            pd.Index(names).get_indexer(pd.Index(frame[column]))
            for names, column in ((self.items, "item"), (self.systems, "system"))
        )
        found[*places] = True
        return found if not found.all() else None

    @property
    def n_outputs(self) -> int:
        """How many outputs people rate."""
        rows = self.outputs.frame["item"]
        return len(rows) if self.draw is None else int(rows.isin(self.items).sum())

    @cached_property
    def n_items(self) -> int:
        """How many items there are, those of which no system has an output included."""
        return len({*self.items, *(item for item, _, _ in self.outputs.lacking)})

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of what was decided and of the outputs; comments and the order of keys do not count.

        What equals its default is left out, so that a key added to the format later changes no old hash; so
        are answers for forms and the steps of a repeat, which are written while the study is under way.
        """
        content: dict[str, Any] = {
            "study": self.file.model_dump(
                mode="json", exclude_defaults=True, exclude={"heds", "preregistration", "repeat"}
            ),
            "outputs": self.outputs.hash,
        }
        if self.draw is not None:  # scores that strata were made from are part of it
            content["sample"] = self.draw.hash
        if shown := self.briefing_media:
            content["media"] = [self.outputs.media.hash(name) for name in shown]
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def briefing_media(self) -> tuple[str, ...]:
        """The media files that the sound check, examples and practice name, in order."""
        media, practice = self.outputs.media, self.file.practice
        shown = [*self.file.examples, *(practice.items if practice else ())]
        cells = [("output", text) for item in shown for text in (item.outputs or (item.output,))]
        cells += [("context", item.context) for item in shown]
        named = (media.list_files(media.cell(column, text), column) for column, text in cells)
        heard = (self.file.sound_check.file,) if self.file.sound_check is not None else ()
        return (*heard, *(name for names in named for name in names))

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The pictures, sounds, films and captions of the study, by their paths in its folder."""
        frame = self.outputs.frame
        pictures = set(frame["image"]) - {""} if "image" in frame else set()
        within = PurePosixPath(self.file.outputs.media)
        named = {(within / name).as_posix() for name in (*self.outputs.media.names, *self.briefing_media)}
        return tuple(sorted(pictures | named))

    def criterion(self, name: str) -> Criterion:
        """Return the criterion of this name."""
        for criterion in self.criteria:
            if criterion.name == name:
                return criterion
        known = [criterion.name for criterion in self.criteria]
        raise UnknownName(f"The study has no criterion {name!r}. {did_you_mean(name, known)}")
