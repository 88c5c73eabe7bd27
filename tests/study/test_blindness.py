"""Names in outputs: found, counted by system, masked."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.formats.base import write_canonical
from panelist.study.blindness import MASK, count_masks, count_names, find_names, redact, say_names
from panelist.study.outputs import Outputs
from panelist.study.sections.outputs_file import ColumnFormats, OutputsFile


def make_outputs(*texts: tuple[str, str], options: OutputsFile = OutputsFile()) -> Outputs:  # noqa: B008
    rows = [(str(place), system, text) for place, (system, text) in enumerate(texts)]
    return Outputs(pd.DataFrame(rows, columns=["item", "system", "output"]), options)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I am ChatGPT, made by OpenAI.", {"ChatGPT", "OpenAI"}),
        ("As an AI language model, I cannot.", {"As an AI language model"}),
        ("gpt-4o-mini says so", {"gpt-4o-mini"}),
        ("The tuned version of Claude", {"tuned", "Claude"}),
        ("a meta study; he claimed; Egypt; googled; Meta-analysis; tuned_up", set()),
        ("Qwen2.5-7B, qwen 3, DeepSeek-V3 and R1.", {"Qwen2.5-7B", "qwen 3", "DeepSeek-V3"}),
        ("Claude 3.5 Sonnet or Claude 3 times; Grok-2.", {"Claude 3.5", "Claude", "Grok-2"}),
        ("It called openai_search. So Meta-Llama-3.1!", {"openai", "Meta", "Llama-3.1"}),
        ("a b c", set()),
    ],
)
def test_names_are_found_as_whole_words(text: str, found: set[str]) -> None:
    outputs = make_outputs(("tuned", text), ("ab", "nothing"))
    assert {one.name for one in count_names(outputs)} == found


def test_names_are_counted_by_system_once_for_each_output() -> None:
    outputs = make_outputs(("tuned", "GPT GPT"), ("tuned", "GPT"), ("other", "fine"))
    (one,) = count_names(outputs)
    assert (one.system, one.name, one.n, one.of) == ("tuned", "GPT", 2, 2)
    assert say_names([one]) == "'tuned': GPT in 2 of 2"
    (note,) = find_names(outputs)
    assert note.startswith("1 name of systems or makers in the outputs")
    assert "--redact" in note


def test_a_masked_copy_holds_no_name() -> None:
    outputs = make_outputs(("tuned", "I am GPT-4, tuned."), ("other", "fine"))
    masked, changed = redact(outputs)
    assert masked.frame["output"].tolist() == [f"I am {MASK}, {MASK}.", "fine"]
    assert (changed, count_masks(masked), count_names(masked)) == (1, 1, [])


@given(st.lists(st.sampled_from(["GPT", "Claude", "tuned", "fine", "Llama 3"]), min_size=1, max_size=8))
def test_masking_leaves_no_name_behind(words: list[str]) -> None:
    masked, _ = redact(make_outputs(("tuned", " ".join(words))))
    assert count_names(masked) == []


def test_masking_twice_changes_nothing_more() -> None:
    once, _ = redact(make_outputs(("assistant", "ask the assistant GPT")))
    twice, changed = redact(once)
    assert changed == 0
    assert once.frame.equals(twice.frame)


def test_roles_of_dialogues_are_not_masked() -> None:
    pytest.importorskip("panelist.formats.turns")
    options = OutputsFile(formats=ColumnFormats(output="turns"))
    turns = [{"role": "user", "text": "Who?"}, {"role": "assistant", "text": "GPT."}]
    masked, changed = redact(make_outputs(("chat-a", json.dumps(turns)), options=options))
    assert changed == 1
    (text,) = masked.frame["output"]
    assert json.loads(text) == [turns[0], {"role": "assistant", "text": f"{MASK}."}]


def test_only_dialogues_with_a_name_are_changed_and_files_keep_their_names() -> None:
    options = OutputsFile(formats=ColumnFormats(output="turns"))
    turns = [{"role": "user", "text": "Who?"}, {"role": "assistant", "text": "I.", "audio": ["tuned-1.wav"]}]
    outputs = make_outputs(("tuned", write_canonical(turns)), options=options)
    masked, changed = redact(outputs)
    assert (changed, masked.frame["output"].tolist()) == (0, outputs.frame["output"].tolist())


def test_names_in_what_is_said_about_files_are_counted_and_masked() -> None:
    options = OutputsFile(formats=ColumnFormats(output="audio"), transcripts="said")
    outputs = make_outputs(("tuned", "tuned-1.wav"), ("other", "other-1.wav"), options=options)
    outputs = replace(outputs, frame=outputs.frame.assign(said=["I am GPT.", "Hello."]))
    assert [(one.system, one.name) for one in count_names(outputs)] == [("tuned", "GPT")]
    masked, changed = redact(outputs)
    assert (changed, count_masks(masked), count_names(masked)) == (1, 1, [])
    assert masked.frame["output"].tolist() == ["tuned-1.wav", "other-1.wav"]
    assert masked.frame["said"].tolist() == [f"I am {MASK}.", "Hello."]
