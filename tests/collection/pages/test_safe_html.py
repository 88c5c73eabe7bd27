import pytest

from panelist.collection.pages.safe_html import render_line, render_markdown
from panelist.formats.plain import render_text
from tests.formats.corpus import read_tags


def test_markdown_becomes_html() -> None:
    html = render_markdown("Read **both**.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<strong>both</strong>" in html
    assert "<li>two</li>" in html
    assert "<td>2</td>" in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<div onclick='x()'>\n\nblock\n\n</div>",
        "[click](javascript:alert(1))",
        "[click](data:text/html,<script>)",
        "[click](vbscript:x)",
        "![x](https://elsewhere.example/pixel.png)",
        "![<img src=x onerror=y>](x)",
        '<https://x.example/"onmouseover="a>',
        "[a](https://x.example 'title\" onclick=\"y')",
    ],
)
def test_nothing_in_markdown_runs_or_fetches(text: str) -> None:
    for tag, attributes in read_tags(render_markdown(text)):
        assert tag in {"p", "a"}
        assert set(attributes) <= {"href", "rel", "target"}
        assert attributes.get("href", "https://").startswith("https://")


def test_a_picture_leaves_its_words() -> None:
    assert render_markdown("![a chart](https://x.example/a.png)") == "<p>a chart</p>\n"


def test_links_are_for_the_web_and_for_mail_and_tell_nothing() -> None:
    html = render_line("[a](https://x.example) [b](mailto:a@x.example) [c](ftp://x.example)")
    assert html.count('rel="noopener noreferrer"') == 2
    assert "ftp://x.example)" in html


def test_headings_leave_the_first_level_to_the_page() -> None:
    assert "<h2>Title</h2>" in render_markdown("# Title")
    assert "<h6>Deep</h6>" in render_markdown("###### Deep")


def test_a_text_under_judgement_is_shown_as_it_is() -> None:
    html = render_text("**Not bold** <b>x</b> & [a](b)\r\n\r\nSecond\nline")
    assert html == "<p>**Not bold** &lt;b&gt;x&lt;/b&gt; &amp; [a](b)</p><p>Second\nline</p>"


def test_an_empty_text_is_an_empty_paragraph() -> None:
    assert render_text("  \n ") == "<p></p>"
