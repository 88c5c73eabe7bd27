"""A frame that was read before is not read again, unless anything in it has changed."""

from collections.abc import Callable

import pandas as pd
import pytest

from panelist.core.tables import ratings as module
from panelist.core.tables.ratings import read_ratings

TEXT = ("rater", "item", "system")


def make_frame(kind: str) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "rater": [f"r{n % 4}" for n in range(24)],
            "item": [f"i{n // 4}" for n in range(24)],
            "system": ["a", "b"] * 12,
            "rating": [1 + n % 5 for n in range(24)],
            "seconds": [n / 3 for n in range(24)],
        }
    )
    return frame.astype(dict.fromkeys(TEXT, object)) if kind == "object" else frame


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by one with every frame that is really read."""
    done: list[int] = []
    build = module._build

    def count(*given: object, **named: object) -> object:
        done.append(1)
        return build(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_build", count)
    return done


@pytest.mark.parametrize("kind", ["text", "object"])
def test_an_unchanged_frame_is_read_once(kind: str, builds: list[int]) -> None:
    frame = make_frame(kind)
    first, second = read_ratings(frame), read_ratings(frame)
    assert len(builds) == 1
    pd.testing.assert_frame_equal(first.frame, second.frame)
    assert first.notes == second.notes


def _change_number(frame: pd.DataFrame) -> None:
    frame.loc[3, "rating"] = 5


def _change_text(frame: pd.DataFrame) -> None:
    frame.loc[3, "system"] = "c"


def _rename(frame: pd.DataFrame) -> None:
    frame.columns = pd.Index(["rater", "item", "system", "rating", "position"])


def _add(frame: pd.DataFrame) -> None:
    frame["excluded"] = [True] + [False] * 23


def _empty(frame: pd.DataFrame) -> None:
    frame.loc[0, "seconds"] = float("nan")


@pytest.mark.parametrize("kind", ["text", "object"])
@pytest.mark.parametrize("change", [_change_number, _change_text, _rename, _add, _empty])
def test_a_frame_that_was_changed_in_place_is_read_anew(
    kind: str, change: Callable[[pd.DataFrame], None], builds: list[int]
) -> None:
    frame = make_frame(kind)
    read_ratings(frame)
    change(frame)
    again = read_ratings(frame)
    assert len(builds) == 2
    fresh = read_ratings(frame.copy())
    pd.testing.assert_frame_equal(again.frame, fresh.frame)


def test_other_options_are_not_taken_for_the_plain_reading(builds: list[int]) -> None:
    frame = make_frame("text").rename(columns={"rater": "who"})
    read_ratings(frame)
    assert "rater" in read_ratings(frame, {"rater": "who"}).frame
    assert len(builds) == 2


def test_what_is_done_to_one_reading_does_not_reach_the_next() -> None:
    frame = make_frame("text")
    first = read_ratings(frame)
    first.frame.loc[0, "rating"] = 99
    first.frame["more"] = 1
    assert read_ratings(frame).frame["rating"].max() == 5
    assert "more" not in read_ratings(frame).frame
    assert frame["rating"].max() == 5


def test_another_frame_at_the_same_place_is_another_frame() -> None:
    for rating in (1, 2, 3, 4, 5):
        frame = make_frame("text").assign(rating=rating)
        assert set(read_ratings(frame).frame["rating"]) == {rating}
        del frame
