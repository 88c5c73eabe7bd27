"""Methods and results in words, ready to paste: what was done, and what came out of it."""

from math import isfinite
from typing import TYPE_CHECKING

from panelist.analysis.choices.choice_comparison import MODEL_WORDS as CHOICE_WORDS
from panelist.analysis.choices.choice_comparison import ChoiceCriterion
from panelist.analysis.choices.models.mixed_part import MixedPart
from panelist.analysis.departures import Departures
from panelist.analysis.missing import Missing
from panelist.analysis.sensitivity.lacking import MEANING, LackingOutputs
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.analysis.systems.comparison_tables import name_model
from panelist.analysis.systems.effects import Effect
from panelist.core.display.formats import interval, number, say_p
from panelist.core.margin import Margin, find_level
from panelist.core.notes import has_note
from panelist.core.prose import count, listing
from panelist.models.choices.pairs import POSITION
from panelist.models.inference.adjust import find_adjustment
from panelist.models.prior_words import parse_prior
from panelist.models.results.fitted import MODEL_WORDS
from panelist.reports.methods_of_study import tell_study
from panelist.reports.provenance import list_versions
from panelist.reports.report.beside_judge import BesideJudge
from panelist.reports.report.typography import typeset

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import Analysis, CriterionAnalysis

_MOST_TOLD = 6


def write_methods(analysis: "Analysis") -> str:
    """Return the methods paragraph."""
    said = [_tell_collection(analysis)]
    if analysis.study is not None:
        said += tell_study(analysis.study)
    said.append(_tell_exclusions(analysis))
    if isinstance(analysis.departures, Departures):
        said.append(analysis.departures.sentence())
    said += _tell_models(analysis)
    if analysis.lacking is not None:
        said.append(_tell_lacking(analysis.lacking))
    if isinstance(analysis.beside, BesideJudge):
        said.append(analysis.beside.method())
    said += _tell_reliability(analysis)
    said.append(_tell_software(analysis))
    return typeset(" ".join(text for text in said if text))


def write_results(analysis: "Analysis") -> str:
    """Return a paragraph for each criterion: the differences with intervals, then reliability."""
    paragraphs = []
    for one in analysis.criteria:
        said = [one.sentence(), *_tell_pairs(one)]
        if not isinstance(one.kinds, Missing) and one.kinds.disagreements and not _told_beside(one):
            said += one.kinds.sentences()[:3]
        if not isinstance(one.reliability, Missing):
            said.append(one.reliability.sentence())
        paragraphs.append(" ".join(said))
    if analysis.lacking is not None:
        paragraphs.append(" ".join(analysis.lacking.sensitivity()))
    return typeset("\n\n".join(paragraphs))


def _told_beside(one: "CriterionAnalysis") -> bool:
    """Return whether the finding itself says how the other kind of analysis came out."""
    if isinstance(one.comparison, Missing | ChoiceCriterion):
        return False
    compared = one.comparison
    return bool(compared.why) or any(against.code == "analyses" for against in compared.contradictions)


def _tell_collection(analysis: "Analysis") -> str:
    data = analysis.data
    who = count(data.n_raters, "rater") if data.n_raters else "Raters"
    what = f"outputs of {count(len(data.systems), 'system')}" if data.systems else "outputs"
    items = f" for {count(data.n_items, 'item')}" if data.n_items else ""
    draw = analysis.study.draw if analysis.study else None
    of = (
        f" The items were drawn at random from {len(draw.items):,}, {draw.say_probability()}." if draw else ""
    )
    return f"{who} judged {what}{items} on {listing(data.criteria, 8)} ({count(data.n, data.noun)}).{of}"


def _tell_exclusions(analysis: "Analysis") -> str:
    exclusions = analysis.exclusions
    applied = [rule for rule in exclusions.rules if not rule.missing]
    if not applied:
        return ""
    rules = "; ".join(f"{rule.text} ({count(rule.n_ratings, exclusions.noun)})" for rule in applied)
    which = "rules were" if len(applied) > 1 else "rule was"
    left = [rule.text for rule in exclusions.rules if rule.missing]
    also = f" Not applied, because the ratings lack what the rule needs: {'; '.join(left)}." if left else ""
    return f"{exclusions.sentence()} The {which}: {rules}.{also}"


