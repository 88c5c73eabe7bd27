"""Templates and examples: all load, all plan, and the numbers of the papers come out."""

import csv
import importlib.util
import re
from functools import cache
from io import StringIO
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
import yaml

from panelist.design.assess.plan_cost import cost_plan
from panelist.design.make import plan_study
from panelist.design.simulate import simulate_ratings
from panelist.study.reading.load import find_problems, load_study
from panelist.study.sections.wages import find_pay, find_wage
from panelist.study.study import Study

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "src" / "panelist" / "study" / "templates"
EXAMPLES = ROOT / "examples"
BELZ, LI, MILTENBURG = "belz-kow-2011", "li-et-al-2023", "van-miltenburg-et-al-2023"
HOWCROFT, AMIDEI = "howcroft-rieser-2021", "amidei-et-al-2019"

TEMPLATE_NAMES = sorted(path.parent.name for path in TEMPLATES.glob("*/study.yaml"))
EXAMPLE_FILES = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.glob("*/*.yaml"))
EVERY = [TEMPLATES / name / "study.yaml" for name in TEMPLATE_NAMES] + [
    EXAMPLES / name for name in EXAMPLE_FILES
]
SCRIPTS = sorted(EXAMPLES.glob("*/make_outputs.py"))

every_study = pytest.mark.parametrize("path", EVERY, ids=lambda path: f"{path.parent.name}/{path.stem}")
every_example = pytest.mark.parametrize("name", sorted({name.split("/")[0] for name in EXAMPLE_FILES}))
every_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.parent.name)


@cache
def study_of(path: Path) -> Study:
    return load_study(path)


@cache
def plan_of(path: Path) -> pd.DataFrame:
    return plan_study(study_of(path)).table


def trials(folder: str, file: str = "study.yaml") -> pd.DataFrame:
    """Return the trials of an example's plan: no practice, no checks."""
    table = plan_of(EXAMPLES / folder / file)
    return table[table["phase"] == "trial"].astype(dict.fromkeys(table.columns, object))


