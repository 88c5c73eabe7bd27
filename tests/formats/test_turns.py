"""Dialogues as cells: what is wrong with them, what raters see of them, and how they are written."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from panelist.collection.pages.translations import find_languages, load_words
from panelist.formats import FORMATS, FormatOptions, Stimulus
from panelist.formats.base import TurnOptions, write_canonical
from panelist.formats.turns import DialogueTurn, pair_exchanges, read_leniently, read_turns
from panelist.study.outputs import Outputs, examine_outputs
from panelist.study.sections.outputs_file import OutputsFile

HOSTILE = Path(__file__).parents[3] / "shared" / "data" / "stimuli" / "hostile.json"
TURNS = FORMATS["turns"]
SAY = load_words("en").say
EACH, LAST = (FormatOptions(turns=TurnOptions(rate=rate)) for rate in ("each", "last"))
WHOLE = FormatOptions()
TALK = [
    {"role": "system", "text": "You are a product of Somebody."},
    {"role": "user", "text": "Is it <b>open</b>?"},
    {"role": "tool", "text": "opening hours: 9 to 5"},
    {"role": "assistant", "content": "Until five."},
    {"role": "user", "text": "Thanks. And on Sunday?"},
    {"role": "assistant", "text": "No."},
]
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)
DIALOGUES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "system", "tool"]), "text": TEXTS}),
    min_size=1,
    max_size=6,
)


def cell(turns: Any, **more: Any) -> Stimulus:
    return Stimulus(turns if isinstance(turns, str) else json.dumps(turns), **more)


@pytest.mark.parametrize(
    ("turns", "options", "said"),
    [
        ("{not json", WHOLE, "not JSON (Expecting property name enclosed in double quotes, character 2)"),
        ("[" * 100_000, WHOLE, "nested too deeply"),
        ("[]", WHOLE, "an empty list"),
        ('"Hello"', WHOLE, 'found "Hello"'),
        (["Hello"], WHOLE, 'turn 1 is "Hello"'),
        ([{"role": "asistant", "text": "a"}], WHOLE, "Did you mean 'assistant'?"),
        ([{"text": "a"}], WHOLE, "turn 1 has no role"),
        ([{"role": "user"}], WHOLE, "neither text nor content"),
        ([{"role": "user", "text": "a", "content": "b"}], WHOLE, "both text and content"),
        ([{"role": "user", "content": [{"type": "text"}]}], WHOLE, "write one text"),
        ([{"role": "user", "images": [1]}], WHOLE, "list the names of files"),
        ([{"role": "assistant", "text": " \n"}], WHOLE, "turn 1, the assistant's, is empty"),
        ([{"role": "user", "text": "a"}], WHOLE, "no turn is the assistant's"),
        ([*TALK, {"role": "user", "text": "b"}], LAST, "the last turn is the user's"),
    ],
)
def test_what_is_wrong_with_a_dialogue_is_said(turns: Any, options: FormatOptions, said: str) -> None:
    assert said in TURNS.find_problem(cell(turns), options)


def test_a_good_dialogue_has_no_problem_and_a_context_may_end_with_a_question() -> None:
    assert TURNS.find_problem(cell(TALK), LAST) == ""
    assert TURNS.find_problem(cell([TALK[1]], judged=False), LAST) == ""


def test_the_file_is_named_with_line_column_and_the_nearest_role(tmp_path: Path) -> None:
    rows = [
        {"item": "1", "system": "a", "output": TALK},
        {"item": "1", "system": "b", "output": [{"role": "assistent", "text": "x"}]},
    ]
    path = tmp_path / "outputs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options = OutputsFile.model_validate({"file": "outputs.jsonl", "formats": {"output": "turns"}})
    _, problems = examine_outputs(path, options=options)
    (problem,) = [one for one in problems if one.grave]
    assert (problem.line, problem.key) == (2, "output")
    assert "turn 1 has the role 'assistent'. Did you mean 'assistant'?" in problem.message


def test_raters_see_who_speaks_and_never_the_system_unless_the_study_says_so() -> None:
    shown = TURNS.split(cell(TALK), WHOLE, SAY)
    assert [turn.role for turn in shown] == ["user", "tool", "assistant", "user", "assistant"]
    assert [turn.label for turn in shown if turn.role != "tool"] == [
        "Person, turn 1",
        "Assistant, turn 1",
        "Person, turn 2",
        "Assistant, turn 2",
    ]
    html = str(TURNS.show(cell(TALK), WHOLE, SAY))
    assert "Somebody" not in html
    assert "&lt;b&gt;open&lt;/b&gt;" in html
    assert '<details class="looked"><summary>The assistant looked something up</summary>' in html
    assert "Somebody" not in TURNS.read_words(cell(TALK), WHOLE)
    told = FormatOptions(turns=TurnOptions(show=("system",)))
    assert "Somebody" in str(TURNS.show(cell(TALK), told, SAY))


@pytest.mark.parametrize("language", find_languages())
def test_roles_are_told_apart_in_every_language(language: str) -> None:
    say = load_words(language).say
    told = FormatOptions(turns=TurnOptions(show=("system",)))
    labels = [turn.label for turn in TURNS.split(cell(TALK), told, say)]
    assert len(set(labels)) == len(labels)


def test_media_of_turns_are_listed_in_the_order_of_their_numbers() -> None:
    turns = [
        {"role": "user", "text": "See", "images": ["a.png", "b.png"], "audio": "c.mp3"},
        {"role": "assistant", "images": ["d.png"]},
    ]
    assert TURNS.find_problem(cell(turns), LAST) == ""
    assert TURNS.list_files(cell(turns), LAST) == ("a.png", "b.png", "c.mp3", "d.png")
    html = str(TURNS.show(cell(turns), LAST, SAY))
    places = [html.index(f'src="media:{number}"') for number in (1, 2, 3, 4)]
    assert places == sorted(places)
    assert ".png" not in html


def test_only_what_is_judged_is_rewritten() -> None:
    last = read_turns(TURNS.rewrite(cell(TALK), LAST, str.upper))
    assert [turn.text for turn in last if turn.role == "assistant"] == ["Until five.", "NO."]
    each = read_turns(TURNS.rewrite(cell(TALK), EACH, str.upper))
    assert [turn.text for turn in each if turn.role == "assistant"] == ["UNTIL FIVE.", "NO."]
    assert [turn.text for turn in each if turn.role == "user"] == [TALK[1]["text"], TALK[4]["text"]]


def test_a_text_of_the_study_file_is_what_an_assistant_says() -> None:
    assert read_leniently("Please choose 2.") == (DialogueTurn("assistant", "Please choose 2."),)
    assert [TURNS.count_parts(cell(TALK), one) for one in (EACH, LAST, WHOLE)] == [2, 0, 0]


def test_a_dialogue_falls_into_exchanges() -> None:
    exchanges = pair_exchanges(TURNS.split(cell(TALK), WHOLE, SAY))
    roles = [([turn.role for turn in one], [turn.role for turn in other]) for one, other in exchanges]
    assert roles == [(["user"], ["tool", "assistant"]), (["user"], ["assistant"])]
    assert pair_exchanges(()) == []


def read_back(path: Path) -> Outputs:
    options = OutputsFile.model_validate({"file": path.name, "formats": {"output": "turns"}})
    outputs, _ = examine_outputs(path, options=options)
    assert outputs is not None
    return outputs


@settings(max_examples=30)
@given(DIALOGUES)
def test_any_dialogue_is_the_same_from_a_csv_cell_and_from_json_lines(
    tmp_path_factory: pytest.TempPathFactory, turns: list[dict[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("outputs")
    row = {"item": "1", "system": "a", "output": turns}
    (folder / "outputs.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    with (folder / "outputs.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["item", "system", "output"], ["1", "a", json.dumps(turns, indent=1)]])
    lines, table = read_back(folder / "outputs.jsonl"), read_back(folder / "outputs.csv")
    assert lines.hash == table.hash
    kept = read_turns(lines.text("1", "a"))
    assert [(turn.role, turn.text) for turn in kept] == [(turn["role"], turn["text"]) for turn in turns]
    assert write_canonical(lines.text("1", "a")) == lines.text("1", "a")


@given(DIALOGUES)
def test_whatever_a_dialogue_says_only_our_tags_come_out(turns: list[dict[str, str]]) -> None:
    marked = [{**turn, "text": f"<script>{turn['text']}</script><img onerror=x>"} for turn in turns]
    html = str(TURNS.show(cell(marked), WHOLE, SAY))
    assert "<script" not in html
    assert "<img" not in html


@pytest.mark.skipif(not HOSTILE.exists(), reason="the hostile texts of ../shared/data are not here")
def test_hostile_texts_stay_texts() -> None:
    texts = json.loads(HOSTILE.read_text(encoding="utf-8"))
    words = [
        one if isinstance(one, str) else next(v for v in one.values() if isinstance(v, str)) for one in texts
    ]
    assert len(words) > 40
    allowed = ("<ol", "</ol", "<li", "</li", "<p", "</p", "<details", "</details", "<summary", "</summary")
    for word in words:
        html = str(TURNS.show(cell([{"role": "assistant", "text": word or "-"}]), WHOLE, SAY))
        assert all(html.startswith(allowed, place) for place, sign in enumerate(html) if sign == "<"), word


def test_each_sound_of_a_turn_has_the_answer_that_it_does_not_play() -> None:
    html = TURNS.show(
        cell([{"role": "user", "text": "Say it.", "images": ["a.png"], "audio": ["b.wav", "c.wav"]}]),
        WHOLE,
        SAY,
    )
    for number in (2, 3):
        assert f'src="media:{number}" aria-label="Sound"' in html
        assert f'name="media:{number}" value="1"> It does not play' in html
    assert 'name="media:1"' not in html
