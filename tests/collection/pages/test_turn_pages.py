"""Pages of dialogues: rows of turns, what is asked about each, and how answers are read back."""

import json
from typing import Any

import pandas as pd
import pytest

from panelist.collection.pages.grading import grade_checks, grade_practice
from panelist.collection.pages.models import RatingPage
from panelist.collection.pages.sheets import find_fields
from panelist.collection.pages.turn_rows import make_rows
from panelist.collection.robots.mind import Recognition, Seen
from panelist.collection.robots.page_reader import read_sheet
from panelist.design.make import plan_study
from panelist.design.simulate import TURN_SPREADS, find_turn_level, simulate_ratings
from panelist.formats import Stimulus
from panelist.formats.turns import read_turns
from panelist.study.model import StudyFile
from panelist.study.outputs import Outputs
from panelist.study.sections.outputs_file import OutputsFile
from panelist.study.study import Study
from tests.collection.raters import VERBAL, load_template, render, walk_through

PAIRS = {"type": "pairs", "ties": True}


def talk(item: int, system: int, turns: int = 2) -> list[dict[str, str]]:
    said: list[dict[str, str]] = []
    for turn in range(1, turns + 1):
        said.append({"role": "user", "text": f"Question {turn} of {item}"})
        said.append({"role": "assistant", "text": f"Reply {turn} by version {system} to {item}"})
    return said


def make_talks(
    rate: str, scale: Any = VERBAL, design: str = "pages", make: Any = talk, context: str = "", **file: Any
) -> Study:
    rows = [(f"item{i}", f"system{s}", json.dumps(make(i, s))) for i in range(4) for s in range(2)]
    frame = pd.DataFrame(rows, columns=["item", "system", "output"], dtype="str")
    formats = {"output": "turns"}
    if context:
        frame["context"] = context
        formats["context"] = "turns"
    outputs = {"file": "outputs.csv", "formats": formats, "turns": {"rate": rate}}
    kind = {"type": design, "trials_per_rater": 4, "ratings_per_output": 2}
    criteria = [{"name": "ease", "question": "How is it?", "scale": scale}]
    made = StudyFile.model_validate(
        {"title": "Talks", "criteria": criteria, "design": kind, "outputs": outputs, **file}
    )
    return Study(made, Outputs(frame, OutputsFile.model_validate(outputs)))


def first_page(study: Study) -> Any:
    walk = walk_through(study)
    page = walk.go_to(RatingPage)
    assert isinstance(page, RatingPage)
    return walk, page


def test_each_turn_of_each_output_has_a_field() -> None:
    _, page = first_page(make_talks("each"))
    assert [asked.name for asked in page.asked] == ["c1p1s1", "c1p1s2", "c1p2s1", "c1p2s2"]
    assert page.asked[3].label == "Text 2, turn 2"


@pytest.mark.parametrize("rate", ["last", "whole"])
def test_a_dialogue_judged_once_has_one_field(rate: str) -> None:
    _, page = first_page(make_talks(rate))
    assert [asked.name for asked in page.asked] == ["c1p1", "c1p2"]


def test_comparisons_of_each_turn_ask_about_the_turns_that_all_have() -> None:
    uneven = make_talks("each", PAIRS, "pairs", lambda i, s: talk(i, s, 2 + s))
    walk, page = first_page(uneven)
    assert [asked.name for asked in page.asked] == ["c1s1", "c1s2"]
    html = render(page, walk.booklet)
    assert html.index('name="c1s1"') < html.index("Question 2") < html.index('name="c1s2"')


def test_what_is_asked_stands_there_once_and_answers_stand_level() -> None:
    walk, page = first_page(make_talks("whole"))
    assert [len(row.shared) for row in page.rows] == [1, 1]
    assert [[reply.place for reply in row.replies] for row in page.rows] == [[1, 2], [1, 2]]
    html = render(page, walk.booklet)
    assert html.count("Question 1 of") == 1
    assert html.count('class="replies two"') == 2


