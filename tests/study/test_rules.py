"""Rules over the whole study: a bad file in, one sentence out, at the right line."""

from pathlib import Path

import pytest

from panelist.study.rules.base import RULES
from tests.study.studies import PLAIN, check, marked_line

PAIRS = """\
title: A study
criteria:
  - name: fluency
    question: Which is more fluent?
    scale: {type: pairs}
"""
BEST_WORST = PAIRS.replace("type: pairs", "type: best-worst")
BINARY = PLAIN.replace("{type: likert, points: 5}", "{type: binary}")
TEXT = PLAIN.replace("{type: likert, points: 5}", "{type: text}")
BOTH = PAIRS + "  - name: meaning\n    question: How well kept?\n    scale: {type: likert}\n"
TWO = PLAIN + "  - name: meaning\n    question: How well kept?\n    scale: {type: likert}\n"

# Name of the case: study file (the line marked is the one to be told), systems, words of the sentence.
GRAVE: dict[str, tuple[str, str, str]] = {
    "two criteria of one name": (
        PLAIN + "  - name: Fluency  # here\n    question: Q\n    scale: {type: text}\n",
        "ab",
        "another criterion is called 'Fluency' already (line 3)",
    ),
    "two systems of one name": (
        PLAIN + "systems:\n  - name: a\n  - name: b\n  - name: a  # here\n",
        "ab",
        "another system is called 'a' already (line 7)",
    ),
    "style that is in no column": (
        PAIRS + "design: {type: pairs}\nanalysis:\n  style: [log(tokens)]  # here\n",
        "ab",
        "has no column 'tokens', and it is none of what is counted in outputs: words, characters,",
    ),
    "a pair shown often of no system": (
        PAIRS + "design:\n  type: pairs\n  often:\n    - {pair: [a, c], times: 3}  # here\n",
        "ab",
        "no system is called 'c'",
    ),
    "a pair shown often of one system": (
        PAIRS + "design:\n  type: pairs\n  often:\n    - {pair: [a, a], times: 3}  # here\n",
        "ab",
        "should name two systems; found 'a' twice",
    ),
    "a pair shown often where outputs are rated": (
        BOTH + "design:\n  type: pairs\n  often:  # here\n    - {pair: [a, b]}\n",
        "ab",
        "would be rated more often than others",
    ),
    "a pair shown often twice": (
        PAIRS + "design:\n  type: pairs\n  often:\n    - {pair: [a, b]}\n    - {pair: [b, a]}  # here\n",
        "ab",
        "is named above already",
    ),
    "style of ratings": (
        PLAIN + "analysis:\n  style: [words]  # here\n",
        "ab",
        "is for criteria that compare outputs, and there is none",
    ),
    "two groups of one name": (
        PLAIN + "raters:\n  groups:\n    - name: x\n    - name: x  # here\n",
        "ab",
        "another group is called 'x' already (line 8)",
    ),
    "two questions of one name": (
        PLAIN + "background:\n  - {name: age, question: Q, type: number}\n"
        "  - {name: age, question: Q, type: text}  # here\n",
        "ab",
        "another question is called 'age' already (line 7)",
    ),
    "a system without outputs": (
        PLAIN + "systems:\n  - name: a\n  - name: b\n  - name: ab  # here\n",
        "ab",
        "outputs.csv has no outputs of system 'ab'. Did you mean 'b' or 'a'?",
    ),
    "outputs of a system that is not listed": (
        PLAIN + "systems:  # here\n  - name: a\n",
        "abc",
        "also has outputs of 'b' and 'c', which are not listed here",
    ),
    "a comparison of one output": (
        PAIRS.replace("{type: pairs}", "{type: pairs}  # here"),
        "ab",
        "a pairs scale compares outputs, but design latin-square shows one at a time. Set "
        "design.type to pairs",
    ),
    "a rating of two outputs": (
        PLAIN.replace("points: 5}", "points: 5}  # here") + "design: {type: pairs}\n",
        "ab",
        "a likert scale rates one output, but design pairs shows several",
    ),
    "pairs on pages": (
        PAIRS.replace("{type: pairs}", "{type: pairs}  # here") + "design: {type: pages}\n",
        "ab",
        "a pairs scale needs design.type pairs; found pages",
    ),
    "pairs of one system": (
        PAIRS + "design:\n  type: pairs  # here\n",
        "a",
        "design pairs needs two systems or more, but there is only one ('a')",
    ),
    "nothing to carry over": (
        PLAIN + "design:\n  type: williams  # here\n",
        "a",
        "design williams needs two systems or more",
    ),
    "tuples larger than the number of systems": (
        BEST_WORST + "design:\n  type: best-worst\n  shown: 5  # here\n",
        "abcd",
        "found shown 5 and 4 systems. Set it to 3 … 4.",
    ),
    "tuples of two": (
        BEST_WORST + "design:\n  type: best-worst\n  shown: 2  # here\n",
        "abc",
        "shows at least 3 outputs",
    ),
    "best and worst of two systems": (
        BEST_WORST + "design:  # here\n  type: best-worst\n",
        "ab",
        "With 2 systems use design pairs.",
    ),
    "best and worst on pages of two": (
        BEST_WORST.replace("{type: best-worst}", "{type: best-worst}  # here") + "design: {type: pages}\n",
        "ab",
        "compares at least 3 outputs, but design pages shows 2 on a page",
    ),
    "a tuple of ratings": (
        PLAIN.replace("points: 5}", "points: 5}  # here") + "design: {type: best-worst}\n",
        "abc",
        "shows several to be compared",
    ),
    "outputs that come back to be rated": (
        BOTH + "design:\n  type: pairs\n  items_may_return: true  # here\n",
        "abc",
        "'meaning' would be rated again for outputs that come back in another pair",
    ),
    "practice that compares one output": (
        BOTH + "design: {type: pairs, rated: alone}\npractice:\n  items:\n    - output: x\n"
        "      right:\n        fluency: [1]  # here\n",
        "ab",
        "'fluency' compares outputs, and this shows one",
    ),
    "practice that rates two outputs where they are rated alone": (
        BOTH + "design: {type: pairs, rated: alone}\npractice:\n  items:\n    - outputs: [x, y]\n"
        "      right:\n        meaning: [1, 2]  # here\n",
        "ab",
        "so 'meaning' is asked about one output",
    ),
    "practice of one output where ratings have no page of their own": (
        BOTH + "design: {type: pairs}\npractice:\n  items:\n    - output: x  # here\n",
        "ab",
        "design pairs shows several outputs on a page; give outputs",
    ),
    "a degraded check where nothing can be lower": (
        BINARY + "checks:\n  items:\n    - kind: degraded  # here\n",
        "ab",
        "needs a criterion with an ordered rating scale (verbal, likert, vas, graphic or "
        "magnitude); found only binary",
    ),
    "a repeat check of free text": (
        TEXT + "checks:\n  items:\n    - kind: repeat  # here\n",
        "ab",
        "free texts cannot be compared with each other",
    ),
    "an example whose answer is off the scale": (
        PLAIN + "examples:\n  - output: x\n    answers:\n      fluency: 6  # here\n",
        "ab",
        "The answer must be a whole number from 1 to 5. Got '6' instead.",
    ),
    "an example for another criterion": (
        PLAIN + "examples:\n  - output: x\n    answers:\n      fluencie: 5  # here\n",
        "ab",
        "no criterion is called 'fluencie'. Did you mean 'fluency'?",
    ),
    "an example without a text": (
        PLAIN + "examples:\n  - answers: {fluency: 5}  # here\n",
        "ab",
        "the key 'output' is missing: the text to judge",
    ),
    "an example with two answers to one question": (
        PLAIN + "examples:\n  - output: x\n    answers:\n      fluency: [1, 2]  # here\n",
        "ab",
        "one answer is needed, 1 in all; found 2",
    ),
    "a practice item with several outputs where one is shown": (
        PLAIN + "practice:\n  items:\n    - outputs: [x, y]  # here\n",
        "ab",
        "design latin-square shows one output at a time; give output",
    ),
    "a practice item with one output where two are shown": (
        PAIRS + "design: {type: pairs}\npractice:\n  items:\n    - output: x  # here\n",
        "ab",
        "give outputs, a list of texts",
    ),
    "a practice item with three outputs where two are shown": (
        PAIRS + "design: {type: pairs}\npractice:\n  items:\n    - outputs: [x, y, z]  # here\n",
        "ab",
        "design pairs shows 2 outputs on a page; found 3",
    ),
    "a practice item with both": (
        PLAIN + "practice:\n  items:\n    - output: x  # here\n      outputs: [x, y]\n",
        "ab",
        "output and outputs are both given",
    ),
    "a practice answer that the scale lacks": (
        PAIRS + "design: {type: pairs}\npractice:\n  items:\n    - outputs: [x, y]\n      right:\n"
        "        fluency:\n" + "          - 1\n          - tie  # here\n",
        "ab",
        "The answer must be 1 (the first) or 2 (the second). Got 'tie' instead.",
    ),
    "practice answers for some of the outputs of a page": (
        PLAIN
        + "design: {type: pages}\npractice:\n  items:\n    - outputs: [x, y, z]\n      right:\n"
        + "        fluency: [1, 5]  # here\n",
        "abc",
        "one answer for each output shown is needed, 3 in all; found 2",
    ),
    "a pass mark that nobody can reach": (
        PLAIN + "practice:\n  items:\n    - {output: x, right: {fluency: [1]}}\n    - {output: y}\n"
        "  pass_mark: 2  # here\n",
        "ab",
        "2 items must be right, but practice has 1 that can be (1 item without right: cannot count)",
    ),
    "an instructed check that cannot be followed": (
        PLAIN + "checks:\n  items:\n    - text: Choose nine\n      answers:\n        fluency: 9  # here\n"
        "      kind: instructed\n",
        "ab",
        "The answer must be a whole number from 1 to 5. Got '9' instead.",
    ),
    "an answer that leads to no group": (
        PLAIN + "raters: {groups: [{name: native}]}\nbackground:\n  - name: first\n    question: Q\n"
        "    options: [yes, no]\n" + "    groups:\n      yes: native\n      no: nonnative  # here\n",
        "ab",
        "no group is called 'nonnative'. Did you mean 'native'?",
    ),
    "a group for an answer that is not offered": (
        PLAIN + "raters: {groups: [{name: native}]}\nbackground:\n  - name: first\n    question: Q\n"
        "    options: [Yes, No]\n" + "    groups:\n      yes: native  # here\n",
        "ab",
        "'yes' is not among the options. Did you mean 'Yes'?",
    ),
    "a choice without options": (
        PLAIN + "background:\n  - name: first  # here\n    question: Q\n",
        "ab",
        "needs two options or more; found 0",
    ),
    "options of a number": (
        PLAIN
        + "background:\n  - name: age\n    question: Q\n    type: number\n    options: [1, 2]  # here\n",
        "ab",
        "a question of type number has no options",
    ),
    "two questions that make groups": (
        PLAIN + "raters: {groups: [{name: n}]}\nbackground:\n"
        "  - {name: one, question: Q, options: [y, z], groups: {y: n}}\n"
        + "  - name: two\n    question: Q\n    options: [y, z]\n    groups: {y: n}  # here\n",
        "ab",
        "the question 'one' puts raters into groups already",
    ),
    "groups that do not add up": (
        PLAIN + "raters:\n  count: 30  # here\n  groups: [{name: x, raters: 10}, {name: y, raters: 15}]\n",
        "ab",
        "30 raters in all, but the groups have 10 + 15 = 25. Set count to 25",
    ),
    "a group that nobody is left for": (
        PLAIN + "raters:\n  count: 10  # here\n  groups: [{name: x, raters: 10}, {name: y}]\n",
        "ab",
        "need 10 and 1 more group is to be filled",
    ),
    "more trials than items": (
        PLAIN + "design:\n  type: lists\n  trials_per_rater: 7  # here\n",
        "ab",
        "7 trials per rater, but 6 items, and items_may_return is false. Set trials_per_rater to 6 "
        "or less, or "
        "items_may_return to true (then up to 12)",
    ),
    "more trials than outputs": (
        PLAIN + "design:\n  type: lists\n  items_may_return: true\n  trials_per_rater: 13  # here\n",
        "ab",
        "13 trials per rater, but 6 items make 12 outputs. Set trials_per_rater to 12 or less",
    ),
    "more trials than pairs": (
        PAIRS + "design:\n  type: pairs\n  items_may_return: true\n  trials_per_rater: 20  # here\n",
        "abc",
        "6 items make 18 pairs",
    ),
    "a full design with less than all": (
        PLAIN + "design:\n  type: full\n  trials_per_rater: 5  # here\n",
        "ab",
        "design full shows every rater all 12 outputs",
    ),
    "more trials than a square has": (
        PLAIN + "design:\n  type: williams\n  trials_per_rater: 7  # here\n",
        "ab",
        "7 trials per rater, but 6 items",
    ),
    "fewer raters than ratings": (
        PLAIN + "design: {type: lists, ratings_per_output: 5}\nraters:\n  count: 4  # here\n",
        "ab",
        "4 raters, but 5 ratings per output: nobody rates one output twice. Set it to 5 or more",
    ),
    "raters, trials and ratings that clash": (
        PLAIN
        + "design: {type: lists, trials_per_rater: 6, ratings_per_output: 3}\nraters:\n  count: 5  # here\n",
        "ab",
        "5 raters × 6 trials = 30 ratings, and 12 outputs × 3 ratings = 36. That cannot be reached; "
        "what would "
        "work: 6 raters or 2 ratings per output.",
    ),
    "ratings that a square cannot reach": (
        PLAIN + "design: {ratings_per_output: 3}\nraters:\n  count: 5  # here\n",
        "ab",
        "5 raters × 6 trials = 30 ratings",
    ),
    "a group too small for its ratings": (
        PLAIN
        + "design: {type: lists, ratings_per_output: 3, trials_per_rater: 6}\nraters:\n  groups:\n"
        + "    - {name: x, raters: 6}\n    - {name: y, raters: 4}  # here\n",
        "ab",
        "4 raters × 6 trials = 24 ratings",
    ),
    "one criterion per rater needs more raters": (
        TWO + "design: {type: lists, criteria: one per rater, ratings_per_output: 3, trials_per_rater: 6}\n"
        "raters:\n" + "  count: 5  # here\n",
        "ab",
        "3 ratings per output × 2 criteria (one per rater) = 6 raters",
    ),
    "raters that no number of trials helps": (
        PLAIN + "design: {type: lists, ratings_per_output: 4}\nraters:\n  count: 7  # here\n",
        "ab",
        "7 raters × 6 trials at most = 42 ratings, and 12 outputs × 4 ratings = 48. That cannot be reached; "
        "what would work: 8 raters or 3 ratings per output.",
    ),
    "raters that do not divide into groups": (
        PLAIN
        + "design: {type: lists, ratings_per_output: 2, trials_per_rater: 6}\nraters:\n  count: 7  # here\n"
        + "  groups: [{name: x}, {name: y}]\n",
        "ab",
        "7 raters in 2 parts: 3 raters × 6 trials = 18 ratings, and 12 outputs × 2 ratings = 24.",
    ),
    "a group left with too few": (
        PLAIN
        + "design: {type: lists, ratings_per_output: 2, trials_per_rater: 6}\nraters:\n  count: 7  # here\n"
        + "  groups: [{name: x, raters: 4}, {name: y}]\n",
        "ab",
        "3 raters × 6 trials = 18 ratings, and 12 outputs × 2 ratings = 24.",
    ),
    "fewer raters than groups": (
        PLAIN + "raters:\n  count: 1  # here\n  groups: [{name: x}, {name: y}]\n",
        "ab",
        "1 rater, but 2 groups. Set it to 2 or more.",
    ),
    "a redirect that is not https": (
        PLAIN + "collecting:\n  outcomes:\n    finished:\n      redirect: javascript:alert(1)  # here\n",
        "ab",
        "should be an https address",
    ),
    "a redirect with something unknown to fill in": (
        PLAIN + "collecting:\n  outcomes:\n    declined:\n      redirect: 'https://x.org/{token}'  # here\n",
        "ab",
        "only {code} and {id} are filled in; found {token}",
    ),
    "a formula that is none": (
        PLAIN + "analysis:\n  formula: rating ~ system + (1 | rater  # here\n",
        "ab",
        "The formula cannot be read: this '(' is never closed.",
    ),
    "a formula with an unknown column": (
        PLAIN + "analysis:\n  formula: rating ~ systm + (1 | rater)  # here\n",
        "ab",
        "the ratings will have no column 'systm'. Did you mean 'system'?",
    ),
    "a formula for something else": (
        PLAIN + "analysis:\n  formula: seconds ~ system  # here\n",
        "ab",
        "should begin with 'rating ~'; found 'seconds' there",
    ),
    "a word that is no formula": (
        PLAIN + "analysis:\n  formula: maximum  # here\n",
        "ab",
        "should be a formula or the word maximal; found 'maximum'",
    ),
    "a finding that is none": (
        PLAIN + "analysis:\n  findings:\n    - a is better  # here\n",
        "ab",
        "should read 'criterion: A > B'",
    ),
    "a finding on nothing": (
        PLAIN + "analysis:\n  findings:\n    - 'fluncy: a > b'  # here\n",
        "ab",
        "no criterion is called 'fluncy'. Did you mean 'fluency'?",
    ),
    "a finding about nobody": (
        PLAIN + "analysis:\n  findings:\n    - 'fluency: a > c'  # here\n",
        "ab",
        "no system is called 'c'",
    ),
    "an answer to no question of the datasheet": (
        PLAIN + "heds:\n  ethics: yes  # here\n",
        "ab",
        "the key should be the number of a HEDS question",
    ),
    "a language by name": (
        PLAIN + "language: English  # here\n",
        "ab",
        "should be a language code such as en",
    ),
    "half of what the original paid": (
        PLAIN + "pay:\n  living_wage: 12.60\n  original_wage: 8  # here\n  minutes_per_trial: 1\n",
        "ab",
        "original_minimum_wage is missing",
    ),
}

