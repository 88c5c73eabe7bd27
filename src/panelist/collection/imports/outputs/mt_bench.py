"""MT-Bench: questions of several turns in one file, the answers of each model in another, woven together."""

from collections.abc import Iterator, Mapping
from typing import Any

from panelist.collection.imports.outputs.base import (
    LAYOUTS,
    Findings,
    OutputLayout,
    OutputRow,
    ReadOptions,
    SourceFile,
    Turn,
)
from panelist.core.errors import BadFile


class BenchQuestions(OutputLayout):
    """The questions."""

    title = "questions of MT-Bench"
    of_inputs = True

    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether there are turns that nobody has answered."""
        return "question_id" in entry and "turns" in entry and "choices" not in entry

    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Keep the questions; give no output."""
        for entry in file.entries:
            asked: list[Turn] = [{"role": "user", "text": str(text)} for text in entry["turns"]]
            found.inputs[str(entry["question_id"])] = asked, ""
        yield from ()


class BenchAnswers(OutputLayout):
    """The answers of a model."""

    title = "answers of MT-Bench"

    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether there are answers to a question."""
        return "question_id" in entry and isinstance(entry.get("choices"), list)

    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Give one dialogue per question and choice."""
        for entry in file.entries:
            item = str(entry["question_id"])
            asked, _ = found.inputs.get(item, ("", ""))
            if not isinstance(asked, list):
                raise BadFile(
                    f"{file.name} answers question {item}, which is in none of the files. Name the file of "
                    "questions (question.jsonl) as well."
                )
            for choice in entry["choices"]:
                answers = [str(text) for text in choice["turns"]]
                if len(answers) != len(asked):
                    found.notes.append(
                        f"{file.name}: question {item} has {len(asked)} turns, and {len(answers)} answers"
                    )
                dialogue: list[Turn] = []
                for question, answer in zip(asked, answers, strict=False):
                    dialogue += (question, {"role": "assistant", "text": answer})
                system = options.system or str(entry.get("model_id") or file.stem)
                yield OutputRow(item, system, dialogue, repeat=int(choice.get("index") or 0) + 1)


LAYOUTS.register("mt-bench")(BenchAnswers())
LAYOUTS.register("mt-bench-questions")(BenchQuestions())
