"""Pairs of systems that are shown more often: by a factor declared in advance, with known probabilities."""

from collections import Counter
from typing import Any

from panelist.design.assess.balance import measure_balance
from panelist.design.grow import grow_plan
from panelist.design.make import plan_study
from panelist.design.plan import Plan
from panelist.power.layouts.from_plan import lay_out_plan
from panelist.power.layouts.pages import PageSampling, read_pages
from panelist.reports.methods_of_study import tell_study
from panelist.study.study import Study
from tests.design.small_studies import make_study

OFTEN = [{"pair": ["c", "a"], "times": 3}]


def make(**design: Any) -> Study:
    chosen = {"type": "pairs", "ratings_per_output": 2, "often": OFTEN, **design}
    return make_study(6, ("a", "b", "c"), {"clarity": {"type": "preference"}}, design=chosen)


def count_pairs(plan: Plan) -> Counter[tuple[str, ...]]:
    """Return on how many pages of trials each pair of systems stands."""
    table = plan.table[(plan.table["phase"] == "trial").to_numpy()]
    pages = table.groupby(["rater", "order"], observed=True)["system"].agg(
        lambda each: " ".join(sorted(each))
    )
    return Counter(tuple(each.split()) for each in pages)


def test_a_pair_gets_as_many_times_the_ratings_of_others() -> None:
    plan = plan_study(make())
    assert count_pairs(plan) == {("a", "c"): 36, ("a", "b"): 12, ("b", "c"): 12}
    table = plan.table[(plan.table["phase"] == "trial").to_numpy()]
    assert not table.duplicated(["rater", "item", "system"]).any()  # nobody meets an item twice
    sides = Counter(zip(table["system"], table["position"], strict=True))
    assert sides["a", 1] == sides["a", 2] == 24
    assert "shows a and c 0.600, any other pair 0.200" in " ".join(plan.notes)


def test_the_balance_holds_the_plan_against_what_was_declared() -> None:
    plan, study = plan_study(make()), make()
    lines = {one.line.name: one.line for one in measure_balance(plan, study).lines}
    on_pages = lines["pages that show both of a pair"]
    assert (on_pages.wanted, on_pages.found, on_pages.verdict) == ("as declared", "12 to 36", "as declared")
    assert lines["each system in each place"].met
    even = {one.line.name: one.line for one in measure_balance(plan, make(often=None)).lines}
    assert even["pages that show both of a pair"].verdict == "uneven: 12 to 36"


def test_it_is_said_where_the_study_is_described() -> None:
    assert "c and a 3 times as often as other pairs (fixed in advance)" in " ".join(tell_study(make()))
    assert "as often" not in " ".join(tell_study(make(often=None)))


def test_a_plan_grows_as_it_began_and_without_the_key_nothing_changes() -> None:
    study = make()
    plan = plan_study(study)
    grown = grow_plan(plan, study, len(plan.places) + 5)
    assert count_pairs(grown)["a", "c"] == 36 + 18
    assert plan_study(make(often=None)).table.equals(plan_study(make(often=[])).table)


def test_power_and_size_lay_out_the_same_design() -> None:
    study = make()
    layout = lay_out_plan(plan_study(study), study)
    assert layout.points == 5
    pages = read_pages(study, "clarity")
    assert (pages.pages_per_item, pages.points) == (5, 5)
    drawn = PageSampling(pages, items=6, ratings_per_item=2, most_pages=6).lay_out()
    shown = Counter(tuple(sorted(drawn.system[drawn.page == page].tolist())) for page in range(60))
    assert shown == {(0, 2): 36, (0, 1): 12, (1, 2): 12}
