"""What ``power --study`` and ``size --study`` take from a study, and how they say so."""

from dataclasses import replace
from typing import TYPE_CHECKING

from panelist.cli.inputs import was_given

if TYPE_CHECKING:
    import typer

    from panelist.analysis.spec import AnalysisSpec
    from panelist.study.study import Study


def take_analysis(
    context: "typer.Context", study: "Study", criterion: str | None, given: "AnalysisSpec"
) -> "tuple[AnalysisSpec, str]":
    """Return how a study analyses a criterion, except where an option was given, and how to report that."""
    from panelist.analysis.spec import MAXIMAL
    from panelist.models.inference.adjust import find_adjustment
    from panelist.power.layouts.from_plan import declare_analysis

    declared = declare_analysis(study, criterion)
    model = "models" if "models" in context.params else "model"
    fitted = {
        "formula": f"its formula ({declared.formula or MAXIMAL})",
        "link": f"its link ({declared.link})",
    }
    words = {
        model: f"the analysis {declared.model}",
        **({} if declared.model == "bradley_terry" else fitted),  # which has neither
        "alpha": f"alpha {declared.alpha:g}",
        "adjust": f"{find_adjustment(declared.adjust).label} pairs",
    }
    kept = [name for name in words if was_given(context, name)]
    spec = replace(
        given,
        model=given.model if model in kept else declared.model,
        formula=given.formula if "formula" in kept else declared.formula,
        link=declared.link,
        confidence=given.confidence if "alpha" in kept else declared.confidence,
        adjust=given.adjust if "adjust" in kept else declared.adjust,
    )
    where = study.path.name if study.path is not None else "the study"
    said = f"As {where} declares: {', '.join(words[name] for name in words if name not in kept)}."
    return spec, said + (f" By option: {', '.join(f'--{name}' for name in kept)}." if kept else "")


def name_criterion(study: "Study", criterion: str | None) -> str:
    """Return the criterion that is meant: the one named, else the first."""
    return study.criteria[0].name if criterion is None else study.criterion(criterion).name


def say_taken(study: "Study", criterion: str, *, chosen: bool, systems: bool = True) -> str:
    """Return in words what is taken from a study: its systems, unless an option says how many, and a scale.

    ``chosen`` says whether the criterion was named. If not, the sentence says how to take another.
    """
    scale = study.criterion(criterion).scale
    named = f"{len(study.systems)} systems ({', '.join(study.systems)}) and " if systems else ""
    others = [one.name for one in study.criteria if one.name != criterion and not chosen]
    which = f" To take another criterion: --criterion {' or '.join(others)}." if others else ""
    return f"Taken from the study: {named}the scale of {criterion} ({scale.title.lower()}).{which}"
