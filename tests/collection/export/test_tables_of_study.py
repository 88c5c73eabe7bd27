"""Exports: everything, readable by the analysis, harmless to spreadsheets, and no ids unless asked for."""

import json
import stat
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from panelist.analysis.choices.trials import read_trials
from panelist.cli.backup import backup, restore
from panelist.cli.export import export
from panelist.collection.export.tables_of_study import EXPORTS, export_ratings, write_export
from panelist.collection.store.errors import BadStore
from panelist.collection.store.operations.ops import AddEvent, SaveAnswers
from panelist.collection.store.operations.saving import Answer, PageDone
from panelist.collection.store.store import Store, open_store
from panelist.core.tables.ratings import read_ratings
from panelist.core.tables.spreadsheets import disarm, rearm
from panelist.design.make import plan_study
from panelist.design.plan import Plan
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from tests.collection.store.studies import COMPARED, RATED, finish, rate, write_study

FORMULAS = ["=1+1", "+cmd", "-cmd", "@sum", "\tx", "\rx", "'=already", "''@x"]
HARMLESS = ["fine", "-3", "+4.5", "'quoted'", "", "a=b", "’=x"]


def test_the_ratings_table_has_a_row_a_rating(store: Store, study: Study, plan: Plan) -> None:
    visit = store.join()
    rate(store, visit)
    finish(store, visit)
    made = export_ratings(store.snapshot(), study, plan)
    frame = made.frame
    mine = plan.table[plan.table["rater"] == visit.place]
    assert len(frame) == len(mine)
    for name in ("item", "system", "criterion", "order", "position", "occasion", "list", "check", "phase"):
        assert frame[name].tolist() == mine[name].tolist(), name
    fluency = frame[frame["criterion"] == "fluency"]
    assert fluency["rating"].tolist() == [4] * 5
    assert set(frame.loc[frame["criterion"] == "remarks", "text"]) == {"good"}
    assert frame["finished"].all()
    assert set(frame["excluded"]) == {""}
    assert (frame["place"] == "r001").all()
    assert made.notes == ()


def test_the_export_reads_back_as_a_ratings_table(
    store: Store, study: Study, plan: Plan, tmp_path: Path
) -> None:
    for _ in range(3):
        rate(store, store.join())
    frame = export_ratings(store.snapshot(), study, plan).frame
    for ending in ("csv", "tsv", "jsonl", "parquet", "xlsx"):
        write_export(frame, tmp_path / f"ratings.{ending}")
        ratings = read_ratings(tmp_path / f"ratings.{ending}").only("fluency")
        assert ratings.frame["rating"].tolist() == [4] * 12  # the reader sets the 3 checks aside
        assert ratings.levels("rater") == tuple(sorted(frame["rater"].unique()))


def test_nothing_is_left_out_and_what_does_not_count_says_why(store: Store, study: Study, plan: Plan) -> None:
    done, running, excluded, released = (store.join() for _ in range(4))
    for visit in (done, running, excluded):
        rate(store, visit)
    finish(store, done)
    store.exclude(excluded.id, "answered at random")
    store.release(released.id, "timed out")
    rate(store, released)
    frame = export_ratings(store.snapshot(), study, plan).frame
    by_place = frame.groupby("place")
    assert by_place.size().tolist() == [10] * 4
    assert by_place["excluded"].first().tolist() == [
        "",
        "",
        "excluded: answered at random",
        "released: timed out",
    ]
    assert by_place["finished"].first().tolist() == [True, False, False, False]
    assert by_place["late"].first().tolist() == [False, False, False, True]


def test_two_people_at_one_place_are_two_raters(store: Store, study: Study, plan: Plan) -> None:
    first = store.join()
    rate(store, first)
    store.release(first.id, "returned")
    second = store.join()
    rate(store, second)
    frame = export_ratings(store.snapshot(), study, plan).frame
    assert (frame["place"].nunique(), frame["rater"].nunique()) == (1, 2)