def _tell_mixed(parts: list[MixedPart], explained: bool) -> str:
    """Return how mixed models of choices are built and tested; ``explained``: how t is found was said."""
    graded = any(one.family == "cumulative" and one.points > 2 for one in parts)
    style = dict.fromkeys(
        slope.term for one in parts if one.plain for slope in one.slopes if slope.term != POSITION
    )
    said = "Raters and items have a preference of their own for each system, with one standard deviation each"
    said += "; thresholds of the grades are mirrored at zero (cumulative logit)" if graded else ""
    said += f"; {listing(style, None)} is controlled for" if style else ""
    if explained:
        return f"{said}. Their differences are tested in the same way."
    return (
        f"{said}. Differences are tested by t: Satterthwaite's degrees of freedom of the linear mixed model "
        "with the same terms, and standard errors times its ratio of REML to ML."
    )


def _tell_models(analysis: "Analysis") -> list[str]:
    """Return how the ratings and choices were modelled, criteria with the same model together."""
    by_model: dict[tuple[str, str, str, str], list[CriterionComparison]] = {}
    for one in analysis.criteria:
        if not isinstance(one.comparison, Missing):
            made = one.comparison
            named = made.model if isinstance(made, ChoiceCriterion) else name_model(made)
            key = (made.model, made.link or "", made.formula, named)
            by_model.setdefault(key, []).append(made)
    said = []
    for (model, link, formula, named), compared in by_model.items():
        names = listing([one.criterion for one in compared], 8)
        if model in MODEL_WORDS:
            how = f"{link} link, " if link else ""
            article = "an" if named.startswith("o") else "a"
            said.append(f"Ratings of {names} were modelled with {article} {named} ({how}{formula}).")
            if not getattr(compared[0].fit, "has_latent_differences", True):
                said.append(
                    "Systems are compared by expected ratings, with standard errors by the delta method."
                )
            if assumed := parse_prior(compared[0].prior):
                said.append(
                    f"The likelihood is penalised by the prior: {assumed.explain()}. Estimates are the mode, "
                    "standard errors its curvature."
                )
        else:
            kinds = dict.fromkeys(one.dependence for one in compared if isinstance(one, ChoiceCriterion))
            said_as = dict.fromkeys(one.model_words for one in compared if isinstance(one, ChoiceCriterion))
            how = f", {' or '.join(kinds)}" if kinds else ""
            what = " or ".join(said_as) or CHOICE_WORDS.get(model, model)
            said.append(f"Choices on {names} were modelled with the {what}{how}.")
    if not by_model:
        return said
    every = [one for compared in by_model.values() for one in compared]
    if any(has_note(one.notes, "reduced") for one in every):
        said.append(
            "The random part is the largest that the data support: a singular one was reduced where the "
            "smaller model fits as well."
        )
    tested_by_t = any(one.model == "clmm" and one.tested_by == "t" for one in every)
    if tested_by_t:
        said.append(
            "Differences of ordinal mixed models are tested by t: Satterthwaite's degrees of freedom of the "
            "linear mixed model with the same formula, and standard errors times its ratio of REML to ML."
        )
    mixed = [one.strengths.mixed for one in every if isinstance(one, ChoiceCriterion)]
    if any(one is not None for one in mixed):
        said.append(_tell_mixed([one for one in mixed if one is not None], tested_by_t))
    said += [_tell_why(one, alone=len(every) == 1) for one in every if one.why]
    if any(one.remedy is not None for one in every):
        said.append(
            "Whether systems differ in spread (scale effects) or in thresholds (nominal effects) was tested "
            "by likelihood ratios with the same random part; spread came first, and neither was kept without "
            "need."
        )
    said += list(dict.fromkeys(one.look for one in every if one.look))
    first = every[0]
    if any(len(one.systems) > 2 for one in every):
        labels = dict.fromkeys(find_adjustment(one.adjust).label for one in every if len(one.systems) > 2)
        said.append(f"Pairwise differences are {listing(labels, 8)}, for the pairs of each criterion.")
    if len(every) > 1:
        together = first.across_criteria.capitalize()
        said.append(
            "Each criterion's tests hold their level separately."
            if first.across_criteria == "none"
            else f"P-values also allow for the {len(every)} criteria ({together})."
        )
    if any(one.equivalence for one in every):
        said.append(_tell_margin(next(one for one in every if one.equivalence)))
    said.append(f"Intervals are at {first.confidence * 100:g} %.")
    if any(not isinstance(one.effects, Missing) for one in analysis.criteria):
        said.append(
            "Differences are given in points of the scale (between expected ratings, averaged over raters "
            "and items) and as the probability that a rating of one system is higher than one of the other."
        )
    return said


