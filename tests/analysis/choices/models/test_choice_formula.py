"""Formulas of choices: what they ask for, what they cannot, and the reference fits that they lead to."""

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.choices.compare_choices import compare_choices
from panelist.analysis.choices.models.choice_formula import read_choice_formula
from panelist.analysis.compare import compare_systems
from panelist.core.errors import BadFormula, BadModel
from tests.analysis.choices.choices import make_sets, needs_shared
from tests.analysis.choices.votes import draw_votes
from tests.models.choices.stage_models import FOLDER, read_reference


def read_table(name: str) -> pd.DataFrame:
    """Return pairs of the reference, of which the output called A stood first."""
    return pd.read_csv(FOLDER / f"{name}.csv").assign(first="a")


@needs_shared
@pytest.mark.parametrize("name", ["pairs_graded", "pairs_binary"])
def test_a_full_covariance_is_asked_for_by_a_formula(name: str) -> None:
    wanted = read_reference(f"{name}_rater_full")["laplace"]
    formula = "preference ~ system + style(words) + position + (system | rater)"
    found = compare_choices(read_table(name), formula=formula)["choice"]
    beta = dict(zip(wanted["beta"]["names"], wanted["beta"]["estimate"], strict=True))
    theta, mixed = found.strengths.theta, found.strengths.mixed
    assert mixed is not None
    assert theta[1:] - theta[0] == pytest.approx([beta[one] for one in ("birch", "cedar", "delta")], abs=1e-4)
    slopes = {one.term: one.estimate for one in mixed.slopes}
    assert slopes == pytest.approx({"log(words)": beta["style"], "position": beta["position"]}, abs=1e-4)
    assert found.strengths.loglik == pytest.approx(wanted["logLik"], abs=1e-6)
    # From amber, the reference, every other system spreads as in the reference.
    assert mixed.apart is not None
    assert mixed.apart[0, 1:] == pytest.approx(wanted["random"]["rater"]["sd"], abs=1e-4)
    assert [one.system for one in mixed.spreads] == ["amber", "birch", "cedar", "delta"]
    assert "preferences of raters for amber" in str(found)


def test_spreads_of_a_full_covariance_do_not_depend_on_the_reference() -> None:
    votes = draw_votes(300)
    names = sorted({*votes["model_a"], *votes["model_b"]})
    turned = votes.replace(dict(zip(names, [f"z{9 - at}" for at in range(len(names))], strict=True)))
    found, other = (
        compare_choices(table, formula="choice ~ system + (system | rater)")["choice"].strengths.mixed
        for table in (votes, turned)
    )
    assert found is not None
    assert other is not None
    assert [one.sd for one in found.spreads] == pytest.approx(
        [one.sd for one in other.spreads][::-1], abs=1e-4
    )
    assert found.spread == pytest.approx(np.asarray(other.spread)[::-1, ::-1], abs=1e-4)


@needs_shared
def test_raters_may_favour_what_stands_first_each_in_their_way() -> None:
    formula = "preference ~ system + position + (1 | rater:system) + (position | rater)"
    wanted = read_reference("pairs_binary_position_by_rater")["laplace"]
    found = compare_choices(read_table("pairs_binary"), formula=formula)["choice"]
    assert found.strengths.loglik == pytest.approx(wanted["logLik"], abs=1e-6)
    assert "favour for what stands first, by rater" in str(found)
    assert "random preferences of raters," in " ".join(found.sentence().split())
    # Where A stood first throughout, (1 | rater) means just that.
    level = compare_choices(read_table("pairs_binary"), formula=formula.replace("(position |", "(1 |"))[
        "choice"
    ]
    assert level.strengths.loglik == pytest.approx(found.strengths.loglik, abs=1e-9)


@pytest.mark.parametrize(
    ("right", "said"),
    [
        ("system + rater + (1 | rater:system)", "rater is the same on both sides"),
        ("system + (system || rater)", "depend on which system comes first"),
        ("system * words + (1 | rater:system)", "system:words is an interaction"),
        ("words + (1 | rater:system)", "it does not have system"),
        ("system + exp(words) + (1 | rater:system)", "log(…) is the one function"),
        ("system", "nothing in it varies"),
        ("system + (system | rater) + (1 | rater:system)", "leave one of them out"),
        ("system + (1 | list:system)", "is none of (1 | rater:system)"),
        ("system + (words | rater)", "is none of (1 | rater:system)"),
    ],
)
def test_what_a_model_of_choices_cannot_have_is_refused(right: str, said: str) -> None:
    with pytest.raises(BadFormula) as error:
        compare_systems(draw_votes(60), formula=f"choice ~ {right}")
    assert said in str(error.value)
    assert "A right one: preference ~ system" in str(error.value)


def test_what_the_table_cannot_give_is_refused() -> None:
    votes = draw_votes(200)
    for formula, said in (
        ("choice ~ system + (1 | rater)", "how much each favours what stands first is"),
        ("choice ~ system + position + (1 | rater:system)", "which output stood first"),
        ("choice ~ system + (position | rater)", "needs the place of each output"),
    ):
        with pytest.raises(BadModel, match=said.replace("|", r"\|")) as error:
            compare_choices(votes, formula=formula)
        assert not str(error.value).endswith("..")
    with pytest.raises(BadModel, match="there are no raters that answered"):
        compare_choices(votes.drop(columns="rater"), formula="choice ~ system + (1 | rater:system)")
    with pytest.raises(BadModel, match="needs the mixed model of choices, not bradley-terry"):
        compare_choices(votes, formula="choice ~ system + (1 | rater:system)", model="bradley-terry")
    sets = make_sets({"a": 1.0, "b": 0.0, "c": -1.0}, 3, 8, 8, "ranking", taste=0.5)
    with pytest.raises(BadModel, match="rankings and sets take"):
        compare_choices(sets, formula="rank ~ system + (system | rater)")
    led = compare_choices(sets, formula="rank ~ system + (1 | rater:system)")["choice"]
    assert led.strengths.mixed is not None
    assert {one.group for one in led.strengths.mixed.spreads} == {"rater"}


def test_style_is_a_word_for_a_column() -> None:
    terms = read_choice_formula(
        "a ~ system + style(log(n tokens)) + style(lists) + (1 | system:item)".replace(
            "n tokens", "`n tokens`"
        )
    )
    assert terms.style == ("log(n tokens)", "lists")
    assert terms.groups == (("item", "preferences"),)
