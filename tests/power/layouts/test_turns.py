"""Layouts of a study whose turns are rated: a row for each, the model that goes with it, and the spreads."""

from dataclasses import replace

import numpy as np
import pytest

from panelist.analysis.spec import AnalysisSpec
from panelist.design.assess.balance import count_planned
from panelist.design.make import plan_study
from panelist.design.simulate import TURN_SPREADS, simulate_ratings
from panelist.models.random_part import choose_random
from panelist.power.layouts.base import Layout, Sampling
from panelist.power.layouts.from_plan import lay_out_plan
from panelist.power.responses import simulate_responses
from panelist.power.search.probit_search import make_family
from panelist.power.search.search_space import SearchSpace
from panelist.power.truth.base import Truth
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from panelist.study.study import Study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("turns") / "chat"
    init_study(folder, "chat")
    return load_study(folder)


@pytest.fixture(scope="module")
def layout(study: Study) -> Layout:
    return lay_out_plan(plan_study(study), study)


def test_power_and_plan_count_every_turn_that_raters_rate(study: Study, layout: Layout) -> None:
    plan = plan_study(study)
    rated = simulate_ratings(study, plan)
    table = rated[(rated["check"] == "").to_numpy()]
    assert (layout.n_rows, "rating") == (len(table), "rating") == count_planned(plan, study)
    rows = zip(layout.rater, layout.item, layout.system, layout.turn, strict=True)  # type: ignore[arg-type]
    assert len(set(rows)) == layout.n_rows
    each = table.groupby(["item", "system", "turn"], observed=True).size()
    assert layout.ratings_per_item == each.mean()


def test_the_model_has_the_random_effects_of_turns(layout: Layout) -> None:
    formula = choose_random(layout.make_frame(0.0)).formula()
    assert "(1 | item:turn) + (1 | rater:item:system)" in formula


def test_ratings_of_one_page_and_of_one_turn_are_alike_by_the_spreads_of_turns(layout: Layout) -> None:
    """Covariances of latent judgements, which are what a layout with pages gives, over many data sets."""
    truth, rng = Truth.preset("general"), np.random.default_rng(1)
    bare = replace(layout, page=np.zeros(layout.n_rows, dtype=np.int32))
    latent = np.asarray(simulate_responses(truth, bare, (0.0, 0.0), rng, 20_000))
    assert layout.turn is not None
    rows = np.column_stack((layout.rater, layout.item, layout.system, layout.turn))
    first, alike = rows[0], rows == rows[0]
    same_page = np.flatnonzero(alike[:, :3].all(axis=1) & (rows[:, 3] != first[3]))[0]
    others = ~alike[:, 0] & alike[:, 1] & alike[:, 2]
    same_turn, other_turn = (np.flatnonzero(others & here)[0] for here in (alike[:, 3], ~alike[:, 3]))
    covariance = np.cov(latent[:, [0, same_page, same_turn, other_turn]].T)
    turn = covariance[0, 2] - covariance[0, 3]
    assert turn == pytest.approx(TURN_SPREADS["turn"] ** 2 + TURN_SPREADS["reply"] ** 2, abs=0.06)
    system = int(first[2])
    page = covariance[0, 1] - covariance[0, 3] - truth.raters.covariance(2)[system, system]
    assert page == pytest.approx(TURN_SPREADS["page"] ** 2, abs=0.06)


def test_designs_of_a_search_have_a_rating_of_every_turn() -> None:
    whole = Sampling(10, 2, 2, 5).lay_out(1)
    spread = Sampling(10, 2, 2, 5, turns=3).lay_out(1)
    assert spread.n_rows == 3 * whole.n_rows
    assert spread.turn is not None
    assert spread.turn[:3].tolist() == [1, 2, 3]
    assert (spread.rater.reshape(-1, 3) == whole.rater[:, None]).all()
    assert (spread.item.reshape(-1, 3) == whole.item[:, None]).all()
    assert spread.key != whole.key
    space = SearchSpace((2,), (5,), turns=3)
    family = make_family(
        Truth.preset("general"), (0.0, 0.5), 2, 5, AnalysisSpec(), 0.8, 50, turns=space.turns
    )
    assert family.sample(10).lay_out(1).n_rows == 3 * whole.n_rows
