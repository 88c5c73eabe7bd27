"""The benchmark: its pieces run on a tiny design without R, and its verdicts say what the numbers say."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from bench import designs, families, million, repeats, report, rival_r, rust, start, threads
from bench.__main__ import MODULES, main
from bench.clock import Timing, n_cores, on_cores, time_call
from bench.simulate import CUTS, MAXIMAL, MILLION, SIZES, Size, simulate
from panelist.core.display.result import Table
from panelist.core.tables.ratings import read_ratings
from panelist.models.fit import fit

TINY = Size(20, 4)


def make_row(r: rival_r.Measured | None = None, **changes: object) -> designs.Row:
    row = designs.Row(SIZES[0], "clmm", 0.002, 0.001, (0.002, 0.003), -450.0, True, r)
    return replace(row, **changes)  # type: ignore[arg-type]


def test_the_six_designs_have_the_sizes_of_the_paper() -> None:
    assert [size.n_rows for size in SIZES] == [300, 600, 1000, 2000, 3000, 10_000]
    assert MILLION.n_rows == 1_000_000


@pytest.mark.parametrize("size", SIZES[:3])
def test_every_output_is_rated_equally_often_and_no_rater_sees_an_item_twice(size: Size) -> None:
    frame = simulate(size, 1)
    assert set(frame.groupby(["item", "system"]).size()) == {size.ratings}
    assert set(frame.groupby("rater").size()) == {20}
    assert set(frame.groupby(["rater", "system"]).size()) == {10}
    assert not frame.duplicated(["rater", "item"]).any()
    assert frame["rating"].between(1, len(CUTS) + 1).all()


def test_the_same_seed_gives_the_same_ratings_and_another_seed_others() -> None:
    assert simulate(TINY, 1).equals(simulate(TINY, 1))
    assert not simulate(TINY, 1)["rating"].equals(simulate(TINY, 2)["rating"])


def test_a_million_ratings_have_ten_thousand_items_and_five_thousand_raters() -> None:
    small = Size(MILLION.items // 10, 2, MILLION.outputs_a_rater)  # a tenth of the items, two turns of fifty
    frame = simulate(small, 1, slopes=False)
    assert frame["item"].nunique() * 10 == 10_000
    assert frame["rater"].nunique() * 10 * MILLION.ratings / 2 == 5_000


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_a_design_is_timed_and_its_ratings_are_written_for_r(model: str, tmp_path: Path) -> None:
    row = designs.measure_design(TINY, model, (1,), tmp_path / "ratings.csv", seconds=0.05)
    again = fit(MAXIMAL, read_ratings(tmp_path / "ratings.csv"), model=model, method="ML")
    assert row.loglik == pytest.approx(again.loglik, abs=1e-6)
    assert row.converged
    assert 0.0 < row.whole < 10.0
    assert 0.0 < row.solver < 10.0


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_the_solver_alone_reaches_what_the_whole_call_reaches(model: str) -> None:
    ratings = read_ratings(simulate(TINY, 1))
    whole = designs.fit_whole(ratings, model)()
    assert designs.solve_only(ratings, model)() == pytest.approx(whole.loglik, abs=1e-9)


def test_targets_are_those_of_the_sizes() -> None:
    clmm = [str(make_row(size=size).target) for size in SIZES]
    lmm = [str(make_row(size=size, model="lmm").target) for size in SIZES]
    assert clmm == ["5,000 times"] * 2 + ["2,000 times"] * 3 + ["2 s"]
    assert lmm == ["100 times"] * 2 + ["50 times"] * 4


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (make_row(rival_r.Measured(10.1, -450.0)), "met"),
        (make_row(rival_r.Measured(9.9, -450.0)), "not met (the solver alone: met)"),
        (make_row(rival_r.Measured(4.9, -450.0)), "not met"),
        (make_row(rival_r.Measured(10.1, -449.99)), "not met: lower log-likelihood"),
        (make_row(rival_r.Measured(10.1, -450.01)), "met; R ends lower"),
        (make_row(rival_r.Measured(10.1, -450.0), converged=False), "not met: not converged"),
        (make_row(), "not measured"),
        (make_row(size=SIZES[-1], whole=1.9), "met"),
        (make_row(size=SIZES[-1], whole=2.1), "not met"),
    ],
)
def test_a_verdict_needs_speed_and_the_same_log_likelihood(row: designs.Row, verdict: str) -> None:
    assert row.verdict == verdict


def test_columns_of_r_are_left_out_where_r_is_not() -> None:
    result = designs.measure(report.Options(use_r=False, sizes=(TINY,), seeds=(1,)))
    assert "R was left out" in str(result)
    assert "R / fit" not in str(result)
    assert "log-lik" not in report.draw_markdown(result)


def test_a_missing_r_is_one_line_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    answers = rival_r.ask_r([(Path("ratings.csv"), "clmm")])
    assert not answers.times
    assert "r-cran-ordinal" in answers.trouble
    assert "\n" not in answers.trouble


def test_the_lines_of_r_are_read() -> None:
    lines = ["versions\tR 4.2.2, ordinal 2022.11.16\n", "a/ratings.csv\tclmm\t10.25\t-450.125\n"]
    answers = rival_r.read_answers(lines)
    assert answers.versions == "R 4.2.2, ordinal 2022.11.16"
    assert answers.times == {(Path("a/ratings.csv"), "clmm"): rival_r.Measured(10.25, -450.125)}
    assert "lacks ordinal" in rival_r.read_answers(["missing\tordinal\n"]).trouble


def test_models_that_r_has_stand_beside_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kinds, file = ("clm, scale", "vglm, sratio"), tmp_path / "ratings.csv"
    monkeypatch.setattr(families, "RIVALS", {kind: families.RIVALS[kind] for kind in kinds})
    monkeypatch.setattr(families, "REPEATS", 1)
    first, second = (
        fit("rating ~ system", simulate(TINY, 1), model="clm", **families.RIVALS[kind][2]).loglik
        for kind in kinds
    )
    times = {
        (file, kinds[0]): rival_r.Measured(10.0, first),
        (file, kinds[1]): rival_r.Measured(10.0, second - 1.0),
    }
    rows = families.set_beside(rival_r.Answers(times, "R 4.2.2"), {TINY: file}, seed=1)
    assert [row.verdict for row in rows] == ["same fit", "R ends lower"]
    assert all(0.0 < row.ours < 10.0 for row in rows)
    shown = report.draw_markdown(families.FamilyTimes((), rows, "R 4.2.2."))
    assert "| clm, scale | rating ~ system |" in shown
    assert shown.endswith("R 4.2.2.")


def test_a_machine_without_r_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    rows, said = families.measure_rivals(report.Options(seeds=(1,)))
    assert rows == ()
    assert "R was not found" in said
    assert "r-cran-vgam" in said


def test_glmm_is_judged_by_the_factor_and_the_log_likelihood() -> None:
    three = rust.Row(TINY, "maximal", *[rival_r.Measured(s, -9.0) for s in (0.003, 0.001, 0.0009)])
    assert three.verdict == "met"
    assert replace(three, ours=rival_r.Measured(0.0031, -9.0)).verdict == "not met"
    assert replace(three, ours=rival_r.Measured(0.001, -9.1)).verdict == "not met: lower log-likelihood"


def test_help_is_timed_in_a_process_of_its_own() -> None:
    timing, stderr = time_call(lambda: start.run(["--help"]), at_most=1)
    assert stderr == ""
    assert timing.best > 0.01  # Python alone takes longer
    with pytest.raises(RuntimeError, match="failed"):
        start.run(["no-such-command"])


def test_starting_is_judged_by_the_median() -> None:
    rows = (start.Row("quick", Timing((0.1, 0.2, 9.0)), 0.4), start.Row("slow", Timing((0.1, 0.5, 9.0)), 0.4))
    table = start.Start(rows, ("Compiling.",)).parts()[0]
    assert isinstance(table, Table)
    assert [row[-1] for row in table.rows] == ["met", "not met"]


def test_threads_give_the_answers_that_one_thread_gives() -> None:
    rows = threads.measure_model(TINY, "clmm", 1, (1, 2), seconds=0.02)
    assert [row.threads for row in rows] == [1, 2]
    assert all(row.same for row in rows)
    assert rows[0].whole_gain == 1.0


def test_a_thread_with_another_answer_is_noticed() -> None:
    answers = iter(range(10**6))
    assert not threads.throughput(lambda: float(next(answers)), 2, 1e-6)[1]


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_the_fit_of_a_million_runs_on_less(model: str) -> None:
    row = million.measure_here(model, TINY)
    assert row.n_rows == TINY.n_rows
    assert row.converged
    assert row.peak_gigabytes > 0.01
    assert replace(row, fit_seconds=1.0, read_seconds=1.0, peak_gigabytes=3.9).verdict == "met"
    assert replace(row, peak_gigabytes=4.1).verdict == "not met"
    assert replace(row, fit_seconds=601.0).verdict == "not met"


def test_cores_are_held_and_given_back() -> None:
    before = n_cores()
    with on_cores(1):
        assert n_cores() == 1
    assert n_cores() == before


def test_tables_are_written_between_their_markers_and_nothing_else_changes(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text("Before.\n\n<!-- bench: start -->\nold\n<!-- end -->\n\nAfter.\n", encoding="utf-8")
    result = start.Start((start.Row("panelist --help", Timing((0.25,)), 0.4),), ())
    for _ in range(2):  # a second time changes nothing
        report.write_page({"start": result}, page)
        text = page.read_text(encoding="utf-8")
        assert text.startswith("Before.\n\n<!-- bench: start -->\nMachine: ")
        assert text.endswith("<!-- end -->\n\nAfter.\n")
        assert "| panelist --help | 0.25 | 0.25 | 1 | 0.4 | met |" in text
        assert "old" not in text
    with pytest.raises(ValueError, match="bench: threads"):
        report.write_page({"threads": result}, page)


def test_the_page_has_a_place_for_every_section() -> None:
    for name, module in MODULES.items():
        page = getattr(import_module(module), "PAGE", report.PAGE)
        text = page.read_text(encoding="utf-8")
        assert report.put_between(text, name, "new") != text


def test_an_unknown_section_is_refused_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["desings"])
    assert "no section is called 'desings'" in capsys.readouterr().err


@pytest.mark.parametrize("shared", [True, False])
def test_exact_repeats_are_drawn_and_counted(shared: bool) -> None:
    found = repeats.count_false(repeats.Truth(4, 6, 2), 2, shared)
    assert (found["pairs"], found["joint"]) == (2, 2)
    assert sum(found[verdict] for verdict in ("upheld", "not upheld", "undecided")) == 2


def test_the_exact_interval_of_a_cv_covers_at_its_level() -> None:
    held = repeats.cover(2, 0.2, sims=4000)
    assert held["exact"] == pytest.approx(0.95, abs=0.02)
    assert held["Belz"] < 0.93
