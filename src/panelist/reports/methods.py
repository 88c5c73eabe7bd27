"""Methods and results in words, ready to paste: what was done, and what came out of it."""

from math import isfinite
from typing import TYPE_CHECKING

from panelist.analysis.comparative.choice_comparison import CLUSTER_WORDS, ChoiceCriterion
from panelist.analysis.comparative.choice_comparison import MODEL_WORDS as CHOICE_WORDS
from panelist.analysis.comparison import MODEL_WORDS, CriterionComparison
from panelist.analysis.departures import Departures
from panelist.analysis.missing import Missing
from panelist.analysis.words import count, listing
from panelist.core.formats import interval, number, p_value
from panelist.models.inference.adjust import find_adjustment

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import Analysis, CriterionAnalysis
    from panelist.study.study import Study

DESIGNS = {
    "latin-square": "in a Latin square: each item once for each rater, each system equally often",
    "williams": "in a Latin square in which each system follows each other equally often",
    "lists": "in lists: each rater judged some of the items, none twice",
    "full": "fully: each rater judged every output",
    "pages": "with all outputs of an item on one page",
    "pairs": "in pairs of outputs side by side",
    "best-worst": "in balanced tuples of outputs",
}
RATED = {
    "side by side": "Outputs that are compared are also rated, side by side",
    "alone": "Outputs that are compared are also rated, each alone on a page of its own",
}
_MOST_TOLD = 6


def rates_and_compares(study: "Study") -> bool:
    """Return whether some criteria of a study compare outputs and others rate each of them."""
    return len({one.scale.comparative for one in study.criteria}) > 1


def write_methods(analysis: "Analysis") -> str:
    """Return the methods paragraph."""
    said = [_tell_collection(analysis)]
    if analysis.study is not None:
        said += _tell_study(analysis.study)
    said.append(_tell_exclusions(analysis))
    if isinstance(analysis.departures, Departures):
        said.append(analysis.departures.sentence())
    said += _tell_models(analysis)
    said += _tell_reliability(analysis)
    return " ".join(text for text in said if text)


def write_results(analysis: "Analysis") -> str:
    """Return the results paragraph: for each criterion the differences with intervals, then reliability."""
    said = []
    for one in analysis.criteria:
        said.append(one.sentence())
        said += _tell_pairs(one)
        if not isinstance(one.kinds, Missing) and one.kinds.disagreements:
            said += one.kinds.sentences()[:3]
        if not isinstance(one.reliability, Missing):
            said.append(one.reliability.sentence())
    return " ".join(said)


def _tell_collection(analysis: "Analysis") -> str:
    data = analysis.data
    who = count(data.n_raters, "rater") if data.n_raters else "Raters"
    what = f"outputs of {count(len(data.systems), 'system')}" if data.systems else "outputs"
    items = f" for {count(data.n_items, 'item')}" if data.n_items else ""
    return f"{who} judged {what}{items} on {listing(list(data.criteria))} ({count(data.n, data.noun)})."


def _tell_study(study: "Study") -> list[str]:
    people = study.file.raters
    said = [
        text.strip().rstrip(".") + "." for text in (people.description, people.recruitment) if text.strip()
    ]
    for criterion in study.criteria:
        said.append(
            f"For {criterion.name} they were asked “{criterion.question}”. {criterion.scale.describe()}"
        )
    design = study.file.design
    order = "in random order" if design.order == "random" else "in the order of the file"
    said.append(f"Outputs were assigned {DESIGNS[design.type]}, {order}.")
    if rates_and_compares(study):
        said.append(f"{RATED[design.rated].replace(' are ', ' were ')}.")
    return said


def _tell_exclusions(analysis: "Analysis") -> str:
    exclusions = analysis.exclusions
    applied = [rule for rule in exclusions.rules if not rule.missing]
    if not applied:
        return ""
    rules = "; ".join(f"{rule.text} ({count(rule.n_ratings, exclusions.noun)})" for rule in applied)
    return f"{exclusions.sentence()} The rules: {rules}."


