"""Rating pages as prompts, and answers read back."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadFile
from panelist.judges.instrument.answers_file import read_answers
from panelist.judges.instrument.prompts import Prompts, make_prompts, write_prompts
from panelist.judges.table import read_judges
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from panelist.study.study import Study


def make_study(folder: Path, template: str = "likert") -> Study:
    init_study(folder, template)
    return load_study(folder)


def answer_all(prompts: Prompts, reply: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"id": one["id"], "answer": reply(one), "model": "m-1", **more} for one in prompts.requests]


def write_lines(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


def draw(schema: dict[str, Any], rng: np.random.Generator) -> Any:
    """Return a random answer that a schema allows."""
    if "properties" in schema:
        return {name: draw(inner, rng) for name, inner in schema["properties"].items()}
    first = schema["anyOf"][0]
    return str(rng.choice(first["enum"])) if "enum" in first else int(rng.integers(first["maximum"] + 1)) or 1


def fill(schema: dict[str, Any]) -> Any:
    """Return an answer that a schema allows."""
    if "properties" in schema:
        return {name: fill(inner) for name, inner in schema["properties"].items()}
    first = schema["anyOf"][0]
    return first["enum"][0] if "enum" in first else first.get("minimum", 1)


@pytest.mark.parametrize("template", ["likert", "vas", "binary", "pairs", "preference", "mixed", "chat"])
def test_answers_read_back_are_a_judges_table(template: str, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", template)
    prompts = make_prompts(study, samples=2)
    _, key = write_prompts(prompts, tmp_path / "prompts.jsonl")
    rng = np.random.default_rng(1)
    answers = answer_all(prompts, lambda one: draw(one["answer"], rng))
    found = read_answers(write_lines(tmp_path / "answers.jsonl", answers), key)
    kinds = {"mixed": ["scores", "pairs"], "pairs": ["pairs"], "preference": ["pairs"]}
    assert list(found.tables) == kinds.get(template, ["scores"])
    outputs, S = len(study.outputs.frame), len(study.systems)
    rated = sum(not one.scale.comparative for one in study.criteria)
    expected = {"scores": outputs * rated, "pairs": outputs * (S - 1) // 2 * 2}
    for kind, table in found.tables.items():
        scores = read_judges(table)
        assert len(scores.frame) == expected[kind]
        assert scores.frame["score"].notna().all()
        assert scores.samples[0].most == 2


def test_an_output_shown_at_several_places_has_the_mean_of_its_answers(tmp_path: Path) -> None:
    prompts = make_prompts(make_study(tmp_path / "study", "binary"))
    _, key = write_prompts(prompts, tmp_path / "prompts.jsonl")
    labels = [list(one["answer"]["properties"]) for one in prompts.requests]
    assert labels[0] == ["A", "B", "C", "D"]
    first = answer_all(prompts, lambda one: {label: {"supported": int(label == "A")} for label in labels[0]})
    found = read_answers(write_lines(tmp_path / "answers.jsonl", first), key)
    assert set(found.frame["order"]) == {1, 2, 3, 4}
    scores = read_judges(found.frame)
    assert set(scores.frame["score"]) == {0.25}  # each output was shown first on one page of four
    assert "outputs were judged at several places of a page: the mean of the answers counts" in scores.notes


@pytest.mark.parametrize("template", ["likert", "vas", "binary", "pairs", "preference", "mixed"])
def test_prompts_go_out_and_answers_come_back_for_every_template(template: str, tmp_path: Path) -> None:
    prompts = make_prompts(make_study(tmp_path / "study", template))
    path, key = write_prompts(prompts, tmp_path / "prompts.jsonl")
    assert len(path.read_text(encoding="utf-8").splitlines()) == len(prompts.requests)
    answers = write_lines(tmp_path / "answers.jsonl", answer_all(prompts, lambda one: fill(one["answer"])))
    found = read_answers(answers, key)
    assert (found.judge, {outcome for _, outcome in found.outcomes}) == ("m-1", {"answered"})
    assert len(found.frame) == len(prompts.key)


@pytest.mark.parametrize("template", ["likert", "pairs", "preference"])
def test_no_request_says_whose_output_it_is(template: str, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", template)
    marks = {f"blind-{place}" for place in range(len(study.systems))}
    frame = study.outputs.frame
    names = dict(zip(study.systems, sorted(marks), strict=True))
    path = tmp_path / "study" / "outputs.csv"
    frame.assign(system=frame["system"].map(names), item="secret-" + frame["item"]).to_csv(path, index=False)
    text = (tmp_path / "study" / "study.yaml").read_text(encoding="utf-8")
    for old, new in names.items():
        text = re.sub(rf"\b{old}\b", new, text)
    (tmp_path / "study" / "study.yaml").write_text(text, encoding="utf-8")
    prompts = make_prompts(load_study(tmp_path / "study"))
    sent = json.dumps(prompts.requests)
    assert not any(mark in sent for mark in marks)
    assert "secret-" not in sent
    assert {tuple(one) for one in prompts.requests} == {("id", "messages", "answer", "instrument", "sample")}


def test_a_request_holds_what_a_rater_reads(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    prompts = make_prompts(study)
    system, user = (message["content"] for message in prompts.requests[0]["messages"])
    assert study.file.instructions.strip() in system
    for criterion in study.criteria:
        assert criterion.question in system
        assert criterion.question in user
    row = prompts.key[prompts.key["id"] == prompts.requests[0]["id"]].iloc[0]
    assert study.outputs.text(row["item"], row["system"]) in user


def test_examples_are_answered_as_a_judge_shall_answer(tmp_path: Path) -> None:
    def example(template: str) -> str:
        one = make_prompts(make_study(tmp_path / template, template)).requests[0]
        return str(one["messages"][0]["content"]).partition("## Examples")[2]

    assert "Informativeness: B\n" in example("pairs")
    assert "Clarity: B2\n" in example("preference")
    assert "Helpfulness: A turn 1: 5, B turn 1: 1\n" in example("chat")


def test_dialogues_say_who_speaks_and_each_turn_is_asked_about(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", "chat")
    prompts = make_prompts(study)
    one = prompts.requests[0]
    user = one["messages"][1]["content"]
    assert user.index("[Assistant A]\nPerson, turn 1:\n") < user.index("Assistant, turn 2:\n")
    assert list(one["answer"]["properties"]) == ["A turn 1", "A turn 2", "B turn 1", "B turn 2"]
    _, key = write_prompts(prompts, tmp_path / "prompts.jsonl")
    first = prompts.key.iloc[0]
    mark, system = first["id"], first["system"]

    def reply(request: dict[str, Any]) -> Any:
        said = {label: {"helpfulness": 1 + label.endswith("2")} for label in request["answer"]["properties"]}
        if request["id"] == mark:
            said["A turn 2"] = {"helpfulness": "cannot say"}
        return said

    found = read_answers(write_lines(tmp_path / "answers.jsonl", answer_all(prompts, reply)), key)
    assert len(found.frame) == len(prompts.key) / 2
    assert (found.frame["rating"] == "").sum() == (found.frame["no_answer"] == "refused").sum() == 1
    assert set(found.frame["rating"]) == {"", "1.5"}
    assert found.outcomes[system, "refused"] == 1


def test_ids_are_stable_and_the_instrument_is_one(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    once, again = make_prompts(study), make_prompts(study, samples=2)
    assert {one["id"] for one in once.requests} < {one["id"] for one in again.requests}
    assert len({one["instrument"] for one in once.requests}) == 1
    assert [one["id"] for one in once.requests] == [one["id"] for one in make_prompts(study).requests]


def test_pairs_are_asked_in_both_orders(tmp_path: Path) -> None:
    prompts = make_prompts(make_study(tmp_path / "study", "pairs"))
    shown = set(prompts.key[["item", "system", "system_b", "criterion"]].itertuples(index=False, name=None))
    assert {(item, two, one, criterion) for item, one, two, criterion in shown} == shown
    _, key = write_prompts(prompts, tmp_path / "prompts.jsonl")
    lines = answer_all(prompts, lambda one: json.dumps(dict.fromkeys(one["answer"]["properties"], "A")))
    found = read_answers(write_lines(tmp_path / "answers.jsonl", lines), key)
    assert (found.frame["choice"] == found.frame["first"]).all()
    assert (found.frame["system_a"] < found.frame["system_b"]).all()


def test_graded_pairs_come_back_with_the_grade_of_the_system_named_first(tmp_path: Path) -> None:
    prompts = make_prompts(make_study(tmp_path / "study", "preference"))
    system, user = (message["content"] for message in prompts.requests[0]["messages"])
    assert "A2 (A is much clearer), A1 (A is slightly clearer), tie (Both about the same), B1 (" in system
    assert '{"clarity": "A2", "A1", "tie", "B1" or "B2"}' in user
    said = {"A2": 2, "A1": 1, "tie": 0, "B1": -1, "B2": -2}
    given = {one["id"]: list(said)[n % 5] for n, one in enumerate(prompts.requests)}
    _, key = write_prompts(prompts, tmp_path / "prompts.jsonl")
    lines = answer_all(prompts, lambda one: {"clarity": given[one["id"]]})
    frame = read_answers(write_lines(tmp_path / "answers.jsonl", lines), key).frame
    grades = prompts.key["id"].map(given).map(said)
    named_first = frame["first"] == frame["system_a"]
    assert frame["grade"].tolist() == [
        grade if own else -grade for grade, own in zip(grades, named_first, strict=True)
    ]
    better = [
        "tie" if not grade else one if grade > 0 else two
        for grade, one, two in frame[["grade", "system_a", "system_b"]].itertuples(index=False)
    ]
    assert frame["choice"].tolist() == better
    strange = answer_all(prompts, lambda one: {"clarity": "A3"})
    found = read_answers(write_lines(tmp_path / "strange.jsonl", strange), key)
    assert {outcome for _, outcome in found.outcomes} == {"unreadable"}


@pytest.mark.parametrize(
    ("answer", "outcome", "value"),
    [
        ('{"%s": 3}', "answered", "3"),
        ('Here it is:\n```json\n{"%s": 3}\n```', "answered", "3"),
        ('{"%s": 3, "%s": 4}', "two values", ""),
        ("3", "unreadable", ""),  # one value for two questions
        ("[3, 4]", "two values", ""),
        ("", "unreadable", ""),
        ('{"%s": "cannot say"}', "refused", ""),
        ('{"%s": 99}', "off the scale", ""),
        ('{"%s": [3, 4]}', "two values", ""),
        ('{"%s": "I would say three."}', "unreadable", ""),
        ('{"%s": "Maybe 3 or 4"}', "two values", ""),
        ("I'm sorry, I can't help with that.", "refused", ""),
        ('{"other": 3}', "unreadable", ""),
        ('{"%s": true}', "unreadable", ""),
    ],
)
def test_every_answer_is_read_or_counted(answer: str, outcome: str, value: str, tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    prompts = make_prompts(study)
    _, key = write_prompts(prompts, tmp_path / "prompts.jsonl")
    name = study.criteria[0].name
    said = answer.replace("%s", name)
    found = read_answers(
        write_lines(tmp_path / "answers.jsonl", answer_all(prompts, lambda one: said)), key, "mine"
    )
    own = found.frame[found.frame["criterion"] == name]
    assert set(own["rating"]) == {value}
    assert any(kind == outcome for _, kind in found.outcomes)
    if not value:  # the judges table keeps why
        others = found.frame[found.frame["criterion"] != name].assign(rating="2", no_answer="")
        assert read_judges(pd.concat([own, others])).count_gaps("mine") == {outcome: len(own)}


def test_a_lone_value_answers_a_lone_question(tmp_path: Path) -> None:
    prompts = make_prompts(make_study(tmp_path / "study", "pairs"))
    _, key = write_prompts(prompts, tmp_path / "prompts.jsonl")
    found = read_answers(write_lines(tmp_path / "a.jsonl", answer_all(prompts, lambda one: "A")), key)
    assert {outcome for _, outcome in found.outcomes} == {"answered"}


def test_a_system_that_the_study_names_itself_is_said(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    assert make_prompts(study).notes == ()
    name = study.systems[0]
    path = tmp_path / "study" / "study.yaml"
    text = path.read_text(encoding="utf-8").replace("question: ", f"question: As {name.upper()} does, ", 1)
    path.write_text(text, encoding="utf-8")
    outputs = study.outputs.frame.assign(context=f"said by {name}")
    outputs.to_csv(tmp_path / "study" / "outputs.csv", index=False)
    said = make_prompts(load_study(tmp_path / "study")).notes
    assert [note.split(",")[0] for note in said] == [
        f"{name.upper()!r} stands in the instructions",
        f"{name!r} stands in contexts or references",
    ]


def test_missing_lines_are_counted_and_strange_ones_refused(tmp_path: Path) -> None:
    prompts = make_prompts(make_study(tmp_path / "study"))
    _, key = write_prompts(prompts, tmp_path / "prompts.jsonl")
    lines = answer_all(prompts, lambda one: fill(one["answer"]))
    found = read_answers(write_lines(tmp_path / "a.jsonl", lines[1:]), key)
    assert sum(n for (_, outcome), n in found.outcomes.items() if outcome == "no line") > 0
    strange = write_lines(tmp_path / "b.jsonl", [*lines, {"id": "other", "answer": 3}])
    with pytest.raises(BadFile, match="1 line with an id that is not in"):
        read_answers(strange, key)
    twice = write_lines(tmp_path / "c.jsonl", [*lines, {**lines[0], "answer": "4"}])
    with pytest.raises(BadFile, match="answered twice, and differently"):
        read_answers(twice, key)
    again = write_lines(tmp_path / "d.jsonl", [*lines, lines[0]])
    assert len(read_answers(again, key).frame) == len(prompts.key)
    cut = tmp_path / "cut.jsonl"
    whole = write_lines(cut, lines).read_text(encoding="utf-8")
    cut.write_text(f"{whole[:-20]}\n\nnot JSON\n[4]\n", encoding="utf-8")
    found = read_answers(cut, key)
    n = len(lines)
    assert (found.broken, found.n_lines) == ((n, n + 2, n + 3), n + 2)
    assert found.frame["no_answer"].eq("no line").sum() == len(prompts.key) / n
    assert len(found.frame) == len(prompts.key)
    shown = " ".join(str(found).split())
    assert f"lines {n}, {n + 2} and {n + 3} hold no JSON object: their requests have no line" in shown
    cut.write_text("no\nno\n", encoding="utf-8")
    with pytest.raises(BadFile, match="line 1, is not JSON"):
        read_answers(cut, key)
    nameless = write_lines(tmp_path / "e.jsonl", [{**one, "model": ""} for one in lines])
    with pytest.raises(BadFile, match="--judge NAME"):
        read_answers(nameless, key)
    with pytest.raises(BadFile, match="--key FILE"):
        read_answers(again, tmp_path / "none.csv")


def test_batch_results_answer_prompts_by_their_custom_id(tmp_path: Path) -> None:
    prompts = make_prompts(make_study(tmp_path / "study"))
    _, key = write_prompts(prompts, tmp_path / "prompts.jsonl")
    lines = [
        {
            "custom_id": one["id"],
            "response": {
                "status_code": 200,
                "body": {"model": "m-2", "choices": [{"message": {"content": reply}}]},
            },
            "error": None,
        }
        for one in prompts.requests
        for reply in [json.dumps(fill(one["answer"]))]
    ]
    lines[0] |= {"response": None, "error": {"code": "batch_expired"}}
    found = read_answers(write_lines(tmp_path / "answers.jsonl", lines), key)
    assert found.judge == "m-2"
    failed = found.frame["no_answer"] == "failed request"
    assert pd.to_numeric(found.frame["rating"]).notna().tolist() == (~failed).tolist()
    assert "settings" not in found.frame
    set_to = [{**one, "settings": {"temperature": 0}} for one in lines]
    said = read_answers(write_lines(tmp_path / "again.jsonl", set_to), key).frame["settings"]
    assert set(said) == {'{"temperature": 0}'}
    assert failed.sum() == len(prompts.requests[0]["answer"]["properties"])
    assert set(found.frame["model"][~failed]) == {"m-2"}


def test_prompts_never_replace_a_file(tmp_path: Path) -> None:
    prompts = make_prompts(make_study(tmp_path / "study"))
    write_prompts(prompts, tmp_path / "prompts.jsonl")
    with pytest.raises(BadFile, match="nothing was written"):
        write_prompts(prompts, tmp_path / "prompts.jsonl")
