"""What a study, its plan and its power analysis already answer in a preregistration, topic by topic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from panelist.analysis.cleaning.exclusion_rules import RULES, say_rule
from panelist.analysis.looks import plan_looks
from panelist.core.margin import CLAIMS, find_level, read_margin
from panelist.core.prose import count, listing, sentence
from panelist.design.assess.balance import count_planned
from panelist.models.inference.adjust import find_adjustment
from panelist.models.prior_words import parse_prior
from panelist.reports.judges_of_study import plan_judges
from panelist.reports.methods_of_study import RATED, rates_and_compares, tell_often
from panelist.reports.preregistration.recipe import answer_recipe
from panelist.study.lacking import say_lacking
from panelist.study.sections.analysis_plan import AnalysisPlan
from panelist.study.sections.findings import parse_finding
from panelist.study.sections.wages import explain_wage
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.design.plan import Plan
    from panelist.reproduction.deviations.deviation_table import Deviations


@dataclass(frozen=True, eq=False)
class Known:
    """All that a preregistration can be filled from."""

    study: Study
    plan: "Plan | None" = None
    power: Mapping[str, Any] | None = None
    collected: int = 0
    """Answers collected so far."""
    deviations: "Deviations | None" = None
    """From the original, in a repeat whose original is a study file."""


def answer_topics(known: Known) -> dict[str, str]:
    """Return the answer to every topic that can be answered; what a person wrote comes first."""
    found = {name: find(known) for name, find in TOPICS.items()} | answer_recipe(known.deviations)
    found["analyses"] = " ".join(found[name] for name in ("models", "inference"))
    found |= {str(topic): text for topic, text in known.study.file.preregistration.items()}
    return {name: text for name, text in found.items() if text}


def _title(known: Known) -> str:
    return known.study.title


def _description(known: Known) -> str:
    return known.study.file.description


def _questions(known: Known) -> str:
    study = known.study
    asked = [f"Do {listing(study.systems, 8)} differ in {one.name}?" for one in study.criteria]
    return " ".join([study.file.description, *asked]).strip()


def _hypotheses(known: Known) -> str:
    words = {">": "is rated higher than", "<": "is rated lower than", "=": "is rated like"}
    said = []
    for text in known.study.file.analysis.findings:
        found = parse_finding(text)
        said.append(
            f"On {found.criterion}, {found.first} {words[found.sign]} {found.second}." if found else text
        )
    return " ".join(said)


def _data_collected(known: Known) -> str:
    if not known.collected:
        return "No: no answer has been collected for this study yet."
    return f"It is complicated: {count(known.collected, 'answer')} had been collected when this was declared."


def _measured(known: Known) -> str:
    said = [
        f"{one.heading}: “{one.question}” {one.scale.describe()}"
        + (f" It is defined as: {one.definition}" if one.definition else "")
        for one in known.study.criteria
    ]
    background = [question.name for question in known.study.file.background]
    said += [f"Raters are also asked about: {listing(background, 8)}."] if background else []
    return " ".join(said)


def _conditions(known: Known) -> str:
    study = known.study
    described = {one.name: one for one in study.file.systems}
    names = [
        name + (" (written by people)" if name in described and described[name].human else "")
        for name in study.systems
    ]
    drawn = f" {study.draw.sentence()}" if study.draw is not None else ""
    return (
        f"{count(len(study.systems), 'system')}: {listing(names, 8)}; outputs for "
        f"{count(len(study.outputs.items), 'item')}.{_say_lacking(study)}{drawn} Systems vary within raters."
    )


def _say_lacking(study: Study) -> str:
    """Return which outputs are missing, and how the analysis treats that."""
    if not study.outputs.lacking:
        return ""
    lacks = "; ".join(say_lacking(study.outputs.lacking, study.n_items, study.systems))
    return (
        f" Not every output exists: {lacks}. Outputs are compared with others of the same item, and the "
        "comparison is repeated with missing outputs at the worst value."
    )


def _design(known: Known) -> str:
    design = known.study.file.design
    said = [f"Outputs are assigned {design.facts.assigned}{tell_often(design)}."]
    if len(known.study.criteria) > 1:
        said.append(f"Criteria are judged {design.criteria}.")
    said += [f"{RATED[design.rated]}."] if rates_and_compares(known.study) else []
    if design.occasions > 1:
        said.append(f"Raters take part {design.occasions} times, {design.days_between} days or more apart.")
    if known.plan is not None and known.plan.notes:
        said += known.plan.notes
    return " ".join(said)


def _randomisation(known: Known) -> str:
    design = known.study.file.design
    seed = known.plan.seed if known.plan else design.seed
    order = (
        "Pages come in a random order for each rater"
        if design.order == "random"
        else "Pages come in the order of the outputs file"
    )
    return (
        f"{order}; outputs that share a page are in {design.positions} positions. All random draws "
        f"follow from seed {seed}."
    )


def _study_type(_: Known) -> str:
    return "Experiment: which rater sees which system's output is assigned by a plan."


def _blinding(known: Known) -> str:
    said = "Raters do not know which system made an output."
    if known.study.file.collecting.results == "hidden":
        said += " Researchers do not see how systems compare while ratings are collected."
    return said


def _procedure(known: Known) -> str:
    file = known.study.file
    said = [
        text.strip().rstrip(".") + "." for text in (file.raters.description, file.raters.recruitment) if text
    ]
    if file.raters.paid == "money" and file.pay is not None:
        said.append(f"Pay: {explain_wage(file.pay)}")
    elif file.raters.paid == "no":
        said.append("Raters are not paid.")
    if file.practice is not None:
        practice = file.practice
        passed = f", of which {practice.pass_mark} must be right" if practice.pass_mark else ""
        said.append(
            f"Before they begin, raters answer {count(len(practice.items), 'practice item')}{passed}."
        )
    if file.checks is not None:
        kinds = listing([one.kind for one in file.checks.items], 8)
        said.append(
            f"Attention checks ({kinds}): what happens to a rater who fails more than {file.checks.allowed}: "
            f"{file.checks.then}."
        )
    return " ".join(said)


def _source(known: Known) -> str:
    return known.study.file.raters.recruitment


def _sample_size(known: Known) -> str:
    study, plan = known.study, known.plan
    if plan is not None:
        asked, noun = count_planned(plan, study)
        outputs, items = count(study.n_outputs, "output"), count(len(study.items), "item")
        return (
            f"{count(len(plan.raters), 'rater')} give {count(asked, noun)} of {outputs} ({items}), as "
            "the plan says."
        )
    design, raters = study.file.design, study.file.raters
    said = [f"{count(raters.count, 'rater')}"] if raters.count else []
    said += [f"{design.ratings_per_output} ratings of each output"] if design.ratings_per_output else []
    said += [f"{design.trials_per_rater} pages for each rater"] if design.trials_per_rater else []
    return listing(said, 8) + "." if said else ""


def _rationale(known: Known) -> str:
    power = known.power
    if power is None:
        return ""
    best, seen = power.get("best"), power.get("confirmed")
    if best and seen:
        return (
            f"The smallest design for a power of {power['target']:g} at an effect of {power['effect']:g} "
            f"threshold distances ({power['model']}): {best['items']} items, "
            f"{count(best['ratings_per_item'], 'rating')} of each {power.get('unit', 'output')}, "
            f"{best['raters']} raters; simulated power {seen['power']:.2f} "
            f"({seen['low']:.2f} to {seen['high']:.2f})."
        )
    if cells := power.get("cells"):
        said = [
            f"{cell['model']}, {cell['items']} items, {cell['ratings_per_item']:g} ratings of each, effect "
            f"{cell['effect']:g}: power {cell['power']:.2f} ({cell['low']:.2f} to {cell['high']:.2f}, "
            f"{cell['sims']:,} data sets)"
            for cell in cells
        ]
        return f"Power by simulation, effects in threshold distances. {'; '.join(said)}."
    return ""


def _stopping(known: Known) -> str:
    rule = (
        "Collecting ends when every place of the plan is filled by a rater who finished and was not excluded"
    )
    blind = known.study.file.collecting.results == "hidden"
    return f"{rule}; nobody looks at results to decide it." if blind else f"{rule}."


def _indices(known: Known) -> str:
    return known.study.file.analysis.aggregation or "None: single ratings are analysed."


def _transformations(_: Known) -> str:
    return "None: ratings are analysed as given, systems by treatment contrasts."


def _models(known: Known) -> str:
    plan = known.study.file.analysis
    models = {
        "auto": "an ordinal mixed model where the scale is ordinal, else a linear mixed model",
        "clmm": "a cumulative link mixed model",
        "clm": "a cumulative link model without random effects",
        "lmm": "a linear mixed model",
        "lm": "a linear model without random effects",
    }
    formula = (
        "the largest random part by rater and item that the data support"
        if plan.formula == "maximal"
        else f"the formula {plan.formula}"
    )
    compared = [one.name for one in known.study.criteria if one.scale.comparative]
    rated = [one.name for one in known.study.criteria if one.name not in compared]
    which = f"Ratings of {listing(rated, 8)}" if compared else "Each criterion"
    said = [f"{which} by {models[plan.model]} with {formula}"] if rated else []
    if said and plan.model not in ("lmm", "lm"):
        said[0] += f"; link of ordinal models: {plan.link}"
        if plan.family != "cumulative":
            said[0] += f", of {plan.family} categories; systems compared by expected ratings"
        if prior := parse_prior(plan.prior):
            said[0] += f"; ordinal models {prior.phrase}, which is part of the model: {prior.explain()}"
    if compared:
        pairs = [one.name for one in known.study.criteria if getattr(one.scale, "pairwise", False)]
        sets = [name for name in compared if name not in pairs]
        style = f" and at equal {listing(plan.style, None)}" if plan.style else ""
        random = "mixed Bradley-Terry model, random preferences of raters and items"
        said += [f"choices on {listing(pairs, 8)} by the {random}{style}"] if pairs else []
        led = (
            f"mixed Plackett-Luce model{style}"
            if style
            else "Plackett-Luce model, raters and items as clusters"
        )
        said += [f"choices on {listing(sets, 8)} by the {led}"] if sets else []
    return " ".join(filter(None, [sentence("; ".join(said)), plan_judges(known.study)]))


def _inference(known: Known) -> str:
    plan = known.study.file.analysis
    adjusted = find_adjustment(plan.adjust).label
    said = (
        f"Two-sided tests of each pair of systems at alpha = {plan.alpha:g}, {adjusted}; intervals at "
        f"{100 * (1 - plan.alpha):g} %."
    )
    if plan.across_criteria != "none":
        said += f" P-values also allow for the number of criteria ({plan.across_criteria.capitalize()})."
    if plan.margin is not None:
        said += _say_margin(plan)
    if plan.allow:
        said += (
            f" Systems may differ in {' and in '.join(SIDE_WORDS[one] for one in plan.allow)} where a "
            "likelihood ratio test asks for it; spread comes first."
        )
    if looks := plan_looks(known.study):
        each = listing((f"{one.raters} raters at {one.level:g}" for one in looks), None)
        shares = listing((f"{100 * one.information:.0f} %" for one in looks), None)
        said += (
            f" Looks: after {each}, two-sided, pairs by Holm's method ({plan.spending} spending; {shares} of "
            "the information, by the design and not by standard errors)."
        )
    return said


SIDE_WORDS = {"scale": "spread", "nominal": "thresholds"}


def _say_margin(plan: AnalysisPlan) -> str:
    """Return the claims that a margin is for, with their levels and adjustment."""
    margin = read_margin(plan.margin)
    assert margin is not None
    levels = [f"{find_level(claim, plan.alpha):g}" for claim in CLAIMS]
    said = (
        f" Equivalence: a difference of less than {margin.words}, by two one-sided tests at {levels[0]}; "
        f"non-inferiority: not worse by {margin.words} or more, by one at {levels[1]}. Single claims are "
        "adjusted by Holm's method; that all pairs are equivalent is one claim, without adjustment."
    )
    return said + ("" if plan.claim is None else f" The claim of the study is {plan.claim}.")


def _exclusions(known: Known) -> str:
    asked = known.study.file.analysis.exclude
    rules = [
        say_rule(name, float(value)) for name in RULES if (value := getattr(asked, name)) not in (None, False)
    ]
    said = f"Left out: {'; '.join(rules)}." if rules else "No rating that was given is left out."
    checks, practice = known.study.file.checks, known.study.file.practice
    if checks is not None and checks.then in ("screen out", "exclude"):
        said += f" Raters who fail more than {checks.allowed} checks while rating: {checks.then}."
    if practice is not None and practice.pass_mark and practice.failed == "screen out":
        said += " Raters who do not pass the practice are screened out before they rate."
    return said


def _missing(known: Known) -> str:
    forced = "must" if known.study.file.collecting.forced else "need not"
    return f"Raters {forced} answer every question. Missing ratings are left out; none is imputed."


def _assumptions_tested(_: Known) -> str:
    return "Proportional odds, threshold spacing, and predicted against observed shares are reported."


TOPICS: dict[str, Callable[[Known], str]] = {
    "title": _title,
    "description": _description,
    "research_questions": _questions,
    "hypotheses": _hypotheses,
    "data_collected": _data_collected,
    "existing_data": _data_collected,
    "measured": _measured,
    "conditions": _conditions,
    "design": _design,
    "randomisation": _randomisation,
    "study_type": _study_type,
    "blinding": _blinding,
    "procedure": _procedure,
    "source": _source,
    "sample_size": _sample_size,
    "sample_size_rationale": _rationale,
    "stopping_rule": _stopping,
    "indices": _indices,
    "transformations": _transformations,
    "models": _models,
    "inference": _inference,
    "exclusions": _exclusions,
    "missing_data": _missing,
    "assumptions_tested": _assumptions_tested,
}
"""What the program can answer, by topic; only a person can answer the others."""