def test_earlier_turns_that_are_alike_are_shared_where_the_last_is_judged() -> None:
    def same_start(item: int, system: int) -> list[dict[str, str]]:
        return [*talk(item, 9, 1), *talk(item, system, 1)]

    walk, page = first_page(make_talks("last", make=same_start))
    first, last = page.rows
    assert ([turn.role for turn in first.shared], first.replies) == (["user", "assistant"], ())
    assert [reply.judged for reply in last.replies] == [True, True]
    assert render(page, walk.booklet).count("to judge") == 2
    _, each = first_page(make_talks("each", make=same_start))
    assert [len(row.replies) for row in each.rows] == [2, 2]


@pytest.mark.parametrize(("rate", "key"), [("whole", "audio"), ("last", "audio"), ("whole", "images")])
def test_turns_that_say_the_same_by_other_files_are_not_alike(rate: str, key: str) -> None:
    """Two voices read one answer: each is heard, though the words are the same, and so are their numbers."""

    def spoken(item: int, system: int) -> list[dict[str, Any]]:
        asked = {"role": "user", "text": "Say it.", key: ["asked.x"]}
        return [asked, {"role": "assistant", "text": "Here.", key: [f"{item}-{system}.x"]}, *talk(item, 0, 1)]

    walk, page = first_page(make_talks(rate, make=spoken))
    first = page.rows[0]
    assert [turn.files for turn in first.shared] == [("asked.x",)]
    assert [reply.turns[0].files[0][1:] for reply in first.replies] in (["-0.x", "-1.x"], ["-1.x", "-0.x"])
    html = render(page, walk.booklet)
    assert all(f"/media/1-1-{place}-2" in html for place in (1, 2))

    def more(item: int, system: int) -> list[dict[str, Any]]:
        said = {"role": "assistant", "text": "So.", key: ["a.x", "b.x"][: 1 + system]}
        return [said, {"role": "user", "text": "And?", key: ["same.x"]}, *talk(item, system, 1)[1:]]

    _, page = first_page(make_talks(rate, make=more))
    assert [turn.files for turn in page.rows[1].shared] == [("same.x",)]


def test_different_questions_stand_with_their_answers_and_a_missing_turn_is_said() -> None:
    def own(item: int, system: int) -> list[dict[str, str]]:
        return [{"role": "user", "text": f"Mine {system}"}, *talk(item, system, 1 + system)[1:]]

    study = make_talks("whole", make=own)
    booklet = walk_through(study).booklet
    cells = [Stimulus(json.dumps(own(0, system))) for system in (0, 1)]
    first, second = make_rows(booklet, cells, "")
    assert first.shared == ()
    assert [[turn.role for turn in reply.turns] for reply in first.replies] == [["user", "assistant"]] * 2
    assert second.replies[0].turns == ()


def test_a_conversation_as_context_is_shown_once_and_never_as_a_line() -> None:
    history = json.dumps([{"role": "user", "text": "Hi"}])
    walk, page = first_page(make_talks("whole", context=history))
    assert page.line == ""
    html = render(page, walk.booklet)
    assert html.count("<p>Hi</p>") == 1
    assert "turns.css" in html


def test_an_instructed_check_is_one_turn_and_is_followed() -> None:
    asked = {"kind": "instructed", "text": "Please choose Bad.", "answers": {"ease": "1"}}
    walk = walk_through(make_talks("each", checks={"items": [asked]}))
    sitting = walk.booklet.agenda.sitting("r001", 1)
    page = next(page for page in sitting.pages if page.check)
    fields = list(find_fields(walk.booklet, page))
    assert fields == [f"c1p{place}s1" for place in range(1, len(page.outputs) + 1)]
    good = dict.fromkeys(fields, "1")
    assert grade_checks(walk.booklet, sitting, page, {page.order: good}) == {"instructed-1": True}
    bad = {**good, fields[-1]: "3"}
    assert grade_checks(walk.booklet, sitting, page, {page.order: bad}) == {"instructed-1": False}