def test_a_change_of_mind_counts_once_and_every_row_is_in_the_answers(
    store: Store, study: Study, plan: Plan
) -> None:
    visit = store.join()
    rate(store, visit, "4", key="first")
    rate(store, visit, "1", key="second")
    snapshot = store.snapshot()
    frame = export_ratings(snapshot, study, plan).frame
    fluency = frame[frame["criterion"] == "fluency"]
    assert (fluency["rating"].tolist(), fluency["changes"].tolist()) == ([1] * 5, [1] * 5)
    answers = EXPORTS["answers"](snapshot, study, plan).frame
    assert answers.loc[answers["criterion"] == "fluency", "value"].tolist() == ["4"] * 5 + ["1"] * 5


def test_an_answer_without_a_time_has_that_of_its_page(store: Store, study: Study, plan: Plan) -> None:
    visit = store.join()
    answer = Answer(name="c1p1", criterion="fluency", item="i1", system="s1", value="4", key="k")
    store.do(SaveAnswers(visit.id, 1, 1, (answer,), PageDone(1.0, 0.04)))  # a form, sent by no script of ours
    store.do(SaveAnswers(visit.id, 1, 2, (replace(answer, seconds=3.0),), PageDone(1.0, 5.0)))
    store.do(SaveAnswers(visit.id, 1, 3, (answer,)))  # a page that was not left
    seconds = export_ratings(store.snapshot(), study, plan).frame.set_index("order")["seconds"]
    assert seconds.loc[1] == 0.04
    assert seconds.loc[2] == 3.0
    assert pd.isna(seconds.loc[3])


def test_an_answer_taken_back_is_an_empty_row_and_noted(store: Store, study: Study, plan: Plan) -> None:
    visit = store.join()
    rate(store, visit)
    rate(store, visit, "", key="back")
    made = export_ratings(store.snapshot(), study, plan)
    frame = made.frame
    assert frame.loc[frame["criterion"] == "fluency", "rating"].isna().all()
    assert made.notes == ("5 answers were taken back and are empty",)


def test_what_the_scale_no_longer_has_is_kept_as_text_and_noted(
    store: Store, study: Study, plan: Plan
) -> None:
    rate(store, store.join(), "9")
    made = export_ratings(store.snapshot(), study, plan)
    frame = made.frame
    fluency = frame[frame["criterion"] == "fluency"]
    assert fluency["answer"].tolist() == ["9"] * 5
    assert fluency["rating"].isna().all()
    (note,) = made.notes
    assert note.startswith("5 answers could not be read")


def test_reasons_stand_beside_their_answers(store: Store, study: Study, plan: Plan) -> None:
    visit = store.join()
    rate(store, visit)
    why = Answer(name="c1p1-why", criterion="fluency", item="i1", value="too long", key="w")
    store.do(SaveAnswers(visit.id, 1, 2, (why,)))
    frame = export_ratings(store.snapshot(), study, plan).frame
    assert frame.loc[frame["reason"] != "", ["order", "criterion", "reason"]].to_numpy().tolist() == [
        [2, "fluency", "too long"]
    ]


def test_ratings_of_a_sample_carry_the_probability_of_their_item(tmp_path: Path) -> None:
    folder = tmp_path / "drawn"
    write_study(folder, RATED, n_items=8)
    table = pd.read_csv(folder / "outputs.csv")
    topic = table["item"].map(lambda item: "few" if item < "i4" else "many")  # 2 of 3, and 3 of 5
    table.assign(topic=topic).to_csv(folder / "outputs.csv", index=False)
    text = RATED + "sample: {items: 5, strata: {column: topic}}\n"
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    study = load_study(folder)
    assert study.draw is not None
    plan = plan_study(study)
    with open_store(None, study, plan) as store:
        rate(store, store.join())
        frame = export_ratings(store.snapshot(), study, plan).frame
    drawn = study.draw.table.set_index("item")
    rated = frame[frame["item"].isin(drawn.index)]
    assert len(rated) < len(frame)  # a check was not drawn, and has no probability
    for name in ("probability", "stratum"):
        assert rated[name].tolist() == drawn.loc[rated["item"], name].tolist()
        assert set(frame.loc[~frame["item"].isin(drawn.index), name]) == {""}
    assert rated["probability"].nunique() == 2


