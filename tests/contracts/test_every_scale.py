"""What holds for every registered scale: a new file in scales/ is tested as soon as it exists."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from docs.generate import ROOT, describe_scales
from panelist.agreement.measure import suited
from panelist.models.fit import MODELS
from panelist.scales import SCALES, AnyScale, Scale
from panelist.scales.base import (
    MODEL_OF_LEVEL,
    BadAnswer,
    ComparativeAnswer,
    ComparativeScale,
    HedsForm,
    Level,
    Option,
    RatingScale,
)
from panelist.study.model import StudyFile
from tests.examples import examples

NAMES = list(SCALES)
RATINGS = [name for name in NAMES if not SCALES[name].comparative]
COMPARISONS = [name for name in NAMES if SCALES[name].comparative]
ISSUE = ["best-worst", "binary", "choose-one", "graphic", "likert", "magnitude", "pairs", "preference"]
ISSUE += ["ranking", "text", "vas", "verbal"]
WIDGETS = ROOT / "src" / "panelist" / "web" / "templates" / "rater" / "widgets"
ADAPTER: TypeAdapter[Scale] = TypeAdapter(AnyScale)

# Variants beside each example: what a study file may say that changes how answers are read or simulated.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "verbal": [
        {"points": ["good", "bad"], "best": "first"},
        {"points": list("abcdefghijk"), "numbered": True},
    ],
    "likert": [{}, {"points": 2}, {"points": 11, "start": 0, "middle": "so-so"}],
    "vas": [{"faces": True, "pointer": "middle"}],
    "graphic": [{"points": list("abcdefg")}, {"points": ["a", "b"]}],
    "binary": [{}, {"labels": ["no", "yes"], "one": "yes"}],
    "choose-one": [{}, {"none": True, "all": True}],
    "pairs": [{}],
    "preference": [{"points": points} for points in (2, 3, 4, 6, 7)] + [{"points": 3, "labels": list("abc")}],
    "best-worst": [{}],
    "ranking": [{}],
    "magnitude": [{}, {"reference": "a text", "modulus": 0.001}],
    "text": [{}, {"least": 0, "most": 1}, {"least": 20, "most": 20}],
}


def made(name: str) -> list[Scale]:
    variants = [{"type": name, **given} for given in VARIANTS.get(name, [])]
    return [ADAPTER.validate_python(one) for one in (SCALES[name].example, *variants)]


def ratings(name: str) -> list[RatingScale]:
    return [one for one in made(name) if isinstance(one, RatingScale)]


def comparisons(name: str) -> list[ComparativeScale]:
    return [one for one in made(name) if isinstance(one, ComparativeScale)]


def shown_by(one: ComparativeScale) -> list[int]:
    """Return numbers of outputs to try: the least, one in between and the most."""
    most = one.most_shown or 12
    return sorted({one.least_shown, min(4, most), most})


def show_some(name: str) -> int:
    """Return how many outputs to show: four, or as many as the scale compares at most."""
    return min(4, getattr(SCALES[name], "most_shown", None) or 4)


def latents(draw_from: st.SearchStrategy[float] | None = None) -> st.SearchStrategy[list[float]]:
    return st.lists(draw_from or st.floats(-1e308, 1e308), min_size=1, max_size=30)


def test_the_scales_are_those_that_study_files_may_name() -> None:
    assert sorted(ISSUE) == NAMES
    schema = StudyFile.model_json_schema()
    named = schema["$defs"]["Criterion"]["properties"]["scale"]["discriminator"]["mapping"]
    assert sorted(named) == NAMES
    for reference in named.values():
        assert "type" in schema["$defs"][reference.rpartition("/")[2]]["required"]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_filed_under_its_type_and_its_example_is_one_of_it(name: str) -> None:
    one = ADAPTER.validate_python(SCALES[name].example)
    assert type(one) is SCALES[name]
    assert one.model_dump()["type"] == name == SCALES[name].example["type"]
    assert isinstance(one, RatingScale) != isinstance(one, ComparativeScale)


@pytest.mark.parametrize("name", NAMES)
def test_every_key_is_explained_in_the_schema(name: str) -> None:
    properties = SCALES[name].model_json_schema()["properties"]
    assert all(len(each.get("description", "")) > 10 for key, each in properties.items() if key != "type")


@pytest.mark.parametrize("name", NAMES)
def test_it_reads_back_what_it_dumps(name: str) -> None:
    for one in made(name):
        assert ADAPTER.validate_python(one.model_dump(exclude_unset=True)) == one
        assert ADAPTER.validate_json(one.model_dump_json(exclude_unset=True)) == one


@pytest.mark.parametrize("name", NAMES)
def test_it_is_frozen_and_refuses_unknown_keys(name: str) -> None:
    one = made(name)[0]
    with pytest.raises(ValidationError, match="frozen"):
        one.type = "other"  # type: ignore[attr-defined]
    with pytest.raises(ValidationError, match="colour"):
        ADAPTER.validate_python({**SCALES[name].example, "colour": "blue"})
    assert hash(one) == hash(made(name)[0])


@pytest.mark.parametrize("name", NAMES)
def test_its_level_has_a_model_and_coefficients(name: str) -> None:
    measurement = SCALES[name].measurement
    assert measurement in get_args(Level)
    if measurement == "text":
        return
    assert MODEL_OF_LEVEL[measurement] in MODELS
    assert suited(measurement)


@pytest.mark.parametrize("name", NAMES)
def test_it_describes_itself_for_a_page_a_paper_and_a_datasheet(name: str) -> None:
    kind = SCALES[name]
    assert bool(kind.markup) != (WIDGETS / f"{kind.widget}.html").exists()
    assert isinstance(kind.heds_form, HedsForm)
    assert kind.heds_form.presentation in range(1, 6)
    assert kind.heds_form.elicitation == (3 if kind.comparative else 5 if kind.measurement == "text" else 2)
    assert bool(kind.heds_form.other) == (kind.heds_form.presentation == 5)
    assert kind.advice.endswith(".")
    for one in made(name):
        sentence = one.describe()
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert len(sentence) > 30
        assert one.size()
        assert len(one.values()) > 5
        assert "None" not in sentence + one.values() + one.size() or name == "choose-one"


@pytest.mark.parametrize("name", NAMES)
def test_the_docs_have_a_section_on_it(name: str) -> None:
    page = (ROOT / "docs" / "scales.md").read_text(encoding="utf-8")
    assert f"\n## {name}\n" in page
    assert page == describe_scales(), "run make docs"


@pytest.mark.parametrize("name", RATINGS)
@examples(40)
@given(latent=latents(), seed=st.integers(0, 2**32 - 1))
def test_simulated_values_survive_writing_and_parsing(name: str, latent: list[float], seed: int) -> None:
    for one in ratings(name):
        found = one.simulate(np.array(latent), np.random.default_rng(seed))
        assert found.shape == (len(latent),)
        for value in found.tolist():
            text = one.write(value)
            again = one.parse(text)
            assert again == value
            assert type(again) is type(value)
            assert one.write(again) == text
            if one.measurement != "text":
                assert one.lowest is not None
                assert one.lowest <= float(value) <= (one.highest or np.inf)


@pytest.mark.parametrize("name", COMPARISONS)
@examples(25)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_simulated_comparisons_survive_writing_and_parsing(name: str, data: st.DataObject, seed: int) -> None:
    for one in comparisons(name):
        for shown in shown_by(one):
            row = st.lists(st.floats(-1e308, 1e308), min_size=shown, max_size=shown)
            latent = np.array(data.draw(st.lists(row, min_size=1, max_size=8)))
            found = one.simulate(latent, np.random.default_rng(seed))
            assert len(found) == len(latent)
            for comparison in found:
                assert len(comparison.choices) == shown
                assert one.parse(one.write(comparison), shown) == comparison


WORDS = (
    "|  |\x00|nan|NaN|inf|-inf|Infinity|1e400|٣|３|²|1_000|0x1|None|null|true|-0|+1|1,|,|,,|1,1|tie|none|all"
)
RUBBISH: st.SearchStrategy[Any] = st.one_of(
    st.text(max_size=40),
    st.from_regex(r"[-+]?[0-9]{1,12}([.,][0-9]{0,4})?([eE][-+]?[0-9]{1,4})?", fullmatch=True),
    st.from_regex(r"[0-9]{1,2}(\s*,\s*[0-9]{1,2}){0,4}", fullmatch=True),
    st.sampled_from([*WORDS.split("|"), "best", "9" * 5000]),
    st.sampled_from([None, 3, 2.5, True, b"3", ["3"], {}, float("nan"), 10**5000]),
)


def refusal(parse: Callable[..., object], *given: object) -> str:
    """Return what BadAnswer said, or nothing if the answer was taken; any other error goes through."""
    try:
        parse(*given)
    except BadAnswer as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("name", RATINGS)
@examples(200)
@given(answer=RUBBISH)
def test_rubbish_raises_bad_answer_and_nothing_else(name: str, answer: Any) -> None:
    for one in ratings(name):
        said = refusal(one.parse, answer)
        if said:
            assert one.allowed() in said
            assert len(said) < 300
        else:
            assert isinstance(answer, str)
            assert one.parse(one.write(one.parse(answer))) == one.parse(answer)


@pytest.mark.parametrize("name", COMPARISONS)
@examples(200)
@given(answer=RUBBISH)
def test_rubbish_about_a_comparison_raises_bad_answer_and_nothing_else(name: str, answer: Any) -> None:
    for one in comparisons(name):
        for shown in shown_by(one):
            said = refusal(one.parse, answer, shown)
            if said:
                assert one.allowed(shown) in said
                assert len(said) < 400
            else:
                assert isinstance(answer, str)
                found = one.parse(answer, shown)
                assert one.parse(one.write(found), shown) == found


@pytest.mark.parametrize("name", [name for name in NAMES if name != "text"])
@pytest.mark.parametrize(
    "answer", ["", "  ", "nan", "inf", "-1", "1e400", "٣", "1;2", "9" * 5000, "None", "1\x00"]
)
def test_what_is_no_answer_of_any_scale_is_refused(name: str, answer: str) -> None:
    for one in made(name):
        with pytest.raises(BadAnswer):
            one.parse(answer, one.least_shown) if isinstance(one, ComparativeScale) else one.parse(answer)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [name for name in RATINGS if name != "text"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 1e300, 10**400, "", "x", None, [1]])
def test_a_value_it_does_not_have_is_not_written(name: str, value: Any) -> None:
    for one in ratings(name):
        with pytest.raises(BadAnswer):
            one.write(value)


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize(
    "comparison",
    [
        ComparativeAnswer(("best", "best", "worst")),
        ComparativeAnswer(("", "", ""), "perhaps"),
        ComparativeAnswer(("1", "1", "2")),
        ComparativeAnswer(("best", "worst", ""), "tie"),
    ],
)
def test_a_comparison_it_does_not_have_is_not_written(name: str, comparison: ComparativeAnswer) -> None:
    for one in comparisons(name):
        short = ComparativeAnswer(comparison.choices[: min(3, one.most_shown or 3)], comparison.answer)
        with pytest.raises(BadAnswer):
            one.write(short)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_page_offers_can_be_answered(name: str) -> None:
    for one in made(name):
        shown = show_some(name)
        offered = one.options(shown) if isinstance(one, ComparativeScale) else one.options()  # type: ignore[attr-defined]
        assert all(isinstance(each, Option) for each in offered)
        assert len({each.value for each in offered}) == len(offered)
        assert len({(each.label, each.number) for each in offered}) == len(offered)
        for each in offered:
            if isinstance(one, ComparativeScale):
                assert one.write(one.parse(each.value, shown)) == each.value
            elif isinstance(one, RatingScale):
                assert one.write(one.parse(each.value)) == each.value
                assert not each.label or one.recognise(each.label) == one.parse(each.value)


@pytest.mark.parametrize("name", [name for name in RATINGS if name != "text"])
def test_a_higher_judgement_gives_stochastically_higher_values(name: str) -> None:
    for one in ratings(name):
        steps = [-1.5, -0.5, 0.0, 0.5, 1.5]
        samples = [
            np.sort(one.simulate(np.full(20_000, each), np.random.default_rng(11)).astype(np.float64))
            for each in steps
        ]
        for lower, higher in pairwise(samples):
            assert (lower <= higher).all()  # the same noise: every quantile rises
            assert lower.mean() < higher.mean()


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_better_output_is_named_best_more_often_and_worst_less_often(name: str) -> None:
    for one in comparisons(name):
        for shown in shown_by(one):
            latent = np.tile(np.linspace(-0.5, 0.5, shown), (8000, 1))
            found = one.simulate(latent, np.random.default_rng(5))
            best, worst = (
                [sum(c.choices[place] in words for c in found) for place in range(shown)]
                for words in ({"best", "1"}, {"worst", str(shown)})
            )
            assert best[0] < best[-1]
            assert worst[0] >= worst[-1]


@pytest.mark.parametrize("name", COMPARISONS)
def test_too_few_or_too_many_outputs_are_refused_with_the_limits(name: str) -> None:
    one = comparisons(name)[0]
    few, rng = one.least_shown - 1, np.random.default_rng(1)
    wrong = [few, one.most_shown + 1] if one.most_shown is not None else [few]
    for shown in wrong:
        with pytest.raises(ValueError, match=f"at least {one.least_shown}.* Got {shown} instead"):
            one.parse("1", shown)
        with pytest.raises(ValueError, match=f"Got {shown} instead"):
            one.simulate(np.zeros((3, shown)), rng)
    with pytest.raises(ValueError, match="1 dimensions"):
        one.simulate(np.zeros(3), rng)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_generator_gives_the_same_raters_and_gaps_are_refused(name: str) -> None:
    for one in made(name):
        assert isinstance(one, RatingScale | ComparativeScale)
        shape = (50, show_some(name)) if one.comparative else (50,)
        first, second = (list(one.simulate(np.zeros(shape), np.random.default_rng(3))) for _ in range(2))
        assert first == second
        assert len({str(each) for each in first}) > 1
        latent = np.zeros(shape)
        latent[0] = np.nan
        with pytest.raises(ValueError, match="finite"):
            one.simulate(latent, np.random.default_rng(3))


@pytest.mark.parametrize("name", RATINGS)
def test_values_keep_the_shape_of_the_judgements(name: str) -> None:
    for one in ratings(name):
        assert one.simulate(np.zeros((3, 4)), np.random.default_rng(1)).shape == (3, 4)
        assert one.simulate(np.zeros(0), np.random.default_rng(1)).shape == (0,)
