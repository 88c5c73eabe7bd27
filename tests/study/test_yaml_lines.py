"""YAML with lines: words stay words, and every mistake has its line."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadFile
from panelist.study.yaml_lines import parse_yaml, read_yaml


@pytest.mark.parametrize(
    "word",
    ["yes", "no", "on", "off", "y", "True", "No", "2024-05-01", "12:30", "0x1f", "1_000", ".inf", "None"],
)
def test_words_that_older_yaml_takes_for_something_else_stay_text(word: str) -> None:
    assert parse_yaml(f"label: {word}").data == {"label": word}


@pytest.mark.parametrize(
    ("written", "value"), [("true", True), ("false", False), ("null", None), ("~", None), ("", None)]
)
def test_truth_and_nothing_are_few_words(written: str, value: object) -> None:
    assert parse_yaml(f"key: {written}").data["key"] is value


@pytest.mark.parametrize("written", ["5", "5.10", "007", "+3", "1e3", ".5", "-0.50"])
def test_numbers_remember_how_they_were_written(written: str) -> None:
    number = parse_yaml(f"key: {written}").data["key"]
    assert number == float(written)
    assert str(number) == written


def test_keys_are_text_even_where_they_look_like_numbers_or_truth() -> None:
    assert parse_yaml("{5.1: a, 5.10: b, true: c, yes: d}").data == {
        "5.1": "a",
        "5.10": "b",
        "true": "c",
        "yes": "d",
    }


def test_every_value_has_its_line() -> None:
    lines = parse_yaml("a: 1\nb:\n  - x\n  - c: |\n      long\n      text\n    d: 2\n").lines
    wanted = {(): 1, ("a",): 1, ("b",): 2, ("b", 0): 3, ("b", 1): 4, ("b", 1, "c"): 4, ("b", 1, "d"): 7}
    assert lines == wanted


def test_repeated_keys_are_told_with_both_lines() -> None:
    found = parse_yaml("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n")
    assert set(found.repeated) == {(("a",), 1, 5), (("b", "c"), 3, 4)}


def test_letters_escaped_in_two_halves_are_joined_and_single_halves_refused() -> None:
    assert parse_yaml(r'a: "\ud83d\ude00"').data == {"a": "😀"}
    with pytest.raises(BadFile, match=r"study.yaml:2 has half a character"):
        parse_yaml('a: 1\nb: "\\ud83d"', "study.yaml")


def test_anchors_and_merges_are_filled_in() -> None:
    found = parse_yaml("one: &s {type: vas, low: a}\ntwo: *s\nthree:\n  <<: *s\n  low: b\n")
    assert found.data["two"] == {"type": "vas", "low": "a"}
    assert found.data["three"] == {"type": "vas", "low": "b"}
    assert found.lines["three", "low"] == 5


@pytest.mark.slow
@pytest.mark.parametrize("merge", [False, True])
def test_a_bomb_of_aliases_is_refused(merge: bool) -> None:
    text = "a0: &a0 {k: 1}\n" if merge else "a0: &a0 [x, x]\n"
    for level in range(1, 12):
        inside = ", ".join([f"*a{level - 1}"] * 10)
        text += f"a{level}: &a{level} " + (f"{{<<: [{inside}]}}\n" if merge else f"[{inside}]\n")
    with pytest.raises(BadFile, match="200,000 values"):
        parse_yaml(text)


def test_an_alias_of_itself_is_refused() -> None:
    with pytest.raises(BadFile, match="inside the very thing"):
        parse_yaml("a: &x [*x]")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb:\n\t- c\n", 3, "a tab"),
        ("a:\n  b: 1\n c: 2\n", 3, "not indented like"),
        ("a: 1\nb: he said: no\n", 2, "belongs in quotation marks"),
        ("a: 1\nb: 'open\nc: 2\n", 2, "opened here and never closed"),
        ("a: [1, 2\nb: 3\n", 2, "bracket is opened"),
        ("a: 1\nb: {q: How good?, r: 2}\n", 2, "question mark .* quotation marks"),
        ("a: 1\nb: *x\n", 2, "without its anchor"),
        ("a: 1\nb: !thing x\n", 2, "the tag '!thing'"),
        ("a: 1\nb: !!python/object:os.system x\n", 2, "does not allow"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("a: 1\nb: @x\n", 2, "no value can begin"),
        ("a: 1\nb: x\x07\n", 2, "U\\+0007"),
        ("a: 1\n? [x]\n: 2\n", 2, "a key is a plain word"),
        ('a: 1\nb: "\\d"\n', 2, "backslash"),
        ("a: 1\nb: !!int many\n", 2, "is not a number"),
    ],
)
def test_syntax_errors_give_the_line_and_plain_words(text: str, line: int, words: str) -> None:
    with pytest.raises(BadFile, match=rf"^study.yaml:{line}.*{words}"):
        parse_yaml(text, "study.yaml")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[" * 3000, "a:\n" + "".join(" " * i + "- \n" for i in range(3))])
def test_depth_ends_in_a_sentence_or_a_value(text: str) -> None:
    if text.startswith("["):
        with pytest.raises(BadFile, match="levels deep"):
            parse_yaml(text)
    else:
        assert parse_yaml(text).data is not None


@pytest.mark.parametrize("content", ["a: é\r\nb: 2\r\n".encode(), b"\xef\xbb\xbf" + "a: é\nb: 2\n".encode()])
def test_windows_line_ends_and_byte_order_marks_make_no_difference(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(content)
    found = read_yaml(path)
    assert found.data == {"a": "é", "b": 2}
    assert found.lines["b",] == 2


def test_text_in_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes("title: x\r\nnoun: café\r\n".encode("latin-1"))
    with pytest.raises(BadFile, match=r"study.yaml:2 is not UTF-8 text \(byte 0xe9\)"):
        read_yaml(path)
    path.write_text("title: x", encoding="utf-16")
    with pytest.raises(BadFile, match="UTF-16"):
        read_yaml(path)


LETTERS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | LETTERS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LETTERS, inner, max_size=3),
    max_leaves=12,
)


class Quoting(yaml.SafeDumper):
    """PyYAML writes YAML 1.1, where 0E0 is text and needs no quotation marks; here all text has them."""


Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, '"'))


@given(st.dictionaries(LETTERS, VALUES, min_size=1, max_size=4))
def test_what_is_written_as_yaml_is_read_unchanged(data: dict[str, object]) -> None:
    assert parse_yaml(yaml.dump(data, Dumper=Quoting)).data == data


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_a_sentence(text: str) -> None:
    assert refusal(text) == "" or refusal(text).startswith("the text")


def refusal(text: str) -> str:
    try:
        parse_yaml(text)
    except BadFile as error:
        return str(error)
    return ""
