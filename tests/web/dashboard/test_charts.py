"""Charts of the dashboard: no label is cut off, and no axis goes beyond its scale."""

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from panelist.collection.monitor.real_pay import PaySoFar
from panelist.web.dashboard.charts import A_LABEL, find_axis, lay_out_pay


@pytest.mark.parametrize(
    ("values", "bounds", "ends"),
    [
        ([0.0, 1.0], (0.0, 1.0), ["0", "0.5", "1"]),
        ([0.82, 0.95, 1.08], (0.0, 1.0), ["0.5", "1"]),
        ([1.0, 1.0], (0.0, 1.0), ["0.5", "1"]),
        ([4.4, 4.9, 5.4], (1.0, 5.0), ["4", "4.5", "5"]),
        ([12.0, 30.0], None, ["10", "15", "20", "25", "30"]),
    ],
)
def test_an_axis_ends_where_its_scale_does(
    values: list[float], bounds: tuple[float, float] | None, ends: list[str]
) -> None:
    low, high, ticks = find_axis(values, bounds)
    assert [label for _, label in ticks] == ends
    assert (ticks[0][0], ticks[-1][0]) == (0, 100)
    assert (low, high) == (float(ends[0]), float(ends[-1]))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_every_share_stands_on_an_axis_from_0_to_1(values: list[float]) -> None:
    low, high, ticks = find_axis([*values, max(values) + 0.2, min(values) - 0.2], (0.0, 1.0))
    assert 0 <= low < high <= 1
    assert len(ticks) >= 2


@given(st.lists(st.floats(1, 400), min_size=1, max_size=40), st.floats(1, 40))
@example([318.0, 318.0], 12.6)
@example([14.0, 15.0], 12.6)
def test_no_label_of_the_pay_chart_is_cut_off_or_covers_another(hourly: list[float], floor: float) -> None:
    median = sorted(hourly)[len(hourly) // 2]
    pay = PaySoFar("GBP", tuple(sorted(hourly)), median, None, Decimal(f"{floor:.2f}"), 0, Decimal(0))
    chart = lay_out_pay(pay)
    assert chart is not None
    for x, _, anchor, _ in chart.rules:
        assert anchor == "start" or x >= A_LABEL, "cut off at the left"
        assert anchor == "end" or x <= 100 - A_LABEL, "cut off at the right"
    boxes = [
        (x - A_LABEL, x, y) if anchor == "end" else (x, x + A_LABEL, y) for x, _, anchor, y in chart.rules
    ]
    one, other = sorted(boxes)
    assert one[1] <= other[0] or one[2] != other[2]
