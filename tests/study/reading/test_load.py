"""Loading a study: all problems at once, round trips, and a hash that follows the content alone."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from panelist.core.errors import BadFile, BadStudy, UnknownName
from panelist.study.model import StudyFile
from panelist.study.outputs import read_outputs
from panelist.study.reading.load import find_problems, load_study
from panelist.study.start import list_templates
from panelist.study.study import Study
from tests.examples import examples
from tests.study.studies import HERE, PLAIN, check, write_outputs, write_study


def test_a_study_is_found_by_its_file_or_its_folder(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    study = load_study(path)
    assert (study.path, study.folder, study.title) == (path, tmp_path, "A study")
    assert (study.items, study.systems) == (("i1", "i2", "i3", "i4", "i5", "i6"), ("a", "b"))
    assert load_study(str(tmp_path)).hash == study.hash
    assert load_study(study) is study


def test_systems_follow_the_order_of_the_file(tmp_path: Path) -> None:
    study = load_study(write_study(tmp_path, PLAIN + "systems: [{name: b}, {name: a}]\n"))
    assert study.systems == ("b", "a")


def test_criteria_are_found_by_name(tmp_path: Path) -> None:
    study = load_study(write_study(tmp_path))
    assert study.criterion("fluency").heading == "Fluency"
    with pytest.raises(UnknownName, match=r"no criterion 'fluence'. Did you mean 'fluency'\?"):
        study.criterion("fluence")


EIGHT = """\
title: A study
langauge: en
criteria:
  - name: fluency
    scale: {type: likert, points: five}
  - name: meaning
    question: Q
    scale: {type: lickert}
design:
  type: lists
  trials_per_rater: 9
