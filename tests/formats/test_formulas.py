"""Formulas: found between their delimiters, converted or shown as their source."""

import re

import pytest

from panelist.formats import FORMATS, FormatOptions, Stimulus
from panelist.formats.formulas import convert
from tests.formats.corpus import list_formulas, read_tags, read_words, say


def show(text: str, *, formulas: bool = True) -> str:
    return FORMATS["markdown"].show(Stimulus(text), FormatOptions(formulas=formulas), say)


@pytest.mark.parametrize(("source", "taken"), list_formulas())
def test_a_formula_is_shown_as_mathematics_or_as_its_source(source: str, taken: bool) -> None:
    html = show(f"Before ${source}$ after")
    assert ("<math" in html) == taken
    assert (f"${source}$" in read_words(html)) != taken
    assert read_words(html).strip().startswith("Before")
    assert read_words(html).strip().endswith("after")


@pytest.mark.parametrize(("source", "taken"), list_formulas())
def test_the_list_leaves_a_formula_as_it_was(source: str, taken: bool) -> None:
    """What the sanitiser takes away from formulas is only what styles them."""
    made = convert(source, False)
    if made is None:
        assert not taken
        return
    bare = [(tag, set(named) - {"class"}) for tag, named in read_tags(made) if tag.startswith("m")]
    kept = [
        (tag, set(named) - {"class"}) for tag, named in read_tags(show(f"${source}$")) if tag.startswith("m")
    ]
    assert kept == bare


@pytest.mark.parametrize(
    ("text", "display"),
    [
        ("$x$", False),
        ("\\(x\\)", False),
        ("$$x$$", True),
        ("\\[x\\]", True),
        ("$$\nx\n$$", True),
        ("\\[\nx\n\\]", True),
        ("Text:\n\\[\nx\n\\]\nmore", True),
        ("in \\[x\\] a line", True),
        ("in $$x$$ a line", True),
        ("- item\n  $$\n  x\n  $$", True),
        ("> \\[ x \\]", True),
        ("| a |\n|---|\n| \\(x\\) |", False),
    ],
)
def test_every_pair_of_delimiters_holds_a_formula(text: str, display: bool) -> None:
    tags = [named for tag, named in read_tags(show(text)) if tag == "math"]
    assert [one.get("display") for one in tags] == ["block" if display else None]
    assert all(one["dir"] == "ltr" for one in tags)
    assert "<math" not in show(text, formulas=False)


@pytest.mark.parametrize(
    "text",
    ["$5 and $10", "costs 5$ or 7$ a day", "a $ b $ c", "\\$x\\$", "`$x$`", "```\n$$x$$\n```", "$x", "\\(x"],
)
def test_money_code_and_what_is_never_closed_are_no_formulas(text: str) -> None:
    assert "<math" not in show(text)


def test_text_after_a_formula_on_its_line_is_kept() -> None:
    assert "and more" in read_words(show("\\[x\\] and more"))
    assert "and more" in read_words(show("$$x$$ and more"))


def test_no_formula_has_a_style_or_a_colour() -> None:
    html = show("$$\\begin{aligned} a &= \\textcolor{red}{b} \\end{aligned}$$")
    assert " style=" not in html
    assert 'class="right tight-right"' in html


def test_spaces_that_would_push_a_formula_out_of_its_box_are_dropped() -> None:
    html = show("$a\\hspace{-500cm}b\\hspace{1em}c$")
    assert re.findall(r'width="([^"]*)"', html) == ["1em"]


def test_a_wide_formula_scrolls_by_itself_under_a_name_of_its_own() -> None:
    long = "+".join("abcdefghijklmnopqrstuvwxyz")
    html = show(f"${long}$\n\n$${long}$$\n\n$x$")
    labels = [named["aria-label"] for _, named in read_tags(html) if "tabindex" in named]
    assert labels == ["Formula 1", "Formula 2"]


def test_a_formula_too_long_for_the_converter_is_left_as_text() -> None:
    deep = "\\sqrt{" * 5000 + "x" + "}" * 5000
    assert convert(deep, False) is None
    assert "<math" not in show(f"${deep}$")
