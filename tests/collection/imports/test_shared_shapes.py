"""The shapes of ../shared/data: every file gives the numbers that were written down for all of them."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from panelist.collection.imports.importer import import_results
from panelist.collection.imports.recognising import Ambiguous
from panelist.core.errors import BadFile
from tests.collection.imports.published import count_wins
from tests.shared_cases import MISSING, SHARED

SHAPES = SHARED / "shapes"
needs_shared = pytest.mark.skipif(not (SHAPES / "expected.json").exists(), reason=MISSING)
pytestmark = needs_shared
PLAIN = (
    *("tidy.csv", "criteria_columns.csv", "flat.jsonl", "nested.jsonl", "nested.parquet"),
    *("dict_of_dicts.json", "rater_columns.csv", "lists_in_cells.csv", "titled.xlsx"),
)


def read_expected() -> Any:
    """Return what every file must give."""
    return json.loads((SHAPES / "expected.json").read_text(encoding="utf-8"))


def check_ratings(frame: pd.DataFrame) -> None:
    """Check the number of ratings, items and systems, and the means."""
    expected = read_expected()["ratings"]
    assert len(frame) == expected["n"]
    assert (frame["item"].nunique(), frame["system"].nunique()) == (expected["items"], expected["systems"])
    means = (
        frame.assign(rating=pd.to_numeric(frame["rating"])).groupby(["criterion", "system"])["rating"].mean()
    )
    for criterion, systems in expected["means"].items():
        for system, mean in systems.items():
            assert means[criterion, system] == pytest.approx(mean, abs=1e-6)


@pytest.mark.parametrize("name", PLAIN)
def test_ratings_are_read_without_a_mapping(name: str) -> None:
    frame = import_results(SHAPES / name).frame
    check_ratings(frame)
    raters = set(frame["rater"])
    assert (
        raters == {""}
        if name == "lists_in_cells.csv"
        else len(raters) == read_expected()["ratings"]["raters"]
    )


@pytest.mark.parametrize("name", ["arena.jsonl", "pairs_rater_columns.csv"])
def test_pairs_are_read_without_a_mapping(name: str) -> None:
    frame = import_results(SHAPES / name).frame
    expected = read_expected()["pairs"]
    assert frame["trial"].nunique() == expected["n"]
    assert count_wins(frame) == expected["a_b_tie"]


def test_placeholders_and_stray_words_are_set_aside() -> None:
    found = import_results(SHAPES / "placeholder_and_stray.csv")
    expected = read_expected()
    aside = expected["placeholder_and_stray"]["set_aside"]
    assert [one.n for one in found.left_out] == [aside["rater na"], aside["stray word"]]
    assert len(found.frame) == expected["ratings"]["n"] - aside["stray word"]


def test_what_can_be_read_in_two_ways_is_asked(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="has no header line"):
        import_results(SHAPES / "no_header.csv")
    names = ["rater", "system", "item", "fluency", "coherence", "time"]
    check_ratings(import_results(SHAPES / "no_header.csv", header=names).frame)
    with pytest.raises(Ambiguous, match="are systems"):
        import_results(SHAPES / "outputs_per_row.csv")
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(
        "source: table\nrater: ResponseId\nitem: Item\ncriteria: [{answer: 'Q1_{system}_{criterion}'}]\n"
        "rename: {system: {1: gpt-nova, 2: kea-7b, 3: rules}}\n",
        encoding="utf-8",
    )
    check_ratings(import_results(SHAPES / "outputs_per_row.csv", mapping).frame)