def _tell_margin(one: CriterionComparison) -> str:
    """Return how equivalence and non-inferiority were tested."""
    first, alpha = one.equivalence[0], round(1 - one.confidence, 12)
    said = (
        f"Equivalence within ±{Margin(first.margin, first.unit).words} was tested by two one-sided tests at "
    )
    said += f"{find_level('equivalence', alpha):g}, non-inferiority by one at "
    said += f"{find_level('non-inferiority', alpha):g}"
    said += "; single claims are Holm-adjusted for the number of pairs" if len(one.equivalence) > 1 else ""
    if first.unit == "points" and one.fit is not None and one.fit.ordinal:
        said += ". Standard errors of differences in points are by the delta method"
    return f"{said}."


def _tell_lacking(lacking: LackingOutputs) -> str:
    """Return what was missing, what the comparison then means, and how it was tried."""
    return (
        f"Not every output exists: {'; '.join(lacking.lacks)}; "
        f"{count(lacking.n_common, 'item has', 'items have')} outputs of every system. {MEANING} It was also "
        "made with every missing output at the worst value, by raters of its item."
    )


def _tell_reliability(analysis: "Analysis") -> list[str]:
    if all(isinstance(one.reliability, Missing) for one in analysis.criteria):
        return []
    if all(one.comparative for one in analysis.criteria):
        return [
            "Agreement on choices among the same outputs is reported with intervals from "
            f"{analysis.spec.resamples:,} bootstrap samples of items."
        ]
    measured = [one.reliability for one in analysis.criteria if not isinstance(one.reliability, Missing)]
    correlated = any(
        coefficient.kind == "correlation" and coefficient.suits and isfinite(coefficient.estimate)
        for one in measured
        for coefficient in one.coefficients
    )
    beside = " together with correlation (Amidei et al. 2019)" if correlated else ""
    ways = " or ".join(dict.fromkeys(one.interval for one in measured if one.interval))
    how = f", with intervals {ways} ({analysis.spec.resamples:,} resamples)" if ways else ""
    return [f"Agreement is reported{beside}{how}."]


def _tell_software(analysis: "Analysis") -> str:
    found = list_versions()
    made = "Design, rating pages and analysis" if analysis.study is not None else "The analysis"
    verb = "are" if analysis.study is not None else "is"
    return f"{made} {verb} by Panelist {found['panelist']} under Python {found['python']}."


def _tell_pairs(one: "CriterionAnalysis") -> list[str]:
    """Return the differences of a criterion with their intervals; few of them, or the largest."""
    if isinstance(one.effects, Missing):
        return []
    known = [pair for pair in one.effects.pairs if isfinite(pair.p_adjusted)]
    known.sort(key=lambda pair: -abs(pair.tested))
    told = []
    for pair in map(Effect.upward, known[:_MOST_TOLD]):
        size = f"{number(pair.points, 2)} points [{interval(pair.points_low, pair.points_high)}]"
        if not isfinite(pair.points):
            size = f"{number(pair.latent, 2)} latent SDs [{interval(pair.latent_low, pair.latent_high)}]"
        chance = f"P(higher) = {number(pair.superiority, 2)}"
        told.append(f"{pair.a} − {pair.b}: {size}, {chance}, {say_p(pair.p_adjusted)}")
    if not told:
        return []
    more = f" (the {len(told)} largest of {len(known)})" if len(known) > len(told) else ""
    return [f"The differences{more} were: {'; '.join(told)}."]


def _tell_why(one: CriterionComparison, *, alone: bool) -> str:
    """Return why another model leads than the scale suggests, with the criterion where there are others."""
    return one.why if alone else f"On {one.criterion}, {one.why[0].lower()}{one.why[1:]}"
