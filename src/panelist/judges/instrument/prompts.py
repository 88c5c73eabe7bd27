"""The rating pages of a study as prompts: what a rater would see and nothing else, for any model to answer.

Panelist never calls a model. ``prompts.jsonl`` goes out, one request per line; ``prompts.key.csv``, which
says what each request is about, stays behind.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pandas as pd

from panelist.collection.pages.translations import load_words
from panelist.core.display.result import NamedValues, Part, Result
from panelist.core.errors import BadFile, BadStudy
from panelist.core.prose import list_words, listing, quoted
from panelist.core.seeds import stream
from panelist.core.tables.writers import write_table
from panelist.formats import Stimulus
from panelist.scales.base import RatingScale
from panelist.scales.pairs import Pairs, PairScale
from panelist.study.blindness import count_names, find_pattern, say_names
from panelist.study.sections.criteria import Criterion
from panelist.study.study import Study

KEY_COLUMNS = list_words("id item system system_b criterion label first sample scale instrument")
CANNOT = "cannot say"
BESIDE = ("context", "reference")
"""Columns of the outputs file that a page shows beside its outputs."""


@dataclass(frozen=True)
class PromptPage:
    """One page to ask about: outputs of an item in the order shown, and the criteria asked."""

    item: str
    systems: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    turns: tuple[int, ...]
    """How many turns of each output are rated one by one; 0 where it is rated as a whole."""

    @property
    def compares(self) -> bool:
        """Whether two outputs are compared."""
        return isinstance(self.criteria[0].scale, PairScale)

    @property
    def labels(self) -> tuple[str, ...]:
        """The neutral names of the outputs; none where there is only one."""
        return _letter(len(self.systems))

    @property
    def asked(self) -> tuple[tuple[str, str], ...]:
        """The label and the system of everything that is rated; a lone output has no label."""
        return tuple((label, self.systems[place]) for label, place in _name_turns(self.labels, self.turns))


def _letter(n: int) -> tuple[str, ...]:
    return tuple(ascii_uppercase[:n]) if n > 1 else ("",)


def _name_turns(labels: Sequence[str], turns: Sequence[int]) -> list[tuple[str, int]]:
    """Return the label of each output, or of each of its turns, with the place of the output.

    >>> _name_turns(("A", "B"), (2, 0)), _name_turns(("",), (1,))
    ([('A turn 1', 0), ('A turn 2', 0), ('B', 1)], [('turn 1', 0)])
    """
    return [
        (f"{label} turn {turn}".strip() if turn else label, place)
        for place, (label, n) in enumerate(zip(labels, turns, strict=True))
        for turn in (range(1, n + 1) if n else (0,))
    ]


@dataclass(frozen=True, eq=False)
class Prompts(Result):
    """Requests for a judge, and the key to them."""

    requests: tuple[dict[str, Any], ...] = field(repr=False)
    key: pd.DataFrame = field(repr=False)
    notes: tuple[str, ...] = ()

    def title(self) -> str:
        """Return the heading."""
        return "Prompts for a judge"

    def parts(self) -> list[Part]:
        """Return the counts and the notes."""
        rows = [
            ("requests", f"{len(self.requests):,}"),
            ("items", f"{self.key['item'].nunique():,}"),
            ("criteria", ", ".join(self.key["criterion"].unique())),
            ("instrument", listing(dict.fromkeys(one["instrument"][:12] for one in self.requests))),
        ]
        return [NamedValues([*rows, *(("note", note) for note in self.notes)])]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the notes."""
        return {
            "n_requests": len(self.requests),
            "n_items": int(self.key["item"].nunique()),
            "criteria": list(self.key["criterion"].unique()),
            "instruments": list(dict.fromkeys(one["instrument"] for one in self.requests)),
            "notes": list(self.notes),
        }


