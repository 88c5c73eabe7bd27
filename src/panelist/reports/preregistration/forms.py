"""The forms of a preregistration: their headings, and which topic answers each.

- AsPredicted (https://aspredicted.org): eight questions, and the name, the type and the source of the data.
- OSF Preregistration (Bowman et al. 2020, https://doi.org/10.31222/osf.io/epgjd).
- Replication Recipe: Brandt, M. J. et al. (2014). The Replication Recipe: What makes for a convincing
  replication? Journal of Experimental Social Psychology 50, 217–224. https://doi.org/10.1016/j.jesp.2013.10.005
"""

from collections.abc import Mapping
from dataclasses import dataclass

from panelist.core.errors import UnknownName, did_you_mean


@dataclass(frozen=True)
class Heading:
    """A heading of a form, and the topic that answers it."""

    section: str
    words: str
    topic: str
    optional: bool = False


@dataclass(frozen=True)
class Form:
    """A form: its name, where it comes from, and its headings in order."""

    name: str
    title: str
    source: str
    headings: tuple[Heading, ...]


def _form(name: str, title: str, source: str, sections: Mapping[str, tuple[tuple[str, str], ...]]) -> Form:
    headings = tuple(
        Heading(section, words.removesuffix("?"), topic, words.endswith("?"))
        for section, pairs in sections.items()
        for words, topic in pairs
    )
    return Form(name, title, source, headings)


# A heading that ends in a question mark may stay empty.
FORMS: dict[str, Form] = {
    one.name: one
    for one in (
        _form(
            "aspredicted",
            "AsPredicted",
            "https://aspredicted.org",
            {
                "": (
                    ("1. Data collection", "data_collected"),
                    ("2. Hypothesis", "hypotheses"),
                    ("3. Dependent variable", "measured"),
                    ("4. Conditions", "conditions"),
                    ("5. Analyses", "analyses"),
                    ("6. Outliers and exclusions", "exclusions"),
                    ("7. Sample size", "sample_size"),
                    ("8. Other?", "other"),
                    ("Name", "title"),
                    ("Type of study", "study_type"),
                    ("Data source", "source"),
                )
            },
        ),
        _form(
            "osf",
            "OSF Preregistration",
            "https://doi.org/10.31222/osf.io/epgjd",
            {
                "Study information": (
                    ("Title", "title"),
                    ("Authors", "authors"),
                    ("Description?", "description"),
                    ("Research questions", "research_questions"),
                    ("Hypotheses", "hypotheses"),
                ),
                "Design plan": (
                    ("Study type", "study_type"),
                    ("Blinding", "blinding"),
                    ("Study design", "design"),
                    ("Randomization", "randomisation"),
                ),
                "Sampling plan": (
                    ("Existing data", "existing_data"),
                    ("Data collection procedures", "procedure"),
                    ("Sample size", "sample_size"),
                    ("Sample size rationale", "sample_size_rationale"),
                    ("Stopping rule", "stopping_rule"),
                ),
                "Variables": (
                    ("Manipulated variables", "conditions"),
                    ("Measured variables", "measured"),
                    ("Indices", "indices"),
                ),
                "Analysis plan": (
                    ("Statistical models", "models"),
                    ("Transformations", "transformations"),
                    ("Inference criteria", "inference"),
                    ("Data exclusion", "exclusions"),
                    ("Missing data", "missing_data"),
                    ("Assumptions?", "assumptions_tested"),
                    ("Exploratory analysis?", "exploratory"),
                ),
                "Other": (("Other?", "other"),),
            },
        ),
        _form(
            "recipe",
            "Replication Recipe",
            "https://doi.org/10.1016/j.jesp.2013.10.005",
            {
                "The nature of the effect": (
                    ("Description of the effect", "original_effect"),
                    ("Importance of replicating it", "importance"),
                    ("Effect size", "original_effect_size"),
                    ("Confidence interval", "original_interval"),
                    ("Sample size", "original_sample_size"),
                    ("Where it was conducted", "original_location"),
                    ("Country or region", "original_country"),
                    ("Kind of sample", "original_sample"),
                    ("Format of the survey", "original_format"),
                ),
                "Design of the replication": (
                    ("Original materials", "materials"),
                    ("Assumptions that hold again", "assumptions"),
                    ("Location of the experimenter", "experimenter_location"),
                    ("Knowledge of the experimenter", "experimenter_knowledge"),
                    ("Target sample size", "sample_size"),
                    ("Rationale for the sample size", "sample_size_rationale"),
                ),
                "Differences between original and replication": (
                    ("Instructions", "same_instructions"),
                    ("Measures", "same_measures"),
                    ("Stimuli", "same_stimuli"),
                    ("Procedure", "same_procedure"),
                    ("Location", "same_location"),
                    ("Remuneration", "same_pay"),
                    ("Participant populations", "same_people"),
                    ("Differences expected to matter", "expected_differences"),
                    ("How that was tested", "tests_of_differences"),
                ),
                "Analysis and evaluation": (
                    ("Exclusion criteria", "exclusions"),
                    ("Analysis plan", "analyses"),
                    ("A successful replication", "successful_replication"),
                    ("Further comments?", "other"),
                ),
            },
        ),
    )
}


def find_form(name: str) -> Form:
    """Return the form of this name."""
    if name not in FORMS:
        raise UnknownName(f"No form is called {name!r}. {did_you_mean(name, FORMS)}")
    return FORMS[name]
