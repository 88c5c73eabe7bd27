"""Scales on a line, magnitude estimation and free text."""

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import norm

from panelist.scales.base import SPAN, BadAnswer, Option
from panelist.scales.graphic import Graphic
from panelist.scales.magnitude import Magnitude
from panelist.scales.text import FreeText
from panelist.scales.vas import Vas

LINE = Vas(low="worst", high="best")


@pytest.mark.parametrize(
    ("text", "place"), [("0", 0.0), ("100", 100.0), ("62.4", 62.4), (" 62.44 ", 62.4), ("62.36", 62.4)]
)
def test_a_place_keeps_one_decimal(text: str, place: float) -> None:
    assert LINE.parse(text) == place
    assert LINE.parse(LINE.write(place)) == place


@pytest.mark.parametrize("text", ["100.1", "-1", "5e1", "6,5", "101", ".5", "50%", "½"])
def test_what_is_not_on_the_line_is_refused(text: str) -> None:
    with pytest.raises(BadAnswer, match="from 0 to 100"):
        LINE.parse(text)


@pytest.mark.parametrize("pointer", ["absent", "middle"])
def test_an_untouched_line_is_no_answer(pointer: str) -> None:
    scale = Vas.model_validate({"faces": True, "pointer": pointer})
    with pytest.raises(BadAnswer, match="no answer yet"):
        scale.parse("")


def test_a_line_says_how_it_looks() -> None:
    assert "words at its ends" in LINE.describe()
    assert "absent until the first click" in LINE.describe()
    faces = Vas(faces=True, pointer="middle")
    assert "faces at its ends, the pointer at first in the middle" in faces.describe()
    assert faces.values() == "0 (frowning face) to 100 (smiling face), one decimal"
    assert "words and faces" in Vas(low="worst", high="best", faces=True).describe()
    assert LINE.size() == "continuous"
    assert LINE.heds_form == (3, 2, "")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "give low and high, or faces: true"),
        ({"low": "worst"}, "give high as well as low"),
        ({"high": "best", "faces": True}, "give low as well as high"),
        ({"low": "same", "high": "same"}, "must differ"),
        ({"faces": True, "pointer": "left"}, "'absent' or 'middle'"),
    ],
)
def test_a_line_whose_ends_say_nothing_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Vas.model_validate(given)


def test_words_stand_at_equal_distances_along_a_graphic_scale() -> None:
    assert Graphic(points=("bad", "fair", "good")).options() == (
        Option("0", "bad"),
        Option("50", "fair"),
        Option("100", "good"),
    )
    assert [each.value for each in Graphic(points=tuple("abcd")).options()] == ["0", "33.3", "66.7", "100"]


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (["bad"], "2 to 7 labels. Got 1"),
        (list("abcdefgh"), "2 to 7 labels. Got 8"),
        (["bad", "so good that it will never fit"], "at most 24 characters"),
        (["bad", "bad"], "must differ"),
    ],
)
def test_a_graphic_scale_takes_a_few_short_words(points: list[str], said: str) -> None:
    with pytest.raises(ValidationError, match=said) as refused:
        Graphic.model_validate({"points": points})
    assert refused.value.error_count() == 1


def test_places_follow_the_judgements_and_stop_at_the_ends() -> None:
    n, latent = 400_000, 0.4
    found = LINE.simulate(np.full(n, latent), np.random.default_rng(2))
    assert found.min() == 0
    assert found.max() == 100
    middle = np.median(found)
    assert abs(middle - (50 + 100 * latent / SPAN)) < 0.3
    assert abs((found == 100).mean() - norm.sf(SPAN / 2 - latent)) < 0.003
    inner = np.quantile(found, norm.cdf(1)) - middle
    assert abs(inner - 100 / SPAN) < 0.3


def test_magnitudes_are_log_normal_around_the_modulus() -> None:
    scale = Magnitude(reference="a text", modulus=50)
    found = scale.simulate(np.zeros(400_000), np.random.default_rng(3))
    assert abs(np.median(found) - 50) < 0.5
    assert abs(np.log10(found).std() - 1 / SPAN) < 0.002
    ten_times = scale.simulate(np.full(400_000, SPAN), np.random.default_rng(3))
    assert abs(np.median(ten_times) - 500) < 5


def test_simulated_raters_give_magnitudes_in_three_figures() -> None:
    found = Magnitude(reference="a text", modulus=0.3).simulate(np.zeros(500), np.random.default_rng(4))
    assert all(float(f"{number:.3g}") == number for number in found.tolist())


@pytest.mark.parametrize(("text", "number"), [("0.5", 0.5), ("120", 120.0), ("0.0000014", 0.000001)])
def test_a_magnitude_is_any_positive_number(text: str, number: float) -> None:
    assert Magnitude().parse(text) == number


@pytest.mark.parametrize("text", ["0", "0.0000001", "-3", "1,5", "1e3", "1000000000", "ten"])
def test_what_is_no_positive_number_is_refused(text: str) -> None:
    with pytest.raises(BadAnswer, match=f"number above 0 .* Got '{text}' instead"):
        Magnitude().parse(text)


def test_a_modulus_belongs_to_a_reference() -> None:
    with pytest.raises(ValidationError, match="modulus 100 is the number of a reference, and there is none"):
        Magnitude(modulus=100)
    for wrong in (0, -1, float("inf"), float("nan"), 1e9):
        with pytest.raises(ValidationError):
            Magnitude(reference="a text", modulus=wrong)


def test_free_text_is_kept_as_written_with_plain_line_ends() -> None:
    assert FreeText().parse("  First.\r\nSecond\t<b>=1+1</b>\r") == "First.\nSecond\t<b>=1+1</b>"


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "a\x1bb"])
def test_what_databases_cannot_hold_is_refused(text: str) -> None:
    with pytest.raises(BadAnswer, match="without control characters"):
        FreeText().parse(text)


def test_a_text_that_is_too_long_or_too_short_is_refused_with_its_length() -> None:
    with pytest.raises(BadAnswer, match=r"of 2 to 5 characters .* Got 6 characters instead"):
        FreeText(least=2, most=5).parse("abcdef")
    with pytest.raises(BadAnswer, match="Got 1 characters instead"):
        FreeText(least=2, most=5).parse("a")
    with pytest.raises(BadAnswer, match="no answer yet"):
        FreeText().parse("  ")
    assert FreeText(least=0).parse("  ") == ""


def test_lengths_that_clash_are_refused() -> None:
    with pytest.raises(ValidationError, match="at least 9 and at most 3"):
        FreeText(least=9, most=3)
