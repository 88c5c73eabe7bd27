"""The ratings and references of ../shared/data, as tables."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from panelist.agreement.cleaning import make_tables
from panelist.agreement.criterion_table import RatingTable
from panelist.core.tables.ratings import Ratings, read_ratings
from tests.shared_cases import MISSING, SHARED

__all__ = ["CASES", "REFERENCES", "needs_shared", "read_case", "read_reference", "table_of"]

REFERENCES = sorted(
    path.name.removesuffix("__agreement.json") for path in SHARED.glob("reference/*__agreement.json")
)
CASES = SHARED / "agreement_cases.json"
needs_shared = pytest.mark.skipif(not CASES.exists(), reason=MISSING)


@cache
def read_case(name: str) -> dict[str, Any]:
    """Return one worked example."""
    cases = {case["id"]: case for case in json.loads(CASES.read_text(encoding="utf-8"))}
    return dict(cases[name])


@cache
def read_reference(name: str) -> dict[str, Any]:
    """Return what R gave for one data file and criterion."""
    return dict(json.loads((SHARED / f"reference/{name}__agreement.json").read_text(encoding="utf-8")))


@cache
def table_of(name: str) -> RatingTable:
    """Return the table that a reference was computed on."""
    reference = read_reference(name)
    rows = _rows(SHARED / reference["data_file"])
    if reference["subset"]:
        rows = rows.query(reference["subset"])
    if reference["dropped"] is not None:
        rows = rows[rows["rating"] != reference["dropped"]]
    # R pooled the repeated ratings of PPLM as if each were another rater's
    [one] = make_tables(Ratings(rows.reset_index(drop=True)), unit="text", repeats="separate")
    return one.table


@cache
def _rows(path: Path) -> pd.DataFrame:
    frame = read_ratings(path).frame
    return frame.assign(list=pd.to_numeric(frame["list"])) if "list" in frame else frame
