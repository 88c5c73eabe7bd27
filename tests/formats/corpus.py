"""Texts to put through every format: hostile ones, and formulas as language models write them."""

import json
from html.parser import HTMLParser
from typing import Any

import pytest

from panelist.collection.pages.translations import load_words
from tests.shared_cases import SHARED

STIMULI = SHARED / "stimuli"
MISSING = "the texts of ../shared/data/stimuli are not here"
say = load_words("en").say

HOSTILE = (
    "<script>steal()</script>",
    "Hello <img src=x onerror=steal()> there",
    "<svg/onload=steal()>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=steal()></style></mglyph></math>",
    "</p></div></main><h1>Outside</h1>",
    "[press](javascript:steal())",
    "[press](&#x6a;avascript:steal())",
    "[press](data:text/html,<script>steal()</script>)",
    "[press](//elsewhere.example/?rater=1)",
    "![seen](https://elsewhere.example/pixel.gif)",
    "![<img src=x onerror=steal()>](x)",
    "<https://elsewhere.example/>",
    "[a]: https://elsewhere.example\n\n[a]",
    '```"><script>steal()</script>\ncode\n```',
    "~~~<b onclick=steal()>\ncode\n~~~",
    "```html\n<iframe src=//elsewhere.example></iframe>\n```",
    "`<b onmouseover=steal()>`",
    "| a |\n|:-:|\n| <input name=c1p1 value=7> |",
    "> <form action=//elsewhere.example><button>Next</button></form>",
    "# <a id=sheet>heading</a>",
    "<style>*{display:none}</style>",
    "<base href=//elsewhere.example/>",
    "<!-- <b> --><p id=main class=hidden>x</p>",
    "$\\text{<script>steal()</script>}$",
    "$\\href{javascript:steal()}{x}$ and $\\style{position:fixed}{x}$ and $\\class{btn}{x}$",
    "\\(\\text{</math><img src=x onerror=steal()>}\\)",
    "$$\\color{red;background:url(//elsewhere.example)}{x}$$",
    "$\\hspace{-500cm}x\\kern-9000pt y\\raisebox{90cm}{z}$",
    "$" + "\\!" * 400 + "x$",
    "{{ 7 * 7 }} {% include 'x' %} ${7*7} <%= 7 %>",
    "\u202ereversed\u202c and \u2066isolated",
    "one\u2028two\u2029three\x0bfour",
    "e" + "\u0301" * 60 + " stacked",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 joined",
    "a\x00b\x1b[31mc",
    "[media:1](media:1) ![x](media:1) <img src=media:1>",
)

# What math-core 0.9 can convert, and what is to be shown as its source.
FORMULAS = (
    (r"\frac{a+b}{c}", True),
    (r"\sum_{i=1}^{n} x_i", True),
    (r"\int_a^b f(x)\,dx", True),
    (r"\sqrt{x^2+y^2}", True),
    (r"\sqrt[3]{8}", True),
    (r"\hat{\beta} = (X^\top X)^{-1} X^\top y", True),
    (r"\begin{aligned} a &= b + c \\ &= d \end{aligned}", True),
    (r"\begin{align*} a &= b \end{align*}", True),
    (r"\begin{cases} 1 & x > 0 \\ 0 & \text{otherwise} \end{cases}", True),
    (r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}", True),
    (r"\begin{array}{l|r} a & b \end{array}", True),
    (r"\left[ \frac{1}{2} \right]", True),
    (r"\binom{n}{k}", True),
    (r"\boxed{42}", True),
    (r"\cancel{x}", True),
    (r"\underbrace{a+b}_{2}", True),
    (r"\operatorname{arg\,max}_x", True),
    (r"\mathbb{E}[X] \approx \mathcal{N}(0, 1)", True),
    (r"\mathbf{w} \cdot \vec{x}", True),
    (r"\lim_{n \to \infty}", True),
    (r"P(A \mid B)", True),
    (r"\text{rate} < 5\%", True),
    (r"\textcolor{blue}{x}", True),
    (r"\overline{AB} \parallel \overline{CD}", True),
    (r"x \xrightarrow{f} y", True),
    (r"\dot{x} + \ddot{y}", True),
    (r"a \equiv b \pmod{n}", True),
    (r"\therefore x \ne y", True),
    (r"\nothing{x}", False),
    (r"\frac{a}{", False),
    (r"\left( x", False),
    (r"\ce{H2O}", False),
    (r"\SI{5}{\metre}", False),
    (r"\href{https://elsewhere.example}{x}", False),
    (r"\colorbox{red}{x}", False),
    (r"\includegraphics{x.png}", False),
)


def list_hostile() -> list[Any]:
    """Return our hostile texts, and those of ../shared; they are skipped where the folder is missing."""
    file = STIMULI / "hostile.json"
    theirs = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    absent = [] if theirs else [pytest.param("", marks=pytest.mark.skip(reason=MISSING))]
    return [*HOSTILE, *theirs, *absent]


def list_formulas() -> list[Any]:
    """Return our formulas with their verdicts, and those of ../shared."""
    file = STIMULI / "formulas.json"
    theirs = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    absent = [] if theirs else [pytest.param("", False, marks=pytest.mark.skip(reason=MISSING))]
    return [*FORMULAS, *((one["latex"], one["taken"]) for one in theirs), *absent]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []
        self.odd: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.odd.append(data)

    def handle_decl(self, decl: str) -> None:
        self.odd.append(decl)

    def handle_pi(self, data: str) -> None:
        self.odd.append(data)

    def unknown_decl(self, data: str) -> None:
        self.odd.append(data)


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.odd == [], "there are comments, declarations or instructions"
    return reader


def read_tags(html: str) -> list[tuple[str, dict[str, str]]]:
    """Return the tags of some HTML with their attributes."""
    return _read(html).tags


def read_words(html: str) -> str:
    """Return the text of some HTML."""
    return "".join(_read(html).text)
