"""The balance table, held against counting by hand on small plans of every kind."""

from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadPlan
from panelist.design.assess.balance import Balance, measure_balance
from panelist.design.assess.evenness import Line
from tests.design.small_studies import make_plan, make_sequence, make_study
from tests.examples import examples

SYSTEMS = ("a", "b", "c")


def find(balance: Balance, name: str, where: str = "") -> Line:
    (line,) = [one.line for one in balance.lines if one.line.name == name and one.where == where]
    return line


def make_square(raters: int = 6, items: int = 6, **same: Any) -> list[dict[str, Any]]:
    rows = []
    for rater in range(raters):
        pages = [f"i{item + 1} {SYSTEMS[(item + rater) % 3]}" for item in range(items)]
        rows += make_sequence(*pages, **{"rater": f"r{rater + 1:03d}", **same})
    return rows


@st.composite
def pages_of_raters(draw: st.DrawFn) -> list[list[tuple[str, tuple[str, ...]]]]:
    """Return the pages of each rater: an item and the systems shown, all pages with equally many."""
    shown = draw(st.integers(1, 3))
    page = st.tuples(
        st.sampled_from(["i1", "i2", "i3", "i4"]),
        st.permutations(SYSTEMS).map(lambda order: tuple(order[:shown])),
    )
    return draw(st.lists(st.lists(page, min_size=1, max_size=6), min_size=1, max_size=5))


@pytest.mark.slow
@examples(300)
@given(pages_of_raters())
def test_every_line_is_what_counting_by_hand_gives(raters: list[list[tuple[str, tuple[str, ...]]]]) -> None:
    rows = []
    for number, pages in enumerate(raters, start=1):
        rows += make_sequence(
            *(f"{item} {' '.join(systems)}" for item, systems in pages), rater=f"r{number:03d}"
        )
    balance = measure_balance(make_plan(rows), make_study(4, SYSTEMS))
    by_hand = count_by_hand(raters)
    found = {one.line.name: (one.line.low, one.line.high) for one in balance.lines}
    assert {name: found[name] for name in by_hand} == by_hand
    assert (balance.n_raters, balance.n_pages) == (len(raters), sum(map(len, raters)))


def count_by_hand(raters: list[list[tuple[str, tuple[str, ...]]]]) -> dict[str, tuple[float, float]]:
    pages = [page for one in raters for page in one]
    shown = len(pages[0][1])
    items = ("i1", "i2", "i3", "i4")
    outputs = Counter((item, system) for item, systems in pages for system in systems)
    per_rater = [Counter(system for _, systems in one for system in systems) for one in raters]
    pairs = list(combinations(SYSTEMS, 2))
    again = [sum(n - 1 for n in Counter(item for item, _ in one).values()) for one in raters]
    lines = {
        "trials per rater": [len(one) for one in raters],
        "each system, per rater": [one[system] for one in per_rater for system in SYSTEMS],
        "raters per output": [outputs[item, system] for item in items for system in SYSTEMS],
        "raters who see both of a pair": [
            sum(one[a] > 0 and one[b] > 0 for one in per_rater) for a, b in pairs
        ],
        "items a rater meets again": [sum(again)],
        "parts that share no item": [count_parts([{item for item, _ in one} for one in raters])],
    }
    if shown > 1:
        places = Counter((s, at) for _, systems in pages for at, s in enumerate(systems))
        lines["each system in each place"] = [places[s, at] for s in SYSTEMS for at in range(shown)]
        lines["pages that show both of a pair"] = [
            sum({a, b} <= set(systems) for _, systems in pages) for a, b in pairs
        ]
    if shown == 2:
        sides = Counter(systems for _, systems in pages)
        lines["each pair, left minus right"] = [abs(sides[a, b] - sides[b, a]) for a, b in pairs]
    if shown == 1:
        after = Counter((x[1][0], y[1][0]) for one in raters for x, y in pairwise(one))
        lines["each system after each other"] = [after[a, b] for a in SYSTEMS for b in SYSTEMS if a != b]
    return {name: (min(counts), max(counts)) for name, counts in lines.items()}