pay: {currency: EUR, hourly: lots}
analysis: {alpha: 0.7, findings: ['meaning: a > x']}
"""


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    found = check(tmp_path, EIGHT)
    assert [(problem.line, problem.key) for problem in found] == [
        (2, "langauge"),
        (4, "criteria[0].question"),
        (5, "criteria[0].scale.points"),
        (8, "criteria[1].scale.type"),
        (11, "design.trials_per_rater"),
        (12, "pay.hourly"),
        (13, "analysis.alpha"),
        (13, "analysis.findings[0]"),
    ]
    assert str(found[0]) == "study.yaml:2 langauge: unknown key. Did you mean 'language' or 'text_language'?"
    with pytest.raises(BadStudy) as caught:
        load_study(tmp_path)
    assert str(caught.value).splitlines()[0] == "The study has 8 problems:"
    assert list(caught.value.problems) == found


def test_problems_of_the_outputs_come_with_those_of_the_file(tmp_path: Path) -> None:
    path = write_study(tmp_path, PLAIN + "titel: x\n")
    (tmp_path / "outputs.csv").write_text("item,system,output\n1,a,x\n1,a,y\n2,b,\n", encoding="utf-8")
    assert {problem.file for problem in find_problems(path)} == {"study.yaml", "outputs.csv"}
    assert len(find_problems(path)) == 4


def test_a_misspelt_key_does_not_bring_further_complaints(tmp_path: Path) -> None:
    text = PLAIN.replace("title", "titel") + "ratres: {groups: [{name: n}]}\nbackground:\n"
    text += "  - {name: first, question: Q, options: [yes, no], groups: {yes: n, no: n}}\n"
    assert [problem.key for problem in check(tmp_path, text)] == ["titel", "ratres"]


def test_a_broken_criterion_does_not_hide_what_is_wrong_elsewhere(tmp_path: Path) -> None:
    text = PLAIN + "  - {name: broken, question: Q, scale: {type: likert, pionts: 7}}\n"
    text += "practice: {items: [{output: x, right: {fluency: [9], broken: [7]}}], pass_mark: 2}\n"
    assert [problem.key for problem in check(tmp_path, text)] == [
        "criteria[1].scale.pionts",
        "practice.items[0].right.fluency[0]",
        "practice.pass_mark",
    ]


# What stands in the file (the line marked is told), and the sentence.
SENTENCES = {
    "unknown key": ("noum: forecast", "unknown key. Did you mean 'noun'?"),
    "unknown word": ("collecting: {theme: drak}", "one of auto, light, dark; found 'drak'. Did you"),
    "unknown kind": ("checks: {items: [{kind: rept}]}", "one of instructed, repeat, degraded; found 'rept'."),
    "no kind": ("checks: {items: [{count: 1}]}", "the key 'kind' is missing"),
    "a word for a number": ("design: {seed: seven}", "should be a whole number; found 'seven'."),
    "a fraction": ("raters: {count: 2.5}", "should be a whole number; found 2.5."),
    "too small": ("design: {occasions: 0}", "should be more than 0; found 0."),
    "too large": ("pay: {fee_percent: 201}", "should be 200 or less; found 201."),
    "truth": ("collecting: {forced: sometimes}", "should be true or false; found 'sometimes'."),
    "truth for text": ("description: true", "should be text; found true. Put the word in quotation marks."),
    "a list for text": ("description: [a]", "should be text; found a list of 1."),
    "text for a list": ("systems: a", "should be a list (lines that begin with '- '); found 'a'."),
    "text for keys": ("design: lists", "keys with values (lines such as 'key: value'); found 'lists'."),
    "nothing": ("instructions:", "no value is given; it should be text. Leave the key out if"),
    "a name with a comma": ("raters: {groups: [{name: 'a, b'}]}", "without commas, line breaks and"),
    "an empty list": ("practice: {items: []}", "should be at least 1 of them; found an empty list."),
    "money": ("pay: {hourly: ten}", "should be a number; found 'ten'."),
    "another version": ("panelist: 2", "should be one of 1; found 2."),
}  # fmt: skip


@pytest.mark.parametrize("name", SENTENCES)
def test_the_sentence_says_what_was_found_and_what_is_allowed(tmp_path: Path, name: str) -> None:
    line, sentence = SENTENCES[name]
    (found,) = [problem for problem in check(tmp_path, f"{PLAIN}{line}{HERE}\n") if problem.grave]
    assert found.line == 6
    assert sentence in found.message


def test_a_missing_key_says_what_it_is_for(tmp_path: Path) -> None:
    (found,) = check(tmp_path, PLAIN.replace("    question: How fluent is it?\n", ""))
    assert (found.line, found.key) == (3, "criteria[0].question")
    assert found.message == "the key 'question' is missing. It says: the question, as raters read it."


def test_labels_that_do_not_match_the_points_are_told(tmp_path: Path) -> None:
    (found,) = check(tmp_path, PLAIN.replace("points: 5", "points: 5, labels: [a, b, c]"))
    assert (found.line, found.key) == (5, "criteria[0].scale")
    assert found.message == "there are 5 points, but 3 labels. Give 5 labels, or points: 3."


def test_repeated_keys_are_problems_with_both_lines(tmp_path: Path) -> None:
    (found,) = check(tmp_path, PLAIN + "title: Another\n")
    assert (found.line, found.key) == (6, "title")
    assert "lines 1 and 6" in found.message


def test_labels_stay_as_they_were_written(tmp_path: Path) -> None:
    study = load_study(
        write_study(tmp_path, PLAIN.replace("type: likert, points: 5", "type: binary, labels: [yes, no]"))
    )
    assert study.criteria[0].scale.model_dump()["labels"] == ("yes", "no")
    text = PLAIN.replace("points: 5", "points: 2, labels: [5.10, 007]")
    assert load_study(write_study(tmp_path, text)).criteria[0].scale.model_dump()["labels"] == ("5.10", "007")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"# only this\n", "is empty"),
        (b"- a\n", "holds no keys"),
        (b"a: [", "cannot be read as YAML"),
    ],
)
def test_what_is_no_study_file_at_all_is_a_bad_file(tmp_path: Path, content: bytes, words: str) -> None:
    path = write_study(tmp_path)
    path.write_bytes(content)
    with pytest.raises(BadFile, match=words):
        find_problems(path)


def test_a_missing_study_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="Make one with: panelist init"):
        load_study(tmp_path)
    write_study(tmp_path)
    with pytest.raises(BadFile, match=r"Did you mean 'study.yaml'\?"):
        load_study(tmp_path / "studdy.yaml")


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks_do_not_change_the_study(
    tmp_path: Path, ends: str, mark: bytes
) -> None:
    path = write_study(tmp_path)
    plain = load_study(path).hash
    path.write_bytes(mark + PLAIN.replace("\n", ends).encode())
    assert load_study(path).hash == plain


def test_hash_does_not_follow_comments_order_or_defaults(tmp_path: Path) -> None:
    plain = load_study(write_study(tmp_path)).hash
    title, rest = PLAIN.split("\n", 1)
    assert load_study(write_study(tmp_path, f"# a remark\n{rest}{title}\nlanguage: en\n")).hash == plain


@pytest.mark.parametrize(
    "change",
    [("A study", "Another"), ("points: 5", "points: 7"), ("likert, points: 5", "vas, low: a, high: b")],
)
def test_hash_follows_the_content(tmp_path: Path, change: tuple[str, str]) -> None:
    plain = load_study(write_study(tmp_path)).hash
    assert load_study(write_study(tmp_path, PLAIN.replace(*change))).hash != plain


def test_hash_follows_the_outputs_and_their_order(tmp_path: Path) -> None:
    study = load_study(write_study(tmp_path))
    path = tmp_path / "outputs.csv"
    header, first, second, *rest = path.read_text(encoding="utf-8").splitlines()
    for rows in ([second, first], [first + ".", second]):
        path.write_text("\n".join([header, *rows, *rest]), encoding="utf-8")
        assert load_study(tmp_path).hash != study.hash


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=20)
NAMES = st.text("abcdefghijklmnopqrstuvwxyzäßλ0123456789-_", min_size=1, max_size=10)
SCALES: st.SearchStrategy[Any] = st.one_of(
    st.fixed_dictionaries({"type": st.just("likert"), "points": st.integers(2, 11)}),
    st.fixed_dictionaries({"type": st.just("vas"), "low": st.just("worst"), "high": st.just("best")}),
    st.fixed_dictionaries(
        {"type": st.just("binary"), "labels": st.lists(WORDS, min_size=2, max_size=2, unique_by=str.casefold)}
    ),
)
STUDIES: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {
        "title": WORDS,
        "criteria": st.lists(
            st.fixed_dictionaries({"name": NAMES, "question": WORDS, "scale": SCALES}),
            min_size=1,
            max_size=4,
            unique_by=lambda one: str(one["name"]).casefold(),
        ),
    },
    optional={
        "description": WORDS,
        "design": st.fixed_dictionaries({"seed": st.integers(0, 2**40), "occasions": st.integers(1, 3)}),
        "raters": st.fixed_dictionaries({"count": st.integers(6, 99), "experts": st.booleans()}),
        "pay": st.fixed_dictionaries({"hourly": st.decimals(0, 99, places=2).map(str)}),
    },
)


@pytest.mark.slow
@settings(examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STUDIES, st.randoms())
def test_a_study_survives_being_written_and_read(tmp_path: Path, data: dict[str, Any], random: Any) -> None:
    path = write_study(tmp_path)
    path.write_text(json.dumps(data), encoding="utf-8")
    wanted = Study(StudyFile.model_validate(data), read_outputs(write_outputs(tmp_path)))
    assert (load_study(path).file, load_study(path).hash) == (wanted.file, wanted.hash)
    keys = list(data)
    random.shuffle(keys)
    path.write_text("# a remark\n" + json.dumps({key: data[key] for key in keys}), encoding="utf-8")
    assert load_study(path).hash == wanted.hash
    again = yaml.safe_dump(load_study(path).file.model_dump(mode="json"), default_style='"')
    path.write_text(again, encoding="utf-8")
    assert load_study(path).hash == wanted.hash


@pytest.mark.parametrize("template", sorted(list_templates()))
def test_every_template_is_a_study_without_problems(template: str) -> None:
    study = load_study(str(list_templates()[template]))
    assert study.notes == ()
    assert len(study.systems) > 1
