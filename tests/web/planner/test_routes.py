"""The planner's page and its updates, as a researcher's browser asks for them."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from panelist.study.start import init_study
from panelist.web.planner import runs
from panelist.web.planner.entry import HOME
from panelist.web.planner.question import PlannerQuestion
from panelist.web.planner.setting import make_setting
from tests.patience import PATIENCE
from tests.web.researchers import enter, read_text
from tests.web.servers import Served, make_study, serve_in_thread
from tests.web.walking import Walker

SMALL = "items=12&ratings_per_item=2&systems=2&outputs_per_rater=6&effect=1&model=lmm"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = make_study(
        tmp_path_factory.mktemp("planned") / "likert",
        trials_per_rater="trials_per_rater: 4",
        ratings_per_output="ratings_per_output: 2",
    )
    settings: dict[str, Any] = {"joins_a_minute": 0}
    with pytest.MonkeyPatch.context() as patch, serve_in_thread(folder, **settings) as running:
        patch.setattr(runs, "ROUNDS", (10, 50))  # what follows takes ten times as long, and is the same
        yield running


def read_news(reply: httpx.Response) -> Iterator[Any]:
    for line in reply.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def find_run(served: Served) -> Any:
    return served.app.state.planner.planner._run


def test_nobody_plans_without_a_login(served: Served) -> None:
    with served.client() as client:
        reply = client.get(f"{HOME}?{SMALL}")
        assert (reply.status_code, reply.headers["location"]) == (303, "/dashboard/login")
        assert client.get(f"{HOME}/live?{SMALL}").status_code == 401
        assert client.post(HOME).status_code == 405


def test_the_page_opens_with_the_study_s_own_design(served: Served) -> None:
    with enter(served) as service:
        page = service.get("/planner")
        assert '<a href="/dashboard/planner" aria-current="page">Plan</a>' in page
        assert '<a href="/dashboard/planner">Plan</a>' in service.get()
    items, systems = len(served.study.items), len(served.study.systems)
    for name, value in (
        ("items", items),
        ("systems", systems),
        ("outputs_per_rater", 4),
        ("ratings_per_item", 2),
    ):
        assert re.search(rf'name="{name}"[^>]* value="{value}"', page), name
    assert "General, five points" in page
    assert "collected so far" not in page  # nobody has finished
    assert "By the pay rule of the study £" in page


def test_the_page_has_neither_style_nor_script_nor_foreign_address_in_it(served: Served) -> None:
    with enter(served) as service:
        reply = service.client.get(f"{HOME}?{SMALL}")
        assert "script-src 'self'; style-src 'self'" in reply.headers["content-security-policy"]
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]* src=)|https?://", reply.text)
        for path in re.findall(r'(?:src|href)="([^"]*/static/[^"]*)"', reply.text):
            assert service.client.get(path).status_code == 200, path


def test_a_form_without_a_script_comes_back_with_numbers(served: Served) -> None:
    numbers = r"\d\.\d\d \(\d\.\d\d–\d\.\d\d\)"
    with enter(served) as service:
        for _ in range(20):  # sent again, the form knows more: a busy machine takes more than one page
            text = read_text(service.get(f"/planner?{SMALL}"))
            if len(re.findall(numbers, text)) >= 15:
                break
    assert re.search(r"With 12 items and 2 ratings each you would find the difference about \d+ times", text)
    found = re.search(r"Power (0\.\d\d), 95 % interval (0\.\d\d) to (\d\.\d\d) from \d+ simulated stud", text)
    assert found
    assert float(found[2]) <= float(found[1]) <= float(found[3])
    assert len(re.findall(numbers, text)) >= 15  # 5 numbers of items, 3 lines


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("items=0", "Items: a whole number from 5 to 500. Got 0."),
        ("effect=big", "Smallest difference that matters: a number from 0.05 to 2. Got big."),
        ("model=<script>", "There is no model '<script>' here. These can be chosen: clmm, lmm."),
        ("pay=-1", "Pay per rater: a number from 0 to 10000. Got -1."),
        ("systems=6&ratings_per_item=20&items=500", "60,000 ratings of 6 systems are too many to simulate"),
    ],
)
def test_what_cannot_be_taken_is_said_in_a_sentence(served: Served, given: str, said: str) -> None:
    with enter(served) as service:
        page = service.get(f"/planner?{given}" + ("" if "items" in given else "&items=20"), 422)
        assert said in read_text(page)
        assert 'aria-invalid="true"' in page
        assert "<script>" not in page
        if "500" not in given:
            reply = service.client.get(f"{HOME}/live?{given}")
            assert (reply.status_code, said in reply.text) == (422, True)


def test_the_news_narrow_and_end(served: Served) -> None:
    with enter(served) as service, service.client.stream("GET", f"{HOME}/live?{SMALL}") as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        news = list(read_news(reply))
    assert news[-1]["over"]
    assert [one["over"] for one in news].count(True) == 1
    sims = [re.search(r"from (\d+) simulated", one["parts"]["result"]) for one in news]
    counts = [int(found[1]) for found in sims if found]
    assert counts == sorted(counts)
    assert counts[-1] == 50
    assert '<a class="btn" href="/dashboard/planner?' in news[-1]["parts"]["sizes"]
    assert "--models lmm --sims 500 --preset general --scale 5" in news[-1]["parts"]["sizes"]


def test_whoever_leaves_stops_the_run_and_raters_do_not_wait_for_it(served: Served) -> None:
    heavy = "items=150&ratings_per_item=10&systems=2&effect=0.3"
    with enter(served) as service, served.client() as other:
        with service.client.stream("GET", f"{HOME}/live?{heavy}") as reply:
            news = read_news(reply)
            next(news)
            run = find_run(served)
            for _ in range(20):
                assert other.get("/health").status_code == 200
            assert not run.stopped  # all were answered while it went on
            assert next(news)["over"] is False
        until = time.monotonic() + PATIENCE
        while not run.stopped and time.monotonic() < until:
            time.sleep(0.05)
        assert run.stopped
        assert run.wait(PATIENCE)


def test_a_second_window_takes_over_and_the_first_is_told(served: Served) -> None:
    heavy = "items=150&ratings_per_item=10&systems=2&effect=0.3"
    with (
        enter(served) as service,
        enter(served) as other,
        service.client.stream("GET", f"{HOME}/live?{heavy}") as reply,
    ):
        news = read_news(reply)
        next(news)
        with other.client.stream("GET", f"{HOME}/live?{SMALL}") as second:
            others = read_news(second)
            next(others)
            last = list(news)[-1]
    assert last["over"]
    assert last["problem"] == "Another window is simulating now. Press Simulate to continue here."


def test_ratings_of_a_pilot_and_those_collected_are_simulated_from(served: Served) -> None:
    with served.client() as client:
        for _ in range(3):
            Walker(client, served.study).join().finish()
    setting = make_setting(served.study, served.store)
    query = setting.usual
    assert setting.choices(query.criterion)["preset"]["collected"] == "The ratings collected so far"
    frame = setting._read_collected()
    assert set(frame["rater"].value_counts()) == {4 * len(served.study.criteria)}  # type: ignore[index]
    path = served.study.folder / "pilot.csv"
    rows = [
        f"r{rater},i{item},{system},{1 + (rater * 7 + item * 3 + place * (item % 3)) % 5}"
        for rater in range(8)
        for item in range(12)
        for place, system in enumerate(served.study.systems)
    ]
    path.write_text("rater,item,system,rating\n" + "\n".join(rows) + "\n", encoding="utf-8")
    try:
        assert setting.choices(query.criterion)["preset"]["pilot"] == "The ratings in pilot.csv"
        truth = setting.find_truth(type(query)(**{**vars(query), "preset": "pilot"}))
    finally:
        path.unlink()
    assert truth.effects is None  # what the pilot found of the systems is not used
    assert truth.cuts.points == 5


def test_a_study_of_comparisons_is_planned_on_six_points(tmp_path: Path) -> None:
    init_study(tmp_path / "pairs", "pairs")
    with serve_in_thread(tmp_path / "pairs") as running, enter(running) as service:
        page = service.get("/planner")
        assert "on six points" in page
        assert "General, six points" in page
        assert 'name="criterion"' not in page


def test_the_pay_that_is_asked_for_takes_the_place_of_the_rule(served: Served) -> None:
    setting = make_setting(served.study, served.store)
    query = setting.usual
    layout = PlannerQuestion(query, setting.find_truth(query)).make_cell((query.items, 2)).layout
    ruled = setting.find_cost(query, layout)
    each = setting.find_pay(query)
    assert ruled is not None
    assert each is not None
    fee = served.study.file.pay.fee_percent if served.study.file.pay else 0.0
    assert ruled == pytest.approx(layout.n_raters * each * (1 + fee / 100), rel=0.1)
    paid = setting.find_cost(type(query)(**{**vars(query), "pay": 2.0}), layout)
    assert paid == pytest.approx(layout.n_raters * 2.0 * (1 + fee / 100))