def count_parts(sets: list[set[str]]) -> int:
    parts: list[set[str]] = []
    for one in sets:
        touching = [part for part in parts if part & one]
        parts = [part for part in parts if not part & one] + [one.union(*touching)]
    return len(parts)


def test_latin_square_is_exact_in_every_promise() -> None:
    study = make_study(6, SYSTEMS, design={"type": "latin-square", "ratings_per_output": 2})
    balance = measure_balance(make_plan(make_square()), study)
    assert balance.met
    assert find(balance, "each system, per rater").verdict == "exact"
    assert find(balance, "raters per output").found == "2"
    assert find(balance, "raters per output").verdict == "exact"


def test_what_arithmetic_forbids_is_called_as_near_as_possible() -> None:
    study = make_study(5, SYSTEMS)
    line = find(measure_balance(make_plan(make_square(3, 5)), study), "each system, per rater")
    assert (line.found, line.verdict, line.met) == ("1 or 2", "as near as possible: 1 or 2", True)


def test_outputs_short_of_their_ratings_are_counted() -> None:
    study = make_study(6, SYSTEMS, design={"ratings_per_output": 3})
    balance = measure_balance(make_plan(make_square(7)), study)
    line = find(balance, "raters per output")
    assert (line.wanted, line.verdict, line.met) == ("3 each", "short for 12 of 18 outputs", False)
    assert not balance.met


def test_an_uneven_rater_is_said_in_numbers() -> None:
    plan = make_plan(make_sequence("i1 a", "i2 a", "i3 a", "i4 b"))
    line = find(measure_balance(plan, make_study()), "each system, per rater")
    assert (line.verdict, line.met) == ("up to 2 apart for one rater", False)


def test_raters_who_share_no_item_are_said_to_be_apart() -> None:
    rows = make_sequence("i1 a", "i2 b") + make_sequence("i3 a", "i4 b", rater="r002")
    line = find(measure_balance(make_plan(rows), make_study()), "parts that share no item")
    assert (line.found, line.met) == ("2", False)


def test_item_met_again_is_broken_only_where_the_study_forbids_it() -> None:
    plan = make_plan(make_sequence("i1 a", "i1 b", "i2 a"))
    assert find(measure_balance(plan, make_study()), "items a rater meets again").met is False
    allowed = make_study(design={"items_may_return": True})
    assert find(measure_balance(plan, allowed), "items a rater meets again").met is None


def test_order_as_listed_promises_no_place() -> None:
    plan = make_plan(make_sequence("i1 a", "i2 a", "i3 b", "i4 b"))
    listed = make_study(design={"order": "as listed"})
    line = find(measure_balance(plan, listed), "mean place in the sequence")
    assert (line.found, line.verdict, line.met) == ("1.5 to 3.5", "as listed", None)


def test_system_that_always_comes_last_is_not_within_chance() -> None:
    rows = [
        row
        for rater in range(8)
        for row in make_sequence(
            *(f"i{n} a" for n in range(1, 6)), *(f"i{n} b" for n in range(6, 11)), rater=f"r{rater:03d}"
        )
    ]
    line = find(measure_balance(make_plan(rows), make_study(10)), "mean place in the sequence")
    assert line.met is False
    assert "standard errors off" in line.verdict


def test_criteria_on_one_page_are_told_once_and_others_apart() -> None:
    scales = {"fluency": {"type": "likert"}, "clarity": {"type": "likert"}}
    study = make_study(6, SYSTEMS, scales)
    together = make_square() + make_square(criterion="clarity")
    assert {one.where for one in measure_balance(make_plan(together), study).lines} == {""}
    apart = make_square() + make_square(4, criterion="clarity")
    balance = measure_balance(make_plan(apart), study)
    assert find(balance, "raters per output", "fluency").verdict == "exact"
    assert find(balance, "raters per output", "clarity").verdict == "as near as possible: 1 or 2"
    assert find(balance, "each system, per rater").verdict == "exact"  # the same for both: told once


