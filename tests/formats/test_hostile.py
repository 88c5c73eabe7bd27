"""Whatever a system wrote: nothing acts, nothing is fetched, nothing is lost."""

import gc
import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.prose import list_words
from panelist.formats import FORMATS, FormatOptions, Stimulus
from panelist.formats.markdown import LONGEST_MARKDOWN
from panelist.formats.sanitise import ATTRIBUTES, CLASSES, TAGS, VALUES
from tests.formats.corpus import HOSTILE, list_hostile, read_tags, read_words, say

OPTIONS = FormatOptions()
WORD = re.compile(r"[a-z]{3,}")
WRITTEN = ("plain", "markdown", "code")
PIECES = st.sampled_from(
    [
        *HOSTILE,
        *(
            "# ",
            "## x\n",
            "\n\n",
            "\n",
            "- ",
            "1. ",
            "> ",
            "    ",
            "\t",
            "| a | b |\n|--|--|\n",
            "```",
            "```py\n",
        ),
        *(
            "**",
            "*",
            "_",
            "~~",
            "`",
            "$",
            "$$",
            "\\(",
            "\\)",
            "\\[",
            "\\]",
            "[",
            "](",
            ")",
            "![",
            "<",
            ">",
            "&lt;",
        ),
        *("word ", "\\", "\u202e", "\u05d0", "***\n", "- [x] ", "\r\n", "---\n", "é", "&", '"', "'", "\x00"),
    ]
)


def check_allowed(html: str) -> None:
    """Fail where anything but what the list allows is in some HTML."""
    for tag, attributes in read_tags(html):
        assert tag in TAGS, tag
        for name, value in attributes.items():
            if name == "class":
                assert set(value.split()) <= CLASSES.get(tag, frozenset()), (tag, value)
            elif name in VALUES.get(tag, {}):
                assert value in VALUES[tag][name], (tag, name, value)
            else:
                assert name in ATTRIBUTES.get(tag, ()), (tag, name)
                assert name == "aria-label" or re.fullmatch(r"-?[0-9.]{1,11}(em|rem|ex)?", value), (
                    name,
                    value,
                )


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("text", list_hostile())
def test_nothing_comes_out_but_what_is_allowed(name: str, text: str) -> None:
    check_allowed(FORMATS[name].show(Stimulus(text, language=text[:40]), OPTIONS, say))


FRAMES = frozenset({"img", "audio", "video", "track", "label", "input", "details", "summary"})
"""What dialogues and media put around texts, besides what texts may hold."""
HARMLESS = frozenset(
    list_words("alt aria-label class controls controlslist dir disablepictureinpicture kind")
)
HARMLESS |= frozenset(list_words("label open playsinline preload type value default"))
ADDRESSED = re.compile(r"media:\d+")


@pytest.mark.parametrize("name", sorted(set(FORMATS) - set(WRITTEN)))
@pytest.mark.parametrize("text", list_hostile())
def test_frames_of_dialogues_and_media_let_nothing_of_a_text_act(name: str, text: str) -> None:
    cells = [Stimulus(text, alt=text, transcript=text, captions=text)]
    cells.append(
        Stimulus(json.dumps([{"role": "assistant", "text": text, "images": [text], "audio": [text]}]))
    )
    cells.append(Stimulus(json.dumps([{"file": text, "alt": text}])))
    for cell in cells:
        for tag, attributes in read_tags(FORMATS[name].show(cell, OPTIONS, say)):
            assert tag in TAGS | FRAMES, tag
            for attribute, value in attributes.items():
                if attribute in ("src", "name"):
                    assert ADDRESSED.fullmatch(value), (tag, attribute, value)
                else:
                    assert attribute in HARMLESS, (tag, attribute)


@given(st.lists(PIECES | st.text(max_size=8), max_size=40).map("".join), st.booleans(), st.booleans())
def test_any_text_in_any_order_stays_within_the_list(text: str, formulas: bool, flatten: bool) -> None:
    options = FormatOptions(formulas=formulas, flatten=flatten)
    for name in WRITTEN:
        check_allowed(FORMATS[name].show(Stimulus(text), options, say))


