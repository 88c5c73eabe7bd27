"""Section 3.2: the evaluators, which we call raters."""

from panelist.core.prose import count
from panelist.design.assess.plan_cost import cost_plan
from panelist.reports.datasheet.fill.facts import SheetFacts, filler, join, tick, write
from panelist.reports.datasheet.sheet import Place, SheetAnswer
from panelist.study.sections.wages import explain_wage, find_wage

PAID = {"money": "1", "other": "2", "no": "3"}


@filler(q3_2_1="the raters whose ratings count, else the plan, else `raters.count`")
def count_evaluators(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return the number of raters in the results; before there are any, the number planned."""
    if facts.cleaned is not None and "rater" in facts.cleaned.kept.frame:
        return {("3.2.1", ""): write(str(facts.cleaned.kept.frame["rater"].nunique()), "the ratings")}
    if facts.plan is not None:
        return {("3.2.1", ""): write(str(len(facts.plan.raters)), "the plan (planned)")}
    if facts.study.file.raters.count:
        return {("3.2.1", ""): write(str(facts.study.file.raters.count), "raters.count (planned)")}
    return {}


@filler(
    q3_2_2_1="`raters.experts`",
    q3_2_2_2="`raters.paid`",
    q3_2_2_3="`raters.known_to_authors`",
    q3_2_2_4="`raters.authors_among_them`",
    q3_2_2_5="`raters.description` (2.x only)",
)
def tell_kind(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return what the study states about its raters; what it does not state stays open."""
    raters = facts.study.file.raters
    stated = {
        "3.2.2.1": ("raters.experts", raters.experts),
        "3.2.2.3": ("raters.known_to_authors", raters.known_to_authors),
        "3.2.2.4": ("raters.authors_among_them", raters.authors_among_them),
    }
    found = {
        (number, ""): tick("1" if said else "2", source=source)
        for number, (source, said) in stated.items()
        if said is not None
    }
    # money is the default of the format: a study that says nothing about pay has not stated it.
    if "paid" in raters.model_fields_set or facts.study.file.pay is not None:
        found["3.2.2.2", ""] = tick(PAID[raters.paid], source="raters.paid")
    if raters.description:
        found["3.2.2.5", ""] = write(join(raters.description), "raters.description")
    return found


@filler(q3_2_3="`raters.recruitment`, and wage, minutes and pay of each rater by the pay rule and the plan")
def tell_recruitment(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return how raters are found, with what they are paid; HEDS has no other place for amounts."""
    recruitment = facts.study.file.raters.recruitment
    if not recruitment:
        return {}
    return {("3.2.3", ""): write(join(recruitment, *say_pay(facts)), "raters.recruitment and the pay rule")}


def say_pay(facts: SheetFacts) -> list[str]:
    """Return wage, time and pay in sentences, as far as they are known."""
    pay = facts.study.file.pay
    if facts.study.file.raters.paid != "money" or pay is None or not find_wage(pay):
        return []
    said = [f"Pay: {explain_wage(pay)}"]
    if facts.plan is not None:
        cost = cost_plan(facts.plan, facts.study)
        for one in cost.occasions:
            if one.pay is not None and one.minutes is not None:
                amount = " to ".join(dict.fromkeys(f"{end:,}" for end in one.pay))
                minutes = " to ".join(dict.fromkeys(f"{end:g}" for end in one.minutes))
                which = f" for occasion {one.occasion}" if len(cost.occasions) > 1 else ""
                said.append(
                    f"Each evaluator gets {amount} {cost.currency}{which}, calculated for {minutes} minutes"
                )
    return said


@filler(q3_2_4="`instructions`, `examples`, `practice` (a draft)")
def tell_training(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return what raters read and practise before the first rating."""
    file = facts.study.file
    said = []
    if file.information.text or file.information.facts:
        said.append("Evaluators first read an information sheet")
    if file.instructions:
        said.append(f"They read written instructions ({len(file.instructions.split()):,} words)")
    if file.examples:
        said.append(f"{count(len(file.examples), 'worked example')} with answers and reasons")
    if file.practice is not None:
        items, mark = len(file.practice.items), file.practice.pass_mark
        text = f"They answer {count(items, 'practice item')} and are told which answers are right, and why"
        if mark:
            text += (
                f"; {mark} of {items} must be right, in at most {count(file.practice.attempts, 'attempt')}"
            )
            text += ", else the evaluator is " + (
                "turned away" if file.practice.failed == "screen out" else "flagged"
            )
        said.append(text)
    if not said:
        said = [
            "No training: evaluators see the question of each criterion with its definition, if there is one"
        ]
    return {("3.2.4", ""): write(join(*said), "instructions, examples and practice", draft=True)}


@filler(q3_2_5="`raters.description`, `raters.groups`, counts of groups in ratings or plan (a draft)")
def tell_characteristics(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return who the raters are, with the size of each group, and what they were asked about themselves."""
    raters = facts.study.file.raters
    if not raters.description and not raters.groups:
        return {}
    sizes = _count_groups(facts)
    groups = [
        f"Group {one.name}: {sizes.get(one.name, one.raters or 'number not known')}"
        + (f" ({one.description})" if one.description else "")
        for one in raters.groups
    ]
    asked = [question.question.rstrip("?") for question in facts.study.file.background]
    about = [f"Asked about themselves: {'; '.join(asked)}"] if asked else []
    text = join(raters.description, *groups, *about)
    return {("3.2.5", ""): write(text, "raters.description and groups", draft=True)}


def _count_groups(facts: SheetFacts) -> dict[str, int]:
    frame = facts.cleaned.kept.frame if facts.cleaned is not None else None
    if (frame is None or "group" not in frame or "rater" not in frame) and facts.plan is not None:
        frame = facts.plan.table
    if frame is None or "group" not in frame:
        return {}
    sizes = frame.groupby("group", observed=True)["rater"].nunique()
    return {str(name): int(n) for name, n in sizes.items() if str(name)}
