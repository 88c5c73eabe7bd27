"""``panelist scales``: what it prints, and what it says about bad input."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.commands import call

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return ratings on seven points, the same outputs on a slider, and an outside measure."""
    folder = tmp_path_factory.mktemp("scales")
    rng = np.random.default_rng(1)
    rows = []
    for r in range(6):
        for i in range(10):
            for system, mean in (("a", 3.0), ("b", 4.0), ("c", 4.4), ("d", 5.5)):
                latent = mean + rng.normal()
                rows.append(
                    (f"r{r}", f"i{i}", system, round(min(max(latent, 1), 7)), round(10 + 12 * latent, 1))
                )
    frame = pd.DataFrame(rows, columns=["rater", "item", "system", "points", "line"])
    paths = {name: folder / f"{name}.csv" for name in ("points", "line", "accuracy")}
    for name in ("points", "line"):
        kept = frame[["rater", "item", "system", name]].rename(columns={name: "rating"})
        kept.assign(criterion="clarity" if name == "line" else "fluency").to_csv(paths[name], index=False)
    pd.DataFrame({"system": list("abcd"), "accuracy": [0.5, 0.6, 0.7, 0.9]}).to_csv(
        paths["accuracy"], index=False
    )
    return paths


def test_it_prints_a_verdict_and_a_table(capsys: Capture, files: dict[str, Path]) -> None:
    done = call(
        capsys, "scales", files["points"], files["line"], "--validity", files["accuracy"], "--resamples", 50,
        "--match", "fluency=clarity", "--names", "VDS-7,VAS",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(
        "Two scales: VDS-7 and VAS\nOn fluency / clarity, system means on VDS-7 and VAS"
    )
    for word in ("interchangeability", "reliability", "stability", "sensitivity", "F-ratio of", "validity"):
        assert word in done.out


def test_json_is_one_object(capsys: Capture, files: dict[str, Path]) -> None:
    done = call(capsys, "scales", files["points"], files["line"], "--resamples", 50, "--json")
    found = json.loads(done.out)
    assert found["scales"] == ["points", "line"]
    (one,) = found["criteria"]
    assert one["criteria"] == ["fluency", "clarity"]
    measures = {row["measure"]: row for row in one["properties"]}
    assert 0.9 < measures["Pearson's r"]["both"]["value"] <= 1
    assert measures["pairs that differ"]["a"]["detail"] == " of 6"


def test_rows_and_columns_are_chosen_for_both_files(capsys: Capture, files: dict[str, Path]) -> None:
    done = call(
        capsys, "scales", files["points"], files["line"], "--resamples", 20, "--json",
        "--where", "system=a", "--where", "system=b", "--where", "system=d",
    )  # fmt: skip
    (one,) = json.loads(done.out)["criteria"]
    assert one["systems"] == ["a", "b", "d"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--match", "fluency"], "--match takes A=B"),
        (["--match", "fluent=clarity"], "Did you mean 'fluency'?"),
        (["--names", "one"], "--names takes two different names"),
        (["--confidence", "95"], "between 0 and 1"),
        (["--resamples", "1"], "at least 2 resamples"),
        (["--validity", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_bad_input_gets_one_message(
    capsys: Capture, files: dict[str, Path], arguments: list[str], part: str
) -> None:
    done = call(capsys, "scales", files["points"], files["line"], *arguments)
    assert (done.code, done.out) == (2, "")
    assert part in done.err
    assert "Traceback" not in done.err
