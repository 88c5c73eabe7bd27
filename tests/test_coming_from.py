"""The small study that the docs show in three tools: what they kept is the same, and is read as the same."""

import runpy
from pathlib import Path

import pandas as pd
import pytest

from panelist import compare_systems, fit, load_ratings
from panelist.collection.imports.importer import import_results
from panelist.study.reading.load import load_study

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "coming-from"
STATES = sorted(FOLDER.glob("potato/annotation_output/*/user_state.json"))


def keys(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return what was rated, how and in how many seconds; raters have other names after an import."""
    columns = ["item", "system", "criterion", "rating", "seconds"]
    return sorted(zip(*(frame[name].astype(str) for name in columns), strict=True))


@pytest.mark.parametrize(
    ("files", "mapping"),
    [(STATES, FOLDER / "potato" / "mapping.yaml"), ([FOLDER / "label-studio" / "export.json"], None)],
    ids=["potato", "label-studio"],
)
def test_what_another_tool_kept_is_read_as_the_same_ratings(files: list[Path], mapping: Path | None) -> None:
    found = import_results(files, mapping, salt="00112233445566778899aabbccddeeff").frame
    original = pd.read_csv(FOLDER / "ratings.csv")
    assert keys(found) == keys(original)
    assert set(found.groupby("rater").size()) == {len(original) // original["rater"].nunique()}


def test_the_table_that_potato_exports_is_read_with_the_mapping_without_times(tmp_path: Path) -> None:
    mapping = (FOLDER / "potato" / "mapping.yaml").read_text(encoding="utf-8")
    (tmp_path / "mapping.yaml").write_text(mapping[: mapping.index("times:")], encoding="utf-8")
    original = pd.read_csv(FOLDER / "ratings.csv")
    names = original["item"] + "__" + original["system"]
    table = pd.DataFrame({"instance_id": names, "user_id": original["rater"]})  # potato.export, 2.12.1
    for label in (3, 1, 5, 2, 4):
        table[f"fluency.{label}"] = original["rating"].astype(str).where(original["rating"] == label, "")
    table.to_csv(tmp_path / "annotations.csv", index=False)
    found = import_results([tmp_path / "annotations.csv"], tmp_path / "mapping.yaml", salt="00" * 16).frame
    columns = ["item", "system", "rating"]
    read, given = (one[columns].astype(str) for one in (found, original))
    assert sorted(map(tuple, read.values)) == sorted(map(tuple, given.values))


def test_the_files_of_other_tools_are_those_that_the_script_writes() -> None:
    made = runpy.run_path(str(FOLDER / "make_files.py"))["make_files"]()
    for name, text in made.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, name


def test_the_study_has_the_outputs_that_were_rated() -> None:
    outputs = load_study(FOLDER / "study").outputs.frame
    rated = pd.read_csv(FOLDER / "ratings.csv")
    assert set(map(tuple, outputs[["item", "system"]].values)) == set(
        map(tuple, rated[["item", "system"]].values)
    )


def test_the_script_in_r_and_ours_have_the_numbers_that_the_page_gives() -> None:
    # R 4.2.2, ordinal 2022.11-16 and emmeans 1.8.4, printed to the digits given; clmm's gradient was 9e-5
    formula = "rating ~ system + (1 | rater) + (1 | item)"
    ratings = load_ratings(FOLDER / "ratings.csv")
    found = fit(formula, ratings, model="clmm", link="probit")
    assert found.loglik == pytest.approx(-89.73311, abs=5e-5)
    assert found.thresholds["estimate"].tolist() == pytest.approx(
        [-1.9031, -1.0448, -0.3661, 0.1058], abs=1e-4
    )
    as_r = found.with_degrees("z").coefficients.iloc[0]
    assert as_r["estimate"] == pytest.approx(-1.3705, abs=1e-4)
    assert as_r["se"] == pytest.approx(0.2997, abs=1e-4)
    assert as_r["p"] == pytest.approx(4.81e-6, rel=0.01)
    means = compare_systems(ratings, formula=formula).criteria[0].to_dict()["systems"]
    assert [row["estimate"] for row in means] == pytest.approx([0.802, -0.568], abs=6e-4)
