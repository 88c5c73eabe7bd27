import json
import math
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from panelist.core.display.formats import P_VALUE, TEXT, Cell, decimals, interval, number, p_value
from panelist.core.display.latex import latex
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table, json_ready

HOSTILE = r"<script>alert('x')</script> [bold]b[/bold] \input{/etc/passwd} & 100% #1 $x_1$ ~^ {a} − | *"


@dataclass(frozen=True)
class Sample(Result):
    text: str = "plain"
    value: Any = 0.5

    def title(self) -> str:
        return self.text

    def parts(self) -> list[Part]:
        header = ("term", "n", "estimate", "p")
        rows = [(self.text, 3, -1.23456, 0.00001), ("b", None, math.nan, 0.04)]
        table = Table(self.text, header, rows, {"p": P_VALUE, "estimate": decimals(2)}, note=self.text)
        return [Sentence(self.text), NamedValues([(self.text, self.text)]), table]

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text, "value": self.value}


@dataclass(frozen=True)
class OneTable(Result):
    table: Table

    def title(self) -> str:
        return "One table"

    def parts(self) -> list[Part]:
        return [self.table]

    def to_dict(self) -> dict[str, Any]:
        return {}


class Reader(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def _parse(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def _draw(result: Result, width: int = 100) -> str:
    console = Console(width=width, color_system=None, force_terminal=False, force_jupyter=False)
    with console.capture() as capture:
        console.print(result)
    return capture.get()


def test_text_lines_columns_up_and_writes_each_column_in_its_format() -> None:
    lines = str(Sample()).splitlines()
    head = next(line for line in lines if "estimate" in line)
    first = next(line for line in lines if "-1.23" in line)
    second = next(line for line in lines if "0.040" in line)
    assert head.rstrip().endswith("p")
    assert first.endswith("< 0.001")
    assert second.split() == ["b", "–", "–", "0.040"]
    assert len(head) == len(first) == len(second)
    assert head.index("estimate") + len("estimate") == first.index("-1.23") + len("-1.23")


def test_repr_stays_exact() -> None:
    assert repr(Sample("x", 0.1)) == "Sample(text='x', value=0.1)"


def test_the_same_words_stand_in_every_drawing() -> None:
    sample = Sample("plain words")
    for drawing in (str(sample), _draw(sample), sample._repr_html_(), sample.to_latex()):
        assert drawing.count("plain words") == 7
        assert "1.23" in drawing
        assert "0.040" in drawing


def test_text_never_exceeds_a_hundred_characters_and_loses_no_number() -> None:
    header = ("system", *(f"estimate{i}" for i in range(30)))
    row: tuple[Cell, ...] = ("a very long name " * 10, *(1000.5 * i for i in range(30)))
    text = str(OneTable(Table("Wide", header, [row])))
    assert max(len(line) for line in text.splitlines()) <= 100
    words = text.split()
    for i in range(30):
        assert f"estimate{i}" in words
        assert f"{1000.5 * i:.3f}" in words


def test_a_table_that_continues_below_names_each_row_again() -> None:
    header = ("criterion", "judge", *(f"a long heading {n}" for n in range(6)))
    rows = [
        (criterion, judge, *range(6)) for criterion in ("fluency", "adequacy") for judge in ("one", "two")
    ]
    lines = str(OneTable(Table("", header, rows))).splitlines()
    heads = [line for line in lines if "a long heading" in line]
    assert len(heads) == 2
    assert all(head.split()[:2] == ["criterion", "judge"] for head in heads)
    assert [line.split()[:2] for line in lines].count(["adequacy", "two"]) == 2


def test_long_text_is_broken_over_lines_and_not_cut() -> None:
    text = str(Sample("word " * 60))
    assert max(len(line) for line in text.splitlines()) <= 100
    assert text.split().count("word") == 60 * 7


def test_markup_in_user_text_is_inert_in_a_terminal() -> None:
    assert "[bold]b[/bold]" in _draw(Sample(HOSTILE)).splitlines()[0]
    assert "[bold]b[/bold]" in str(Sample(HOSTILE)).splitlines()[0]
    assert ":smile:" in str(Sample(":smile:"))


def test_control_characters_do_not_reach_a_terminal() -> None:
    drawn = _draw(Sample("\x1b[31mred\x07\x9b1m\r"))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", drawn)
    assert "␛[31mred" in drawn


def test_html_shows_hostile_text_and_obeys_none_of_it() -> None:
    page = _parse(Sample(HOSTILE)._repr_html_())
    allowed = {"section", "h3", "p", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert {tag for tag, _ in page.tags} <= allowed
    assert page.text.count(HOSTILE) == 7
    assert {name for _, attributes in page.tags for name in attributes} <= {"class", "scope"}


def test_html_tables_say_what_heads_what() -> None:
    tags = _parse(Sample()._repr_html_()).tags
    assert [attributes["scope"] for tag, attributes in tags if tag == "th"] == ["row"] + ["col"] * 4
    assert "caption" in {tag for tag, _ in tags}


@pytest.mark.slow
@given(st.text())
def test_html_gives_back_any_text(text: str) -> None:
    page = _parse(OneTable(Table("", ("a",), [(text,)]))._repr_html_())
    assert text.replace("\r\n", "\n").strip() in page.text.replace("\r\n", "\n")
    assert "script" not in {tag for tag, _ in page.tags}


def test_latex_escapes_everything_that_it_would_obey() -> None:
    assert latex(r"_&%#${}") == r"\_\&\%\#\$\{\}"
    assert latex("~^\\") == r"\textasciitilde{}\textasciicircum{}\textbackslash{}"
    assert latex("−1") == "$-$1"
    assert latex(r"\input{x}") == r"\textbackslash{}input\{x\}"
    assert latex("a\n\nb") == "a b"


@given(st.text(alphabet=st.sampled_from("\\{}&%#$_~^[]*<>|−ab \n")))
def test_latex_leaves_no_special_character_bare(text: str) -> None:
    ours = r"\\text(?:backslash|asciitilde|asciicircum|less|greater|bar)\{\}|\\[&%#$_{}]|\{[\[\]*]\}|\$-\$"
    assert re.fullmatch(r"[ab ]*", re.sub(ours, "", latex(text)))


def test_a_latex_row_cannot_start_with_what_the_row_before_would_take_for_an_argument() -> None:
    drawn = OneTable(Table("c", ("a", "b"), [("[2cm]", 1), ("*", 2)])).to_latex()
    assert r"{[}2cm{]} & 1 \\" in drawn
    assert r"{*} & 2 \\" in drawn


def test_latex_tables_are_booktabs_with_a_true_minus() -> None:
    drawn = Sample().to_latex()
    for line in (r"\begin{tabular}{lrrr}", r"\toprule", r"\midrule", r"\bottomrule", r"\caption{plain}"):
        assert line in drawn.splitlines()
    assert r"plain & 3 & $-$1.23 & \textless{} 0.001 \\" in drawn.splitlines()


def test_json_is_strict_and_holds_null_for_what_is_not_finite() -> None:
    value = {"a": np.float64(1.5), "b": [np.nan, math.inf], "c": np.int32(2), "d": np.bool_(True), "e": (1,)}
    text = Sample("é", value).to_json()
    assert json.loads(text, parse_constant=pytest.fail) == {
        "text": "é",
        "value": {"a": 1.5, "b": [None, None], "c": 2, "d": True, "e": [1]},
    }


def test_json_takes_pandas_tables_and_results_within_results() -> None:
    frame = pd.DataFrame({"term": ["a", None], "p": [0.5, math.nan], "n": pd.array([1, None], dtype="Int64")})
    assert json_ready(frame) == [{"term": "a", "p": 0.5, "n": 1}, {"term": None, "p": None, "n": None}]
    assert json_ready(Sample("x", None)) == {"text": "x", "value": None}
    assert json_ready(pd.Series([1, 2])) == [1, 2]
    assert json_ready(pd.Timestamp("2024-05-01")) == "2024-05-01T00:00:00"


def test_json_refuses_what_has_no_place_in_it() -> None:
    with pytest.raises(TypeError, match="object cannot be written as JSON"):
        json_ready(object())


def test_a_table_can_be_made_of_a_frame() -> None:
    frame = pd.DataFrame({"term": ["a", None], "p": [0.5, math.nan]})
    table = Table.from_frame("From a frame", frame, {"p": P_VALUE})
    assert table.header == ("term", "p")
    assert table.written() == [["a", "0.500"], ["–", "–"]]
    assert [form.align for form in table.columns()] == ["left", "right"]


def test_a_table_with_a_slip_in_it_is_refused() -> None:
    with pytest.raises(ValueError, match="formats for columns it lacks: q"):
        Table("t", ("p",), [], {"q": TEXT})
    with pytest.raises(ValueError, match="not 2 cells long"):
        Table("t", ("a", "b"), [(1,)])


def test_an_empty_table_is_drawn_as_its_header() -> None:
    drawn = OneTable(Table("Nothing", ("a", "b"), []))
    assert str(drawn).splitlines()[3].split() == ["a", "b"]
    assert "<tbody>\n</tbody>" in drawn._repr_html_()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (number(np.float64(-0.0004)), "0.000"),
        (number(np.int64(1200)), "1200"),
        (number(np.float32(0.5), 1), "0.5"),
        (number("text"), "text"),
        (number(math.inf), "∞"),
        (p_value(0.000999), "< 0.001"),
        (p_value(0.001), "0.001"),
        (p_value(1), "1.000"),
        (p_value(None), "–"),
        (interval(-1, 0.5), "-1.00 to 0.50"),
        (interval(-math.inf, 0.5), "-∞ to 0.50"),
    ],
)
def test_numbers_are_written_as_papers_write_them(written: str, expected: str) -> None:
    assert written == expected


def test_an_empty_corner_is_no_header() -> None:
    drawn = OneTable(Table("", ("", "n"), [("a", 1)]))._repr_html_()
    assert "<tr><td></td><th" in drawn
