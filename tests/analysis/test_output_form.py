"""Length and form of outputs, by system."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.output_form import describe_form
from panelist.core.display.result import Table
from panelist.study.outputs import Outputs
from panelist.study.reading.output_features import FEATURES
from panelist.study.sections.outputs_file import OutputsFile
from tests.formats.media_bytes import record

MARKED = "# Legs\n\n- eight\n- six\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx\n```\n\n$x^2$ words"


def make_outputs(texts: dict[str, list[str]]) -> Outputs:
    rows = [(str(item), system, text) for system, all_ in texts.items() for item, text in enumerate(all_)]
    return Outputs(pd.DataFrame(rows, columns=["item", "system", "output"]))


def test_shares_of_form_are_counted_by_system() -> None:
    outputs = make_outputs({"a": [MARKED, "plain 3 - 2"], "b": ["It costs $5 or $6.", "- no list-here"]})
    form = describe_form(outputs, pd.DataFrame(), ("a", "b"))
    assert form is not None
    first, second = form.systems
    assert dict(first.shares) == dict.fromkeys(FEATURES, 0.5)
    assert dict(second.shares) == {**dict.fromkeys(FEATURES, 0.0), "lists": 0.5}
    assert "50 % of those of a have headings, against 0 % of b" in form.sentence()


def test_length_and_rating_are_correlated_within_a_system() -> None:
    texts = {"a": ["word " * n for n in range(1, 9)], "b": ["word " * (9 - n) for n in range(1, 9)]}
    rows = [("x", str(item), system, item + 1.0) for system in "ab" for item in range(8)]
    ratings = pd.DataFrame(rows, columns=["criterion", "item", "system", "rating"])
    form = describe_form(make_outputs(texts), ratings, ("a", "b"))
    assert form is not None
    assert [round(one.correlations["x"], 10) for one in form.systems] == [1.0, -1.0]
    assert form.systems[0].words == 4.5
    assert "differ little" in form.sentence()


def test_too_few_outputs_have_no_correlation() -> None:
    ratings = pd.DataFrame([("0", "a", 3.0)], columns=["item", "system", "rating"])
    form = describe_form(make_outputs({"a": ["one", "two three"]}), ratings, ("a",))
    assert form is not None
    assert np.isnan(form.systems[0].correlations["rating"])


def test_outputs_without_words_have_no_form() -> None:
    assert describe_form(make_outputs({"a": ["", " "]}), pd.DataFrame(), ("a",)) is None


def test_of_sounds_what_can_be_measured_in_their_files_is_compared(tmp_path: Path) -> None:
    rows = []
    for system, rate, level in (("a", 8000, 0.5), ("b", 16000, 0.1)):
        (tmp_path / f"{system}.wav").write_bytes(record(2, rate, level))
        rows.append(("i", system, f"{system}.wav", ""))
    (tmp_path / "c.wav").write_bytes(record(2, 8000, 0.5))
    rows.append(("i", "c", "c.wav", ""))
    options = OutputsFile.model_validate({"formats": {"output": "audio"}, "media": "."})
    frame = pd.DataFrame(rows, columns=["item", "system", "output", "alt"])
    outputs = Outputs(frame, options, folder=tmp_path)
    form = describe_form(outputs, pd.DataFrame(), ("a", "b", "c"))
    assert form is not None
    assert "files of b have 16.0 kHz of sample rate, those of a 8.0" in form.sentence()
    assert "files of a have -6.0 dB of level, those of b -20.0" in form.sentence()
    alike = describe_form(outputs, pd.DataFrame(), ("a", "c"))
    assert alike is not None
    assert "in the files differs little" in alike.sentence()
    assert [part.name for part in alike.parts() if isinstance(part, Table)] == ["files"]


@pytest.mark.parametrize(("rate", "words"), [("each", 6), ("whole", 6), ("last", 2)])
def test_of_a_dialogue_the_answers_that_are_judged_have_length_and_form(rate: str, words: int) -> None:
    """Also in the first line of a turn; what a person asks is no form of a system."""
    asked = {"role": "user", "text": "```\nlong question\n```\nwith many words"}
    said = [{"role": "assistant", "text": text} for text in ("- one\n- two\nthree four", "# Last **word**")]
    options = OutputsFile.model_validate(
        {"formats": {"output": "turns"}, "turns": {"inside": "markdown", "rate": rate}}
    )
    rows = [("i", "a", json.dumps([asked, said[0], asked, said[1]]))]
    outputs = Outputs(pd.DataFrame(rows, columns=["item", "system", "output"]), options)
    form = describe_form(outputs, pd.DataFrame(), ("a",))
    assert form is not None
    assert form.systems[0].words == words
    found = {name for name, share in form.systems[0].shares.items() if share}
    assert found == ({"headings"} if rate == "last" else {"headings", "lists"})
