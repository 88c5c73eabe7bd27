"""Planning a study that rates and compares: each criterion by its own kind."""

from panelist.design.make import plan_study
from panelist.power.layouts.from_plan import lay_out_plan
from tests.design.small_studies import LIKERT, make_study

STUDY = make_study(
    8,
    ("a", "b"),
    {"fluency": LIKERT, "preference": {"type": "pairs"}},
    design={"type": "pairs", "ratings_per_output": 3, "rated": "alone"},
)


def test_each_criterion_of_a_plan_has_its_own_layout() -> None:
    plan = plan_study(STUDY)
    rated, compared = (lay_out_plan(plan, STUDY, name) for name in ("fluency", "preference"))
    assert (rated.n_rows, compared.n_rows) == (48, 48)
    assert rated.page is None
    assert compared.page is not None
    assert compared.page.max() == 23
