"""Links for one rater each: as a list, and as a file."""

import csv
import stat
from pathlib import Path

import pytest

from panelist.collection.links import Link, find_links, keep_links, make_links, write_links
from panelist.collection.store.errors import NoPlace
from panelist.collection.store.store import Store
from panelist.core.errors import BadFile
from tests.cli.commands import call
from tests.collection.recruiting.people import write_paid
from tests.web.servers import make_study, serve_in_thread
from tests.web.walking import agree

URL = "https://rate.example.org"


def test_each_free_place_gets_a_link_of_its_own(store: Store) -> None:
    made = make_links(store, URL)
    assert [link.place for link in made] == list(store.places().groups)
    assert len({link.link for link in made}) == len(made)
    assert all(link.link.startswith(f"{URL}/r/") for link in made)
    assert find_links(store, URL) == made
    with pytest.raises(NoPlace, match="held or filled"):
        make_links(store, URL, 1)


def test_so_many_links_are_kept_ready_and_used_ones_replaced(store: Store) -> None:
    first = keep_links(store, URL, 2)
    assert keep_links(store, URL, 2) == first
    third = keep_links(store, URL, 3)
    assert third[:2] == first
    assert len({link.place for link in third}) == 3


def test_the_file_is_its_owners_alone_and_holds_no_formula(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("older", encoding="utf-8")
    write_links([Link("r001", "+native", f"{URL}/r/A"), Link("r002", "a,b", f"{URL}/r/B")], path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["place", "group", "link"],
        ["r001", "'+native", f"{URL}/r/A"],
        ["r002", "a,b", f"{URL}/r/B"],
    ]
    with pytest.raises(BadFile, match="cannot be written"):
        write_links([], tmp_path / "nowhere" / "links.csv")


def test_the_command_prints_links_and_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_study(tmp_path / "study")
    done = call(capsys, "links", folder, "--count", "2", "--url", URL)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines] == ["r001", "r002"]
    assert all(URL in line for line in lines)
    assert "there was no plan" in done.err
    again = call(capsys, "links", folder, "--unused", "--url", URL)
    assert again.out == done.out
    target = tmp_path / "links.csv"
    rest = call(capsys, "links", folder, "-o", target, "--url", URL)
    assert rest.code == 0
    with target.open(encoding="utf-8", newline="") as file:
        places = [row["place"] for row in csv.DictReader(file)]
    assert places[0] == "r003"
    assert f"{len(places)} links in {target}" in rest.out
    none = call(capsys, "links", folder, "--count", "1")
    assert (none.code, "held or filled" in none.err) == (2, True)


def test_a_list_of_people_gets_signed_links_that_let_them_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_paid(tmp_path / "study", "", "panel: prolific", "panel: class")
    folder, people, target = tmp_path / "study", tmp_path / "class.txt", tmp_path / "links.csv"
    people.write_text("17\n\n 18 \n=1+1\n", encoding="utf-8")
    done = call(capsys, "links", folder, "--ids", people, "--url", URL, "-o", target)
    assert (done.code, "3 links in" in done.out) == (0, True), done.err
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with target.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["17", "18", "'=1+1"]
    assert all(row["link"].startswith(f"{URL}/join?student=") for row in rows)
    with serve_in_thread(folder) as served, served.client() as client:
        assert served.store.visits() == [], "no place is held before its person agrees"
        for row in rows:
            assert agree(client, "?" + row["link"].partition("?")[2]).status_code == 303
        assert [visit.outside_id for visit in served.store.visits()] == ["17", "18", "=1+1"]


@pytest.mark.parametrize("text", ["", "\n \n", "17\n18\n17\n"])
def test_a_list_without_people_or_with_one_twice_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    folder, people = make_study(tmp_path / "study"), tmp_path / "class.txt"
    people.write_text(text, encoding="utf-8")
    done = call(capsys, "links", folder, "--ids", people)
    assert (done.code, "is not a list of people" in done.err) == (2, True)
    done = call(capsys, "links", folder, "--ids", tmp_path / "nowhere.txt")
    assert (done.code, "cannot be read" in done.err) == (2, True)