def test_a_repeated_page_is_held_against_the_same_turn() -> None:
    again = {"kind": "repeat", "count": 1, "distance": 1, "tolerance": 0}
    walk = walk_through(make_talks("each", checks={"items": [again]}))
    sitting = walk.booklet.agenda.sitting("r001", 1)
    page = next(page for page in sitting.pages if page.check)
    original = sitting.page(sitting.originals["repeat-1"])
    assert original is not None

    def say(shown: Any, values: dict[int, str]) -> dict[str, str]:
        return {name: values[field.turn] for name, field in find_fields(walk.booklet, shown).items()}

    due = next(one for one in sitting.pages if "repeat-1" in one.due)
    before = say(original, {1: "1", 2: "3"})
    same = {original.order: before, page.order: say(page, {1: "1", 2: "3"})}
    swapped = {original.order: before, page.order: say(page, {1: "3", 2: "1"})}
    assert grade_checks(walk.booklet, sitting, due, same) == {"repeat-1": True}
    assert grade_checks(walk.booklet, sitting, due, swapped) == {"repeat-1": False}


def test_a_degraded_dialogue_is_still_one_and_only_its_answers_are_worse() -> None:
    worse = {"kind": "degraded", "count": 1, "how": "shuffle words"}
    walk = walk_through(make_talks("each", checks={"items": [worse]}))
    page = next(page for page in walk.booklet.agenda.sitting("r001", 1).pages if page.check)
    item, system = page.outputs[walk.booklet.spoilt_place(page)]
    whole = read_turns(walk.booklet.field(item, system, "output"))
    spoilt = read_turns(walk.booklet.texts(page)[walk.booklet.spoilt_place(page)])
    for before, after in zip(whole, spoilt, strict=True):
        assert (before.text == after.text) is (before.role == "user")


def test_practice_is_marked_turn_by_turn() -> None:
    walk = walk_through(load_template("chat"))
    page = walk.booklet.agenda.sitting("r001", 1).practice[0]
    right = dict(zip(find_fields(walk.booklet, page), ("5", "5", "1", "5"), strict=True))
    assert grade_practice(walk.booklet, page, right).right is True
    wrong = {**right, "c1p2s1": "5"}
    result = grade_practice(walk.booklet, page, wrong)
    assert (result.right, result.direction) == (False, "higher")
    assert [mark.label for mark in result.marks][2] == "Assistant 2, turn 1"


@pytest.mark.parametrize("rate", ["each", "last", "whole"])
def test_robots_recognise_dialogues_and_degraded_ones(rate: str) -> None:
    checks = {"items": [{"kind": "degraded", "count": 1, "how": "drop words"}]}
    study = make_talks(rate, checks=checks)
    walk = walk_through(study)
    recognition = Recognition(study)
    walk.finish()
    pages = [page for page in walk.pages if isinstance(page, RatingPage)]
    seen = [recognition.look(read_sheet(render(page, walk.booklet))).outputs for page in pages]
    assert all(len(one) == 2 and Seen() not in one for one in seen)
    assert sum(output.spoilt for one in seen for output in one) == 1


def test_simulated_ratings_have_a_row_for_each_turn_and_comparisons_a_trial() -> None:
    study = make_talks("each")
    table = simulate_ratings(study, plan_study(study))
    assert table.groupby(["rater", "item", "system"], observed=True)["turn"].apply(list).map(
        tuple
    ).unique().tolist() == [(1, 2)]
    compared = make_talks("each", PAIRS, "pairs", lambda i, s: talk(i, s, 2 + s))
    rows = simulate_ratings(compared, plan_study(compared))
    sizes = rows.groupby("trial", observed=True).agg({"system": "nunique", "turn": "nunique", "item": "size"})
    assert (sizes == [2, 1, 2]).all(axis=None)
    assert set(rows["turn"]) == {1, 2}


def test_the_level_of_a_turn_has_the_spreads_that_are_said() -> None:
    drawn = [find_turn_level(1, "ease", (n, n, 0), 1) for n in range(2000)]
    wanted = sum(spread**2 for spread in TURN_SPREADS.values()) ** 0.5
    assert pd.Series(drawn).std() == pytest.approx(wanted, rel=0.08)
    assert find_turn_level(1, "ease", (3, 4, 0), 2) == find_turn_level(1, "ease", (3, 4, 0), 2)
