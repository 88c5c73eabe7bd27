"""Markdown of systems, and code."""

import json
from functools import partial
from pathlib import Path

import pytest

from panelist.collection.pages.spoiling import spoil_text
from panelist.core.errors import BadStudy
from panelist.formats import FORMATS, FormatOptions, Stimulus
from panelist.formats.base import CodeOptions
from panelist.formats.sanitise import name_regions
from panelist.study.outputs import examine_outputs, read_outputs
from panelist.study.sections.outputs_file import ColumnFormats, OutputsFile
from tests.formats.corpus import read_tags, read_words, say

ANSWER = """# Sorting

Use **`sorted`** with a [key](https://elsewhere.example):

1. Read the [ ] file
2. Sort ~~it~~ them

- [ ] open
- [x] done

| name | days |
|:-----|-----:|
| a    | 12   |

```python
def sort(rows):
    return sorted(rows)  # by date
```

> Quoted *words*.

Mean: $\\bar{x}$.
"""


def show(text: str, **options: bool) -> str:
    return FORMATS["markdown"].show(Stimulus(text), FormatOptions(**options), say)


def test_an_answer_is_shown_with_its_form() -> None:
    html = show(ANSWER)
    tags = {tag for tag, _ in read_tags(html)}
    assert {"h3", "ol", "ul", "table", "pre", "blockquote", "strong", "s", "em", "math"} <= tags
    assert tags.isdisjoint({"a", "img", "input", "h1", "h2"})
    assert "key:" in read_words(html)
    assert "☐ open" in html
    assert "☑ done" in html
    assert "the [ ] file" in html
    assert '<td class="end">12</td>' in html
    assert '<th scope="col" class="start">name</th>' in html


def test_headings_stay_below_those_of_the_page_and_skip_no_level() -> None:
    html = show("### a\n\n###### b\n\nc\n=\n\n" + "".join(f"{'#' * n} x\n\n" for n in range(2, 7)))
    found = [tag for tag, _ in read_tags(html) if tag.startswith("h")]
    assert found == ["h3", "h4", "h3", "h4", "h5", "h6", "h6", "h6"]


def test_what_scrolls_can_be_reached_by_keys_and_has_a_name() -> None:
    code = "```py\nx\n```\n\n```\ny\n```\n\n| a |\n|---|\n| b |"
    regions = [named for _, named in read_tags(show(code)) if "role" in named]
    assert [one["aria-label"] for one in regions] == ["Code 1, Python", "Code 2", "Table 1"]
    assert all((one["role"], one["tabindex"]) == ("region", "0") for one in regions)
    again = [named["aria-label"] for _, named in read_tags(name_regions(FORMATS["markdown"].show(
        Stimulus(code + '\n\n`<pre dir="ltr" role="region" tabindex="0" aria-label="`'), FormatOptions(), say
    ), 'Text "B"')) if "role" in named]  # fmt: skip
    assert again == ['Text "B": Code 1, Python', 'Text "B": Code 2', 'Text "B": Table 1']


def test_each_block_has_its_direction_and_code_runs_from_left_to_right() -> None:
    tags = read_tags(show("שלום `a` עולם\n\nHello\n\n- x\n\n```\ny\n```"))
    assert [(tag, named["dir"]) for tag, named in tags if "dir" in named] == [
        ("p", "auto"), ("bdi", "ltr"), ("p", "auto"), ("ul", "auto"), ("pre", "ltr"),
    ]  # fmt: skip


def test_keywords_and_comments_are_set_off_unless_the_study_says_no() -> None:
    assert '<span class="k">def</span>' in show(ANSWER)
    assert '<span class="c"># by date</span>' in show(ANSWER)
    assert "<span" not in show(ANSWER, highlight=False)
    assert show("```nosuch\ndef x\n```").count("<span") == 0


def test_flattened_markdown_is_plain_text_without_its_marks() -> None:
    html = show(ANSWER, flatten=True)
    assert {tag for tag, _ in read_tags(html)} == {"p"}
    assert "Use sorted with a key:" in html
    assert "name\tdays" in html
    for mark in ("#  ", "**", "```", "https", "|"):
        assert mark not in html


def test_words_are_what_is_read() -> None:
    words = FORMATS["markdown"].read_words(Stimulus(ANSWER), FormatOptions())
    assert words.startswith("Sorting\n\nUse sorted with a key:\n\nRead the [ ] file\nSort it them\n")
    assert "return sorted(rows)  # by date" in words
    assert "$\\bar{x}$" in words
    assert "elsewhere" not in words


