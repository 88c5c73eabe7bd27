"""A draft of the mapping: every guess from the columns with its reason, and what a person must decide."""

import re
from collections.abc import Mapping as Keys
from dataclasses import dataclass, field
from typing import Any

from panelist.collection.imports.guessing import guesses
from panelist.collection.imports.guessing.guesses import GuessedQuestion
from panelist.collection.imports.mapping import Mapping
from panelist.collection.imports.mapping_file import quote
from panelist.collection.imports.source_sheet import SourceSheet
from panelist.core.prose import count, listing

HEAD = """\
# Which column of the files is what. {how}read every line, correct, and then
#   panelist import FILE… --mapping {name} -o ratings.csv
"""
_PREFIXES = {"mturk": ("Input.", "Answer."), "label-studio": ("data.", "result.")}


@dataclass
class Draft:
    """A mapping in the making: keys with values, remarks above keys, and what a person must decide."""

    data: dict[str, Any] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)
    head: str = "Drafted from the columns: "

    def put(self, key: str, value: Any, *remarks: str) -> None:
        """Note a guess with its reasons."""
        self.data[key] = value
        self.remarks.setdefault(key, []).extend(remarks)

    def ask(self, key: str, question: str) -> None:
        """Note what only a person can decide."""
        self.open.append(question)
        self.remarks.setdefault(key, []).append(f"DECIDE: {question}")

    def mapping(self) -> Mapping:
        """Return the guesses as a mapping; raises pydantic's error where something needed is open."""
        return Mapping.model_validate(self.data)

    def write(self, name: str = "mapping.yaml") -> str:
        """Return the YAML text with its comments."""
        lines = [HEAD.format(name=name, how=self.head)]
        there = {*self.data, *(key for key, remarks in self.remarks.items() if remarks)}
        for key in (key for key in Mapping.model_fields if key in there):
            lines += [f"# {line}" for remark in self.remarks.get(key, []) for line in _wrap(remark)]
            if key in self.data:
                lines += write_lines(key, self.data[key])
        return "\n".join(lines) + "\n"


def draft_mapping(sheet: SourceSheet) -> Draft:
    """Return the draft for a sheet of any source."""
    draft = Draft({"source": sheet.source})
    if sheet.source == "wide":
        _draft_wide(sheet, draft)
        return draft
    frame, columns = sheet.frame, sheet.columns
    before, after = _PREFIXES.get(sheet.source, ("", ""))
    if sheet.source == "potato":
        known = {"user_id", "instance_id", "displayed_text", "seconds"}
        questions = [q for q in guesses.find_questions(frame, "") if q.column in set(columns) - known]
        shown: list[str] = []
    else:
        shown = [name for name in columns if name.startswith(before)]
        questions = guesses.find_questions(frame, after)
    {"mturk": _about_mturk, "potato": _about_potato, "label-studio": _about_label_studio}[sheet.source](
        sheet, draft
    )
    systems = guesses.find_system(shown)
    sides = guesses.pair_sides(systems)
    compared = _draft_comparisons(draft, questions, sides)
    rest = [q for q in questions if q.column not in compared]
    rest = guesses.number_questions(rest, shown)
    _draft_criteria(draft, rest, bool(compared))
    if not draft.data.get("criteria") and not draft.data.get("comparisons"):
        draft.ask(
            "criteria", f"which columns hold the ratings? There are {listing(q.column for q in questions)}"
        )
    if sheet.source != "potato":
        _draft_item(draft, sheet, shown, systems, any("{n}" in q.column for q in rest))
    if draft.data.get("criteria"):
        _draft_system(draft, systems, sides, any("{n}" in q.column for q in rest))
    if codes := sorted({str(cell) for name in systems for cell in frame[name] if cell}):
        draft.remarks.setdefault("rename", []).append(
            f"The systems are called {listing(codes)}. To rename: rename: {{system: {{{codes[0]}: NAME}}}}."
        )
    return draft


def _about_mturk(sheet: SourceSheet, draft: Draft) -> None:
    frame, there = sheet.frame, set(sheet.columns)
    workers = frame["WorkerId"] if "WorkerId" in there else None
    if workers is not None and workers.ne("").any():
        draft.put("rater", "WorkerId")
    elif "AssignmentId" in there:
        draft.put(
            "rater",
            "AssignmentId",
            "The workers were removed from the file: every assignment then counts as a separate rater.",
            "Agreement within items is valid; anything about single raters is not.",
        )
    else:
        draft.ask("rater", "which column names the rater? WorkerId and AssignmentId are not in the file")
    for key, name in (("submission", "AssignmentId"), ("status", "AssignmentStatus")):
        if name in there:
            draft.put(key, name)
    if "AssignmentStatus" in there:
        draft.put("reasons", [name for name in ("RequesterFeedback", "Reject") if name in there])
        draft.put("rejected", "mark", "Rejected work: mark (set aside by analyses), leave out, or keep.")
    times = {"accepted": "AcceptTime", "submitted": "SubmitTime", "seconds": "WorkTimeInSeconds"}
    if found := {key: name for key, name in times.items() if name in there}:
        draft.put("times", found)
    if "HITId" in there:
        draft.put("keep", {"hit": "HITId"})