@pytest.mark.parametrize(
    ("value", "choices", "said"),
    [("1", ["best", "worst"], ""), ("2", ["worst", "best"], ""), ("tie", ["", ""], "tie")],
)
def test_a_comparison_has_a_row_for_each_option_shown(
    tmp_path: Path, value: str, choices: list[str], said: str
) -> None:
    study = write_study(tmp_path / "compared", COMPARED)
    plan = plan_study(study)
    with open_store(None, study, plan) as store:
        visit = store.join()
        one = Answer(name="c1", criterion="preference", item="i1", value=value, key="k", position=0)
        store.do(SaveAnswers(visit.id, 1, 1, (one,)))
        frame = export_ratings(store.snapshot(), study, plan).frame
    shown = plan.table[(plan.table["rater"] == "r001") & (plan.table["order"] == 1)]
    assert frame["system"].tolist() == shown["system"].tolist()
    assert frame["item"].tolist() == shown["item"].tolist()
    assert frame["position"].tolist() == [1, 2]
    assert frame["choice"].tolist() == choices if any(choices) else "choice" not in frame
    assert frame.get("answer", pd.Series(["", ""])).tolist() == [said] * 2
    assert len(set(frame["trial"])) == 1


@pytest.mark.parametrize(
    ("value", "choices", "grades"),
    [("A2", ["best", "worst"], [2, -2]), ("B1", ["worst", "best"], [-1, 1]), ("tie", ["", ""], [0, 0])],
)
def test_a_graded_answer_loses_nothing_on_its_way_to_the_analysis(
    tmp_path: Path, value: str, choices: list[str], grades: list[int]
) -> None:
    graded = COMPARED.replace("{type: pairs, ties: true}", "{type: preference, points: 5}")
    study = write_study(tmp_path / "compared", graded)
    plan = plan_study(study)
    with open_store(None, study, plan) as store:
        visit = store.join()
        one = Answer(name="c1", criterion="preference", item="i1", value=value, key="k", position=0)
        store.do(SaveAnswers(visit.id, 1, 1, (one,)))
        frame = export_ratings(store.snapshot(), study, plan).frame
    assert frame["choice"].tolist() == choices
    assert frame["grade"].tolist() == grades
    assert [frame["answer"].tolist()] == [["tie", "tie"]] if value == "tie" else "answer" not in frame
    write_export(frame, tmp_path / "ratings.csv")
    trials = read_trials(read_ratings(tmp_path / "ratings.csv"), "preference")
    assert trials.grade is not None
    assert trials.grade.tolist() == grades
    assert trials.position.tolist() == [1, 2]
    names = [trials.systems[at] for at in trials.system]
    assert (
        names == plan.table[(plan.table["rater"] == "r001") & (plan.table["order"] == 1)]["system"].tolist()
    )


def test_a_check_that_compares_nothing_keeps_its_answer(tmp_path: Path) -> None:
    checks = "checks: {items: [{kind: instructed, text: Choose the second, answers: {preference: '2'}}]}\n"
    study = write_study(tmp_path / "compared", COMPARED + checks)
    plan = plan_study(study)
    asked = plan.table[(plan.table["rater"] == "r001") & (plan.table["phase"] == "check")].iloc[0]
    with open_store(None, study, plan) as store:
        visit = store.join()
        name = str(asked["check"])
        one = Answer("c1", "preference", "check-1", "2", "k", position=0, phase="check", check=name)
        store.do(SaveAnswers(visit.id, 1, int(asked["order"]), (one,)))
        made = export_ratings(store.snapshot(), study, plan)
        frame = made.frame
    assert frame[["item", "answer", "check"]].to_numpy().tolist() == [["check-1", "2", "instructed-1"]]
    assert made.notes == ()


@pytest.mark.parametrize("what", sorted(EXPORTS))
def test_outside_ids_leave_only_when_asked_for(store: Store, study: Study, plan: Plan, what: str) -> None:
    visit = store.join(
        outside_id="PID-5f2d8a", params={"PROLIFIC_PID": "PID-5f2d8a", "SESSION_ID": "sess-77"}
    )
    rate(store, visit, words="I am PID-5f2d8a")
    finish(store, visit)
    store.do(AddEvent(visit.id, "comment", {"text": "pay PID-5f2d8a please"}))
    store.exclude(visit.id, "PID-5f2d8a was too fast", who="A. Researcher")
    snapshot = store.snapshot()
    told = EXPORTS[what](snapshot, study, plan, ids=True).frame.to_csv()
    assert "PID-5f2d8a" in told
    frame = EXPORTS[what](snapshot, study, plan).frame
    for secret in ("PID-5f2d8a", "sess-77", visit.token, "SECRET-CODE", store.study.salt):
        assert secret not in frame.to_csv(), secret


