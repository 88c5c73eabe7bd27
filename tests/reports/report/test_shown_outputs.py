"""Examples of outputs in the report: chosen by rule, rendered as raters saw them, hidden if wanted."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.output_examples import MOST_EXAMPLES, OutputExample, choose_examples
from panelist.design.make import plan_study
from panelist.design.simulate import simulate_ratings
from panelist.reports.report.shown_outputs import read_sheets, show_examples
from panelist.reports.report.write_report import write_report
from panelist.study.outputs import Outputs
from panelist.study.reading.load import load_study
from panelist.study.sections.outputs_file import OutputsFile
from panelist.study.start import init_study
from panelist.study.study import Study

FEW = 20
ANSWER = (
    "**{n}** <script>alert(1)</script> ![x](https://example.org/a.png) [y](javascript:z)\n\n```\ncode\n```"
)


def make_outputs(items: int, systems: str) -> Outputs:
    rows = [(f"i{n}", system, f"{n} by {system}") for n in range(items) for system in systems]
    return Outputs(pd.DataFrame(rows, columns=["item", "system", "output"]))


def rate(
    outputs: Outputs, seed: int, criteria: tuple[str, ...] = ("fluency",), raters: int = 4
) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (f"r{rater}", item, system, criterion, float(rng.integers(1, 6)))
        for criterion in criteria
        for item, system in zip(outputs.frame["item"], outputs.frame["system"], strict=True)
        for rater in range(raters)
    ]
    return pd.DataFrame(rows, columns=["rater", "item", "system", "criterion", "rating"])


@pytest.mark.parametrize("seed", range(5))
def test_examples_are_the_extremes_of_each_system_and_what_raters_differed_about(seed: int) -> None:
    outputs = make_outputs(8, "ab")
    ratings = rate(outputs, seed)
    chosen = choose_examples(outputs, ratings, ("a", "b"))
    found = {(one.system, reason.why): (one.item, reason) for one in chosen for reason in one.reasons}
    for system in "ab":
        means = {
            item: ratings.loc[(ratings["item"] == item) & (ratings["system"] == system), "rating"].mean()
            for item in outputs.items
        }
        for why, best in (("highest", max(means.values())), ("lowest", min(means.values()))):
            item, reason = found[system, why]
            assert item == next(name for name, mean in means.items() if mean == best)
            assert (reason.mean, reason.n, reason.of_system) == (best, 4, True)
    spreads = ratings.groupby(["item", "system"])["rating"].std()
    widest = [reason.sd for (_, why), (_, reason) in found.items() if why == "differed"]
    assert widest == [pytest.approx(spreads.max())]


def test_many_systems_share_their_extremes_and_equal_ratings_have_none() -> None:
    outputs = make_outputs(4, "abcdefghijkl")
    many = choose_examples(outputs, rate(outputs, 1, ("fluency", "adequacy")), outputs.systems)
    assert 0 < len(many) <= MOST_EXAMPLES
    assert not any(reason.of_system for one in many for reason in one.reasons)
    assert choose_examples(outputs, rate(outputs, 1).assign(rating=3.0), outputs.systems) == ()
    hidden = Outputs(outputs.frame, OutputsFile(examples="hidden"))
    assert choose_examples(hidden, rate(outputs, 1), outputs.systems) == ()


def test_saying_nothing_about_examples_leaves_the_hash_of_a_study_alone() -> None:
    formats = {"output": "markdown"}
    assert "examples" not in OutputsFile.model_validate({"formats": formats}).model_dump()
    plain: object = OutputsFile.model_validate({"file": "a.csv"}).model_dump()
    assert plain == "a.csv"
    assert OutputsFile.model_validate({"examples": "hidden"}).model_dump()["examples"] == "hidden"


def write_study(folder: Path) -> Study:
    folder.mkdir()
    rows = [
        {"item": f"i{n}", "system": system, "output": ANSWER.format(n=n), "context": "Why $x^2$?"}
        for n in range(6)
        for system in ("a", "b")
    ]
    (folder / "outputs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "study.yaml").write_text(
        "title: Answers\n"
        "criteria: [{name: help, question: 'Does it help?', scale: {type: likert, points: 5}}]\n"
        "design: {type: lists, trials_per_rater: 6}\nraters: {count: 8}\n"
        "outputs: {file: outputs.jsonl, formats: {output: markdown, context: markdown}}\n",
        encoding="utf-8",
    )
    return load_study(folder)


def test_a_report_shows_examples_as_raters_saw_them_and_fetches_nothing(tmp_path: Path) -> None:
    study = write_study(tmp_path / "answers")
    analysis = analyse(study, simulate_ratings(study, plan_study(study)), resamples=FEW)
    assert analysis.examples
    write_report(analysis, tmp_path / "report.html", files=False)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    section = page[page.index('aria-labelledby="examples"') :].partition("</section>")[0]
    assert section.count("<article") == len(analysis.examples)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in section
    assert not re.search(r"<script|<img|href=|src=|javascript:|style=", section)
    assert "<math" in section
    assert ".code-block" in page
    assert "@font-face" not in page
    assert "url(" not in read_sheets(show_examples(analysis))
    labels = re.findall(r'aria-label="([^"]+)"', section)
    assert len(labels) == len(set(labels)) >= len(analysis.examples)
    assert json.loads(analysis.to_json())["examples"][0]["reasons"]


def test_sounds_are_named_and_their_words_given(tmp_path: Path) -> None:
    init_study(tmp_path / "speech", "speech")
    study = load_study(tmp_path / "speech")
    analysis = analyse(study, simulate_ratings(study, plan_study(study)), resamples=FEW)
    shown = show_examples(analysis)
    assert shown
    for example in shown:
        assert re.search(rf"<li><code>{example.item}-\d.wav</code></li>", example.output)
        assert study.outputs.words(example.item, example.system) in example.output
        assert "media:" not in example.output


def test_media_of_dialogues_are_named_in_their_turns(tmp_path: Path) -> None:
    """No browser of a reader plays or fetches them; what was said stands with its turn, as raters saw it."""
    turns = [
        {"role": "user", "text": "Look: <b>", "images": ["a.png"]},
        {"role": "assistant", "text": "**Heard.**", "audio": ["b.wav", "<i>.wav"]},
    ]
    frame = pd.DataFrame([("i1", "a", json.dumps(turns))], columns=["item", "system", "output"])
    options = OutputsFile.model_validate({"formats": {"output": "turns"}, "turns": {"inside": "markdown"}})
    study = SimpleNamespace(outputs=Outputs(frame, options, folder=tmp_path))
    analysis: Any = SimpleNamespace(study=study, examples=(OutputExample("i1", "a", ()),))
    shown = str(show_examples(analysis)[0].output)
    asked, said = shown.split('<li class="turn said">')
    assert "Look: &lt;b&gt;" in asked
    assert "<code>a.png</code>" in asked
    assert "<strong>Heard.</strong>" in said
    assert "<code>b.wav</code></li><li><code>&lt;i&gt;.wav</code>" in said
    assert not re.search(r"<img|<audio|<input|src=|media:", shown)
