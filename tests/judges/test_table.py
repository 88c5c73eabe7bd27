"""A judges table is read by its own path, in every form; no answers are counted, samples averaged."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadFile, BadRatings
from panelist.core.tables.columns import name_columns
from panelist.core.tables.ratings import read_ratings
from panelist.judges.card import make_cards, tabulate_cards
from panelist.judges.scale import match_scales
from panelist.judges.table import read_judges

LONG = pd.DataFrame(
    {
        "judge": ["gpt"] * 4 + ["bleu"] * 4,
        "item": ["1", "1", "2", "2"] * 2,
        "system": ["A", "B"] * 4,
        "criterion": ["fluency"] * 8,
        "rating": [4, 3, 5, 2, 0.4, 0.3, 0.2, 0.1],
    }
)


def test_long_and_wide_tables_hold_the_same_scores(tmp_path: Path) -> None:
    wide = LONG.pivot_table(index=["item", "system"], columns="judge", values="rating").reset_index()
    wide.to_csv(tmp_path / "wide.csv", index=False)
    first, second = read_judges(LONG), read_judges(tmp_path / "wide.csv")
    assert second.judges == first.judges == ("bleu", "gpt")
    for table in (first, second):
        rows = table.frame.sort_values(["judge", "item", "system"])["score"].tolist()
        assert rows == [0.4, 0.3, 0.2, 0.1, 4, 3, 5, 2]
    assert any("read as one judge each" in note for note in second.notes)


def test_what_stands_beside_the_scores_of_a_wide_table_is_no_judge() -> None:
    wide = pd.DataFrame({"item": ["1", "1", "2", "2"], "system": "A", "sample": [1, 2, 1, 2]})
    found = read_judges(wide.assign(gpt=[1, 3, 2, 2], confidence=[0.5, 0.6, 0.7, 0.8], model="m-1"))
    assert found.judges == ("gpt",)
    assert found.frame["score"].tolist() == [2, 2]
    assert found.samples[0].most == 2


def test_a_card_says_what_the_table_says_about_the_judge() -> None:
    plain = make_cards(read_judges(LONG))
    assert tabulate_cards(plain).header == (
        *("judge", "version", "date", "prompt", "samples", "scores", "unanswered, %", "family"),
    )
    own = LONG[LONG["judge"] == "gpt"].assign(settings="temperature 0", tuned="20 items of the pilot")
    card = make_cards(read_judges(own))[0]
    assert "settings temperature 0; its prompt tuned on 20 items of the pilot" in card.phrase()
    assert {"settings", "tuned on"} <= set(tabulate_cards((card,)).header)
    pairs = pd.DataFrame({"judge": "j", "item": ["1"] * 2, "system_a": "A", "system_b": "B"})
    both = make_cards(read_judges(pairs.assign(first=["a", "b"], choice="A")))[0]
    assert (both.orders, "both orders of a pair" in both.phrase()) == (2, True)


def test_json_lines_and_the_words_metric_and_value_are_read(tmp_path: Path) -> None:
    renamed = LONG.rename(columns={"judge": "metric", "rating": "value"})
    (tmp_path / "m.jsonl").write_text(renamed.to_json(orient="records", lines=True), encoding="utf-8")
    found = read_judges(tmp_path / "m.jsonl")
    assert found.judges == ("bleu", "gpt")
    assert found.metrics


def test_a_segment_file_is_a_metric_whose_items_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "BLEURT-refA.seg.score"
    path.write_text("sysA\t0.5\nsysA\tNone\nsysB\t0.25\nsysB\t0.75\n", encoding="utf-8")
    found = read_judges(path)
    assert found.judges == ("BLEURT-refA",)
    assert found.frame["item"].tolist() == ["1", "2", "1", "2"]
    assert found.count_gaps("BLEURT-refA") == {"missing": 1}
    path.write_text("sysA\t0.5\nsysA\t1\nsysB\t0.25\n", encoding="utf-8")
    with pytest.raises(BadFile, match="a line for each segment"):
        read_judges(path)


def test_every_kind_of_no_answer_is_counted_by_judge_and_system() -> None:
    frame = LONG.assign(rating=["4", "", "refused", "I like it", "0.4", "0.3", "0.2", "0.1"])
    found = read_judges(frame)
    assert found.count_gaps("gpt") == {"missing": 1, "refused": 1, "unreadable": 1}
    assert found.count_gaps("gpt", "B") == {"missing": 1, "unreadable": 1}
    assert found.frame["score"].isna().sum() == 3


def test_samples_are_averaged_and_their_spread_reported() -> None:
    twice = pd.concat([LONG.assign(sample=1), LONG.assign(sample=2, rating=LONG["rating"] + 1)])
    found = read_judges(twice)
    assert found.frame.sort_values(["judge", "item", "system"])["score"].tolist()[4:] == [4.5, 3.5, 5.5, 2.5]
    gpt = next(one for one in found.samples if one.judge == "gpt")
    assert gpt.most == 2
    assert gpt.sd == pytest.approx(np.sqrt(0.5))
    between = 2 * np.var([4.5, 3.5, 5.5, 2.5], ddof=1)
    assert gpt.icc == pytest.approx((between - 0.5) / (between + 0.5))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"drop": "item"}, "no 'item' column"),
        ({"drop": "system"}, "no 'system' column"),
        ({"drop": "rating"}, "no column with their answers"),
        ({"twice": True}, "number the samples in a column sample"),
        ({"sample": True}, "several scores for item '1' in sample 1"),
        ({"model": True}, "more than one model"),
        ({"empty": True}, "no score at all"),
    ],
)
def test_a_table_that_cannot_be_used_says_what_is_wrong(change: dict[str, object], said: str) -> None:
    frame = LONG.copy()
    if "drop" in change:
        frame = frame.drop(columns=str(change["drop"]))
    if "twice" in change:
        frame = pd.concat([frame, frame.assign(rating=1)])
    if "sample" in change:
        frame = pd.concat([frame, frame.assign(rating=1)]).assign(sample=1)
    if "model" in change:
        frame["model"] = ["a", "b"] * 4
    if "empty" in change:
        frame = frame.assign(rating="")
    with pytest.raises(BadRatings, match=said):
        read_judges(frame)


def test_copies_count_once_and_numbers_without_end_are_no_answers() -> None:
    for sample in ({}, {"sample": 1}):
        found = read_judges(pd.concat([LONG, LONG.head(1)]).assign(**sample))
        assert len(found.frame) == len(LONG)
        assert found.notes == ("1 row is a copy and counts once",)
    for slips in ([np.inf, 1e300], ["inf", "1e300"]):
        slipped = LONG.head(4).assign(rating=pd.Series([*slips, 4, 3]))
        assert read_judges(slipped).count_gaps("gpt") == {"unreadable": 2}


def test_pairs_are_put_into_one_order_with_what_was_shown_first() -> None:
    frame = pd.DataFrame(
        {
            "judge": "j",
            "item": ["1", "1"],
            "system_a": ["B", "A"],
            "system_b": ["A", "B"],
            "first": ["a", "a"],
            "choice": ["B", "b"],
        }
    )
    found = read_judges(frame).frame
    assert found["system_a"].tolist() == ["A", "A"]
    assert found["score"].tolist() == [0.0, 0.0]
    assert found["first"].tolist() == ["b", "a"]


def test_judge_columns_of_a_ratings_table_are_read_as_asked() -> None:
    ratings = read_ratings(
        pd.DataFrame(
            {
                "rater": ["r1", "r2", "r1", None],
                "item": ["1", "1", "2", "3"],
                "system": ["A", "A", "A", "A"],
                "rating": [3, 4, 5, None],
                "gpt": [4.0, 4.0, None, 2.0],
            }
        )
    )
    found = read_judges(None, ratings, ["gpt"]).frame
    assert dict(zip(found["item"], found["score"], strict=True)) == pytest.approx(
        {"1": 4.0, "2": np.nan, "3": 2.0}, nan_ok=True
    )
    with pytest.raises(BadRatings, match="no column 'gpt4'"):
        read_judges(None, ratings, ["gpt4"])


def test_a_column_judge_is_a_rater_only_where_no_other_column_names_people() -> None:
    assert name_columns(["judge", "item", "rating"]) == {"judge": "rater"}
    assert name_columns(["judge", "annotator", "item", "rating"]) == {"annotator": "rater"}
    assert name_columns(["judge_id", "worker", "item", "rating"]) == {"worker": "rater"}


def test_another_scale_is_said_and_values_off_the_same_scale_are_refused() -> None:
    people = np.array([1.0, 5.0])
    _, found = match_scales(read_judges(LONG), people)
    assert (found["gpt"].same, found["bleu"].same) == (True, False)
    assert "another scale" in found["bleu"].note
    odd = LONG.assign(rating=[4, -1, 5, 2, 0.4, 0.3, 0.2, 0.1])
    scores, found = match_scales(read_judges(odd), people)
    assert found["gpt"].n_off == 1
    assert scores.count_gaps("gpt", "B") == {"off the scale": 1}
    assert match_scales(read_judges(odd), people, "as-is")[1]["gpt"].n_off == 0