NOTES: dict[str, tuple[str, str, str]] = {
    "more raters than needed": (
        PLAIN
        + "design: {type: lists, trials_per_rater: 6, ratings_per_output: 3}\nraters:\n  count: 7  # here\n",
        "ab",
        "7 raters × 6 trials = 42 ratings, and 12 outputs × 3 ratings = 36. Some will get more",
    ),
    "pay without minutes": (
        PLAIN + "pay:  # here\n  living_wage: 12.60\n",
        "ab",
        "minutes_per_trial is not given",
    ),
    "pay without a living wage": (
        PLAIN + "pay:  # here\n  hourly: 9\n  minutes_per_trial: 1\n",
        "ab",
        "living_wage is not given",
    ),
    "pay below the living wage": (
        PLAIN + "pay:\n  living_wage: 12.60\n  hourly: 9  # here\n  minutes_per_trial: 1\n",
        "ab",
        "12.60 is paid",
    ),
    "pay for volunteers": (
        PLAIN + "raters: {paid: no}\npay:  # here\n  hourly: 9\n  minutes_per_trial: 1\n",
        "ab",
        "pay has no effect",
    ),
    "tuples of a square": (
        PLAIN + "design:\n  shown: 4  # here\n",
        "ab",
        "has no effect with design latin-square",
    ),
    "days between one occasion": (
        PLAIN + "design:\n  days_between: 7  # here\n",
        "ab",
        "has no effect with one occasion",
    ),
    "one output that is rated alone anyhow": (
        PLAIN + "design:\n  rated: alone  # here\n",
        "ab",
        "has no effect: it is for ratings in designs that show several outputs",
    ),
    "comparisons are never rated alone": (
        PAIRS + "design:\n  type: pairs\n  rated: alone  # here\n",
        "ab",
        "has no effect: it is for ratings in designs that show several outputs",
    ),
    "groups that no question fills": (
        PLAIN + "raters:\n  groups:  # here\n    - name: x\n",
        "ab",
        "no background question puts raters into these groups",
    ),
    "checks that may all be failed": (
        PLAIN + "checks:\n  items:\n    - kind: repeat\n  then: exclude\n  allowed: 1  # here\n",
        "ab",
        "a rater may fail 1 of 1 check",
    ),
    "a degraded copy that one criterion cannot tell": (
        BINARY + "  - name: meaning\n    question: Q\n    scale: {type: likert}\nchecks:\n  items:\n"
        "    - kind: degraded  # here\n",
        "ab",
        "judged by 'meaning' only",
    ),
}