def _about_potato(sheet: SourceSheet, draft: Draft) -> None:
    draft.put("rater", "user_id")
    draft.put("item", "instance_id")
    draft.remarks["item"].append(
        "If an instance is one system's output, say so: system: {column: instance_id, match: …}."
    )
    if "seconds" in sheet.frame and sheet.frame["seconds"].ne("").any():
        draft.put("times", {"seconds": "seconds"})


def _about_label_studio(sheet: SourceSheet, draft: Draft) -> None:
    draft.put("rater", "completed_by")
    if "annotation" in sheet.frame:
        draft.put("submission", "annotation")
    drop = {name: ["true"] for name in ("was_cancelled", "ground_truth") if name in sheet.frame}
    if drop:
        draft.put("leave_out", drop, "Skipped tasks, and annotations that were marked as the gold standard.")
    times = {"submitted": "created_at", "seconds": "seconds"}
    draft.put("times", {key: name for key, name in times.items() if name in sheet.frame})


def _draft_comparisons(draft: Draft, questions: list[GuessedQuestion], sides: list[str]) -> set[str]:
    """Put comparisons where best and worst were asked, or a side was picked; return the columns used."""
    best = [q for q in questions if guesses.BEST.search(q.name) or set(q.answers) <= {"left", "right", ""}]
    best = [q for q in best if q.answers and guesses.is_scale(q) and not guesses.WORST.search(q.name)]
    worst = {guesses.WORST.sub(" ", q.name).strip(): q for q in questions if guesses.WORST.search(q.name)}
    made, used = [], set()
    for question in best:
        name = guesses.BEST.sub(" ", question.name).strip(" ._-") or question.name
        other = worst.get(guesses.BEST.sub(" ", question.name).strip())
        words = _name_sides(question.answers, len(sides))
        if not sides or not words:
            draft.ask(
                "comparisons",
                f"{question.column} looks like a choice between outputs ({listing(question.answers)}): "
                "which columns hold the systems that these answers stand for?",
            )
            continue
        entry: dict[str, Any] = {"name": name, "shows": dict(zip(words, sides, strict=False))}
        entry["best"] = question.column
        used.add(question.column)
        if other is not None:
            entry["worst"] = other.column
            used.add(other.column)
        made.append(entry)
    if made:
        draft.put(
            "comparisons",
            made,
            "Choices between outputs: what each answer stands for, in the order shown. Check the sides.",
        )
    return used


def _name_sides(answers: tuple[str, ...], n: int) -> list[str]:
    """Return the answers that stand for the outputs, in the order of the outputs, or nothing."""
    said = {answer.casefold() for answer in answers}
    for words in (list(guesses.WORDS_OF_SIDES[:n]), ["left", "right"], [str(k + 1) for k in range(n)]):
        if n and len(words) >= n and said & {word.casefold() for word in words}:
            return words[:n]
    return []


def _draft_criteria(draft: Draft, questions: list[GuessedQuestion], compared: bool) -> None:
    made: list[tuple[dict[str, Any], GuessedQuestion]] = []
    people: dict[str, str] = {}
    unused: list[str] = []
    for question in questions:
        if guesses.PERSON_WORDS.search(question.name):
            people |= {name.split(".", 1)[-1]: name for name in question.members}
        elif guesses.REMARK_WORDS.search(question.name) or not guesses.is_scale(question):
            unused.append(question.column)
        elif len(question.answers) > 1 or not compared:
            entry: dict[str, Any] = {"name": question.name, "answer": question.column}
            if not all(re.fullmatch(r"-?\d+([.,]\d+)?", word) for word in question.answers):
                entry["values"] = {}
            made.append((entry, question))
        else:
            unused.append(question.column)
    if made:
        wordy = [f"{q.column} ({listing(q.answers)})" for entry, q in made if "values" in entry]
        for entry, _ in made:
            entry.pop("values", None)
        remarks = ["What was rated, and the column of each answer."]
        if wordy:
            remarks.append(
                f"Answers in words: {'; '.join(wordy)}. Say what each counts as, so that they are ordered: "
                "values: {Very good: 5, …}."
            )
        draft.put("criteria", [entry for entry, _ in made], *remarks)
    if people:
        draft.put("background", people, "What raters said about themselves; written to a separate file.")
    if unused:
        draft.remarks.setdefault("criteria", []).append(
            f"Not used (free text, or all alike): {listing(unused, 8)}."
        )