@pytest.mark.parametrize("how", ["shuffle words", "repeat words", "drop words"])
def test_a_spoilt_answer_keeps_its_form_and_loses_its_sense(how: str) -> None:
    change = partial(spoil_text, how=how, seed=1)
    spoilt = FORMATS["markdown"].rewrite(Stimulus(ANSWER), FormatOptions(), change)
    assert spoilt != ANSWER
    tags = [
        tag
        for tag, _ in read_tags(show(spoilt))
        if tag in ("h3", "ol", "li", "table", "td", "pre", "blockquote")
    ]
    assert tags == [
        tag
        for tag, _ in read_tags(show(ANSWER))
        if tag in ("h3", "ol", "li", "table", "td", "pre", "blockquote")
    ]
    assert read_words(show(spoilt)) != read_words(show(ANSWER))


def test_a_dialogue_in_markdown_is_spoilt_as_markdown_is() -> None:
    options = FormatOptions.model_validate({"turns": {"inside": "markdown"}})
    turns = Stimulus(json.dumps([{"role": "user", "text": "How?"}, {"role": "assistant", "text": ANSWER}]))
    spoilt = FORMATS["turns"].rewrite(turns, options, partial(spoil_text, how="shuffle words", seed=1))
    alone = FORMATS["markdown"].rewrite(
        Stimulus(ANSWER), options, partial(spoil_text, how="shuffle words", seed=1)
    )
    assert [turn["text"] for turn in json.loads(spoilt)] == ["How?", alone]


def test_what_is_shown_as_plain_text_is_spoilt_as_plain_text() -> None:
    long = "# a *b* c\n" * 10_000
    assert FORMATS["markdown"].rewrite(Stimulus(long), FormatOptions(), str.upper) == long.upper()


def test_code_is_a_block_with_its_language_in_words() -> None:
    html = FORMATS["code"].show(
        Stimulus("if x:\n\tpass"), FormatOptions(code=CodeOptions(language="py")), say
    )
    assert html.startswith(
        '<figure class="code-block"><figcaption>Python</figcaption><pre dir="ltr" role="region"'
    )
    assert "<math" not in FORMATS["code"].show(Stimulus("$x$"), FormatOptions(), say)


def test_the_language_of_a_row_wins_over_that_of_the_study() -> None:
    options = FormatOptions(code=CodeOptions(language="python"))
    html = FORMATS["code"].show(Stimulus("SELECT 1", language="sql"), options, say)
    assert "<figcaption>SQL</figcaption>" in html


HEADER = "item,system,output,language\n"
CODE = OutputsFile(formats=ColumnFormats(output="code"), code=CodeOptions(column="language"))


def test_a_column_names_the_language_and_only_then_is_read(tmp_path: Path) -> None:
    file = tmp_path / "outputs.csv"
    file.write_text(HEADER + "a,x,pass,python\na,y,SELECT 1,sql\n", encoding="utf-8")
    outputs, problems = examine_outputs(file, options=CODE)
    assert outputs is not None
    assert problems == []
    assert outputs.cell("a", "y") == Stimulus("SELECT 1", language="sql")
    assert [cell.language for cell in outputs.cells()] == ["python", "sql"]
    plain = read_outputs(file)
    assert "language" not in plain.frame
    file.write_text("item,system,output\na,x,pass\na,y,SELECT 1\n", encoding="utf-8")
    assert read_outputs(file).hash == plain.hash != outputs.hash


@pytest.mark.parametrize(
    ("info", "caption"),
    [
        ('python title="main.py"', "Python · title=&quot;main.py&quot;"),
        ("python:src/main.py", "Python · src/main.py"),
        ("{r, echo=FALSE}", "{r, echo=FALSE}"),
        ("text", "Text only"),
    ],
)
def test_what_stands_beside_the_language_of_a_code_block_is_shown(info: str, caption: str) -> None:
    html = FORMATS["markdown"].show(Stimulus(f"```{info}\nx\n```"), FormatOptions(), say)
    assert f"<figcaption>{caption}</figcaption>".replace("&quot;", '"') in html.replace("&#34;", '"')


def test_an_unknown_language_is_a_note_with_its_line_and_the_nearest(tmp_path: Path) -> None:
    file = tmp_path / "outputs.csv"
    file.write_text(HEADER + "a,x,pass,python\na,y,end,fortrann\n", encoding="utf-8")
    _, problems = examine_outputs(file, options=CODE)
    (note,) = problems
    assert (note.line, note.key, note.grave) == (3, "output", False)
    assert "'fortrann' is unknown" in note.message
    assert "Did you mean 'fortran' or" in note.message


def test_a_column_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    file = tmp_path / "outputs.csv"
    file.write_text("item,system,output,langage\na,x,pass,python\n", encoding="utf-8")
    outputs, (problem, *_) = examine_outputs(file, options=CODE)
    assert outputs is None or problem.grave
    assert problem.message == "the file has no column 'language'. Is it 'langage'?"


def test_a_study_with_such_a_column_missing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "outputs.csv"
    file.write_text("item,system\na,x\n", encoding="utf-8")
    with pytest.raises(BadStudy, match="no column 'output'"):
        read_outputs(file)