def pages(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each page of each rater."""
    return table.drop_duplicates(["rater", "occasion", "order"])


def texts(path: Path) -> list[str]:
    """Return all outputs, and the texts of worked examples, practice and checks."""
    study = study_of(path)
    shown = [*study.file.examples, *(study.file.practice.items if study.file.practice else ())]
    return [
        *study.outputs.frame["output"],
        *(text for one in shown for text in (one.output, *one.outputs) if text),
    ]


def load_script(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"make_outputs_{path.parent.name.replace('-', '_')}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_templates_and_five_papers_are_there() -> None:
    assert TEMPLATE_NAMES == [
        "best-worst",
        "binary",
        "chat",
        "judged",
        "likert",
        "mixed",
        "pairs",
        "preference",
        "speech",
        "vas",
    ]
    assert {name.split("/")[0] for name in EXAMPLE_FILES} == {BELZ, LI, MILTENBURG, HOWCROFT, AMIDEI}


@every_study
def test_every_study_loads_without_problems(path: Path) -> None:
    notes = [str(problem) for problem in find_problems(path)]
    # Two repeats paid in dollars, by a rule of minimum wages; that no living wage is named is worth a note.
    in_dollars = path.parent.name in (LI, MILTENBURG)
    assert len(notes) == int(in_dollars), notes
    assert all("living_wage" in note for note in notes)
    assert load_study(path).items


@every_study
def test_every_study_file_names_its_schema_first(path: Path) -> None:
    first = path.read_text(encoding="utf-8").split("\n")[0]
    assert first == "# yaml-language-server: $schema=study.schema.json"


@every_study
def test_every_output_is_there_once_and_no_two_of_an_item_are_the_same(path: Path) -> None:
    frame = study_of(path).outputs.frame
    assert len(frame) == len(study_of(path).outputs.items) * len(study_of(path).systems)
    assert not frame.duplicated(["item", "system"]).any()
    assert not frame.duplicated(["item", "output"]).any()


@every_study
def test_no_text_for_raters_names_a_system(path: Path) -> None:
    study = study_of(path)
    words = {word.strip(".,;:!?").casefold() for text in texts(path) for word in text.split()}
    assert words.isdisjoint(system.casefold() for system in study.systems)


@every_study
def test_every_study_says_what_raters_do_and_agree_to(path: Path) -> None:
    file = study_of(path).file
    assert file.instructions
    assert file.information.facts
    assert file.information.consent
    assert file.examples
    assert all(criterion.quality is not None and criterion.definition for criterion in file.criteria)
    assert file.analysis.findings
    assert file.heds


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_every_template_shows_each_section_with_a_comment(name: str) -> None:
    text = (TEMPLATES / name / "study.yaml").read_text(encoding="utf-8")
    sections = set(yaml.safe_load(text))
    wanted = {"information", "background", "instructions", "examples", "practice", "checks", "breaks", "pay"}
    assert wanted | {"analysis", "heds", "design", "raters", "closing"} <= sections
    assert text.count(" # ") + text.count("\n# ") >= 15


@every_study
def test_every_study_plans(path: Path) -> None:
    study, table = study_of(path), plan_of(path)
    assert len(table) > 0
    seen = set(zip(table["item"], table["system"], strict=True))
    outputs = set(zip(study.outputs.frame["item"], study.outputs.frame["system"], strict=True))
    mine = {(item, system) for item, system in outputs if item in set(study.items)}
    assert mine <= seen, "every output that people rate is shown to somebody"


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_the_raters_that_a_template_announces_are_those_of_its_plan(name: str) -> None:
    announced = {"likert": 9, "vas": 12, "binary": 10, "pairs": 15, "best-worst": 15, "mixed": 10, "chat": 12}
    announced |= {"judged": 15, "speech": 12, "preference": 15}
    assert plan_of(TEMPLATES / name / "study.yaml")["rater"].nunique() == announced[name]


@every_study
def test_every_study_can_be_filled_by_simulated_raters(path: Path) -> None:
    study = study_of(path)
    ratings = simulate_ratings(study, plan_study(study), seed=1)
    answered = ratings[ratings["system"].isin(study.systems)]
    assert set(answered["system"]) == set(study.systems)
    compares = {criterion.name for criterion in study.criteria if criterion.scale.comparative}
    rated = answered[~answered["criterion"].isin(compares)]
    if len(rated):
        assert rated["rating"].notna().all()
        assert rated.groupby("criterion", observed=True)["rating"].nunique().min() > 1
    if compares:
        assert {"best", "worst"} <= set(answered["choice"])


@every_study
def test_raters_are_not_told_less_time_than_is_planned(path: Path) -> None:
    study = study_of(path)
    if study.file.pay is None:
        assert study.file.raters.paid == "no"
        return
    said = next(fact.text for fact in study.file.information.facts if fact.label == "Time")
    minutes = re.search(r"\d+", said)
    assert minutes is not None
    planned = [one.minutes for one in cost_plan(plan_study(study), study).occasions]
    assert all(ends is not None and ends[1] <= int(minutes[0]) + 1 for ends in planned)


@pytest.mark.parametrize("file", ["study.yaml", "study-vas.yaml"])
def test_belz_and_kow_raters_see_22_forecasts_and_each_system_twice(file: str) -> None:
    plan = trials(BELZ, file)
    readability = plan[plan["criterion"] == "readability"]
    assert readability["rater"].nunique() == 22
    assert set(readability.groupby("rater").size()) == {22}
    assert set(readability.groupby("rater")["item"].nunique()) == {22}
    per_system = readability.groupby(["rater", "system"]).size()
    assert len(per_system) == 22 * 11
    assert set(per_system) == {2}
    assert set(readability.groupby(["item", "system"]).size()) == {2}
    assert len(plan) == 2 * 22 * 22
    assert len(pages(plan)) == 22 * 22, "both criteria stand on one page"


def test_belz_and_kow_order_differs_from_rater_to_rater() -> None:
    plan = pages(trials(BELZ)).sort_values(["rater", "order"])
    orders = {tuple(group) for _, group in plan.groupby("rater")["item"]}
    assert len(orders) == 22


def test_belz_and_kow_second_sitting_has_the_same_outputs_in_another_order() -> None:
    plan = pages(trials(BELZ, "study-retest.yaml")).sort_values(["rater", "order"])
    assert set(plan["occasion"]) == {1, 2}
    for _, rater in plan.groupby("rater"):
        first, second = (
            list(zip(sitting["item"], sitting["system"], strict=True))
            for sitting in (rater[rater["occasion"] == occasion] for occasion in (1, 2))
        )
        assert sorted(first) == sorted(second)
        assert first != second


@pytest.mark.parametrize("file", ["study.yaml", "study-balanced.yaml"])
def test_li_has_75_pages_of_eight_and_600_answers(file: str) -> None:
    plan = trials(LI, file)
    assert len(pages(plan)) == 75
    assert plan["rater"].nunique() == 75
    assert len(plan) == 600
    assert set(plan.groupby(["rater", "order"]).size()) == {8}
    assert set(plan.groupby(["item", "system"]).size()) == {3}
    assert plan["item"].nunique() == 25


def test_li_shows_the_baseline_first_and_people_last_unless_balanced() -> None:
    fixed, balanced = trials(LI), trials(LI, "study-balanced.yaml")
    systems = study_of(EXAMPLES / LI / "study.yaml").systems
    assert {system: set(group) for system, group in fixed.groupby("system")["position"]} == {
        system: {place} for place, system in enumerate(systems, start=1)
    }
    counts = balanced.groupby(["system", "position"]).size()
    assert len(counts) == 64
    assert counts.max() - counts.min() <= 1  # 75 pages, 8 places: 9 or 10 each


def test_li_pays_what_the_repeat_paid() -> None:
    pay = study_of(EXAMPLES / LI / "study.yaml").file.pay
    assert pay is not None
    assert str(find_wage(pay)) == "13.26"
    minutes = pay.minutes_before + (pay.minutes_per_trial or 0)
    assert str(find_pay(pay, minutes)) == "2.21"


def test_van_miltenburg_has_200_pairs_a_criterion_and_1800_choices() -> None:
    plan = trials(MILTENBURG)
    choices = pages(plan)
    assert len(choices) == 1800
    assert set(plan.groupby(["rater", "order"]).size()) == {2}
    for _, criterion in plan.groupby("criterion"):
        assert len(pages(criterion)) == 600
        together = criterion.groupby(["rater", "order"]).agg(
            item=("item", "first"), pair=("system", frozenset)
        )
        times = together.value_counts(["item", "pair"])
        assert len(times) == 200
        assert set(times) == {3}
    assert set(plan.groupby("rater")["criterion"].nunique()) == {1}


def test_van_miltenburg_best_worst_shows_every_four_of_the_five_three_times() -> None:
    plan = trials(MILTENBURG, "study-best-worst.yaml")
    assert len(pages(plan)) == 900
    assert set(plan.groupby(["rater", "order"]).size()) == {4}
    together = plan.groupby(["criterion", "rater", "order"]).agg(
        item=("item", "first"), four=("system", frozenset)
    )
    times = together.groupby("criterion").value_counts(["item", "four"])
    assert len(times) == 3 * 20 * 5
    assert set(times) == {3}


def test_howcroft_and_rieser_raters_see_25_texts_and_no_item_twice() -> None:
    plan = trials(HOWCROFT)
    assert len(plan) == 300
    assert set(plan.groupby(["item", "system"]).size()) == {3}
    assert not plan.duplicated(["rater", "item"]).any()
    sizes = plan.groupby("rater").size()
    assert sizes.max() == 25
    assert (sizes < 25).sum() <= 1
    per_system = pd.crosstab(plan["rater"], plan["system"])
    assert ((per_system["loom"] - per_system["frame"]).abs() <= 1).all()


def test_amidei_has_three_native_and_four_other_judges_who_see_everything() -> None:
    plan = trials(AMIDEI)
    assert plan.groupby("group")["rater"].nunique().to_dict() == {"native": 3, "non-native": 4}
    assert set(pages(plan).groupby("rater").size()) == {40}
    assert len(plan) == 7 * 40 * 4


@pytest.mark.parametrize(
    ("folder", "variant", "differs"),
    [
        (BELZ, "study-retest.yaml", {"design", "information", "heds"}),
        (
            BELZ,
            "study-vas.yaml",
            {"criteria", "raters", "instructions", "examples", "practice", "analysis", "heds"},
        ),
        (LI, "study-balanced.yaml", {"design"}),
        (
            MILTENBURG,
            "study-best-worst.yaml",
            {"criteria", "design", "information", "instructions", "examples", "checks", "pay"},
        ),
    ],
)
def test_a_variant_differs_only_where_it_says_so(folder: str, variant: str, differs: set[str]) -> None:
    one, other = (
        yaml.safe_load((EXAMPLES / folder / name).read_text(encoding="utf-8"))
        for name in ("study.yaml", variant)
    )
    assert {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)} == differs


@every_script
def test_the_script_writes_the_outputs_that_are_there(script: Path) -> None:
    rows = load_script(script).make_rows()
    text = StringIO()
    table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    assert text.getvalue() == (script.parent / "outputs.csv").read_text(encoding="utf-8")


@every_example
def test_every_example_tells_what_the_paper_left_open_and_names_its_files(name: str) -> None:
    readme = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    assert "leaves open" in readme
    for path in (EXAMPLES / name).glob("study-*.yaml"):
        assert f"`{path.name}`" in readme
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert f"../examples/{name}/README.md" in page
