"""Files as other programs write them, made for tests, and what was read from them."""

import json
from pathlib import Path
from typing import Any

from panelist.collection.imports.outputs.imported_outputs import ImportedOutputs

ASKED = [{"role": "user", "content": "How many legs has a spider?"}]


def write_lines(path: Path, *entries: dict[str, Any]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in entries), encoding="utf-8")
    return path


def rows(found: ImportedOutputs, *columns: str) -> list[tuple[Any, ...]]:
    return list(found.frame[list(columns)].itertuples(index=False, name=None))


def make_sample(item: str, output: str, **more: Any) -> dict[str, Any]:
    answer = {"role": "assistant", "content": output, "model": "acme/a"}
    return {
        "id": item, "epoch": 1, "input": "How many legs?", "target": "8", "messages": [*ASKED, answer],
        "output": {"choices": [{"message": answer}], "completion": output}, **more,
    }  # fmt: skip


def make_log(*samples: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "legs", "model": "acme/a"},
        "samples": samples,
    }


def make_document(doc_id: int, *answers: Any, **more: Any) -> dict[str, Any]:
    asked = {"gen_args_0": {"arg_0": f"Q{doc_id}", "arg_1": {}}}
    return {
        "doc_id": doc_id, "doc": {}, "target": "8", "arguments": asked, "resps": [list(answers)],
        "filtered_resps": list(answers), "filter": "none", "doc_hash": f"d{doc_id}", **more,
    }  # fmt: skip
