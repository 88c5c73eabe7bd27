"""Layouts of any size in the design of a study that compares outputs."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.design.make import plan_study
from panelist.power.layouts.from_plan import lay_out_plan
from panelist.power.layouts.pages import PageSampling, read_pages
from tests.design.small_studies import make_study
from tests.examples import examples

SCALES = {"pairs": {"type": "pairs"}, "best-worst": {"type": "best-worst"}, "pages": {"type": "ranking"}}


def study(design: str, systems: int, items: int = 12, **choice: Any) -> Any:
    names = tuple("abcdef"[:systems])
    return make_study(items, names, {"taste": SCALES[design]}, design={"type": design, **choice})


@examples(60)
@given(
    st.sampled_from(["pairs", "best-worst", "pages"]),
    st.integers(3, 6),
    st.integers(6, 40),
    st.integers(1, 4),
    st.integers(2, 30),
    st.integers(0, 9),
)
def test_every_page_is_judged_as_often_as_asked_and_no_rater_meets_an_item_twice(
    design: str, systems: int, items: int, each: int, load: int, seed: int
) -> None:
    pages = read_pages(study(design, systems), "taste")
    sampling = PageSampling(pages, items, each, load)
    layout = sampling.lay_out(seed)
    assert layout.page is not None
    assert layout.n_rows == sampling.total * pages.shown
    assert (layout.n_raters, layout.n_items) == (len(sampling.loads), items)
    first = np.flatnonzero(np.diff(layout.page, prepend=-1))
    counts = np.bincount(layout.rater[first])
    assert counts.tolist() == sampling.loads
    met = Counter(zip(layout.rater[first].tolist(), layout.item[first].tolist(), strict=True))
    assert max(met.values()) == 1
    of_item = np.bincount(layout.item[first], minlength=items)
    assert set(of_item.tolist()) == {each * pages.pages_per_item}
    if design != "best-worst":  # tuples are exchanged so that a rater meets the systems equally often
        outputs = np.bincount(layout.item * systems + layout.system)
        assert len(set(outputs.tolist())) == 1


@pytest.mark.parametrize("design", ["pairs", "best-worst", "pages"])
def test_it_has_the_sizes_of_the_study_s_own_plan(design: str) -> None:
    one = study(design, 4, trials_per_rater=6, ratings_per_output=2)
    own = lay_out_plan(plan_study(one), one)
    pages = read_pages(one, "taste")
    made = PageSampling(pages, 12, 2, pages.usual_load).lay_out()
    assert (made.n_rows, made.n_raters, made.n_items) == (own.n_rows, own.n_raters, own.n_items)
    assert (made.systems, made.told) == (own.systems, own.told)
    assert np.bincount(made.system).tolist() == np.bincount(own.system).tolist()


def test_items_return_where_the_study_lets_them() -> None:
    pages = read_pages(study("pairs", 4, items_may_return=True), "taste")
    assert PageSampling(pages, 10, 1, 30).load == 30
    assert PageSampling(pages, 10, 1, 90).load == 60
    assert PageSampling(read_pages(study("pairs", 4), "taste"), 10, 1, 30).load == 10