def _draft_item(
    draft: Draft, sheet: SourceSheet, shown: list[str], systems: list[str], numbered: bool
) -> None:
    found = guesses.find_item(sheet.frame, shown, systems, numbered)
    if found is None:
        fallback = "HITId" if "HITId" in sheet.frame else "task"
        if fallback in sheet.frame:
            draft.put("item", fallback, "No input column looks like an item; each task counts as one.")
        else:
            draft.ask("item", "which column names the item?")
        return
    if found not in sheet.frame:
        draft.put("item", found, "One item per numbered column.")
        return
    part = guesses.find_part(sheet.frame[found])
    if part is not None:
        example = next(cell for cell in sheet.frame[found] if cell)
        taken = re.fullmatch(part, example)
        draft.put(
            "item",
            {"column": found, "match": part},
            f"{found} looks like a code with the item in front: {example} is read as "
            f"{taken[1] if taken else example}.",
        )
    else:
        draft.put("item", found)


def _draft_system(draft: Draft, systems: list[str], sides: list[str], numbered_answers: bool) -> None:
    numbered = [re.sub(r"\d+$", "{n}", name) for name in systems]
    if len(systems) == 1:
        draft.put("system", systems[0])
    elif systems and len(set(numbered)) == 1 and numbered_answers:
        draft.put("system", numbered[0], "One system per numbered column.")
    elif len(systems) > 1 and not sides:
        draft.ask("system", f"which of {listing(systems)} is the system that was rated?")
    else:
        draft.remarks.setdefault("system", []).append(
            "No column looks like a system. Without one, systems cannot be compared."
        )


def _draft_wide(sheet: SourceSheet, draft: Draft) -> None:
    columns, frame = sheet.columns, sheet.frame
    person = next(
        (
            name
            for name in ("PROLIFIC_PID", "ResponseId", "Participant", "participant", "rater", "id", "ID")
            if name in columns
        ),
        None,
    )
    if person:
        draft.put("rater", person)
    else:
        draft.ask("rater", f"which column names the rater? Columns: {listing(columns, 8)}")
    if "ResponseId" in columns:
        draft.put("submission", "ResponseId")
    if "Duration (in seconds)" in columns:
        draft.put("times", {"seconds": "Duration (in seconds)"})
    if "Status" in columns and frame["Status"].isin(["Survey Preview", "Spam"]).any():
        draft.put("leave_out", {"Status": ["Survey Preview", "Spam"]})
    shapes: dict[str, list[str]] = {}
    for name in columns:
        parts = re.split(r"[_.:]", name)
        answers = guesses.list_answers(frame[name])
        if len(parts) > 1 and guesses.is_scale(GuessedQuestion(name, name, answers)):
            shapes.setdefault(re.sub(r"[^_.:]+", "*", name), []).append(name)
    shapes = {shape: names for shape, names in shapes.items() if len(names) > 1}
    if not shapes:
        draft.ask(
            "criteria", "which columns hold the ratings? Write a pattern such as Q{item}_{criterion}_{system}"
        )
        return
    members = max(shapes.values(), key=len)
    pattern = _guess_roles(members)
    draft.put(
        "criteria",
        [{"answer": pattern}] if "{criterion}" in pattern else [{"name": "rating", "answer": pattern}],
    )
    draft.ask(
        "criteria",
        f"{count(len(members), 'column')} are named like {members[0]} and {members[-1]}: which part is the "
        "item, which the criterion, which the system (write {item}, {criterion} and {system} for them)",
    )


def _guess_roles(members: list[str]) -> str:
    """Return a pattern for columns named alike: the part with most values is the item, then the others."""
    marks = re.findall(r"[_.:]", members[0])
    parts = [re.split(r"[_.:]", name) for name in members]
    counts = [len({one[place] for one in parts}) for place in range(len(parts[0]))]
    order = sorted((place for place in range(len(counts)) if counts[place] > 1), key=lambda p: -counts[p])
    roles = dict(zip(order, ("item", "system", "criterion"), strict=False))
    words = []
    for place, size in enumerate(counts):
        text = parts[0][place]
        lead = re.match(r"[A-Za-z]*(?=\d)", text)
        same = lead and all(one[place].startswith(lead[0]) for one in parts)
        if place in roles:
            words.append((lead[0] if lead and same else "") + "{" + roles[place] + "}")
        else:
            words.append(text if size == 1 else "{item}")
    return "".join(word + mark for word, mark in zip(words, [*marks, ""], strict=True))


def _wrap(text: str, width: int = 98) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width) or [""]


def write_lines(key: str, value: Any, depth: int = 0) -> list[str]:
    """Return the lines of a key and its value in YAML."""
    pad = "  " * depth
    if isinstance(value, Keys):
        if not value:
            return [f"{pad}{quote(key)}: {{}}"]
        return [
            f"{pad}{quote(key)}:",
            *(line for name, one in value.items() for line in write_lines(name, one, depth + 1)),
        ]
    if isinstance(value, list):
        if all(isinstance(one, str) for one in value):
            return [f"{pad}{quote(key)}: [{', '.join(quote(one) for one in value)}]"]
        lines = [f"{pad}{quote(key)}:"]
        for one in value:
            inner = [line for name, part in one.items() for line in write_lines(name, part, depth + 2)]
            inner[0] = f"{pad}  - {inner[0].lstrip()}"
            lines += inner
        return lines
    text = str(value).lower() if isinstance(value, bool) else quote(str(value))
    return [f"{pad}{quote(key)}: {text}"]
