"""Section 4: each criterion, its scale, and what is done with its ratings."""

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.reliability import HEADLINES
from panelist.analysis.missing import Missing
from panelist.core.prose import count
from panelist.models.inference.adjust import find_adjustment
from panelist.models.prior_words import parse_prior
from panelist.models.results.fitted import MODEL_WORDS
from panelist.reports.datasheet.fill.facts import SheetFacts, filler, join, tick, write
from panelist.reports.datasheet.sheet import Place, SheetAnswer
from panelist.scales.base import ComparativeScale
from panelist.study.sections.checks import RepeatCheck
from panelist.study.sections.criteria import Criterion

TYPES = {"correctness": "1", "goodness": "2", "feature": "3"}
ASPECTS = {"form": "1", "content": "2", "both": "3"}
FRAMES = {"own": "1", "input": "2", "external": "3"}
JUDGEMENTS = {"objective": "1", "subjective": "2"}
EFFECTS = {"intrinsic": "1", "extrinsic": "2"}
NOT_PROCESSED = "results were not processed or aggregated before being reported"
PLANNED = "planned"


@filler(
    q4_1_1="`quality.type`",
    q4_1_2="`quality.aspect`",
    q4_1_3="`quality.reference`",
    q4_2_1="`quality.judgement` (a draft where it is not stated)",
    q4_2_2="the scale: comparisons are relative",
    q4_2_3="`quality.effect` (a draft where it is not stated)",
    q4_3_1_1="`label`, else `name`",
    q4_3_1_2="`quality.standard_name`",
    q4_3_2="`definition`",
    q4_3_3="the scale; for comparisons with the number of outputs shown",
    q4_3_4="the scale",
    q4_3_5="the scale",
    q4_3_6="`N/A`; for free text its box",
    q4_3_7="`question`",
    q4_3_8="the scale",
    q4_3_9="`analysis.aggregation`, else the model (a draft)",
    q4_3_10="`analysis`: model, link, adjustment, alpha",
    q4_3_11_1="the coefficients that suit the scale; comparisons stay open",
    q4_3_11_2="the ratings; `planned` before there are any",
    q4_3_12_1="`design.occasions`, else repeat checks, else not assessed",
    q4_3_12_2="the ratings; `planned` before there are any",
)
def tell_criteria(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return what is known about every criterion."""
    found: dict[Place, SheetAnswer] = {}
    for criterion in facts.study.criteria:
        answers = {
            **_tell_quality(criterion),
            **_tell_words(criterion),
            **_tell_scale(criterion, facts),
            **_tell_analysis(criterion, facts),
            **_tell_agreement(criterion, facts),
            **tell_repeats(criterion, facts),
        }
        found |= {(number, criterion.name): answer for number, answer in answers.items()}
    return found


def _tell_quality(criterion: Criterion) -> dict[str, SheetAnswer]:
    mode = {"4.2.2": tick("2" if criterion.scale.comparative else "1", source="the scale")}
    quality = criterion.quality
    if quality is None:
        return mode
    stated = quality.model_fields_set
    judgement, effect = JUDGEMENTS[quality.judgement], EFFECTS[quality.effect]
    found = {
        "4.1.1": tick(TYPES[quality.type], source="quality.type"),
        "4.1.2": tick(ASPECTS[quality.aspect], source="quality.aspect"),
        "4.1.3": tick(FRAMES[quality.reference], source="quality.reference"),
        "4.2.1": tick(judgement, source="quality.judgement", draft="judgement" not in stated),
        "4.2.3": tick(effect, source="quality.effect", draft="effect" not in stated),
    }
    if quality.standard_name:
        found["4.3.1.2"] = write(quality.standard_name, "quality.standard_name")
    return mode | found


def _tell_words(criterion: Criterion) -> dict[str, SheetAnswer]:
    return {
        "4.3.1.1": write(criterion.heading, "label" if criterion.label else "name"),
        "4.3.2": write(criterion.definition or "no definition given", "definition"),
        "4.3.7": write(criterion.question, "question"),
    }


def _tell_scale(criterion: Criterion, facts: SheetFacts) -> dict[str, SheetAnswer]:
    scale, source = criterion.scale, f"the scale ({criterion.scale.title})"
    form = tick(str(scale.heds_form.elicitation), source=source)
    if scale.measurement == "text":  # a text box measures nothing: HEDS does not count it as an instrument
        nothing = write("N/A", source)
        task = write(join(scale.describe(), "Evaluators write their answer to the question of 4.3.7"), source)
        return {
            "4.3.3": nothing,
            "4.3.4": nothing,
            "4.3.5": tick("4", source=source),
            "4.3.6": task,
            "4.3.8": form,
        }
    size, values = scale.size(), scale.values()
    if isinstance(scale, ComparativeScale) and not scale.pairwise and facts.n_shown > 1:
        size = f"{facts.n_shown} ({size})"
    presentation = tick(str(scale.heds_form.presentation), text=scale.heds_form.other, source=source)
    return {
        "4.3.3": write(size, source),
        "4.3.4": write(values, source),
        "4.3.5": presentation,
        "4.3.6": write("N/A", source),
        "4.3.8": form,
    }


def _tell_analysis(criterion: Criterion, facts: SheetFacts) -> dict[str, SheetAnswer]:
    plan, scale = facts.study.file.analysis, criterion.scale
    if scale.measurement == "text":
        aggregated = write(
            plan.aggregation or NOT_PROCESSED, "analysis.aggregation", draft=not plan.aggregation
        )
        return {"4.3.9": aggregated, "4.3.10": write("None", "the scale")}
    if isinstance(scale, ComparativeScale):
        mixed = "mixed Bradley-Terry model (random preferences of raters and items)"
        model = mixed if scale.pairwise else "Plackett-Luce model (raters and items as clusters)"
        effect = "differences of the systems' strengths with intervals"
    else:
        short = facts.name_model(criterion)
        link = f", {plan.link} link" if short.startswith("clm") else ""
        if short.startswith("clm") and (prior := parse_prior(plan.prior)):
            link += f", {prior.phrase}"
        if short.startswith("clm") and plan.family != "cumulative":
            link += f", {plan.family} categories"
        formula = (
            "the largest random part that the design supports" if plan.formula == "maximal" else plan.formula
        )
        model = f"{MODEL_WORDS[short]}{link} ({formula})"
        effect = "differences in points of the scale and the probability of a higher rating, with intervals"
    words = f"Single responses are analysed by the {model}, which gives an estimate for each system"
    adjusted = find_adjustment(plan.adjust).label if len(facts.study.systems) > 2 else "unadjusted"
    pairs = f"pairs of systems with {adjusted} p-values, alpha {plan.alpha:g}"
    tests = f"{model[0].upper()}{model[1:]}; {pairs}; {effect}"
    return {
        "4.3.9": write(join(plan.aggregation or words), "analysis.aggregation", draft=not plan.aggregation),
        "4.3.10": write(join(tests), "analysis"),
    }


def _tell_agreement(criterion: Criterion, facts: SheetFacts) -> dict[str, SheetAnswer]:
    scale = criterion.scale
    if scale.measurement == "text":
        none = write("InterAA not assessed", "the scale")
        return {"4.3.11.1": none, "4.3.11.2": none}
    compared = isinstance(scale, ComparativeScale) and scale.told != "ranking" and not scale.graded
    measurement = "nominal" if compared else scale.measurement
    names = [COEFFICIENTS[name].spoken for name in HEADLINES[measurement] if name]
    of = " of the choices among the same outputs" if scale.comparative else ""
    found = facts.find_reliability(criterion)
    method = write(f"{' and '.join(names)}{of}, with bootstrap intervals (panelist agreement)", "the scale")
    if isinstance(found, Missing):
        if facts.cleaned is None:
            return {"4.3.11.1": method, "4.3.11.2": write(PLANNED, "no ratings yet")}
        return {"4.3.11.1": method}
    text = found.sentence().replace("raters", "evaluators").replace("rater", "evaluator")
    return {"4.3.11.1": method, "4.3.11.2": write(text, "the ratings")}


METHOD, VALUE = "4.3.12.1", "4.3.12.2"
KEYS = ["rater", "item", "system"]
NOT_ASSESSED = "IntraAA not assessed"


def tell_repeats(criterion: Criterion, facts: SheetFacts) -> dict[str, SheetAnswer]:
    """Return how raters repeat themselves; not assessed where nothing is shown twice."""
    file = facts.study.file
    checks = [one for one in file.checks.items if isinstance(one, RepeatCheck)] if file.checks else []
    again = file.design.occasions > 1
    if criterion.scale.comparative or criterion.scale.measurement == "text" or not (again or checks):
        if again or checks:
            return {}
        none = write(NOT_ASSESSED, "design.occasions and checks")
        return {METHOD: none, VALUE: none}
    if again:
        apart = f"at least {count(file.design.days_between, 'day')} apart"
        method = f"Test and retest: {file.design.occasions} sittings, {apart}"
        found = facts.stability.get(criterion.name)
        text = found.sentence().replace("raters", "evaluators") if found else ""
        source = "design.occasions"
    else:
        method = f"{count(sum(one.count for one in checks), 'page')} of each evaluator shown again"
        text, source = _measure_repeats(criterion, facts), "repeat checks"
    answers = {METHOD: write(method, source)}
    if facts.cleaned is None:
        answers[VALUE] = write("planned", "no ratings yet")
    elif text:
        answers[VALUE] = write(text, "the ratings")
    return answers


def _measure_repeats(criterion: Criterion, facts: SheetFacts) -> str:
    """Return how often a repeated page was answered as before, empty where the ratings hold none."""
    if facts.everything is None:
        return ""
    frame = facts.everything.ratings.frame
    if not {*KEYS, "criterion", "rating"} <= set(frame):
        return ""
    rows = frame.assign(check=facts.everything.check)
    rows = rows[(rows["criterion"] == criterion.name) & rows["rating"].notna()]
    keys = [*KEYS, *(["turn"] if "turn" in rows else [])]
    first = rows[rows["check"] == ""].drop_duplicates(keys)
    second = rows[rows["check"].astype(str).str.startswith("repeat")]
    both = second.merge(first, on=keys, suffixes=("", "_before"))
    if both.empty:
        return ""
    gap = (both["rating"] - both["rating_before"]).abs()
    evaluators = count(both["rater"].nunique(), "evaluator")
    return (
        f"{100 * (gap == 0).mean():.0f} % of {count(len(both), 'repeated answer')} by {evaluators} are "
        f"the same as before, the mean difference is {gap.mean():.2f} points"
    )
