"""The best-worst reproduction of van Miltenburg et al. (2023), imported from batch files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from panelist.agreement.cleaning import make_tables
from panelist.agreement.coefficient import COEFFICIENTS
from panelist.analysis.choices.item_anova import analyse_variance
from panelist.analysis.choices.scores import score_trials
from panelist.analysis.choices.trials import read_trials
from panelist.collection.imports.importer import import_results
from panelist.collection.imports.mapping import Mapping
from panelist.core.tables.ratings import read_ratings
from tests.collection.imports.batches import make_row, write_batch
from tests.shared_cases import MISSING, SHARED

pytestmark = pytest.mark.skipif(not SHARED.exists(), reason=MISSING)

CODES = {"sys0": "gold", "sys1": "template", "sys2": "ed_cc", "sys3": "hier", "sys4": "macro"}
SHORT = {"grammaticality": "gram", "coherence": "coh", "repetition": "rep"}
SCORES = {  # PUBLISHED.md, row 26: gold, template, ed_cc, hier, macro
    "grammaticality": (9.17, 17.08, -19.58, -9.58, 2.92),
    "coherence": (-0.42, 25.42, -15.00, -10.42, 0.42),
    "repetition": (-1.67, 43.75, -25.83, -14.58, -1.67),
}
ALPHAS = {"grammaticality": 0.04383, "coherence": 0.13263, "repetition": 0.20331}  # row 22
ALL_CODES = {"grammaticality": 0.0363, "coherence": 0.1290, "repetition": 0.1886}
WINNERS = {"grammaticality": 0.403, "coherence": 0.458, "repetition": 0.495}  # row 23
RANKS = {"grammaticality": (2, 1, 5, 4, 3), "coherence": (3, 1, 5, 4, 2), "repetition": (2, 1, 5, 4, 2)}
ORIGINAL = {"grammaticality": (1, 5, 3, 2, 3), "coherence": (1, 5, 4, 3, 2), "repetition": (1, 5, 4, 3, 2)}
RHO = {"grammaticality": -0.21, "coherence": -0.1, "repetition": -0.05}  # row 24, with the original's ranks
F = {"grammaticality": 4.0266, "coherence": 4.3135, "repetition": 9.8017}  # row 27
WORKERS = {"coherence": 119, "repetition": 135, "grammaticality": 80}  # row 28
ALL_WORKERS, MOST_BY_ONE = 216, 67


def write_batches(folder: Path, criterion: str) -> list[Path]:
    """Return the four batch files of a criterion, made from the tidy table in the platform's form."""
    table = pd.read_csv(SHARED / f"reprohum_d2t_{criterion}.csv", dtype=str, keep_default_na=False)
    code = {name: short for short, name in CODES.items()}
    files = []
    for batch, part in table.groupby(table["batch"].astype(int)):
        rows = [
            make_row(
                at,
                {
                    "code": f"{row['item'][1:]}#{code[row['system_a']][3:]}#{code[row['system_b']][3:]}",
                    "sum1": "…",
                    "system1": code[row["system_a"]],
                    "sum2": "…",
                    "system2": code[row["system_b"]],
                },
                {f"best_{SHORT[criterion]}": row["rating"], f"worst_{SHORT[criterion]}": row["worst"]},
                HITId=row["text"],
                AssignmentId=f"{criterion}{at}",
                WorkerId=row["participant"],
                WorkTimeInSeconds=row["work_seconds"],
            )
            for at, row in enumerate(part.to_dict("records"), start=1000 * int(batch))
        ]
        files.append(write_batch(folder / f"{criterion}_batch{batch}.csv", rows))
    return files


