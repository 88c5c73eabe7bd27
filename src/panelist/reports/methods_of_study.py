"""How the ratings were collected, by the study file, in whole sentences for the methods paragraph."""

from panelist.core.prose import capitalise, count, listing
from panelist.study.sections.checks import Check, DegradedCheck, InstructedCheck
from panelist.study.sections.design_choice import DesignChoice
from panelist.study.sections.wages import find_wage
from panelist.study.study import Study

RATED = {
    "side by side": "Outputs that are compared are also rated, side by side",
    "alone": "Outputs that are compared are also rated, each alone on a separate page",
}
_FAILED = {
    "flag": "were flagged for review",
    "warn": "were warned",
    "screen out": "were screened out",
    "exclude": "were excluded",
}


def rates_and_compares(study: Study) -> bool:
    """Return whether some criteria of a study compare outputs and others rate each of them."""
    return len({one.scale.comparative for one in study.criteria}) > 1


def tell_study(study: Study) -> list[str]:
    """Return who the raters were, how they were prepared, what they were asked, and in which order."""
    said = [*_tell_raters(study), *_tell_pay(study), *_tell_preparation(study)]
    for criterion in study.criteria:
        scale = criterion.scale
        form = scale.describe()
        said.append(
            f"For {criterion.name} they were asked “{criterion.question}” and answered {scale.answered} "
            f"{form[:1].lower()}{form[1:]}"
        )
    design = study.file.design
    order = "in random order" if design.order == "random" else "in the order of the file"
    said += _tell_format(study)
    said.append(f"Outputs were assigned {design.facts.assigned}, {order}{tell_often(design)}.")
    if rates_and_compares(study):
        said.append(f"{RATED[design.rated].replace(' are ', ' were ')}.")
    return said + _tell_checks(study)


SHOWN = {
    "markdown": "rendered Markdown",
    "code": "code",
    "turns": "dialogues",
    "image": "pictures",
    "images": "sets of pictures",
    "audio": "sound",
    "video": "film",
}
RATED_TURNS = {
    "last": "The last turn of each was rated.",
    "each": "Each turn of the assistant was rated.",
    "whole": "Each was rated as a whole.",
}


def tell_often(design: DesignChoice) -> str:
    """Return which pairs are shown more often, as the end of a sentence; empty where none is."""
    if not design.often:
        return ""
    named = listing([f"{' and '.join(one.pair)} {one.times} times" for one in design.often], 8)
    return f", {named} as often as other pairs (fixed in advance)"


def _tell_format(study: Study) -> list[str]:
    """Return what outputs were shown as, where they were not plain text."""
    options = study.file.outputs
    name = options.formats.output
    if options.differences == "shown":
        return ["Words in which the two outputs differed were underlined."]
    if name not in SHOWN:
        return []
    words = (
        "plain text, without the marks of Markdown" if options.flatten and name == "markdown" else SHOWN[name]
    )
    said = [f"Outputs were shown as {words}."]
    return [*said, RATED_TURNS[options.turns.rate]] if name == "turns" else said


def _tell_raters(study: Study) -> list[str]:
    """Return who they were and how they were found; the words of the study are phrases, and quoted."""
    people, said = study.file.raters, []
    if who := people.description.strip().rstrip("."):
        said.append(f"The raters are described as “{who}”.")
    if how := people.recruitment.strip().rstrip("."):
        said.append(f"They were recruited as follows: “{how}”.")
    if study.file.recruiting is not None:
        panel = study.file.recruiting.panel
        said.append(f"The panel was {capitalise(panel)}.")
    return said


def _tell_pay(study: Study) -> list[str]:
    paid, pay = study.file.raters.paid, study.file.pay
    if paid == "no":
        return ["They were not paid."]
    if paid == "other":
        return ["They were rewarded in another way than with money."]
    wage = find_wage(pay) if pay is not None else None
    return [f"They were paid at least {wage} {pay.currency} an hour."] if pay and wage else []


def _tell_preparation(study: Study) -> list[str]:
    said = []
    if (heard := study.file.sound_check) is not None:
        said.append(
            f"Before the instructions they typed a word that was played to them, in at most "
            f"{count(heard.attempts, 'attempt')}."
        )
    if (asked := study.file.comprehension) is not None:
        needed = len(asked.questions) if asked.pass_mark is None else asked.pass_mark
        said.append(
            f"Before they rated they answered {count(len(asked.questions), 'question')} on the instructions, "
            f"of which {needed} had to be right within {count(asked.attempts, 'attempt')}."
        )
    if (practice := study.file.practice) is not None:
        text = f"They practised on {count(len(practice.items), 'item')} with feedback"
        if practice.pass_mark:
            within = count(practice.attempts, "attempt")
            text += f", of which {practice.pass_mark} had to be right within {within}"
            text += f"; raters who failed {_FAILED[practice.failed]}"
        said.append(f"{text}.")
    return said


def _tell_checks(study: Study) -> list[str]:
    checks = study.file.checks
    if checks is None:
        return []
    kinds = listing([_tell_check(one) for one in checks.items], 8)
    fewest = "any of these checks" if checks.allowed == 0 else f"more than {checks.allowed} of these checks"
    return [f"Attention was checked by {kinds}; raters who failed {fewest} {_FAILED[checks.then]}."]


def _tell_check(one: Check) -> str:
    if isinstance(one, InstructedCheck):
        return "a page that said which answer to give"
    if isinstance(one, DegradedCheck):
        spoilt = {"shuffle words": "shuffled", "repeat words": "repeated", "drop words": "left out"}[one.how]
        return f"{count(one.count, 'output')} with words {spoilt}, to be rated lower"
    apart = f"answers at most {one.tolerance:g} {'point' if one.tolerance == 1 else 'points'} apart"
    return f"{count(one.count, 'page')} shown again ({apart})"