def test_pseudonyms_are_stable_and_differ_between_studies(
    store: Store, study: Study, plan: Plan, tmp_path: Path
) -> None:
    rate(store, store.join(outside_id="PID-1"))
    (name,) = export_ratings(store.snapshot(), study, plan).frame["rater"].unique()
    assert export_ratings(store.snapshot(), study, plan).frame["rater"].unique().tolist() == [name]
    with open_store(tmp_path / "other.db", study, plan) as other:
        rate(other, other.join(outside_id="PID-1"))
        assert export_ratings(other.snapshot(), study, plan).frame["rater"].unique().tolist() != [name]


def test_formulas_are_disarmed_and_nothing_else_and_come_back() -> None:
    frame = pd.DataFrame({"text": FORMULAS + HARMLESS, "number": range(-3, 12)})
    safe, count = disarm(frame)
    assert count == len(FORMULAS)
    assert safe["text"].tolist() == [f"'{text}" for text in FORMULAS] + HARMLESS
    assert safe["number"].equals(frame["number"])
    back, again = rearm(safe)
    assert again == count
    assert back["text"].tolist() == frame["text"].tolist()


def test_a_formula_never_reaches_a_spreadsheet(
    store: Store, study: Study, plan: Plan, tmp_path: Path
) -> None:
    rate(store, store.join(), words='=HYPERLINK("http://localhost")')
    frame = export_ratings(store.snapshot(), study, plan).frame
    assert write_export(frame, tmp_path / "r.csv") == 5
    assert write_export(frame, tmp_path / "r.xlsx") == 5
    assert write_export(frame, tmp_path / "r.jsonl") == 0
    assert "'=HYPERLINK" in (tmp_path / "r.csv").read_text(encoding="utf-8")
    first = json.loads((tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()[1])
    assert first["text"] == '=HYPERLINK("http://localhost")'


def test_an_empty_study_exports_empty_tables(store: Store, study: Study, plan: Plan) -> None:
    snapshot = store.snapshot()
    for make in EXPORTS.values():
        frame = make(snapshot, study, plan).frame
        assert len(frame) == 0
        assert len(frame.columns) > 3


app = typer.Typer()
for command in (export, backup, restore):
    app.command()(command)


def call(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_commands_export_back_up_and_restore(study: Study, plan: Plan, tmp_path: Path) -> None:
    with open_store(None, study, plan) as store:
        rate(store, store.join(outside_id="PID-1"), words="=1+1")
        said = call("export", study.folder, "-o", tmp_path / "r.csv")
        assert "10 rows of ratings" in said
        assert "5 texts begin like a formula" in said
        assert len(pd.read_csv(tmp_path / "r.csv")) == 10
        (tmp_path / "v.csv").write_text("older, and readable by everybody", encoding="utf-8")
        (tmp_path / "v.csv").chmod(0o644)
        said = call("export", study.folder, "-o", tmp_path / "v.csv", "--what", "visits", "--ids")
        assert stat.S_IMODE((tmp_path / "v.csv").stat().st_mode) == 0o600
        assert pd.read_csv(tmp_path / "v.csv")["outside_id"].tolist() == ["PID-1"]
        assert "who the raters are" in said
        assert "10 answers of 1 visit" in call("backup", study.folder, "-o", tmp_path / "b.db")
    with pytest.raises(BadStore, match="holds 10 answers"):
        call("restore", tmp_path / "b.db", study.folder)
    said = call("restore", tmp_path / "b.db", study.folder, "--db", tmp_path / "again.db")
    assert "10 answers of 1 visit restored" in said
    call("export", study.folder, "--db", tmp_path / "again.db", "-o", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "r.csv").read_bytes()


def test_an_export_of_nothing_is_refused_with_a_sentence(study: Study, tmp_path: Path) -> None:
    with pytest.raises(BadStore, match="nothing was collected yet"):
        call("export", study.folder, "-o", tmp_path / "r.csv")
