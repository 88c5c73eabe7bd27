"""Numbers that papers print, recomputed from their ratings (../shared/data/PUBLISHED.md)."""

import json

import pandas as pd
import pytest

from panelist.agreement.cleaning import make_tables
from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.statistics.rater_pairs import measure_each_pair
from panelist.core.tables.ratings import read_ratings
from tests.agreement.shared_ratings import needs_shared, table_of
from tests.shared_cases import SHARED

pytestmark = needs_shared
CRITERIA = ("Relevance", "QuestionType", "Correctness", "Ambiguity", "Variety")


def test_flickr_8k_of_amidei_et_al() -> None:
    """Rows 1 to 3: 5,822 sentences, Fleiss 0.52, mean gamma 0.98 (truncated from 0.98875)."""
    table = table_of("flickr8k_expert")
    assert (table.n_units, table.n_raters, table.categories.tolist()) == (5822, 3, [1, 2, 3, 4])
    assert round(COEFFICIENTS["fleiss_kappa"](table), 2) == 0.52
    assert round(COEFFICIENTS["fleiss_kappa"](table), 5) == 0.51673
    assert round(COEFFICIENTS["goodman_kruskal_gamma"](table), 5) == 0.98875
    assert measure_each_pair(table)["goodman_kruskal_gamma"].round(4).tolist() == [0.9955, 0.9747, 0.996]


def test_qg_stec_tables_6_and_7_of_amidei_et_al() -> None:
    """Rows 5 to 7: how many questions each pair of judges shared, and kappa and gamma on five criteria."""
    expected = json.loads((SHARED / "reference/published_checks.json").read_text(encoding="utf-8"))
    shared = []
    for row in expected["qg_stec_table7"]:
        judges = [f"P00{name[1]}" for name in row["pair"].split("-")]
        for criterion in CRITERIA:
            whole = table_of(f"qg_stec__{criterion}")
            both = whole.only(raters=pd.Series(whole.raters).isin(judges).to_numpy())
            both = both.only(units=both.complete)
            wanted = {
                key: float("nan") if row[criterion][key] is None else row[criterion][key]
                for key in ("fleiss", "gamma")
            }
            assert COEFFICIENTS["fleiss_kappa"](both) == pytest.approx(
                wanted["fleiss"], abs=1e-12, nan_ok=True
            )
            gamma = COEFFICIENTS["goodman_kruskal_gamma"](both)
            assert gamma == pytest.approx(wanted["gamma"], abs=1e-12, nan_ok=True)
        shared.append(both.n_units)
    assert shared == [80, 67, 81, 7, 106, 158, 125, 142, 129]


def test_pplm_counts_of_howcroft_and_rieser() -> None:
    """Row 29: 1,361 texts, 14 raters, 19,486 ratings, of which a rater's repeats are named."""
    ratings = read_ratings(SHARED / "pplm_fluency.csv")
    [one] = make_tables(ratings)
    assert (one.table.n_units, one.table.n_raters, len(ratings)) == (1361, 14, 19486)
    [note] = [note for note in one.notes if "second or later" in note]
    assert one.table.n_ratings + int(note.split()[0].replace(",", "")) == 19486
    assert "the first of them counts" in note


@pytest.mark.parametrize(("name", "alpha"), [("idiom", 0.3774), ("simile", 0.2878)])
def test_plausibility_judgements_of_li_et_al(name: str, alpha: float) -> None:
    """Row 19: alpha of the original data, and of both parts together the published 0.33."""
    assert (
        round(COEFFICIENTS["krippendorff_alpha_nominal"](table_of(f"fig_narrative_{name}_individual")), 4)
        == alpha
    )
    parts = [
        read_ratings(SHARED / f"fig_narrative_{part}_individual.csv").frame for part in ("idiom", "simile")
    ]
    both = pd.concat([part.assign(text=part["dataset"] + part["text"]) for part in parts], ignore_index=True)
    [pooled] = make_tables(both.assign(criterion="plausible"))
    assert round(COEFFICIENTS["krippendorff_alpha_nominal"](pooled.table), 2) == 0.33


@pytest.mark.parametrize(
    ("criterion", "valid", "every"),
    [("grammaticality", 0.04383, 0.0363), ("coherence", 0.13263, 0.129), ("repetition", 0.20331, 0.1886)],
)
def test_best_worst_answers_of_van_miltenburg_et_al(criterion: str, valid: float, every: float) -> None:
    """Row 22: alpha between 0.0438 and 0.203 with the valid answers alone."""
    ratings = read_ratings(SHARED / f"reprohum_d2t_{criterion}.csv")
    alpha = COEFFICIENTS["krippendorff_alpha_nominal"]
    [all_codes] = make_tables(ratings)
    assert all_codes.table.measurement == "nominal"
    assert round(alpha(all_codes.table), 4) == every
    [valid_only] = make_tables(ratings.where(rating=["A", "B"]))
    assert round(alpha(valid_only.table), 5) == valid
