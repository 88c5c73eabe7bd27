"""Outputs from the files of other programs, each layout as its program writes it."""

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from panelist.collection.imports.outputs import LAYOUTS
from panelist.collection.imports.outputs.base import ReadOptions
from panelist.collection.imports.outputs.collect import import_outputs
from panelist.collection.imports.outputs.imported_outputs import write_outputs_table
from panelist.core.errors import BadFile, UnknownName
from tests.collection.imports.outputs.made_files import (
    ASKED,
    make_document,
    make_log,
    make_sample,
    rows,
    write_lines,
)
from tests.shared_cases import SHARED

STIMULI = SHARED / "stimuli"


def pack_eval(log: dict[str, Any], zstd: bool) -> bytes:
    """Return a log as Inspect packs it; zstd is patched in, since zipfile writes it from Python 3.14 on."""
    header = {name: value for name, value in log.items() if name != "samples"}
    files = {"header.json": header}
    files |= {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in log["samples"]}
    if not zstd:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, json.dumps(content))
        return packed.getvalue()
    body, directory = b"", b""
    for name, content in files.items():
        plain = json.dumps(content).encode()
        small = pa.compress(plain, codec="zstd", asbytes=True)
        crc = zlib.crc32(plain)
        common = struct.pack("<HHHHHIIIHH", 20, 0, 93, 0, 0, crc, len(small), len(plain), len(name), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + common
        directory += struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode()
        body += b"PK\x03\x04" + common + name.encode() + small
    end = struct.pack("<HHHHIIH", 0, 0, len(files), len(files), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


@pytest.mark.parametrize("how", ["json", "deflate", "zstd"])
def test_a_log_of_inspect_gives_outputs_and_what_failed(how: str, tmp_path: Path) -> None:
    log = make_log(
        make_sample("spider", "Eight."),
        make_sample("ant", "", error={"message": "Request timed out."}),
        make_sample("bee", "", limit={"type": "token", "limit": 5}),
    )
    path = tmp_path / ("log.json" if how == "json" else "log.eval")
    content = json.dumps(log).encode() if how == "json" else pack_eval(log, how == "zstd")
    path.write_bytes(content)
    found = import_outputs([path])
    assert rows(found, "item", "system", "output", "status") == [
        ("spider", "acme/a", "Eight.", ""),
        ("ant", "acme/a", "", "timeout"),
        ("bee", "acme/a", "", "error"),
    ]
    assert "missing: plan" in str(found)


def test_reasoning_is_left_out_of_a_log_unless_it_is_asked_for(tmp_path: Path) -> None:
    parts = [{"type": "reasoning", "reasoning": "I am a."}, {"type": "text", "text": "Eight."}]
    sample = make_sample("spider", "Eight.")
    sample["output"]["choices"][0]["message"]["content"] = parts
    path = write_lines(tmp_path / "log.json", make_log(sample))
    assert rows(import_outputs([path]), "output") == [("Eight.",)]
    assert rows(import_outputs([path], ReadOptions(reasoning=True)), "output") == [("I am a.\n\nEight.",)]


def test_a_picture_in_a_log_becomes_a_file_beside_the_table(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "What?"}, {"type": "image", "image": "attachment://0f"}]
    asked = [{"role": "user", "content": parts}]
    kept = {"0f": "data:image/png;base64,iVBORw0KGgo="}
    path = write_lines(tmp_path / "log.json", make_log(make_sample("p", "A.", input=asked, attachments=kept)))
    found = import_outputs([path])
    ((context,),) = rows(found, "context")
    (name,) = context[0]["images"]
    written = write_outputs_table(found, tmp_path / "outputs.jsonl")
    assert written[1] == tmp_path / name
    assert written[1].read_bytes() == b"\x89PNG\r\n\x1a\n"
    assert found.formats() == {"context": "turns"}


def test_epochs_are_repeats_of_which_the_first_counts(tmp_path: Path) -> None:
    log = make_log(make_sample("spider", "Eight."), make_sample("spider", "Six.", epoch=2))
    path = write_lines(tmp_path / "log.json", log)
    found = import_outputs([path])
    assert rows(found, "item", "output") == [("spider", "Eight.")]
    assert "1 repeat of the same system for the same item left out" in found.notes[0]
    assert rows(import_outputs([path], repeats="all"), "item") == [("spider",), ("spider/2",)]


def test_samples_of_the_harness_are_read_once_with_the_folder_as_the_system(tmp_path: Path) -> None:
    extracted = make_document(0, "Eight.", filter="flexible-extract", filtered_resps=["8"])
    path = write_lines(tmp_path / "model-a" / "samples_legs.jsonl", make_document(0, "Eight."), extracted)
    found = import_outputs([path])
    assert rows(found, "item", "system", "context", "output") == [("0", "model-a", "Q0", "Eight.")]
    assert any("flexible-extract" in note for note in found.notes)
    chosen = import_outputs([path], ReadOptions(filter="flexible-extract"))
    assert rows(chosen, "output") == [("8",)]
    with pytest.raises(UnknownName, match="Did you mean 'flexible-extract'"):
        import_outputs([path], ReadOptions(filter="flexible"))


def test_log_probabilities_are_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a" / "samples_x.jsonl", make_document(0, [-1.2, True]))
    with pytest.raises(BadFile, match="multiple-choice"):
        import_outputs([path])


def test_documents_that_differ_between_models_are_counted(tmp_path: Path) -> None:
    one = write_lines(tmp_path / "a" / "samples_x.jsonl", make_document(0, "x"), make_document(1, "y"))
    two = write_lines(
        tmp_path / "b" / "samples_y.jsonl", make_document(0, "z", doc_hash="other"), make_document(1, "w")
    )
    found = import_outputs([one, two])
    assert any(
        note.startswith("1 item of 2 with unequal inputs for different systems: '0'") for note in found.notes
    )


def test_a_conversation_gives_its_last_answer_and_what_came_before(tmp_path: Path) -> None:
    turns = [
        {"role": "system", "content": "You are A by Acme."}, *ASKED,
        {"role": "assistant", "content": "Eight.", "model": "secret"}, {"role": "user", "content": "An ant?"},
        {"role": "assistant", "content": [{"type": "text", "text": "Six."}]},
    ]  # fmt: skip
    path = write_lines(tmp_path / "chats.jsonl", {"id": "spider", "model": "a", "messages": turns})
    ((item, system, output, context),) = rows(import_outputs([path]), "item", "system", "output", "context")
    assert (item, system, output) == ("spider", "a", "Six.")
    assert [turn["role"] for turn in context] == ["system", "user", "assistant", "user"]
    assert "secret" not in json.dumps(context)


def test_conversations_of_sharegpt_need_a_system(tmp_path: Path) -> None:
    turns = [{"from": "human", "value": "Legs?"}, {"from": "gpt", "value": "Eight."}]
    path = write_lines(tmp_path / "share.jsonl", {"id": "spider", "conversations": turns})
    with pytest.raises(BadFile, match="--system NAME"):
        import_outputs([path])
    found = import_outputs([path], ReadOptions(system="b"))
    assert rows(found, "item", "system", "context", "output") == [("spider", "b", "Legs?", "Eight.")]


def test_files_without_a_system_are_named_after_themselves(tmp_path: Path) -> None:
    files = [
        write_lines(tmp_path / f"{name}.jsonl", {"id": "1", "prompt": "?", "output": name}) for name in "ab"
    ]
    found = import_outputs(files)
    assert rows(found, "item", "system", "output") == [("1", "a", "a"), ("1", "b", "b")]
    assert any("a.jsonl does not name a system" in note for note in found.notes)


def test_a_preference_gives_two_systems(tmp_path: Path) -> None:
    answers = {name: [{"role": "assistant", "content": name}] for name in ("chosen", "rejected")}
    path = write_lines(tmp_path / "pairs.jsonl", {"prompt": ASKED, **answers})
    found = import_outputs([path])
    assert rows(found, "item", "system", "output", "context") == [
        ("1", "chosen", "chosen", ASKED[0]["content"]),
        ("1", "rejected", "rejected", ASKED[0]["content"]),
    ]


def test_batch_results_are_joined_with_their_requests_in_any_order(tmp_path: Path) -> None:
    requests = write_lines(
        tmp_path / "requests.jsonl",
        *({"custom_id": one, "method": "POST", "body": {"model": "a", "messages": ASKED}} for one in "xyz"),
    )
    body = {"model": "a", "choices": [{"message": {"role": "assistant", "content": "Eight."}}]}
    results = write_lines(
        tmp_path / "results.jsonl",
        {"custom_id": "z", "response": {"status_code": 200, "body": body}, "error": None},
        {"custom_id": "x", "response": None, "error": {"code": "batch_expired", "message": "late"}},
        {
            "custom_id": "y",
            "response": {"status_code": 500, "body": {"error": {"message": "no"}}},
            "error": None,
        },
    )
    found = import_outputs([results, requests])
    assert rows(found, "item", "system", "output", "status", "context") == [
        ("z", "a", "Eight.", "", ASKED[0]["content"]),
        ("x", "a", "", "timeout", ASKED[0]["content"]),
        ("y", "a", "", "error", ASKED[0]["content"]),
    ]


def test_batch_results_of_anthropic_are_read(tmp_path: Path) -> None:
    message = {"role": "assistant", "model": "b", "content": [{"type": "text", "text": "Eight."}]}
    path = write_lines(
        tmp_path / "results.jsonl",
        {"custom_id": "x", "result": {"type": "succeeded", "message": message}},
        {"custom_id": "y", "result": {"type": "errored", "error": {"message": "overloaded"}}},
        {"custom_id": "z", "result": {"type": "expired"}},
    )
    assert rows(import_outputs([path]), "item", "system", "output", "status") == [
        ("x", "b", "Eight.", ""),
        ("y", "b", "", "error"),
        ("z", "b", "", "timeout"),
    ]


def test_answers_of_mt_bench_are_woven_with_the_questions(tmp_path: Path) -> None:
    questions = write_lines(tmp_path / "question.jsonl", {"question_id": 81, "turns": ["Legs?", "An ant?"]})
    choices = [{"index": 0, "turns": ["Eight.", "Six."]}]
    answers = write_lines(tmp_path / "a.jsonl", {"question_id": 81, "model_id": "a", "choices": choices})
    ((item, system, output),) = rows(import_outputs([answers, questions]), "item", "system", "output")
    assert (item, system) == ("81", "a")
    assert [(turn["role"], turn["text"]) for turn in output] == [
        ("user", "Legs?"),
        ("assistant", "Eight."),
        ("user", "An ant?"),
        ("assistant", "Six."),
    ]
    with pytest.raises(BadFile, match=r"question\.jsonl"):
        import_outputs([answers])


def test_a_table_with_one_column_per_system_is_read_when_they_are_named(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("id,prompt,gpt,llama\n1,Legs?,Eight.,8\n2,Wings?,None.,0\n", encoding="utf-8")
    with pytest.raises(BadFile, match="--systems NAME,NAME"):
        import_outputs([path])
    found = import_outputs([path], ReadOptions(systems=("gpt", "llama")))
    assert rows(found, "item", "system", "output", "context") == [
        ("1", "gpt", "Eight.", "Legs?"),
        ("1", "llama", "8", "Legs?"),
        ("2", "gpt", "None.", "Wings?"),
        ("2", "llama", "0", "Wings?"),
    ]
    with pytest.raises(BadFile, match="Did you mean 'llama'"):
        import_outputs([path], ReadOptions(systems=("gpt", "lama")))


def test_parquet_of_conversations_is_read_as_json_is(tmp_path: Path) -> None:
    messages = [*ASKED, {"role": "assistant", "content": "Eight."}]
    path = tmp_path / "chats.parquet"
    pd.DataFrame({"prompt_id": ["s"], "model": ["a"], "messages": [messages]}).to_parquet(path)
    assert rows(import_outputs([path]), "item", "system", "output") == [("s", "a", "Eight.")]


def test_copies_are_counted_and_contradictions_refused(tmp_path: Path) -> None:
    entry = {"item": "1", "system": "a", "output": "x"}
    same = write_lines(tmp_path / "same.jsonl", entry, entry)
    assert import_outputs([same]).notes == ("1 copy of outputs that were there already, left out",)
    other = write_lines(tmp_path / "other.jsonl", entry, {**entry, "output": "y"})
    with pytest.raises(BadFile, match="there twice with different texts: item '1', system 'a'"):
        import_outputs([other])


def test_damaged_archives_are_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(pack_eval(make_log(make_sample("a", "b")), zstd=True)[:-40])
    with pytest.raises(BadFile, match="damaged"):
        import_outputs([path])


def test_every_layout_is_found_by_name() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'inspect'"):
        LAYOUTS["inspekt"]


@pytest.mark.skipif(not STIMULI.is_dir(), reason="needs ../shared/data/stimuli")
@pytest.mark.parametrize(
    ("files", "system", "expected"),
    [
        (("inspect.json",), "", [("spider", "acme/model-a", ""), ("photo", "acme/model-a", "timeout")]),
        (("lm_eval_samples.jsonl",), "m", [("0", "m", "")]),
        (("messages.jsonl",), "", [("spider", "model-a", "")]),
        (("preference.jsonl",), "", [("1", "chosen", ""), ("1", "rejected", "")]),
        (("sharegpt.jsonl",), "m", [("spider", "m", "")]),
        (("openai_batch.jsonl",), "", [("spider", "model-a-2026", ""), ("ant", "model-a-2026", "timeout")]),
        (("anthropic_batch.jsonl",), "", [("spider", "model-b", ""), ("ant", "model-b", "error")]),
        (("mtbench_answer.jsonl", "mtbench_question.jsonl"), "", [("81", "model-a", "")]),
    ],
)
def test_every_example_file_is_read(files: tuple[str, ...], system: str, expected: list[Any]) -> None:
    found = import_outputs([STIMULI / name for name in files], ReadOptions(system=system))
    frame = found.frame if "status" in found.frame else found.frame.assign(status="")
    assert list(frame[["item", "system", "status"]].itertuples(index=False, name=None)) == expected
