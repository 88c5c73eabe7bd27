"""Section 3.3: how the ratings are collected, and how their quality is assured."""

from panelist.analysis.cleaning.exclusion_rules import say_rule
from panelist.core.prose import count, listing
from panelist.reports.datasheet.fill.facts import SheetFacts, filler, join, tick, write
from panelist.reports.datasheet.sheet import Place, SheetAnswer
from panelist.reports.judges_of_study import tell_judges
from panelist.reports.methods_of_study import RATED, rates_and_compares
from panelist.reports.provenance import list_versions
from panelist.study.blindness import count_masks, count_names, say_names
from panelist.study.sections.checks import DegradedCheck, InstructedCheck, RepeatCheck

OF_RATERS = ("failed_checks", "median_seconds_below", "same_answer_share_above", "unfinished", "placeholders")


@filler(q3_3_2="Panelist's rating pages; `judges.csv` (a draft unless the ratings come from study.db)")
def tell_medium(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return by which means ratings are collected."""
    tool = f"panelist {list_versions().get('panelist', '')}".strip()
    text = f"Web pages made by {tool}, opened in the evaluator's own browser."
    said = join(text, tell_judges(facts.study))
    return {("3.3.2", ""): write(said, "the rating pages", draft=not facts.collected)}


@filler(
    q3_3_3_1="`checks`, `practice.pass_mark`, `analysis.exclude` (a draft: add what people check by hand)",
    q3_3_3_2="the same, with the counts of exclusions where there are ratings (a draft)",
)
def tell_quality(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return the methods that the study states; none leaves it open, as people may check by hand."""
    file = facts.study.file
    rules = {name: value for name, value in file.analysis.exclude.model_dump().items() if value}
    codes = set()
    if file.checks is not None or rules:
        codes.add("2")
    if file.checks is not None and file.checks.then == "flag":
        codes.add("3")
    if (file.checks is not None and file.checks.then in ("screen out", "exclude")) or any(
        name in rules for name in OF_RATERS
    ):
        codes.add("4")
    if "seconds_below" in rules:
        codes.add("5")
    gate = file.practice is not None and file.practice.pass_mark > 0
    text = "A practice that must be passed" if gate else ""
    if gate:
        codes.add("6")
    if not codes:
        return {}
    source = "checks, practice and analysis.exclude"
    return {
        ("3.3.3.1", ""): tick(*sorted(codes), text=text, source=source, draft=True),
        ("3.3.3.2", ""): write(join(*_say_checks(facts), *_say_rules(facts, rules)), source, draft=True),
    }


def _say_checks(facts: SheetFacts) -> list[str]:
    checks, practice = facts.study.file.checks, facts.study.file.practice
    said = []
    if practice is not None and practice.pass_mark:
        said.append(
            f"Practice: {practice.pass_mark} of {count(len(practice.items), 'item')} must be answered right"
        )
    for check in checks.items if checks else ():
        if isinstance(check, InstructedCheck):
            said.append("A page says which answer to give")
        elif isinstance(check, RepeatCheck):
            said.append(
                f"{count(check.count, 'page')} shown again: answers may differ by {check.tolerance:g} points"
            )
        elif isinstance(check, DegradedCheck):
            said.append(
                f"{count(check.count, 'spoilt output')} ({check.how}) must be rated lower than the intact one"
            )
    if checks is not None:
        follows = {
            "flag": "is flagged and reviewed",
            "warn": "is warned",
            "screen out": "is screened out",
            "exclude": "is excluded",
        }
        said.append(f"An evaluator who fails more than {checks.allowed} {follows[checks.then]}")
    return said


def _say_rules(facts: SheetFacts, rules: dict[str, float]) -> list[str]:
    said = [say_rule(name, value) for name, value in rules.items()]
    told = [f"Excluded from the analysis: {'; '.join(said).replace('raters', 'evaluators')}"] if said else []
    if facts.cleaned is not None:
        told.append(facts.cleaned.exclusions.sentence().replace("raters", "evaluators"))
    return told


@filler(q3_3_4_2="`noun`, outputs columns, `criteria`, `design` (a draft)")
def tell_interface(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return what a page shows, and who sees what in which order."""
    study, design = facts.study, facts.study.file.design
    noun = study.file.noun
    columns = [name for name in ("context", "reference", "image") if name in study.outputs.frame]
    beside = f", with its {listing(columns, 8)}" if columns else ""
    shown = f"{count(facts.n_shown, noun)} of one item" if facts.n_shown > 1 else f"one {noun}"
    criteria = {
        "together": "all criteria on one page",
        "in turn": "one criterion after the other, each on its own page",
        "in blocks": "all pages of one criterion before those of the next",
        "one per rater": "each evaluator judges one criterion only",
    }
    defined = sum(bool(one.definition) for one in study.criteria)
    order = "random order, drawn for each evaluator" if design.order == "random" else "a fixed order"
    said = [
        f"A page shows {shown}{beside}, and for each criterion its question and the rating instrument"
        + (f", with a definition for {defined} of {len(study.criteria)}" if defined else ""),
        f"Criteria: {criteria[design.criteria]}" if len(study.criteria) > 1 else "",
        RATED[design.rated] if rates_and_compares(study) else "",
        f"Outputs are assigned {design.facts.assigned}".replace("rater", "evaluator"),
        f"Pages come in {order}",
        "Names of systems are not shown",
        "Words in which the two outputs differ are underlined"
        if study.file.outputs.differences == "shown"
        else "",
        *_say_names(facts),
        *_say_media(facts),
    ]
    return {("3.3.4.2", ""): write(join(*said), "criteria, outputs and design", draft=True)}


def _say_names(facts: SheetFacts) -> list[str]:
    """Return in how many outputs names of systems or makers stand, and in how many they were masked."""
    outputs = facts.study.outputs
    named, masked = count_names(outputs), count_masks(outputs)
    said = [f"{count(masked, 'output')} had a name of a system or its maker masked"] if masked else []
    if named:
        said.append(f"Names of systems or makers stand in outputs, by system: {say_names(named)}")
    return said


def _say_media(facts: SheetFacts) -> list[str]:
    """Return how pictures, sound and film are shown, and what must have been seen and heard."""
    study, said = facts.study, []
    kinds = sorted(study.outputs.media.kinds("output"))
    if kinds:
        said.append(f"Each output is {listing(kinds)}, sent under a number, without file name")
    if {"sound", "film"} & set(kinds):
        said.append("Say here how loudness was made equal between systems")
    asked = {"whole": "was played as a whole", "once": "was begun once"}.get(study.file.collecting.played)
    if kinds and asked:
        said.append(f"An evaluator continues once each sound or film {asked}")
    if study.file.collecting.read == "end":
        said.append("An evaluator continues once the end of each output was on the screen for a second")
    return said


@filler(q3_3_5="`collecting.page_seconds`, `collecting.minutes` (a draft)")
def tell_freedom(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return the time limits that the pages set."""
    collecting = facts.study.file.collecting
    codes = [*(["2"] if collecting.page_seconds else []), *(["3"] if collecting.minutes else [])]
    if codes:
        return {("3.3.5", ""): tick(*codes, source="collecting", draft=True)}
    text = "The pages set no time limit; evaluators may stop and continue later, on the same link."
    return {("3.3.5", ""): tick("5", text=text, source="collecting", draft=True)}


@filler(q3_3_6="`information.contact`, `closing.comments` (a draft)")
def tell_questions(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return whether raters can ask, and are asked for comments."""
    file = facts.study.file
    codes = [*(["1"] if file.information.contact else []), *(["3"] if file.closing.comments else [])]
    source = "information.contact and closing.comments"
    return {("3.3.6", ""): tick(*(codes or ["5"]), source=source, draft=True)}
