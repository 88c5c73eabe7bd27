"""Outputs from files as programs really write them: tools, failures in other words, nothing answered."""

from pathlib import Path
from typing import Any

import pytest

from panelist.collection.imports.outputs.base import ReadOptions
from panelist.collection.imports.outputs.collect import import_outputs
from panelist.core.errors import BadFile
from tests.collection.imports.outputs.made_files import (
    ASKED,
    make_document,
    make_log,
    make_sample,
    rows,
    write_lines,
)

PNG = "iVBORw0KGgo="


def make_result(item: str, body: object, status: object = 200, error: object = None) -> dict[str, Any]:
    return {"custom_id": item, "response": {"status_code": status, "body": body}, "error": error}


def make_body(text: str, model: str = "a-2026-01-01") -> dict[str, Any]:
    return {"model": model, "choices": [{"message": {"role": "assistant", "content": text}}]}


def make_chat(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"id": "1", "model": "m", "messages": [*ASKED, *messages]}


def test_a_failed_request_is_of_the_system_whose_version_answered_the_others(tmp_path: Path) -> None:
    bodies = {"x": "a", "y": "a", "z": "b"}
    requests = write_lines(
        tmp_path / "requests.jsonl",
        *({"custom_id": item, "body": {"model": model, "messages": ASKED}} for item, model in bodies.items()),
    )
    failed = {"code": "batch_expired", "message": "late"}
    results = write_lines(
        tmp_path / "results.jsonl",
        make_result("x", make_body("Eight.")),
        {"custom_id": "y", "response": None, "error": failed},
        {"custom_id": "z", "response": None, "error": failed},
    )
    found = rows(import_outputs([results, requests]), "item", "system", "status")
    assert found == [("x", "a-2026-01-01", ""), ("y", "a-2026-01-01", "timeout"), ("z", "b", "timeout")]


def test_requests_of_two_systems_with_the_same_names_never_change_places(tmp_path: Path) -> None:
    files = []
    for model in "ab":
        asked = {"custom_id": "x", "body": {"model": model, "messages": ASKED}}
        files.append(write_lines(tmp_path / f"asked-{model}.jsonl", asked, asked | {"custom_id": "y"}))
        failed = make_result("y", "overloaded", 529)
        answered = make_result("x", make_body(model, model))
        files.append(write_lines(tmp_path / f"{model}.jsonl", answered, failed))
    found = rows(import_outputs(files), "item", "system", "output", "status")
    assert sorted(found) == [
        ("x", "a", "a", ""), ("x", "b", "b", ""), ("y", "a", "", "error"), ("y", "b", "", "error"),
    ]  # fmt: skip
    other = {"custom_id": "x", "body": {"model": "b", "messages": [{"role": "user", "content": "Wings?"}]}}
    with pytest.raises(BadFile, match=r"the request 'x' is in another file too, with another input"):
        import_outputs([*files, write_lines(tmp_path / "other.jsonl", other)])


def test_errors_of_batches_are_errors_in_whatever_form(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "results.jsonl",
        make_result("a", make_body("Eight.")),
        make_result("b", {"error": "bad request"}, 400),
        make_result("c", "upstream timed out", "504"),
        make_result("d", None, 200, "oops"),
        make_result("e", {"model": "a-2026-01-01", "choices": []}),
    )
    found = rows(import_outputs([path]), "item", "status")
    assert found == [("a", ""), ("b", "error"), ("c", "timeout"), ("d", "error"), ("e", "error")]


def test_responses_and_completions_are_read_and_other_results_refused(tmp_path: Path) -> None:
    thought = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}
    said = {"type": "message", "content": [{"type": "output_text", "text": "Eight."}]}
    refused = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
    results = write_lines(
        tmp_path / "results.jsonl",
        make_result("a", {"model": "m", "output": [thought, said]}),
        make_result("b", {"model": "m", "output": [refused]}),
        make_result("c", {"model": "m", "choices": [{"text": "Once"}]}),
    )
    requests = write_lines(
        tmp_path / "requests.jsonl",
        {"custom_id": "a", "body": {"model": "m", "instructions": "Be brief.", "input": "Legs?"}},
        {"custom_id": "c", "body": {"model": "m", "prompt": "Once upon"}},
    )
    (first, second, third) = rows(import_outputs([results, requests]), "output", "context")
    assert (first[0], second[0], third[0]) == ("Eight.", "No.", "Once")
    assert [turn["text"] for turn in first[1]] == ["Be brief.", "Legs?"]
    other = write_lines(tmp_path / "other.jsonl", make_result("a", {"model": "m", "data": [1.0]}))
    with pytest.raises(BadFile, match="neither choices nor output"):
        import_outputs([other])