@pytest.mark.parametrize("name", GRAVE)
def test_problem_is_told_once_at_its_line(tmp_path: Path, name: str) -> None:
    text, systems, words = GRAVE[name]
    found = [problem for problem in check(tmp_path, text, systems=systems) if problem.grave]
    assert [problem.line for problem in found] == [marked_line(text)], [str(one) for one in found]
    assert words in found[0].message


@pytest.mark.parametrize("name", NOTES)
def test_note_is_told_once_at_its_line(tmp_path: Path, name: str) -> None:
    text, systems, words = NOTES[name]
    (found,) = check(tmp_path, text, systems=systems)
    assert (found.line, found.grave) == (marked_line(text), False)
    assert words in found.message


FINE = {
    "plain": PLAIN,
    "labels as answers": BINARY
    + "practice:\n  items:\n    - {output: x, right: {fluency: [yes]}}\n  pass_mark: 1\n",
    "one output in the practice of pages": PLAIN
    + "design: {type: pages}\npractice:\n  items:\n    - {output: x, right: {fluency: [5, 4]}}\n",
    "criteria in turn may differ": TWO.replace(
        "How well kept?\n    scale: {type: likert}", "B?\n    scale: {type: choose-one}"
    )
    + "design: {type: pages, criteria: in turn}\n",
    "ratings and comparisons on one page": BOTH + "design: {type: pairs}\n",
    "ratings and choices on one page": TWO.replace(
        "How well kept?\n    scale: {type: likert}", "B?\n    scale: {type: choose-one}"
    )
    + "design: {type: pages}\n",
    "one pair of an item may return": BOTH + "design: {type: pairs, items_may_return: true}\n",
    "practice of both kinds apart": BOTH
    + "design: {type: pairs, rated: alone}\nexamples:\n  - {outputs: [x, y], answers: {fluency: 1}}\n"
    + "practice:\n  items:\n    - {output: x, right: {meaning: [1, 2]}}\n"
    + "    - {outputs: [x, y], right: {fluency: [1]}}\n  pass_mark: 2\n",
    "numbers that meet": PLAIN
    + "design: {type: lists, trials_per_rater: 6, ratings_per_output: 3}\nraters: {count: 6}\n",
    "groups that meet": PLAIN
    + "raters: {count: 5, groups: [{name: n, raters: 2}, {name: m, raters: 3}]}\nbackground:\n"
    + "  - {name: first, question: Q, options: [yes, no], groups: {yes: n, no: m}}\n",
    "an analysis": PLAIN
    + "analysis: {formula: 'rating ~ system + (1 | item)', findings: ['fluency: a > b']}\n",
    "a datasheet": PLAIN + "heds: {5.10: x, 3.1.3.2: true, 1.1: [a, b]}\n",
    "a language": PLAIN + "language: pt-BR\ntext_language: ar\n",
    "a redirect": PLAIN
    + "collecting: {outcomes: {finished: {redirect: 'https://app.example.org/x?cc={code}&id={id}'}}}\n",
}


@pytest.mark.parametrize("name", FINE)
def test_nothing_is_said_about_a_study_that_is_fine(tmp_path: Path, name: str) -> None:
    assert check(tmp_path, FINE[name]) == []


def test_every_rule_says_what_it_holds() -> None:
    assert len(RULES) == len({rule.__name__ for _, rule in RULES})
    assert all(rule.__doc__ for _, rule in RULES)


def test_broken_scales_raise_no_further_problems(tmp_path: Path) -> None:
    """What no criterion is cannot be concluded from criteria that cannot be read."""
    broken = TWO.replace("type: likert", "type: lickert")
    checks = "checks:\n  items:\n    - {kind: repeat}\n    - {kind: degraded}\n"
    found = check(tmp_path, broken + checks)
    assert [problem.key for problem in found] == ["criteria[0].scale.type", "criteria[1].scale.type"]
    half = TWO.replace("type: likert}", "type: lickert}").replace("type: likert, points: 5", "type: text")
    found = check(tmp_path, half + checks)
    assert [problem.key for problem in found] == ["criteria[1].scale.type"]