def make_prompts(study: Study, samples: int = 1, seed: int | None = None) -> Prompts:
    """Return one request for each page that a rater could meet, pairs in both orders, pages in rotations.

    Requests come in random order, by ``seed`` or that of the design; a judge sees one page at a time.
    """
    if samples < 1:
        raise BadStudy(f"A judge is asked at least once about each page; found samples {samples}.")
    _refuse_media(study)
    requests: list[dict[str, Any]] = []
    rows: list[tuple[Any, ...]] = []
    asked: set[str] = set()
    for page in _list_pages(study):
        system, answer = _write_system(study, page), _write_schema(page)
        instrument = _digest(system, study.file.noun, _ask(page), json.dumps(answer, sort_keys=True))
        user = _write_user(study, page)
        asked |= {system, _ask(page)}
        for sample in range(1, samples + 1):
            mark = _digest(study.hash, instrument, page.item, *page.systems, str(sample))[:32]
            messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
            requests.append(
                {
                    "id": mark,
                    "messages": messages,
                    "answer": answer,
                    "instrument": instrument,
                    "sample": sample,
                }
            )
            rows += _write_key(page, mark, sample, instrument)
    order = stream(study.file.design.seed if seed is None else seed, "prompts").permutation(len(requests))
    key = pd.DataFrame(rows, columns=list(KEY_COLUMNS))
    notes = tuple(_find_named(study, asked))
    return Prompts(tuple(requests[place] for place in order.tolist()), key, notes)


def _find_named(study: Study, asked: Iterable[str]) -> Iterator[str]:
    """Give a note where a system is named: in the outputs, in what stands beside them, in the questions."""
    if named := say_names(count_names(study.outputs)):
        yield (
            f"names of systems or makers stand in the outputs themselves: {named}. To show a "
            "copy without them: panelist check STUDY --redact FILE"
        )
    frame, pattern = study.outputs.frame, find_pattern(study.systems, ())
    beside = [text for name in BESIDE if name in frame for text in frame[name].astype(str).unique()]
    for texts, where in (
        (asked, "the instructions, questions or examples"),
        (beside, "contexts or references"),
    ):
        found = {match[0].casefold(): match[0] for text in texts for match in pattern.finditer(text)}
        if found:
            yield (
                f"{quoted(sorted(found.values()))} stands in {where}, and is the name of a system: raters "
                "and judges read it. Say it in other words, or rename the system"
            )


def write_prompts(prompts: Prompts, path: Path) -> list[Path]:
    """Write the requests, and beside them the key; neither replaces a file that is there."""
    key = path.with_name(f"{path.stem}.key.csv")
    for place in (path, key):
        if place.exists():
            raise BadFile(f"{place} is there already; nothing was written. Name another file or delete it.")
    lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in prompts.requests)
    try:
        path.write_text(lines, encoding="utf-8")
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror or error}.") from None
    write_table(prompts.key, key)
    return [path, key]


def _refuse_media(study: Study) -> None:
    outputs = study.outputs
    if "image" in outputs.frame and (outputs.frame["image"] != "").any():
        raise BadStudy("The outputs have pictures, and prompts hold texts only.")
    for column in ("output", "context"):
        found = outputs.format(column)
        cells = outputs.frame.get(column, ())
        if any(found.list_files(Stimulus(text), outputs.options) for text in cells):
            raise BadStudy(f"The column {column} holds pictures, sound or film, and prompts hold texts only.")


