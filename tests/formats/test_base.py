"""Formats as the study file names them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadStudy
from panelist.formats import FORMATS, FormatOptions, Stimulus
from panelist.formats.plain import MOST_COMPARED, mark_differences, render_text
from panelist.study.reading.load import load_study
from panelist.study.start import init_study
from panelist.study.study import Study


def write_study(folder: Path, outputs: str) -> Path:
    init_study(folder)
    file = folder / "study.yaml"
    text = file.read_text(encoding="utf-8")
    assert "outputs: outputs.csv" in text
    file.write_text(text.replace("outputs: outputs.csv", outputs), encoding="utf-8")
    return file


def load_with(folder: Path, outputs: str) -> Study:
    return load_study(write_study(folder, outputs))


def test_a_file_name_alone_is_plain_text_and_keeps_the_hash_of_the_study(tmp_path: Path) -> None:
    short = load_with(tmp_path / "short", "outputs: outputs.csv")
    long = load_with(tmp_path / "long", "outputs: {file: outputs.csv, formats: {output: plain}}")
    assert short.file.outputs == long.file.outputs
    assert short.file.model_dump(exclude_defaults=True).get("outputs") is None
    assert short.hash == long.hash


def test_another_file_name_is_still_written_as_a_name(tmp_path: Path) -> None:
    write_study(tmp_path / "study", "outputs: texts.csv")
    (tmp_path / "study" / "outputs.csv").rename(tmp_path / "study" / "texts.csv")
    study = load_study(tmp_path / "study")
    assert study.file.model_dump(mode="json", exclude_defaults=True)["outputs"] == "texts.csv"


def test_an_unknown_format_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(BadStudy, match=r"found 'plian'. Did you mean 'plain'\?"):
        load_with(tmp_path / "study", "outputs: {file: outputs.csv, formats: {output: plian}}")


def test_plain_text_is_escaped_and_its_words_are_itself() -> None:
    cell = Stimulus("a <b>\n\nc")
    assert str(FORMATS["plain"].show(cell, FormatOptions(), str)) == "<p>a &lt;b&gt;</p><p>c</p>"
    assert FORMATS["plain"].read_words(cell, FormatOptions()) == cell.text


@given(st.lists(st.sampled_from(["a", "b", "<i>", "\n\n", "\n", "  "]), max_size=12).map(" ".join), st.text())
def test_underlined_texts_keep_their_words_and_paragraphs(first: str, second: str) -> None:
    for text, html in zip((first, second), mark_differences(first, second), strict=True):
        assert str(html).replace("<u>", "").replace("</u>", "") == str(render_text(text))


def test_only_words_that_differ_are_underlined() -> None:
    one, two = mark_differences("The cat\n\nsat <b>", "The dog\n\nsat <b>")
    assert (str(one), str(two)) == (
        "<p>The <u>cat</u></p><p>sat &lt;b&gt;</p>",
        "<p>The <u>dog</u></p><p>sat &lt;b&gt;</p>",
    )
    assert mark_differences("same", "same") == (render_text("same"), render_text("same"))
    long = "a " * (MOST_COMPARED + 1)
    assert mark_differences(long, "b") == (render_text(long), render_text("b"))
