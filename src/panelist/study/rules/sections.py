"""Rules about single sections: addresses, languages, pay, the datasheet and the analysis."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from panelist.core.errors import BadFormula, BadStudy, did_you_mean
from panelist.core.prose import list_words, listing
from panelist.study.problems import Problem, show_value
from panelist.study.rules.base import Facts, rule
from panelist.study.sections.findings import parse_finding

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")  # a BCP 47 tag without its rarer parts
_QUESTION = re.compile(r"[1-5](\.[1-9][0-9]?){1,3}")
_FILLED_IN = ("code", "id")
COLUMNS = list_words("rating rater item system criterion occasion group position seconds list")


@rule("language", "text_language")
def languages_have_codes(facts: Facts) -> Iterator[Problem]:
    """Languages are given by codes that browsers know."""
    for name in ("language", "text_language"):
        code = getattr(facts.file, name)
        if code and not _LANGUAGE.fullmatch(code):
            yield facts.problem(
                (name,), f"should be a language code such as en, de, ar or pt-BR; found {code!r}."
            )


@rule("collecting")
def redirects_are_safe(facts: Facts) -> Iterator[Problem]:
    """Raters are sent to https addresses only, with no unknown placeholders."""
    for name in type(facts.file.collecting.outcomes).model_fields:
        address = getattr(facts.file.collecting.outcomes, name).redirect
        if address and (wrong := refuse_address(address)):
            yield facts.problem(("collecting", "outcomes", name, "redirect"), wrong)


def refuse_address(address: str) -> str:
    """Return what is wrong with an address; nothing if it is fine."""
    unknown = [word for word in re.findall(r"\{([^{}]*)\}", address) if word not in _FILLED_IN]
    if unknown:
        listed = listing(f"{{{word}}}" for word in unknown)
        return f"only {{code}} and {{id}} are filled in; found {listed}."
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        host, parts = "", urlsplit("")
    odd = re.search(r"[\s\\<>\"\x00-\x1f]", address) or "{" in host or parts.username is not None
    if parts.scheme.lower() != "https" or not host or odd:
        example = "https://app.example.org/complete?cc={code}"
        return f"should be an https address without spaces, such as {example}; found {show_value(address)}."
    return ""


@rule("pay", "raters.paid")
def pay_can_be_said(facts: Facts) -> Iterator[Problem]:
    """What the pay section leaves open, and what contradicts it."""
    pay, paid = facts.file.pay, facts.file.raters.paid
    if pay is None:
        return
    if pay.minutes_per_trial is None:
        yield facts.note(
            ("pay",), "minutes_per_trial is not given: the cost of the study is not known before a pilot."
        )
    if not pay.living_wage and paid == "money":
        yield facts.note(("pay",), "living_wage is not given: nothing keeps the pay above it.")
    floor = max(pay.minimum_wage, pay.raters_minimum_wage, pay.living_wage)
    if pay.hourly is not None and pay.hourly < floor:
        yield facts.note(
            ("pay", "hourly"),
            f"{pay.hourly} {pay.currency} an hour is below the minimum or living wage; {floor} is paid.",
        )
    if (pay.original_wage is None) != (pay.original_minimum_wage is None):
        given, other = "original_wage", "original_minimum_wage"
        if pay.original_wage is None:
            given, other = other, given
        yield facts.problem(("pay", given), f"only the two together say anything; {other} is missing.")
    if pay.original_minimum_wage is not None and not pay.original_minimum_wage:
        yield facts.problem(
            ("pay", "original_minimum_wage"), "should be more than 0; leave both out if unknown."
        )
    if paid != "money":
        yield facts.note(("pay",), f"raters.paid is {paid!r}, so pay has no effect.")


@rule("heds")
def datasheet_questions_exist(facts: Facts) -> Iterator[Problem]:
    """Answers for the datasheet are given by question number."""
    for key in facts.file.heds:
        if not _QUESTION.fullmatch(key):
            yield facts.problem(
                ("heds", key),
                f'the key should be the number of a HEDS question, such as "3.1.2"; found {key!r}.',
            )


@rule("analysis.formula", "background")
def formula_can_be_read(facts: Facts) -> Iterator[Problem]:
    """The formula of the analysis can be parsed, and names columns that the ratings will have."""
    formula = facts.file.analysis.formula
    if formula == "maximal":
        return
    from panelist.models.formulas.formula import parse_formula

    path = ("analysis", "formula")
    try:
        parsed = parse_formula(formula)
    except BadFormula as error:
        if re.fullmatch(r"\w+", formula):
            yield facts.problem(path, f"should be a formula or the word maximal; found {formula!r}.")
        else:
            yield facts.problem(path, " ".join(str(error).split("\n")[0].split()))
        return
    known = [*COLUMNS, *(question.name for question in facts.file.background)]
    if facts.outputs is not None and "text_type" in facts.outputs.frame:
        known.append("text_type")
    for name in sorted(parsed.variables - set(known)):
        yield facts.problem(path, f"the ratings will have no column {name!r}. {did_you_mean(name, known)}")
    if parsed.response != "rating" and parsed.response in known:
        yield facts.problem(path, f"should begin with 'rating ~'; found {parsed.response!r} there.")


@rule("analysis.style", "criteria")
def style_can_be_found(facts: Facts) -> Iterator[Problem]:
    """What is controlled for in choices is a column of numbers of the outputs, or counted in them."""
    from panelist.study.reading.output_features import MEASURED, measure_outputs

    names = facts.file.analysis.style_columns
    if names and facts.criteria and not any(one.scale.comparative for _, one in facts.criteria):
        path = ("analysis", "style")
        yield facts.problem(path, "is for criteria that compare outputs, and there is none; leave it out.")
    for place, name in enumerate(names if facts.outputs is not None else ()):
        assert facts.outputs is not None
        path_of = ("analysis", "style", place)
        if name not in facts.outputs.frame and name not in MEASURED:
            yield facts.problem(
                path_of,
                f"the outputs file has no column {name!r}, and it is none of what is counted in outputs: "
                f"{listing(MEASURED, None)}.",
            )
        elif name in facts.outputs.frame:
            try:
                measure_outputs(facts.outputs, name)
            except BadStudy as error:
                yield facts.problem(path_of, str(error).removeprefix("analysis.style: "))


@rule("analysis.findings", "systems", "criteria")
def findings_can_be_read(facts: Facts) -> Iterator[Problem]:
    """Findings name criteria and systems of this study."""
    for place, text in enumerate(facts.file.analysis.findings):
        path, finding = ("analysis", "findings", place), parse_finding(text)
        if finding is None:
            yield facts.problem(
                path, f"should read 'criterion: A > B' (or < or =); found {show_value(text)}."
            )
            continue
        criterion, *systems = finding.criterion, finding.first, finding.second
        if criterion not in facts.criterion_names:
            hint = did_you_mean(criterion, facts.criterion_names)
            yield facts.problem(path, f"no criterion is called {criterion!r}. {hint}")
        for system in dict.fromkeys(systems):
            if facts.systems and system not in facts.systems:
                yield facts.problem(
                    path, f"no system is called {system!r}. {did_you_mean(system, facts.systems)}"
                )
        if finding.first == finding.second:
            yield facts.problem(path, f"compares {finding.first!r} with itself.")
