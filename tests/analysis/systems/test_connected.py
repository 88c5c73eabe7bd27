"""What comparisons rest on: systems linked by items, raters, or nothing; crowded ends; documents."""

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.checks.extremes import find_crowding
from panelist.analysis.compare import compare_systems
from panelist.analysis.describe import describe_ratings
from panelist.analysis.systems.connected import find_links
from panelist.core.errors import BadModel
from panelist.models.random_part import choose_random


def make_ratings(seed: int = 1, systems: str = "abcd", raters: int = 8, items: int = 12) -> pd.DataFrame:
    """Return crossed ratings on five points."""
    rng = np.random.default_rng(seed)
    rows = [(f"r{r}", f"i{i:02d}", s) for r in range(raters) for i in range(items) for s in systems]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system"])
    effect = {s: k / 2 for k, s in enumerate(systems)}
    latent = 2.5 + frame["system"].map(effect).to_numpy(float) + rng.normal(size=len(frame))
    return frame.assign(rating=np.clip(latent.round(), 1, 5))


def split(frame: pd.DataFrame, *, items: bool, raters: bool) -> pd.DataFrame:
    """Return the ratings with a, b apart from c, d: on other items, by other raters."""
    first = frame["system"].isin(["a", "b"])
    if items:
        frame = frame[first == (frame["item"] < "i06")]
        first = frame["system"].isin(["a", "b"])
    return frame[first == (frame["rater"] < "r4")] if raters else frame


def test_crossed_systems_are_linked_and_nothing_is_said() -> None:
    links = find_links(make_ratings(), "abcd")
    assert links.connected
    assert links.notes() == []


def test_systems_that_share_nothing_are_neither_compared_nor_ranked_together() -> None:
    frame = split(make_ratings(), items=True, raters=True)
    found = compare_systems(frame).criteria[0]
    across = [pair for pair in found.pairs if (pair.a in "ab") != (pair.b in "ab")]
    within = [pair for pair in found.pairs if pair not in across]
    assert len(across) == 4
    assert all(np.isnan(pair.difference) and np.isnan(pair.p_adjusted) and pair.reason for pair in across)
    assert all(np.isfinite(pair.p_adjusted) and not pair.reason for pair in within)
    assert all(row.rank_high <= 2 for row in found.systems)
    assert {row.system: row.group for row in found.systems} == {"a": 1, "b": 1, "c": 2, "d": 2}
    assert "cannot be compared" in found.sentence()
    assert not any(f"{a} is rated above {b}" in found.sentence() for a in "cd" for b in "ab")
    assert any("share neither items nor raters" in note for note in found.notes)


def test_one_system_on_items_and_raters_of_its_own_is_refused() -> None:
    frame = make_ratings(systems="ab")
    frame = frame[(frame["system"] == "a") == ((frame["item"] < "i06") & (frame["rater"] < "r4"))]
    frame = frame[(frame["system"] == "a") | ((frame["item"] >= "i06") & (frame["rater"] >= "r4"))]
    with pytest.raises(BadModel, match="No two systems can be compared: a and b share neither"):
        compare_systems(frame)


@pytest.mark.parametrize(("by", "rests"), [("items", "raters"), ("raters", "items")])
def test_what_is_linked_by_one_alone_is_ranked_with_a_note(by: str, rests: str) -> None:
    frame = split(make_ratings(), items=by == "items", raters=by == "raters")
    found = compare_systems(frame).criteria[0]
    assert all(np.isfinite(pair.p_adjusted) for pair in found.pairs)
    notes = [note for note in found.notes if f"rest on the {rests} alone" in note]
    assert notes == [
        f"No {by[:-1]} links a, b against c, d: these comparisons rest on the {rests} alone, and hold if the "
        f"{by} of both sides are alike, as when they were assigned at random."
    ]


