"""Studies that are looked at before their end, simulated."""

import numpy as np
import pytest

from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import PanelistError
from panelist.design.make import plan_study
from panelist.power.curve import make_cells, simulate_power
from panelist.power.layouts.from_plan import lay_out_plan
from panelist.power.looks import LookCurve, simulate_looks, take_raters
from panelist.power.run import Run
from panelist.power.truth.base import Truth
from tests.cli.commands import call
from tests.design.small_studies import make_study
from tests.power.grids import cross

LAYOUT = cross(8, 10, 2)


def simulate(spending: str = "pocock", effect: float = 1.2, sims: int = 150) -> LookCurve:
    cells = make_cells([Truth.preset("general")], [LAYOUT], [effect])
    return simulate_looks(cells, ["item_means"], AnalysisSpec(), Run(sims, seed=4), (4, 8), spending)


def test_a_part_of_the_raters_is_a_smaller_design() -> None:
    part, rows = take_raters(LAYOUT, 3)
    assert (part.n_raters, part.n_items, part.n_rows) == (3, 10, 60)
    assert (LAYOUT.rater[rows] == part.rater).all()
    assert part.ratings_per_item == 3


def test_looks_find_early_what_is_large_and_pay_for_it_at_the_end() -> None:
    found = simulate()
    null, large = found.cells
    assert (null.effect, large.effect) == (0.0, 1.2)
    assert large.power > null.power
    assert sum(large.stopped) == pytest.approx(1)
    assert large.raters == pytest.approx(4 * large.stopped[0] + 8 * large.stopped[1])
    assert 4 < large.raters < null.raters <= 8
    assert 0.5 < found.information[0] < 1
    assert found.levels[0] < 0.05
    assert found.levels[1] < 0.05
    late = simulate("obrien-fleming")
    assert late.levels[0] < found.levels[0]
    assert late.levels[1] > found.levels[1]
    assert late.cells[1].stopped[0] <= large.stopped[0]
    assert "Level by simulation, of 0.05: item_means" in str(found)
    alone = simulate_power(
        layout=LAYOUT, models="item_means", effects=1.2, truth=Truth.preset("general"), sims=150, seed=4
    ).cells[0]
    assert late.cells[1].power == pytest.approx(alone.power, abs=0.12)


def test_looks_at_pairs_take_whole_pages() -> None:
    study = make_study(
        8, ("a", "b"), {"clarity": {"type": "preference"}}, design={"type": "pairs", "ratings_per_output": 6}
    )
    layout = lay_out_plan(plan_study(study), study)
    part, rows = take_raters(layout, 3)
    assert part.page is not None
    assert layout.page is not None
    assert sorted(set(part.page.tolist())) == list(range(part.n_rows // 2))
    assert np.unique(layout.page[rows]).size == part.n_rows // 2
    assert (part.points, part.told) == (5, layout.told)
    cells = make_cells([Truth.preset("general")], [layout], [3.0])
    found = simulate_looks(cells, ["pairs_graded"], AnalysisSpec(), Run(20, seed=1), (3, 6), "pocock")
    null, large = found.cells
    assert large.power > 0.8 > null.power
    assert large.stopped[0] > 0


def test_looks_must_suit_the_design() -> None:
    cells = make_cells([Truth.preset("general")], [LAYOUT], [1.0])
    for looks in ((4,), (8, 4), (4, 6)):
        with pytest.raises(PanelistError, match="the last all 8 of the design"):
            simulate_looks(cells, ["lmm"], AnalysisSpec(), Run(5), looks, "pocock")
    several = make_cells([Truth.preset("general")], [cross(8, 10, 3)], [1.0])
    with pytest.raises(PanelistError, match="two systems"):
        simulate_looks(several, ["lmm"], AnalysisSpec(), Run(5), (4, 8), "pocock")
    with pytest.raises(PanelistError, match="neither --precision"):
        simulate_looks(cells, ["lmm"], AnalysisSpec(), Run(5, precision=0.1), (4, 8), "pocock")


def test_the_command_shows_the_looks(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--items", "12", "--ratings-per-item", "3", "--raters", "6", "--effects", "1")
    done = call(capsys, "power", *asked, "--models", "item_means", "--sims", "20", "--looks", "3,6")
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert "looks after 3 and 6 raters" in said
    assert "mean raters" in said
    refused = call(capsys, "power", *asked, "--looks", "3,6", "--claim", "equivalence", "--margin", "1")
    assert refused.code == 2
    assert "--claim and --looks do not go together" in refused.err
