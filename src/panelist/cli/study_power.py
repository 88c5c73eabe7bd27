"""What ``power --study`` and ``size --study`` take from a study, and how they say so."""

from typing import TYPE_CHECKING, Any

from panelist.cli.inputs import was_given

if TYPE_CHECKING:
    import typer

    from panelist.study.study import Study


def take_analysis(
    context: "typer.Context", study: "Study", criterion: str | None
) -> tuple[dict[str, Any], str]:
    """Return how the study analyses a criterion, but for what was given as an option, and what to say of it.

    The keys are model, link, formula, alpha and adjust.
    """
    from panelist.models.inference.adjust import find_adjustment
    from panelist.power.plan_layouts import declared_analysis

    declared = declared_analysis(study, criterion)
    options = {"model": "models" if "models" in context.params else "model"}
    taken = {
        name: value for name, value in declared.items() if not was_given(context, options.get(name, name))
    }
    words = {
        "model": f"the analysis {declared['model']}",
        "formula": f"its formula ({declared['formula']})",
        "link": f"its link ({declared['link']})",
        "alpha": f"alpha {declared['alpha']:g}",
        "adjust": f"{find_adjustment(str(declared['adjust'])).label} pairs",
    }
    where = study.path.name if study.path is not None else "the study"
    said = f"As {where} declares: {', '.join(words[name] for name in words if name in taken)}."
    kept = [f"--{options.get(name, name)}" for name in words if name not in taken]
    return taken, said + (f" By option: {', '.join(kept)}." if kept else "")


def name_criterion(study: "Study", criterion: str | None) -> str:
    """Return the criterion that is meant: the one named, else the first."""
    return study.criteria[0].name if criterion is None else study.criterion(criterion).name


def say_systems(study: "Study", criterion: str | None) -> str:
    """Return the systems and the scale of a study in words."""
    chosen = study.criterion(name_criterion(study, criterion))
    several = f" (criterion {chosen.name})" if len(study.criteria) > 1 else ""
    return (
        f"Taken from the study: {len(study.systems)} systems ({', '.join(study.systems)}), "
        f"scale {chosen.scale.title.lower()}{several}."
    )