def test_a_chain_of_common_items_links_systems() -> None:
    rows = [("a", "i1"), ("b", "i1"), ("b", "i2"), ("c", "i2"), ("d", "i3")]
    frame = pd.DataFrame(rows, columns=["system", "item"])
    links = find_links(frame, "abcd")
    assert links.items == (0, 0, 0, 1)
    assert links.raters == ()
    assert links.groups() == [["a", "b", "c"], ["d"]]


def test_a_table_without_raters_and_items_is_taken_as_it_is() -> None:
    assert find_links(pd.DataFrame({"system": list("ab")}), "ab").connected


# -- crowded ends


def test_a_ceiling_is_named_with_its_systems() -> None:
    frame = make_ratings(systems="ab")
    frame.loc[frame["system"] == "b", "rating"] = 5.0
    (note,) = find_crowding(frame)
    assert note.startswith("Many ratings are at the top of the scale (5): b 100 %.")
    frame.loc[frame.index[frame["system"] == "b"][:20], "rating"] = 4.0
    assert find_crowding(frame) == []  # 79 %


def test_a_slider_is_crowded_from_a_quarter_on_and_two_points_from_nineteen_in_twenty() -> None:
    rng = np.random.default_rng(1)
    slider = pd.DataFrame({"system": "a", "rating": rng.uniform(0, 99, 200).round(2)})
    slider.loc[:59, "rating"] = 100.0
    assert "a 30 %" in find_crowding(slider)[0]
    yes = pd.DataFrame({"system": "a", "rating": [1.0] * 94 + [0.0] * 6})
    assert find_crowding(yes) == []
    yes.loc[94:95, "rating"] = 1.0
    assert "a 96 %" in find_crowding(yes)[0]


def test_the_end_of_the_scale_is_not_that_of_the_ratings_where_it_is_known() -> None:
    frame = make_ratings(systems="ab").assign(rating=lambda table: np.where(table.index % 10, 4.0, 3.0))
    assert find_crowding(frame)
    assert find_crowding(frame, 1.0, 7.0) == []


def test_comparison_and_description_say_it() -> None:
    frame = make_ratings(systems="ab", seed=3)
    high = frame["system"] == "b"
    frame.loc[high, "rating"] = np.where(np.arange(high.sum()) % 12, 5.0, 4.0)
    said = [note for note in compare_systems(frame).criteria[0].notes if "top of the scale" in note]
    assert len(said) == 1
    described = describe_ratings(frame, "fluency")
    assert list(described.notes) == said
    assert said[0][:40] in str(described).replace("\n", " ")


# -- documents around items


def with_documents(per: int, column: str = "document") -> pd.DataFrame:
    frame = make_ratings(systems="ab", items=20)
    return frame.assign(**{column: [f"d{int(item[1:]) // per}" for item in frame["item"]]})


@pytest.mark.parametrize("column", ["document", "topic", "batch"])
def test_items_nested_in_documents_get_an_effect_of_documents(column: str) -> None:
    part = choose_random(with_documents(2, column))
    assert part.formula().endswith(f" + (1 | {column})")
    assert any(f"items come from 10 {column}s" in note for note in part.notes)
    lower = part.lower({"rater"})
    assert lower is not None
    assert lower.formula().endswith(f" + (1 | {column})")


@pytest.mark.parametrize("per", [1, 5])
def test_too_few_documents_or_one_for_each_item_are_left_out(per: int) -> None:
    assert choose_random(with_documents(per)).around == ()


def test_a_column_that_items_are_not_nested_in_is_left_out() -> None:
    frame = with_documents(2)
    frame["document"] = [f"d{k % 7}" for k in range(len(frame))]
    assert choose_random(frame).around == ()
    frame = with_documents(2)
    frame.loc[3, "document"] = None
    assert choose_random(frame).around == ()


def test_a_comparison_fits_documents_and_says_so() -> None:
    found = compare_systems(with_documents(2)).criteria[0]
    assert "(1 | document)" in found.formula
    assert any(note.startswith("document: (1 | document)") for note in found.notes)
