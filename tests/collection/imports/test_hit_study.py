"""An old HIT as a study: what is checked, how it is shared out, shown, collected and exported."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from panelist.collection.export.tables_of_study import export_batch, export_ratings
from panelist.collection.hits.document import make_document
from panelist.collection.imports.importer import import_results
from panelist.collection.robots.fleet import Fleet, send_robots
from panelist.core.errors import PanelistError
from panelist.design.make import plan_study
from panelist.study.reading.load import find_problems, load_study
from panelist.web.rater.hit_routes import allow_connections, make_policy
from tests.cli.commands import call
from tests.collection.imports.hits import TEMPLATE, make_hits
from tests.web.servers import PASSWORD, serve_in_thread
from tests.web.walking import agree


def problems_of(folder: Path) -> list[str]:
    return [str(problem) for problem in find_problems(folder) if problem.grave]


def test_a_template_that_needs_a_missing_column_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_hits(tmp_path, template=TEMPLATE + "<p>${txt1}</p>")
    done = call(capsys, "check", folder)
    assert done.code == 1
    assert (
        "study.yaml:3 hit.template: hit.html needs ${txt1}, and input.csv has no such column. "
        "Did you mean 'text1'" in done.out
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hits_per_rater": "5"}, "hit.hits_per_rater: 6 HITs × 2 assignments are 12"),
        ({"hits_per_rater": "8"}, "a rater cannot get 8 of 6 HITs"),
        ({"template": "none.html"}, "hit.template: "),
        ({"template": "../hit.html"}, "hit.template: ../hit.html lies outside the folder"),
        ({"template": "/hit.html"}, "hit.template: /hit.html lies outside the folder"),
        ({"template": '"a\\0" # no.html'}, "is not the name of a file"),
        ({"input": "none.csv"}, "hit.input: There is no file"),
        ({"mapping": "none.yaml"}, "hit.mapping: there is no file none.yaml"),
        ({"hosts": "['https://a.org/x']"}, "is not a host name"),
        ({"assignments": "none"}, "hit.assignments: should be a whole number"),
        ({"assignments": "0"}, "hit.assignments: should be more than 0"),
        ({"hits_per_rater": "2.5"}, "hit.hits_per_rater: should be a whole number"),
        ({"asignments": "2"}, "Did you mean 'assignments'"),
    ],
)
def test_what_is_wrong_with_a_hit_is_said_at_its_line(
    tmp_path: Path, changes: dict[str, str], words: str
) -> None:
    folder = make_hits(tmp_path, **{"mapping": "mapping.yaml", **changes})
    if "asignments" in changes:
        text = (folder / "study.yaml").read_text(encoding="utf-8")
        (folder / "study.yaml").write_text(re.sub(r"  assignments: .*\n", "", text), encoding="utf-8")
    found = problems_of(folder)
    assert any(words in one and re.match(r"study\.yaml:\d+ ", one) for one in found), found


def test_a_mapping_that_cannot_read_the_form_is_told_before_anybody_fills_it_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_hits(tmp_path, mapping="mapping.yaml")
    assert call(capsys, "check", folder).code == 0
    path = folder / "mapping.yaml"
    text = path.read_text("utf-8")
    path.write_text(text.replace("Input.doc", "Input.dok").replace("Answer.best", "Answer.bestt"), "utf-8")
    done = call(capsys, "check", folder)
    assert done.code == 1
    assert (
        "mapping.yaml:3 item: no column is called 'Input.dok' in hit.html. Did you mean 'Input.doc'"
        in done.out
    )
    assert "note: mapping.yaml:10 comparisons[0].best: no column is called 'Answer.bestt'" in done.out
    path.write_text("rater: [", "utf-8")
    assert call(capsys, "check", folder).code == 1


def test_criteria_beside_a_hit_are_refused(tmp_path: Path) -> None:
    folder = make_hits(tmp_path)
    path = folder / "study.yaml"
    path.write_text(path.read_text("utf-8") + "checks: {items: []}\ndesign: {type: full, seed: 3}\n", "utf-8")
    found = problems_of(folder)
    assert any("checks: a study with hit: has no checks" in one for one in found)
    assert any("design.type: the numbers of the HIT decide" in one for one in found)
    text = (make_hits(tmp_path) / "study.yaml").read_text("utf-8")
    scales = ("likert", "vas")
    own = "criteria:\n" + "".join(f"  - {{name: {s}, question: y, scale: {{type: {s}}}}}\n" for s in scales)
    path.write_text(text + own, "utf-8")
    assert any("criteria: a study with hit: has no criteria" in one for one in problems_of(folder))


def test_every_hit_goes_to_exactly_its_number_of_different_raters(tmp_path: Path) -> None:
    table = plan_study(load_study(make_hits(tmp_path))).table
    assert set(table.groupby("item", observed=True)["rater"].nunique()) == {2}
    assert set(table.groupby("item", observed=True).size()) == {2}
    assert set(table.groupby("rater", observed=True)["item"].nunique()) == {4}


def test_template_and_input_are_part_of_what_the_study_is(tmp_path: Path) -> None:
    one = load_study(make_hits(tmp_path / "a")).hash
    other = load_study(make_hits(tmp_path / "b", template=TEMPLATE.replace("clearer", "better"))).hash
    folder = make_hits(tmp_path / "c")
    path = folder / "input.csv"
    path.write_text(path.read_text("utf-8").replace("alto", "alpha"), "utf-8")  # a column that nobody sees
    assert len({one, other, load_study(folder).hash}) == 3


def test_a_lost_input_file_is_found_again_in_the_batch_results(tmp_path: Path) -> None:
    inputs = pd.read_csv(make_hits(tmp_path / "a") / "input.csv")
    batch = pd.concat([inputs, inputs]).sort_index().add_prefix("Input.").assign(WorkerId="w", HITId="h")
    folder = make_hits(tmp_path / "b")
    batch.to_csv(folder / "input.csv", index=False)
    one, other = load_study(tmp_path / "a"), load_study(folder)
    assert one.outputs.hash == other.outputs.hash


def test_xml_around_a_template_is_taken_off_and_an_address_is_refused(tmp_path: Path) -> None:
    xml = (
        '<HTMLQuestion xmlns="x"><HTMLContent><![CDATA[<!DOCTYPE html><html><body>${text1}</body></html>]]>'
        "</HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"
    )
    study = load_study(make_hits(tmp_path / "a", template=xml))
    assert (
        study.outputs.frame["output"][0]
        == "<!DOCTYPE html><html><body>Ä first &amp; <b>bold</b> 0</body></html>"
    )
    folder = make_hits(tmp_path / "b", template="<ExternalQuestion><ExternalURL>https://x</ExternalURL>")
    assert any("is an ExternalQuestion" in one for one in problems_of(folder))


def test_only_a_template_without_a_form_gets_one() -> None:
    assert 'id="mturk_form"' in make_document("<p>Hello</p>").html
    assert "mturk_form" not in make_document("<form><input name=a></form>").html.replace("mturk-public", "")
    assert 'id="mturk_form"' not in make_document("<crowd-form></crowd-form>").html
    template = "<!DOCTYPE html><html><head><title>x</title></head><body><p>Hello</p></body></html>"
    whole = make_document(template).html
    assert whole.startswith("<!DOCTYPE html><script>")
    assert make_document("<p>Hello</p>").html.startswith("<!doctype html><script>")
    assert whole.index("<script>") < whole.index("<html>") < whole.index("<title>")
    assert whole.index("<body><form") < whole.index("<p>Hello") < whole.index("</form></body>")


def test_the_policy_of_a_hit_opens_nothing_but_named_hosts() -> None:
    closed = make_policy(())
    assert closed.startswith("sandbox allow-scripts allow-forms; default-src 'none';")
    assert "http" not in closed
    assert "allow-same-origin" not in closed
    assert "connect-src 'none'; form-action 'none'" in closed
    assert "script-src 'unsafe-eval'; script-src-attr 'none'; frame-src 'none'; webrtc 'block';" in closed
    opened = make_policy(("cdn.example.org",), ("'sha256-a'", "'sha256-a'"), ("'sha256-b'",))
    assert "script-src 'unsafe-eval' 'sha256-a' https://cdn.example.org;" in opened
    assert "script-src-attr 'unsafe-hashes' 'sha256-b';" in opened
    assert allow_connections(()) == "(response-origin)"
    assert allow_connections(("cdn.example.org",)) == '(response-origin "https://cdn.example.org/*")'


def test_robots_run_a_hit_and_both_exports_say_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_hits(tmp_path, mapping="mapping.yaml")
    with serve_in_thread(folder) as served:
        with served.client() as client:
            joined = agree(client, "?id=LEAVER1")
            page = client.get(joined.headers["location"])
            source = re.search(r'<iframe class="hit" src="(/hit/[0-9a-f]{32})"', page.text)
            assert source
            framed = client.get(source[1])
            token = joined.headers["location"].rpartition("/")[2]
            # Nothing in the page or the frame says which system or row this is, or whose visit.
            for text in (page.text, str(page.headers), str(framed.headers), source[1]):
                assert not re.search(r"hit-00\d|alto|bass", text)
            assert token not in framed.text
            assert "frame-src 'self'" in page.headers["content-security-policy"]
            assert framed.headers["x-frame-options"] == "SAMEORIGIN"
            assert framed.headers["content-security-policy"].startswith("sandbox allow-scripts allow-forms; ")
            assert "'unsafe-inline'" not in framed.headers["content-security-policy"].split("style-src")[0]
            assert client.get("/hit/" + "0" * 32).status_code == 404
        visit = served.store.find_outside("LEAVER1")
        assert visit is not None
        served.store.release(visit.id, "left")  # frees the place: somebody else gets its HITs
        record = send_robots(served.study, served.url, Fleet(raters=3, seed=1, careless=0.0))
        assert record.ends["finished"] == 3
        snapshot, plan = served.store.snapshot(), served.store.plan()
        made = export_batch(snapshot, served.study, plan)
        ratings = export_ratings(snapshot, served.study, plan).frame
    batch = made.frame
    assert set(batch.groupby("HITId")["WorkerId"].nunique()) == {2}
    assert len(batch) == 12
    assert list(batch.columns[-6:]) == [
        "Answer.best",
        "Answer.comment",
        "Answer.fluency_1",
        "Answer.fluency_2",
        "Approve",
        "Reject",
    ]
    assert batch["AssignmentId"].is_unique
    path = tmp_path / "batch.csv"
    batch.to_csv(path, index=False)
    again = import_results(path, folder / "mapping.yaml", keep_ids=True)
    assert set(ratings["simulated"]) == {"yes"}
    assert "3 of 4 raters are simulated, which batch results have no column for" in made.notes
    pd.testing.assert_frame_equal(again.frame, ratings.drop(columns="simulated"), check_dtype=False)
    assert len(ratings) == 12 * 4
    assert set(ratings["system"]) == {"alto", "bass", "canto"}
    done = call(capsys, "export", folder, "-o", tmp_path / "out.csv", "--what", "batch")
    assert done.code == 0
    assert len(pd.read_csv(tmp_path / "out.csv")) == 12


def test_researchers_see_the_hit_in_the_preview(tmp_path: Path) -> None:
    with serve_in_thread(make_hits(tmp_path)) as served, served.client(follow_redirects=True) as client:
        client.post("/dashboard/login", data={"password": PASSWORD})
        asked = client.get("/dashboard/preview")
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', asked.text))
        seen = client.post("/dashboard/preview", data={**hidden, "place": "r001"})
        assert '<iframe class="hit" src="/hit/' in seen.text
        assert "frame-src 'self'" in seen.headers["content-security-policy"]


def test_an_answer_that_is_no_form_is_counted_not_exported(tmp_path: Path) -> None:
    folder = make_hits(tmp_path, mapping="mapping.yaml")
    with serve_in_thread(folder) as served, served.client() as client:
        for form, person in ((json.dumps({"best": "A"}), "P1"), ("nonsense", "P2")):
            home = agree(client, f"?id={person}").headers["location"]
            page = re.search(r'name="page" value="([^"]+)"', client.get(home).text)
            assert page
            sent = client.post(f"{home}/page", data={"page": page[1], "c1p1": form})
            assert sent.status_code == 303
        batch = export_batch(served.store.snapshot(), served.study, served.store.plan())
    assert batch.frame["Answer.best"].tolist() == ["A"]
    assert batch.notes == ("1 answer is not the fields of a form: left out",)


def test_without_a_mapping_only_the_batch_can_be_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_hits(tmp_path)
    with serve_in_thread(folder) as served, pytest.raises(PanelistError, match="Name a mapping file"):
        export_ratings(served.store.snapshot(), served.study, served.store.plan())
    done = call(capsys, "export", folder, "-o", tmp_path / "ratings.csv")
    assert done.code == 2
    assert not (tmp_path / "ratings.csv").exists()
