"""The report: one page that needs no other, the same bytes each time, files beside it, nothing executed."""

import csv
import json
import re
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.analysis_result import Analysis
from panelist.analysis.missing import Missing
from panelist.core.errors import BadFile
from panelist.reports.provenance import list_commands
from panelist.reports.report.page_charts import find_levels, find_look, find_ticks
from panelist.reports.report.write_report import write_report
from tests.reports.pages import read_page
from tests.simulated import simulate_demo

DAY = date(2026, 11, 4)
FEW = 50
EVIL = '<script>alert("x")</script>&\\input{x}$_%'


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    path = tmp_path_factory.mktemp("data") / "ratings.csv"
    frame = simulate_demo()
    frame.assign(excluded=np.where(frame["rater"] == "rater-03", "withdrew", "")).to_csv(path, index=False)
    return analyse(None, path, resamples=FEW)


@pytest.fixture(scope="module")
def written(analysis: Analysis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(analysis, path, made=DAY)
    return path


def test_the_page_opens_with_the_finding_and_holds_every_section(written: Path, analysis: Analysis) -> None:
    page = read_page(written.read_text("utf-8"))
    text = " ".join(page.texts)
    for sentence in analysis.sentences():
        assert sentence in text
    assert text.index(analysis.sentences()[0]) < text.index("How the systems did")
    for heading in (
        "How the systems did",
        "Which differences hold",
        "What raters answered",
        "Did raters agree?",
        "How it was modelled",
        "Does the model fit?",
        "Ordinal and interval analysis side by side",
        "What was set aside",
        "Raters and items",
        "Methods, ready to paste",
        "Results, ready to paste",
        "What it rests on",
        "Appendix: to repeat this",
    ):
        assert heading in text
    assert len(set(page.ids)) == len(page.ids)


def test_the_page_needs_nothing_from_elsewhere_and_runs_nothing(written: Path) -> None:
    text = written.read_text("utf-8")
    page = read_page(text)
    assert page.addresses == ["data:,"]
    assert not page.attributes & {"style", "onclick", "onload"}
    assert "<script" not in text
    assert "url(" not in text
    assert "@import" not in text


def test_the_same_analysis_gives_the_same_bytes(analysis: Analysis, tmp_path: Path) -> None:
    folders = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_report(analysis, tmp_path / name / "report.html", made=DAY)
        paths = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        folders.append({path.relative_to(tmp_path / name): path.read_bytes() for path in paths})
    assert folders[0] == folders[1]
    assert len(folders[0]) > 40


def test_the_date_is_that_of_the_epoch_where_one_is_set(
    analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    write_report(analysis, tmp_path / "report.html", files=False)
    assert "2 January 1970" in (tmp_path / "report.html").read_text("utf-8")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(BadFile, match="SOURCE_DATE_EPOCH"):
        write_report(analysis, tmp_path / "report.html", files=False)


def test_files_lie_beside_the_page(written: Path) -> None:
    folder = written.with_name("report_files")
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"methods.md", "results.md", "references.bib", "analysis.json", "provenance.json"} <= names
    for kind in ("estimates", "answers", "predicted_02_fluency"):
        assert {f"figures/{kind}.svg", f"figures/{kind}.pdf"} <= names
    assert {"tables/02_fluency_pairs.csv", "tables/02_fluency_pairs.tex", "tables/exclusions.csv"} <= names
    json.loads((folder / "analysis.json").read_text("utf-8"))


def test_tables_hold_every_number_unrounded(written: Path, analysis: Analysis) -> None:
    path = written.with_name("report_files") / "tables" / "02_fluency_pairs.csv"
    rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    pairs = analysis["fluency"].effects.pairs  # type: ignore[union-attr]
    assert [float(row["superiority"]) for row in rows] == [pair.superiority for pair in pairs]
    items = written.with_name("report_files") / "tables" / "02_fluency_items.csv"
    assert len(items.read_text("utf-8").splitlines()) == 41


def test_latex_tables_are_booktabs_with_as_many_cells_as_columns(written: Path) -> None:
    tables = sorted((written.with_name("report_files") / "tables").glob("*.tex"))
    assert tables
    for path in tables:
        text = path.read_text("utf-8")
        columns = re.search(
            r"\\begin\{tabular\}\{([lr]+)\}", text
        )  # no cell here is longer than a line holds
        assert columns
        assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")
        for line in text.splitlines():
            if line.endswith(r"\\"):
                assert len(re.findall(r"(?<!\\)&", line)) == len(columns[1]) - 1


def test_every_chart_has_a_name(written: Path) -> None:
    text = written.read_text("utf-8")
    for svg in re.findall(r"<svg [^>]*>", text):
        named = 'role="img" aria-label="' in svg
        inner = 'overflow="visible"' in svg
        assert named or inner or 'aria-hidden="true"' in svg


def test_names_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    frame = simulate_demo()
    frame = frame[frame["criterion"] == "fluency"].head(480)
    frame = frame.assign(
        item=[EVIL + name for name in frame["item"]],
        system=[EVIL + name for name in frame["system"]],
        criterion=EVIL,
    )
    write_report(analyse(None, frame, resamples=FEW), tmp_path / "report.html", made=DAY)
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "<script" not in text
    assert EVIL in " ".join(read_page(text).texts)
    for path in (tmp_path / "report_files" / "tables").glob("*.tex"):
        assert r"\input" not in path.read_text("utf-8")


def test_csv_tables_hold_no_formulas_and_every_number(tmp_path: Path) -> None:
    frame = simulate_demo().query("criterion == 'fluency'").replace({"system": {"rules": "=1+rules()"}})
    analysis = analyse(None, frame, resamples=FEW)
    write_report(analysis, tmp_path / "report.html", made=DAY)
    paths = sorted((tmp_path / "report_files" / "tables").glob("*.csv"))
    texts = [path.read_text("utf-8") for path in paths]
    cells = [cell for text in texts for row in csv.reader(text.splitlines()) for cell in row]
    assert "'=1+rules()" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+"))]
    comparison = analysis.criteria[0].comparison
    assert not isinstance(comparison, Missing)
    assert {repr(one.estimate) for one in comparison.systems} <= set(cells)
    assert any(one.estimate < 0 for one in comparison.systems)


BAD = {
    "one system": lambda frame: frame[frame["system"] == "rules"],
    "one rater": lambda frame: frame[frame["rater"] == "rater-01"],
    "no repeated items": lambda frame: frame.assign(item=[f"item-{k}" for k in range(len(frame))]),
    "no criterion": lambda frame: frame.drop(columns="criterion"),
    "six rows": lambda frame: frame.head(6),
    "a line": lambda frame: frame.assign(rating=frame["rating"] * 9 + np.arange(len(frame)) % 7),
    "words": lambda frame: frame.assign(rating=frame["rating"].map(lambda x: "abcdef"[x - 1])),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_input_gives_a_report_with_the_reasons_in_their_places(name: str, tmp_path: Path) -> None:
    frame = simulate_demo()
    frame = frame[frame["criterion"] == "fluency"].reset_index(drop=True)
    analysis = analyse(None, BAD[name](frame), resamples=FEW)
    write_report(analysis, tmp_path / "report.html", made=DAY)
    text = " ".join(read_page((tmp_path / "report.html").read_text("utf-8")).texts)
    assert analysis.sentences()[0] in text
    assert "Appendix: to repeat this" in text
    assert not re.search(r"\bnan\b", text)


def test_a_report_of_simulated_ratings_says_so_first(tmp_path: Path) -> None:
    frame = simulate_demo()
    frame = frame[frame["criterion"] == "fluency"].reset_index(drop=True)
    half = frame.assign(simulated=np.where(frame["rater"] == "rater-01", "yes", ""))
    for table, words in (
        (frame.assign(simulated="yes"), "Simulated ratings: not data from people (all 960 rows"),
        (half, "Simulated ratings among the data: 40 of 960 rows are simulated, 920 are not"),
    ):
        analysis = analyse(None, table, resamples=FEW)
        write_report(analysis, tmp_path / "report.html", made=DAY)
        text = " ".join(read_page((tmp_path / "report.html").read_text("utf-8")).texts)
        assert text.index(words) < text.index(analysis.sentences()[0])
        for name in ("methods.md", "results.md"):
            assert f"**{words}" in (tmp_path / "report_files" / name).read_text("utf-8")
        assert analysis.data.notes[0].startswith(words)


def test_the_command_that_repeats_a_report_says_how_the_table_was_read(tmp_path: Path) -> None:
    frame = simulate_demo().query("criterion == 'fluency'").assign(language="de")
    frame.rename(columns={"item": "thing"}).to_csv(tmp_path / "ratings.csv", index=False)
    analysis = analyse(
        None,
        tmp_path / "ratings.csv",
        columns={"item": "thing", "group": None},
        drop=["placeholders", "invalid"],
        by="language",
        resamples=1000,
    )
    assert list_commands(analysis, "report.html")[-1].endswith(
        "-o report.html --columns item=thing,group=none --drop invalid --drop placeholders --by language"
    )


def test_choices_have_a_report_too(tmp_path: Path) -> None:
    rows = [
        (f"r{trial % 9}", f"i{trial % 7}", f"t{trial}", system, "best" if (trial % 5 > 0) == (k == 0) else "")
        for trial in range(90)
        for k, system in enumerate(("good", "poor"))
    ]
    frame = pd.DataFrame(rows, columns=["rater", "item", "trial", "system", "choice"])
    write_report(analyse(None, frame), tmp_path / "report.html", made=DAY)
    text = " ".join(read_page((tmp_path / "report.html").read_text("utf-8")).texts)
    assert "Log-strength" in text
    assert "choices between outputs, not ratings" in text


@pytest.mark.parametrize("name", ["report.pdf", "report", "nowhere/report.html"])
def test_a_path_that_cannot_be_raises(name: str, analysis: Analysis, tmp_path: Path) -> None:
    with pytest.raises(BadFile):
        write_report(analysis, tmp_path / name)


def test_ticks_are_round_and_enclose_the_values() -> None:
    for low, high in ((0.0, 1.0), (-1.3, 2.9), (3.21, 3.29), (12.0, 96.0), (5.0, 5.0)):
        ticks = find_ticks(low, high)
        assert ticks[0] <= low + 1e-9
        assert ticks[-1] >= high - 1e-9
        assert 2 <= len(ticks) <= 8


def test_tones_rise_and_systems_keep_their_look() -> None:
    for points in range(1, 12):
        tones = find_levels(points)
        assert len(tones) == points
        assert list(tones) == sorted(tones)
    names = list("abcdefgh")
    assert len({find_look(name, names) for name in names}) == 8
    assert find_look("a", [*names, "i"]) == find_look("i", [*names, "i"])
