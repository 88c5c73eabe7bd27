"""Cells of an old HIT's input: words and formatting in the page, never code, never an answer."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.collection.hits.fill import GUARD, fill_safely, find_text_columns, hash_script
from panelist.collection.hits.safe_cells import clean_cell
from panelist.collection.robots.hit_check import check_hit_cells
from panelist.study.reading.load import load_study
from tests.cli.commands import call
from tests.collection.imports.hits import make_hits

ATTACKS = [
    "<script>document.forms[0].submit()</script>",
    "<img src=x onerror=alert(1)>",
    "<input type=hidden name=best value=A>",
    "</p></form><form><input name=best value=A checked>",
    "<select name=best><option>A</select>",
    "<label for=q style='position: fixed; inset: 0'>all</label>",
    "<p style='position: fixed'>x</p>",
    "<a href='javascript:alert(1)'>x</a>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<svg onload=alert(1)><script>x</script></svg>",
    "<scr<script>ipt>alert(1)</script>",
    "<script>never closed",
    "<textarea name=best>A",
    "<button form=mturk_form>x</button>",
    "<style>*{display:none}</style>",
    "<meta http-equiv=refresh content='0;url=/join'>",
    "<base href=//evil.example>",
]
CELL = st.text(st.sampled_from("<>\"'`/= \\\n;(){}$-!&ab\u2028é\U0001f600") | st.characters(), max_size=40)


class Reading(HTMLParser):
    """The tags and attributes of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


@pytest.mark.parametrize("cell", ATTACKS)
def test_what_acts_or_answers_is_left_out_and_told(cell: str) -> None:
    cleaned = clean_cell(cell)
    assert cleaned.left_out
    reading = Reading(cleaned.html)
    acting = {"script", "input", "select", "form", "label", "iframe", "svg", "textarea", "button", "style"}
    assert not {*reading.tags} & (acting | {"meta", "base"})
    names = [name for name, _ in reading.attributes]
    assert not [name for name in names if name.startswith("on") or name in ("id", "name", "for", "form")]
    assert not [value for _, value in reading.attributes if "javascript" in value or "position" in value]


@pytest.mark.parametrize(
    ("cell", "html"),
    [
        ("a < b & c > d", "a &lt; b & c &gt; d"),
        ("Ä first &amp; <b>bold</b>", "Ä first &amp; <b>bold</b>"),
        ("<i>open", "<i>open</i>"),
        ("</div>closed", "closed"),
        ("<p style='color: red; font-weight: bold'>x</p>", '<p style="color: red; font-weight: bold">x</p>'),
        ("<img src=//a.example/x.png alt='A &quot;b'>", '<img src="//a.example/x.png" alt="A &quot;b">'),
    ],
)
def test_words_and_formatting_stay(cell: str, html: str) -> None:
    cleaned = clean_cell(cell)
    assert cleaned.html == html
    assert cleaned.left_out == ()


@given(CELL)
def test_no_cell_changes_the_tags_of_the_template(cell: str) -> None:
    template = (
        "<p title=\"${x}\">${x}</p><input value=${x} data-a='${x}'><textarea>${x}</textarea><!-- ${x} -->"
    )
    filled = fill_safely(template, {"x": cell})
    reading = Reading(filled.html)
    kept = [tag for tag in reading.tags if tag in ("input", "textarea", "script", "form")]
    assert kept == ["input", "textarea"]
    assert not filled.scripts
    assert not filled.handlers


@given(CELL)
def test_a_cell_in_a_script_is_a_string_whatever_it_holds(cell: str) -> None:
    filled = fill_safely('<script>say("It is ${x}");</script><a onclick="say(\'${x}\')">x</a>', {"x": cell})
    inside = re.search(r'say\("It is (.*)"\);</script>', filled.html)
    assert inside
    assert re.fullmatch(r"(?:[A-Za-z0-9 ]|\\u[0-9a-f]{4})*", inside[1])
    assert json.loads(f'"{inside[1]}"') == cell
    code = f'{GUARD}say("It is {inside[1]}");'
    assert filled.scripts == [hash_script(code)]
    assert len(filled.handlers) == 1


def test_json_in_a_script_stays_json_and_other_code_becomes_a_string() -> None:
    cells = {"a": '[1, {"b": "</script>"}]', "b": "alert(1)", "c": "2.5"}
    filled = fill_safely("<script>const a = ${a}, b = ${b}, c = ${c}; // it's ${b}\n</script>", cells)
    assert (
        'const a = [1,{"b":"\\u003c\\u002fscript\\u003e"}], b = "alert\\u00281\\u0029", c = 2.5;'
        in filled.html
    )


def test_only_scripts_of_the_template_itself_have_a_hash() -> None:
    template = (
        "<script src='https://x.example/a.js'></script><script>one()</script>"
        "<script type='text/x-template'><b>${x}</b></script>${x}<p onclick='two()'>"
    )
    filled = fill_safely(template, {"x": "<script>evil()</script>"})
    assert filled.scripts == [hash_script(GUARD + "one()")]
    assert filled.handlers == [hash_script(GUARD + "two()")]
    assert "evil" not in filled.html
    assert find_text_columns('<p title="${a}">${b}</p><script>${c}</script>') == ("b",)


def test_check_names_the_cells_that_hold_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_hits(tmp_path)
    assert check_hit_cells(load_study(folder)) == []
    path = folder / "input.csv"
    text = path.read_text("utf-8").replace("second 2", "<script>x()</script>second 2")
    path.write_text(text.replace("second 4", "<input name=best value=A>"), "utf-8")
    done = call(capsys, "check", folder)
    assert done.code == 0
    flat = " ".join(done.out.split())
    assert "note: input.csv: cells hold scripts, form controls or the like: " in flat
    assert "text2 of HIT 3 (script); text2 of HIT 5 (input). They are shown without these" in flat