def _list_pages(study: Study) -> Iterator[PromptPage]:
    """Give the pages: one output, all outputs of an item in each rotation, or each pair in both orders."""
    rated = tuple(one for one in study.criteria if isinstance(one.scale, RatingScale))
    paired = tuple(one for one in study.criteria if isinstance(one.scale, PairScale))
    other = [one.name for one in study.criteria if one not in rated and one not in paired]
    rated = tuple(one for one in rated if one.scale.measurement != "text")
    if not rated and not paired:
        raise BadStudy(
            f"No criterion can be put to a judge ({listing(other)}): judges rate single outputs or choose "
            "between two."
        )
    together = study.file.design.criteria == "together" and study.file.design.rated != "alone"
    several = study.file.design.facts.count_shown(len(study.systems), study.file.design) > 1
    alone = study.file.design.rated == "alone" or not several
    outputs = study.outputs
    frame = outputs.frame[["item", "system"]]
    place = {name: number for number, name in enumerate(study.systems)}
    cells = zip(frame["item"].tolist(), frame["system"].tolist(), strict=True)

    def make(item: str, systems: Iterable[str], criteria: tuple[Criterion, ...]) -> PromptPage:
        shown = tuple(systems)
        compares = isinstance(criteria[0].scale, PairScale)
        turns = tuple(0 if compares else outputs.parts(outputs.field(item, one, "output")) for one in shown)
        return PromptPage(item, shown, criteria, turns)

    for item, group in groupby(sorted(cells, key=lambda cell: cell[0]), key=lambda cell: cell[0]):
        systems = sorted((system for _, system in group if system in place), key=place.__getitem__)
        asked = [rated] if together else [(one,) for one in rated]
        for criteria in asked if rated else []:
            if alone:
                yield from (make(item, (system,), criteria) for system in systems)
            else:
                turned = (systems[start:] + systems[:start] for start in range(len(systems)))
                yield from (make(item, order, criteria) for order in turned)
        for criterion in paired:
            for one, other_system in combinations(systems, 2):
                yield make(item, (one, other_system), (criterion,))
                yield make(item, (other_system, one), (criterion,))


def _write_system(study: Study, page: PromptPage) -> str:
    """Return what a rater reads before the first page: instructions, criteria with scales, examples."""
    said = [study.file.instructions.strip()]
    for one in page.criteria:
        said.append(f"## {one.heading}\n\n{one.question}")
        if one.definition:
            said.append(one.definition.strip())
        said.append(f"Answers: {_list_answers(one)}.")
    said += _write_examples(study, page)
    return "\n\n".join(text for text in said if text)


def _list_answers(criterion: Criterion) -> str:
    """Return the answers that raters may give, in their words."""
    scale = criterion.scale
    if isinstance(scale, Pairs):
        tie = f", or tie ({scale.tie_label})" if scale.ties else ""
        return f"A ({scale.labels[0]}) or B ({scale.labels[1]}){tie}"
    if isinstance(scale, PairScale):
        return listing((f"{one.value} ({one.label})" for one in scale.options()), most=None, last="or")
    return scale.values()


def _write_examples(study: Study, page: PromptPage) -> list[str]:
    """Return the worked examples that raters see, as far as they are about these criteria."""
    names = {one.name: one for one in page.criteria}
    shown = []
    for example in study.file.examples:
        told = {name: answer for name, answer in example.answers.items() if name in names}
        texts = example.outputs or (example.output,)
        if not told or len(texts) != len(page.systems):
            continue
        turns = [0 if page.compares else study.outputs.parts(text) for text in texts]
        labels = [label for label, _ in _name_turns(_letter(len(texts)), turns)]
        answers = "; ".join(
            f"{names[name].heading}: {_write_answers(names[name], labels, answer)}"
            for name, answer in told.items()
        )
        parts = [_tell(study, "context", example.context), *_show_texts(study, texts), answers, example.why]
        shown.append("\n\n".join(filter(None, parts)))
    return ["## Examples", *shown] if shown else []


def _show_texts(study: Study, texts: Sequence[str]) -> Iterator[str]:
    for label, text in zip(_letter(len(texts)), texts, strict=True):
        told = _tell(study, "output", text)
        yield f"[{label}]\n{told}" if label else told


def _tell(study: Study, column: str, text: str, pair: tuple[str, str] | None = None) -> str:
    """Return a text of a column as raters read it."""
    outputs, say = study.outputs, load_words(study.file.language).say
    return outputs.format(column).read_script(outputs.make_cell(column, text, pair), outputs.options, say)


def _write_answers(criterion: Criterion, labels: Sequence[str], given: str | Sequence[str]) -> str:
    """Return the answers of an example as a judge writes them."""
    scale = criterion.scale
    if isinstance(scale, PairScale):
        options = [option.value for option in scale.options()]
        sides = {options[0]: "A", options[-1]: "B"} if isinstance(scale, Pairs) else {}
        value = scale.write(scale.parse(given if isinstance(given, str) else given[0]))
        return sides.get(value, value)
    assert isinstance(scale, RatingScale)
    values = [str(scale.recognise(one)) for one in ((given,) if isinstance(given, str) else given)]
    if len(values) < 2:
        return values[0]
    return ", ".join(f"{label}: {value}" for label, value in zip(labels, values, strict=True))


