"""How simulated raters fill in an old HIT: every control of its form, with opinions where the mapping says
which answers judge which system.

What they think of a system follows from its name alone, so that two runs of the same HIT have the same truth;
the noise is each robot's own.
"""

import json
from functools import lru_cache
from html.parser import HTMLParser

import numpy as np

from panelist.collection.hits.keys import list_keys
from panelist.collection.imports.guessing.patterns import find_slots
from panelist.collection.imports.mapping import Mapping, columns_of
from panelist.collection.imports.mapping_file import load_mapping
from panelist.core.seeds import stream
from panelist.study.sections.hit import SYSTEM
from panelist.study.study import Study

SPREAD = 1.0  # standard deviation between systems, in points of a scale and in latent units
WORDS = "I am simulated."


class Controls(HTMLParser):
    """The controls of a form: for each name the values to choose from, or what kind of box it is."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.choices: dict[str, list[str]] = {}
        self.boxes: dict[str, list[str]] = {}
        self.lines: dict[str, tuple[float, float]] = {}
        self.words: list[str] = []
        self.options: dict[str, list[str]] = {}
        """Options of crowd elements, each a field of its own that is true or false."""
        self._select = ""
        self._option: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read one control."""
        has = {name: value or "" for name, value in attrs}
        name, kind = has.get("name", ""), has.get("type", "text").casefold()
        if tag == "select":
            self._select = name
            self.choices[name] = []
        elif tag == "option" and self._select:
            self._option = has.get("value")
            if self._option:
                self.choices[self._select].append(self._option)
        elif tag == "crowd-radio-button":
            self.options.setdefault(name, []).append(has.get("value", name))
        elif tag in ("crowd-classifier", "crowd-classifier-multi-select"):
            self.choices[f"{name}.label"] = json.loads(has.get("categories", "[]").replace("'", '"'))
        elif not name or kind in ("hidden", "submit", "button"):
            return
        elif tag == "input" and kind == "radio":
            self.choices.setdefault(name, []).append(has.get("value", "on"))
        elif tag in ("input", "crowd-checkbox") and (kind == "checkbox" or tag == "crowd-checkbox"):
            self.boxes.setdefault(name, []).append(has.get("value", "on"))
        elif (tag == "input" and kind in ("range", "number")) or tag == "crowd-slider":
            self.lines[name] = (float(has.get("min") or 0), float(has.get("max") or 100))
        elif tag in ("input", "textarea", "crowd-input", "crowd-text-area"):
            self.words.append(name)

    def handle_data(self, data: str) -> None:
        """Take the text of an option as its value where it has no other."""
        if self._select and self._option is None and data.strip():
            self.choices[self._select].append(data.strip())

    def handle_endtag(self, tag: str) -> None:
        """Note the end of a list."""
        if tag == "select":
            self._select, self._option = "", ""
        elif tag == "option":
            self._option = ""

    def fields(self) -> list[str]:
        """Return the names under which the form submits its answers."""
        marked = [f"{name}.{value}" for name, values in self.options.items() for value in values]
        return [*self.choices, *self.boxes, *self.lines, *self.words, *marked]


def fill_hit(study: Study, html: str, key: str, rng: np.random.Generator, *, careless: bool) -> str:
    """Return the fields of a HIT's form as the page sends them, filled in."""
    controls = Controls(html)
    item = list_keys(study).get(key, "")
    row = json.loads(study.outputs.field(item, SYSTEM, "context")) if item else {}
    wanted = {} if careless else _judge(study, controls, row, rng)
    fields: dict[str, str] = {}
    for name, values in controls.choices.items():
        fields[name] = wanted.get(name) or str(rng.choice(values)) if values else ""
    for name, values in controls.options.items():
        chosen = wanted.get(name) or str(rng.choice(values))
        fields |= {f"{name}.{value}": str(value == chosen).lower() for value in values}
    for name, (low, high) in controls.lines.items():
        fields[name] = wanted.get(name) or f"{rng.uniform(low, high):.0f}"
    fields |= {
        name: "|".join(v for v in values if rng.random() < 0.5) for name, values in controls.boxes.items()
    }
    fields |= dict.fromkeys(controls.words, WORDS)
    return json.dumps({name: value for name, value in fields.items() if value}, ensure_ascii=False)


def _judge(study: Study, controls: Controls, row: dict[str, str], rng: np.random.Generator) -> dict[str, str]:
    """Return an answer to every field that the mapping reads as a judgement of a system."""
    mapping = _find_mapping(study)
    if mapping is None or not row:
        return {}
    lines: dict[str, list[str]] = {name: [] for name in controls.lines}
    names = {**controls.choices, **controls.options, **lines}
    fields = {f"Answer.{name}": name for name in names}
    wanted: dict[str, str] = {}
    for criterion in mapping.criteria:
        for slot in find_slots(criterion.answer.removesuffix(".{option}"), list(fields)):
            cell = criterion.system or mapping.system
            system = _cell(slot.fill(columns_of(cell)[0]), row) if cell else ""
            name = fields[slot.column]
            latent = _think(criterion.name or slot.given.get("criterion", ""), system) + rng.normal()
            wanted[name] = _place(names[name], controls.lines.get(name), latent)
    for comparison in mapping.comparisons:
        for key, sign in (("best", 1.0), ("worst", -1.0)):
            column = getattr(comparison, key)
            for slot in find_slots(column, list(fields)) if column else ():
                systems = {word: _cell(slot.fill(one), row) for word, one in comparison.shows.items()}
                liked = {
                    word: sign * _think(comparison.name, system) + rng.gumbel()
                    for word, system in systems.items()
                }
                wanted[fields[slot.column]] = max(liked, key=lambda word: liked[word])
    return wanted


def _place(values: list[str], line: tuple[float, float] | None, latent: float) -> str:
    """Return where on a scale a judgement falls."""
    if line is not None:
        low, high = line
        return f"{np.clip((low + high) / 2 + latent * (high - low) / 6, low, high):.0f}"
    try:
        order = sorted(values, key=float)
    except ValueError:
        order = values
    at = round((len(order) - 1) / 2 + latent)
    return order[min(max(at, 0), len(order) - 1)] if order else ""


def _think(criterion: str, system: str) -> float:
    return float(stream(0, "hit", criterion, system).normal(0.0, SPREAD))


def _cell(column: str, row: dict[str, str]) -> str:
    return row.get(column.removeprefix("Input."), "")


@lru_cache(8)
def _find_mapping(study: Study) -> Mapping | None:
    hit = study.file.hit
    return load_mapping(study.folder / hit.mapping)[0] if hit is not None and hit.mapping else None