def _tell_models(analysis: "Analysis") -> list[str]:
    """Return how the ratings and choices were modelled, criteria with the same model together."""
    by_model: dict[tuple[str, str, str], list[CriterionComparison]] = {}
    for one in analysis.criteria:
        if not isinstance(one.comparison, Missing):
            made = one.comparison
            by_model.setdefault((made.model, made.link or "", made.formula), []).append(made)
    said = []
    for (model, link, formula), compared in by_model.items():
        names = listing([one.criterion for one in compared])
        if model in MODEL_WORDS:
            how = f"{link} link, " if link else ""
            article = "an" if MODEL_WORDS[model].startswith("o") else "a"
            said.append(
                f"Ratings of {names} were modelled with {article} {MODEL_WORDS[model]} ({how}{formula})."
            )
        else:
            kinds = dict.fromkeys(
                CLUSTER_WORDS[one.cluster] for one in compared if isinstance(one, ChoiceCriterion)
            )
            how = f", {' or '.join(kinds)}" if kinds else ""
            said.append(f"Choices on {names} were modelled with the {CHOICE_WORDS.get(model, model)}{how}.")
    if not by_model:
        return said
    every = [one for compared in by_model.values() for one in compared]
    if any("next smaller model" in note for one in every for note in one.notes):
        said.append("The random part is the largest that the data bear, reduced where it was singular.")
    if any(one.model == "clmm" and one.tested_by == "t" for one in every):
        said.append(
            "Differences of ordinal mixed models are tested by t: Satterthwaite's degrees of freedom of the "
            "linear mixed model with the same formula, and standard errors times its ratio of REML to ML."
        )
    said += [one.why for one in every if one.why]
    first = every[0]
    if any(len(one.systems) > 2 for one in every):
        labels = dict.fromkeys(find_adjustment(one.adjust).label for one in every if len(one.systems) > 2)
        said.append(f"Pairwise differences are {listing(list(labels))}, for the pairs of each criterion.")
    if len(every) > 1:
        together = first.across_criteria.capitalize()
        said.append(
            "Each criterion's tests hold their level on their own."
            if first.across_criteria == "none"
            else f"P-values also allow for the {len(every)} criteria ({together})."
        )
    if any(one.equivalence for one in every):
        margin = next(one.equivalence[0].margin for one in every if one.equivalence)
        said.append(
            f"Equivalence within {margin:g} points was tested by two one-sided tests, Holm-adjusted for the "
            "number of pairs."
        )
    said.append(f"Intervals are at {first.level * 100:g} %.")
    if any(not isinstance(one.effects, Missing) for one in analysis.criteria):
        said.append(
            "Differences are given in points of the scale (between expected ratings, averaged over raters "
            "and items) and as the probability that a rating of one system is higher than one of the other."
        )
    return said


def _tell_reliability(analysis: "Analysis") -> list[str]:
    if all(isinstance(one.reliability, Missing) for one in analysis.criteria):
        return []
    if all(one.comparative for one in analysis.criteria):
        return [
            "Agreement on choices among the same outputs is reported with intervals from "
            f"{analysis.settings.resamples:,} bootstrap samples of items."
        ]
    return [
        "Agreement is reported beside correlation (Amidei et al. 2019), with intervals from "
        f"{analysis.settings.resamples:,} bootstrap samples of items and, with five raters or more, a "
        "jackknife over raters."
    ]


def _tell_pairs(one: "CriterionAnalysis") -> list[str]:
    """Return the differences of a criterion with their intervals; few of them, or the largest."""
    if isinstance(one.effects, Missing):
        return []
    known = [pair for pair in one.effects.pairs if isfinite(pair.p_adjusted)]
    known.sort(key=lambda pair: -abs(pair.latent))
    told = []
    for pair in known[:_MOST_TOLD]:
        size = f"{number(pair.points, 2)} points [{interval(pair.points_low, pair.points_high)}]"
        if not isfinite(pair.points):
            size = f"{number(pair.latent, 2)} latent SDs [{interval(pair.latent_low, pair.latent_high)}]"
        p = p_value(pair.p_adjusted)
        chance = f"P(higher) = {number(pair.superiority, 2)}"
        told.append(f"{pair.a} − {pair.b}: {size}, {chance}, p {p if p.startswith('<') else f'= {p}'}")
    if not told:
        return []
    more = f" (the {len(told)} largest of {len(known)})" if len(known) > len(told) else ""
    return [f"Differences{more}: {'; '.join(told)}.".replace(" -", " −").replace("[-", "[−")]
