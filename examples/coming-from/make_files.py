"""Write what other tools would have kept of the ratings in ratings.csv: ``python make_files.py``.

The outputs are some of the template likert's, and the ratings were simulated (``panelist simulate study``):
nothing about answers follows from them.
"""

import csv
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMA, POINTS = "fluency", 5


def make_files() -> dict[str, str]:
    """Return the text of every file that is made, by its path in this folder."""
    outputs, ratings = _read("study/outputs.csv"), _read("ratings.csv")
    files = {"potato/data.jsonl": "".join(map(_write_instance, outputs))}
    for rater in sorted({row["rater"] for row in ratings}):
        own = [row for row in ratings if row["rater"] == rater]
        files[f"potato/annotation_output/{rater}/user_state.json"] = _write_state(rater, own)
    tasks = [_make_task(at, one, ratings) for at, one in enumerate(outputs, start=1)]
    files["label-studio/export.json"] = json.dumps(tasks, indent=1, ensure_ascii=False) + "\n"
    return files


def _read(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _write_instance(output: dict[str, str]) -> str:
    text = f"{output['context']}\n\n{output['output']}"
    return json.dumps({"id": _name(output), "text": text}, ensure_ascii=False) + "\n"


def _name(row: dict[str, str]) -> str:
    return f"{row['item']}__{row['system']}"


def _write_state(rater: str, ratings: list[dict[str, str]]) -> str:
    state = {
        "user_id": rater,
        "instance_id_ordering": [_name(row) for row in ratings],
        "instance_id_to_behavioral_data": {
            _name(row): {"instance_id": _name(row), "total_time_ms": round(1000 * float(row["seconds"]))}
            for row in ratings
        },
        "instance_id_to_label_to_value": {
            _name(row): [[{"schema": SCHEMA, "name": row["rating"]}, row["rating"]]] for row in ratings
        },
        "instance_id_to_span_to_value": {},
    }
    return json.dumps(state, indent=1) + "\n"


def _make_task(at: int, output: dict[str, str], ratings: list[dict[str, str]]) -> dict[str, object]:
    own = [row for row in ratings if _name(row) == _name(output)]
    return {
        "id": at,
        "data": {
            "item": output["item"],
            "system": output["system"],
            "question": output["context"],
            "text": output["output"],
        },
        "annotations": [
            {
                "id": 100 * at + place,
                "completed_by": int(row["rater"].removeprefix("rater-")),
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": f"2026-11-02T09:{at:02}:{place:02}.000000Z",
                "lead_time": float(row["seconds"]),
                "result": [
                    {
                        "id": f"r{at}-{place}",
                        "type": "rating",
                        "from_name": SCHEMA,
                        "to_name": "answer",
                        "origin": "manual",
                        "value": {"rating": int(row["rating"])},
                    }
                ],
            }
            for place, row in enumerate(own, start=1)
        ],
        "predictions": [],
    }


if __name__ == "__main__":
    for name, text in make_files().items():
        path = HERE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