def map_criteria(*criteria: str) -> Mapping:
    return Mapping.model_validate(
        {
            "source": "mturk",
            "rater": "WorkerId",
            "submission": "AssignmentId",
            "status": "AssignmentStatus",
            "item": {"column": "Input.code", "match": "([^#]+)#.*"},
            "times": {"seconds": "WorkTimeInSeconds"},
            "keep": {"hit": "HITId"},
            "comparisons": [
                {
                    "name": criterion,
                    "shows": {"A": "Input.system1", "B": "Input.system2"},
                    "best": f"Answer.best_{SHORT[criterion]}",
                    "worst": f"Answer.worst_{SHORT[criterion]}",
                }
                for criterion in criteria
            ],
            "rename": {"system": CODES},
        }
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """All three criteria: coherence from the platform's own files, the others from files made like them."""
    folder = tmp_path_factory.mktemp("batches")
    made = [
        file for criterion in ("grammaticality", "repetition") for file in write_batches(folder, criterion)
    ]
    both = import_results(made, map_criteria("grammaticality", "repetition"), keep_ids=True)
    own = sorted((SHARED / "mturk").glob("coherence_batch*.csv"))
    coherence = import_results(own, map_criteria("coherence"), keep_ids=True)
    assert (len(own), coherence.n_submissions, both.n_submissions) == (4, 600, 1200)
    return pd.concat([both.frame, coherence.frame], ignore_index=True)


@pytest.mark.parametrize("criterion", SCORES)
def test_scores_ranks_and_anova_are_the_published_ones(study: pd.DataFrame, criterion: str) -> None:
    trials = read_trials(read_ratings(study).only(criterion), criterion)
    assert (len(trials), len(trials.items)) == (600, 20)
    scores = score_trials(trials)
    found = [scores[name].score for name in CODES.values()]
    assert np.round(found, 2).tolist() == list(SCORES[criterion])
    ranks = pd.Series(np.round(found, 9)).rank(ascending=False, method="min").astype(int)
    assert tuple(ranks) == RANKS[criterion]
    rho = pd.Series(np.round(found, 9)).rank(ascending=False).corr(pd.Series(ORIGINAL[criterion]).rank())
    assert round(rho, 2) == RHO[criterion]
    test = analyse_variance(scores.items["score"], scores.items["system"], what=criterion, confidence=0.95)
    assert round(test.F, 4) == F[criterion]


@pytest.mark.parametrize("criterion", SCORES)
def test_alphas_are_the_published_ones(study: pd.DataFrame, criterion: str) -> None:
    rows = study[study["criterion"] == criterion]
    alpha = COEFFICIENTS["krippendorff_alpha_nominal"]
    best = rows[rows["choice"] == "best"]
    side = best.assign(rating=best["position"].map({1: "A", 2: "B"})).drop(
        columns=["choice", "trial", "answer"]
    )
    [valid] = make_tables(side, unit="hit")
    assert round(alpha(valid.table), 5) == ALPHAS[criterion]
    first = rows[rows["position"] == 1]
    said = first.assign(rating=first["answer"].str.upper()).drop(columns=["choice", "trial", "answer"])
    [every] = make_tables(said, unit="hit")
    assert round(alpha(every.table), 4) == ALL_CODES[criterion]
    winner = best.assign(rating=best["system"]).drop(columns=["choice", "trial", "answer"])
    [winners] = make_tables(winner, unit="hit")
    assert round(alpha(winners.table), 3) == WINNERS[criterion]


def test_workers_and_seconds_are_the_published_ones(study: pd.DataFrame) -> None:
    raters = study.groupby("criterion")["rater"].nunique()
    assert raters.to_dict() == WORKERS
    # The tidy tables call worker_104 of the batch files P105.
    person = study["rater"].str.replace(r"worker_(\d+)", lambda m: f"P{int(m[1]) + 1:03d}", regex=True)
    assert person.nunique() == ALL_WORKERS
    assert study[study["position"] == 1].groupby(person)["trial"].nunique().max() == MOST_BY_ONE
    for criterion in WORKERS:
        rows = study[(study["criterion"] == criterion) & (study["position"] == 1)]
        table = pd.read_csv(SHARED / f"reprohum_d2t_{criterion}.csv")
        assert sorted(rows["seconds"]) == sorted(table["work_seconds"])


def test_the_columns_alone_are_enough_for_the_platforms_own_files() -> None:
    found = import_results(sorted((SHARED / "mturk").glob("*.csv")))
    scores = score_trials(read_trials(read_ratings(found.frame), "coh"))
    assert np.round([scores[code].score for code in CODES], 2).tolist() == list(SCORES["coherence"])
    assert found.frame["rater"].nunique() == 119
    assert not found.frame["rater"].str.startswith("worker_").any()
    assert found.background is not None
    assert len(found.background) == 119
    assert any("6 answers on coh that name none of A, B ('5' and '8')" in note for note in found.notes)
