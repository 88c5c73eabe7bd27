"""What ``power --study`` and ``size --study`` take from a study, and how they say so."""

from dataclasses import replace
from typing import TYPE_CHECKING

from panelist.cli.inputs import was_given

if TYPE_CHECKING:
    import typer

    from panelist.analysis.spec import AnalysisSpec
    from panelist.power.layouts.base import Layout
    from panelist.study.study import Study


def take_analysis(
    context: "typer.Context", study: "Study", criterion: str | None, given: "AnalysisSpec"
) -> "tuple[AnalysisSpec, str]":
    """Return how a study analyses a criterion, except where an option was given, and how to report that."""
    from panelist.analysis.spec import MAXIMAL
    from panelist.models.inference.adjust import find_adjustment
    from panelist.power.analyses import ANALYSES
    from panelist.power.layouts.from_plan import declare_analysis

    declared = declare_analysis(study, criterion)
    model = "models" if "models" in context.params else "model"
    fitted = {
        "formula": f"its formula ({declared.formula or MAXIMAL})",
        "link": f"its link ({declared.link})",
        **({"prior": f"its prior ({declared.prior})"} if declared.prior else {}),
    }
    words = {
        model: f"the analysis {declared.model}",
        **({} if "choices" in ANALYSES[declared.model].reads else fitted),  # which has neither
        "alpha": f"alpha {declared.alpha:g}",
        "adjust": f"{find_adjustment(declared.adjust).label} pairs",
    }
    if declared.claim is not None and declared.margin is not None:
        words["claim"] = f"its claim ({declared.claim} within {declared.margin.words})"
    kept = [name for name in words if was_given(context, name)]
    spec = replace(
        given,
        model=given.model if model in kept else declared.model,
        formula=given.formula if "formula" in kept else declared.formula,
        link=declared.link,
        prior=declared.prior,
        confidence=given.confidence if "alpha" in kept else declared.confidence,
        adjust=given.adjust if "adjust" in kept else declared.adjust,
        margin=declared.margin,
        claim=declared.claim,
    )
    where = study.path.name if study.path is not None else "the study"
    said = f"As {where} declares: {', '.join(words[name] for name in words if name not in kept)}."
    if declared.margin is not None and declared.claim is None and "claim" not in kept:
        said += (
            f" It has a margin ({declared.margin.words}): --claim equivalence gives the power to show that."
        )
    return spec, said + (f" By option: {', '.join(f'--{name}' for name in kept)}." if kept else "")


def say_turns(rated: "Layout | int") -> tuple[str, ...]:
    """Return in words that each turn of a dialogue is a rating; nothing where outputs are rated whole.

    ``rated`` is the layout, or how many turns of an output are rated on average.
    """
    from panelist.design.simulate import TURN_SPREADS

    if not isinstance(rated, int) and rated.turn is None:
        return ()
    many = f"{rated} of an output" if isinstance(rated, int) else f"{rated.n_rows:,} ratings"
    spreads = ", ".join(f"{name} {sd:g}" for name, sd in TURN_SPREADS.items())
    return (
        f"Each turn is rated: {many}. On top of the preset come the standard deviations "
        f"that panelist simulate has for turns ({spreads}).",
    )


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