def _ask(page: PromptPage) -> str:
    """Return the questions, and how to answer them."""
    each = ", ".join(f'"{one.name}": {_show_answer(one)}' for one in page.criteria)
    if page.compares or page.asked[0][0] == "":
        form = f"{{{each}}}"
    else:
        form = "{" + ", ".join(f'"{label}": {{{each}}}' for label, _ in page.asked) + "}"
    questions = "\n".join(f"{one.heading}: {one.question}" for one in page.criteria)
    return (
        f"{questions}\n\nAnswer with JSON only: {form}. If you cannot answer, write "
        f'"{CANNOT}" in place of the answer.'
    )


def _show_answer(criterion: Criterion) -> str:
    scale = criterion.scale
    if isinstance(scale, Pairs):
        return '"A", "B" or "tie"' if scale.ties else '"A" or "B"'
    if isinstance(scale, PairScale):
        *values, last = (f'"{option.value}"' for option in scale.options())
        return f"{', '.join(values)} or {last}"
    assert isinstance(scale, RatingScale)
    return scale.allowed()


def _write_user(study: Study, page: PromptPage) -> str:
    """Return the page itself: context, reference, outputs under neutral labels, questions, answer format."""
    outputs = study.outputs
    parts = []
    for column in BESIDE:
        if column in outputs.frame:
            found = ((outputs.field(page.item, system, column), system) for system in page.systems)
            text, system = next((one for one in found if one[0].strip()), ("", ""))
            if text:
                parts.append(f"[{column.capitalize()}]\n{_tell(study, column, text, (page.item, system))}")
    noun = study.file.noun.capitalize()
    for label, system in zip(page.labels, page.systems, strict=True):
        text = outputs.field(page.item, system, "output")
        told = _tell(study, "output", text, (page.item, system)) or load_words(study.file.language).say(
            "nothing"
        )
        parts.append(f"[{f'{noun} {label}'.strip()}]\n{told}")
    return "\n\n".join([*parts, _ask(page)])


def _write_schema(page: PromptPage) -> dict[str, Any]:
    """Return the JSON Schema of an answer."""
    each = {one.name: {"anyOf": [_describe_answer(one), {"const": CANNOT}]} for one in page.criteria}
    inner = {"type": "object", "properties": each, "required": list(each), "additionalProperties": False}
    labels = [label for label, _ in page.asked]
    if page.compares or labels == [""]:
        return inner
    return {
        "type": "object",
        "properties": dict.fromkeys(labels, inner),
        "required": labels,
        "additionalProperties": False,
    }


def _describe_answer(criterion: Criterion) -> dict[str, Any]:
    scale = criterion.scale
    if isinstance(scale, Pairs):
        return {"enum": ["A", "B", "tie"] if scale.ties else ["A", "B"]}
    if isinstance(scale, PairScale):
        return {"enum": [option.value for option in scale.options()]}
    whole = bool(scale.list_choices(1))
    bounds = {"minimum": scale.lowest, "maximum": scale.highest}
    number: dict[str, Any] = {name: value for name, value in bounds.items() if value is not None}
    if whole:
        number = {name: int(value) for name, value in number.items()}
    return {"type": "integer" if whole else "number", **number}


def _write_key(page: PromptPage, mark: str, sample: int, instrument: str) -> Iterator[tuple[Any, ...]]:
    """Give the rows of the key: one for each answer that is asked for."""
    for one in page.criteria:
        said = one.scale.model_dump(mode="json", exclude_unset=True)
        scale = json.dumps({"type": getattr(one.scale, "type", ""), **said})
        if page.compares:
            yield (mark, page.item, *page.systems, one.name, "", page.systems[0], sample, scale, instrument)
            continue
        for label, system in page.asked:
            yield (mark, page.item, system, "", one.name, label, "", sample, scale, instrument)


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