def test_calls_of_tools_say_nothing_and_what_tools_give_is_a_turn(tmp_path: Path) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "search"}}]}
    answer = {"role": "assistant", "content": "Sunny."}
    openai = make_chat(call, {"role": "tool", "content": "sun"}, answer)
    turns = [("human", "Legs?"), ("function_call", "{}"), ("observation", "sun"), ("gpt", "Sunny.")]
    sharegpt = {
        "id": "2",
        "model": "m",
        "conversations": [{"from": who, "value": said} for who, said in turns],
    }
    found = rows(
        import_outputs([write_lines(tmp_path / "chats.jsonl", openai, sharegpt)]), "output", "context"
    )
    assert [output for output, _ in found] == ["Sunny.", "Sunny."]
    assert [[turn["role"] for turn in context] for _, context in found] == [
        ["user", "tool"],
        ["user", "tool", "tool"],
    ]


def test_an_unknown_role_is_refused_with_those_there_are(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "chats.jsonl", make_chat({"role": "asistant", "content": "x"}))
    with pytest.raises(BadFile, match=r"has the role 'asistant'. Did you mean 'assistant'"):
        import_outputs([path])


def test_what_nobody_answered_is_missing_and_counted(tmp_path: Path) -> None:
    chats = write_lines(
        tmp_path / "m.jsonl", make_chat(), make_chat({"role": "assistant", "content": ""}) | {"id": "2"}
    )
    found = import_outputs([chats])
    assert rows(found, "item", "status") == [("1", "missing"), ("2", "")]
    assert found.notes[0].startswith("1 entry without an answer")
    harness = write_lines(
        tmp_path / "a" / "samples_x.jsonl", make_document(0, "x"), make_document(1) | {"resps": []}
    )
    assert rows(import_outputs([harness]), "item", "status") == [("0", ""), ("1", "missing")]


def test_a_filter_that_makes_one_answer_of_several_gives_one(tmp_path: Path) -> None:
    strict = make_document(0, "a", "b", filter="strict")
    voted = make_document(0, "a", "b", filter="vote", filtered_resps=["8"])
    path = write_lines(tmp_path / "a" / "samples_x.jsonl", strict, voted)
    assert rows(import_outputs([path], ReadOptions(filter="vote"), repeats="all"), "output") == [("8",)]
    found = import_outputs([path], repeats="all")
    assert rows(found, "item", "output") == [("0", "a"), ("0/2", "b")]


def test_pictures_within_messages_become_files_and_other_parts_are_counted(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "text": "What?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
    ]
    asked = {
        "id": "1",
        "model": "m",
        "messages": [{"role": "user", "content": parts}, {"role": "assistant", "content": "A."}],
    }
    found = import_outputs([write_lines(tmp_path / "chats.jsonl", asked)])
    ((context,),) = rows(found, "context")
    assert context[0]["images"] == list(found.pictures) * 2
    assert found.notes == ("parts of messages that are neither text nor picture left out: 1 input_audio",)


def test_reasoning_within_a_text_is_pointed_out(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "log.json", make_log(make_sample("a", "<think>I am A.</think>Eight.")))
    found = import_outputs([path])
    assert rows(found, "output") == [("<think>I am A.</think>Eight.",)]
    assert found.notes[0].startswith("1 output with <think> at the start")


def test_a_log_without_samples_says_why_and_a_limit_of_working_time_is_a_timeout(tmp_path: Path) -> None:
    late = make_sample("a", "", limit={"type": "working", "limit": 60})
    path = write_lines(tmp_path / "late.json", make_log(late))
    assert rows(import_outputs([path]), "status") == [("timeout",)]
    log = {"status": "error", "eval": {"model": "m"}, "error": {"message": "no key"}}
    with pytest.raises(BadFile, match=r"without samples: its status is 'error' \(no key\)"):
        import_outputs([write_lines(tmp_path / "failed.json", log)])


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    files = [write_lines(tmp_path / name / "samples.jsonl", make_document(0, name)) for name in "ab"]
    assert [name for name, _ in import_outputs(files).recognised] == ["a/samples.jsonl", "b/samples.jsonl"]