@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_word_of_a_text_is_lost(text: str) -> None:
    """Each word that Markdown does not turn into an address or a language is there."""
    plain = re.sub(r"\]\([^)\n]*\)?|\[[^\]\n]*\]:[^\n]*|(?:```|~~~)[ \t]*\S*|[$\\]|&\w+;|<[^>]*>", " ", text)
    shown = read_words(FORMATS["markdown"].show(Stimulus(text), FormatOptions(formulas=False), say))
    for word in WORD.findall(plain):
        assert word in shown, (word, shown)


def test_a_row_with_more_cells_than_the_header_keeps_its_words() -> None:
    wide = "| a | b |\n|---|---|\n| 1 | 2 | three |\n"
    html = FORMATS["markdown"].show(Stimulus(wide), OPTIONS, say)
    assert "three" in read_words(html)
    assert "<table" not in html
    narrow = "| a | b |\n|---|---|\n| 1 \\| 2 | x |\n| y |\n"
    assert "<table" in FORMATS["markdown"].show(Stimulus(narrow), OPTIONS, say)
    quoted = "".join(f"> {line}\n" for line in narrow.splitlines())
    assert "<table" in FORMATS["markdown"].show(Stimulus(quoted), OPTIONS, say)


def test_code_comes_out_letter_by_letter() -> None:
    text = "\tif a < b:\n\t\treturn 'x' # &amp; <b>\n\n\n  end"
    assert text in read_words(FORMATS["code"].show(Stimulus(text, language="python"), OPTIONS, say))
    assert text in read_words(FORMATS["markdown"].show(Stimulus(f"```python\n{text}\n```"), OPTIONS, say))


@pytest.mark.parametrize(
    "piece",
    [
        "\\(",
        "\\[",
        "$$a\n",
        "- $$a\n",
        "\\[a\n",
        "\\[a\n\n",
        "$a ",
        "[",
        "![",
        "*a ",
        "> ",
        "`` ` ",
        "|a",
        "<",
        "[a]: b\n",
    ],
)
@pytest.mark.slow
def test_the_work_for_a_text_grows_no_faster_than_the_text(piece: str) -> None:
    """Twice the text takes about twice the time: of this thread alone, and without collecting the garbage of
    other tests, so that neither others at work nor what ran before matter.
    """

    def measure(length: int) -> float:
        text = (piece * (length // len(piece) + 1))[:length]
        gc.disable()
        try:
            began = time.thread_time()
            FORMATS["markdown"].show(Stimulus(text), OPTIONS, say)
            FORMATS["markdown"].rewrite(Stimulus(text), OPTIONS, str)
            return time.thread_time() - began
        finally:
            gc.enable()

    measure(2000)
    half, whole = measure(LONGEST_MARKDOWN // 4), measure(LONGEST_MARKDOWN)
    assert whole < 12 * half + 1.0


def test_a_longer_text_is_shown_as_plain_text_and_check_says_so() -> None:
    text = "**a** " * LONGEST_MARKDOWN
    shown = FORMATS["markdown"].show(Stimulus(text), OPTIONS, say)
    assert shown.startswith("<p>**a** ")
    assert "shown as plain text" in FORMATS["markdown"].find_note(Stimulus(text), OPTIONS)
    assert FORMATS["markdown"].find_note(Stimulus(text[:LONGEST_MARKDOWN]), OPTIONS) == ""


def test_the_turns_of_a_dialogue_are_as_long_together_as_one_text_may_be() -> None:
    """A megabyte of Markdown in 200 turns took half a minute, each of them being short enough."""
    options = FormatOptions.model_validate({"turns": {"inside": "markdown"}})
    turns = FORMATS["turns"]

    def make(size: int) -> Stimulus:
        said = [{"role": "assistant", "text": "**a** " * (size // 12)} for _ in range(2)]
        return Stimulus(json.dumps([{"role": "system", "text": "**b** " * LONGEST_MARKDOWN}, *said]))

    short, long = make(LONGEST_MARKDOWN), make(LONGEST_MARKDOWN + 100)
    assert "<strong>a</strong>" in turns.show(short, options, say)
    assert turns.find_note(short, options) == ""
    shown = turns.show(long, options, say)
    assert "<p>**a** **a**" in shown
    assert "<strong>" not in shown
    assert "in its turns, so they are shown as plain text" in turns.find_note(long, options)
    assert turns.read_words(long, options).startswith("**a**")