def test_one_criterion_per_rater_is_not_taken_for_criteria_together() -> None:
    study = make_study(6, SYSTEMS, {"fluency": {"type": "likert"}, "clarity": {"type": "likert"}})
    rows = make_square(3) + [
        {**row, "rater": f"r9{row['rater'][2:]}"} for row in make_square(3, criterion="clarity")
    ]
    balance = measure_balance(make_plan(rows), study)
    assert balance.n_raters == 6
    assert find(balance, "raters per output").found == "1"
    assert [one.criteria for one in balance.estimable] == [("fluency",), ("clarity",)]


def test_groups_are_told_apart_where_they_differ() -> None:
    study = make_study(6, SYSTEMS, design={"ratings_per_output": 2})
    rows = make_square(6, group="native")
    rows += [{**row, "rater": "q" + row["rater"], "group": "learner"} for row in make_square(3)]
    balance = measure_balance(make_plan(rows), study)
    assert find(balance, "raters per output", "native").verdict == "exact"
    assert find(balance, "raters per output", "learner").met is False


def test_second_sitting_with_other_outputs_is_noticed() -> None:
    study = make_study(6, SYSTEMS, design={"occasions": 2})
    name = "raters with the same outputs at each occasion"
    rows = make_square() + make_square(occasion=2)
    assert find(measure_balance(make_plan(rows), study), name).verdict == "exact"
    rows[-1] = {**rows[-1], "system": "a" if rows[-1]["system"] != "a" else "b"}
    assert find(measure_balance(make_plan(rows), study), name).verdict == "1 raters judge other outputs"


def test_checks_are_counted_and_stay_out_of_the_trials() -> None:
    checks = {"items": [{"kind": "repeat", "count": 2}]}
    study = make_study(6, SYSTEMS, checks=checks)
    rows = make_square()
    for rater in range(1, 7):
        for n in (1, 2):
            rows.append(
                {
                    "rater": f"r{rater:03d}",
                    "order": 6 + n,
                    "item": "i1",
                    "system": "a",
                    "phase": "check",
                    "check": f"repeat-{n}",
                }
            )
    line = find(measure_balance(make_plan(rows), study), "checks per occasion")
    assert (line.wanted, line.found, line.verdict) == ("2 each", "2", "exact")
    balance = measure_balance(make_plan(rows[:-1]), study)
    assert find(balance, "checks per occasion").verdict == "1 occasions have fewer"
    assert balance.n_ratings == 36


def test_pairs_left_and_right_are_as_near_as_odd_numbers_allow() -> None:
    study = make_study(
        4, SYSTEMS, {"fluency": {"type": "pairs"}}, design={"type": "pairs", "ratings_per_output": 1}
    )
    rows = make_sequence("i1 a b", "i2 b a", "i3 a b", "i1 a c", "i2 c a", "i3 b c", "i4 c b")
    balance = measure_balance(make_plan(rows), study)
    assert find(balance, "each pair, left minus right").verdict == "as near as possible: 0 or 1"
    short = find(balance, "raters per pair of outputs")
    assert (short.found, short.verdict) == ("0 or 1", "short for 5 of 12 pairs")


def test_plan_of_another_study_is_refused() -> None:
    with pytest.raises(BadPlan, match="item 'i7'"):
        measure_balance(make_plan(make_sequence("i7 a")), make_study())


def test_balance_says_itself_in_json_and_text() -> None:
    balance = measure_balance(make_plan(make_square()), make_study(6, SYSTEMS))
    whole = balance.to_dict()
    assert whole["lines"][0] == {
        "name": "trials per rater", "where": "", "wanted": "equal", "found": "6",
        "low": 6.0, "high": 6.0, "verdict": "exact", "met": True,
    }  # fmt: skip
    assert "raters per output" in str(balance)
