"""The layout of a study's own plan: its trials on one criterion."""

from typing import TYPE_CHECKING

import numpy as np

from panelist.core.errors import BadDesign, BadPlan
from panelist.power.cuts import Cuts, DrawnCuts, Slider
from panelist.power.layouts import Layout

if TYPE_CHECKING:
    from panelist.design.plan import Plan
    from panelist.study.study import Study

_TOLD = {"best-worst": "best-worst", "ranking": "ranking"}


def lay_out_plan(plan: "Plan", study: "Study", criterion: str | None = None) -> Layout:
    """Return the trials of a plan on one criterion (the first unless it is named), first occasion only."""
    from panelist.design.showings import number, number_pages

    chosen = study.criteria[0] if criterion is None else study.criterion(criterion)
    if len(study.systems) < 2:
        raise BadDesign(
            f"A power study compares systems, and the study has {len(study.systems)}. Add outputs of another."
        )
    table = plan.table
    keep = (table["phase"] == "trial") & (table["criterion"] == chosen.name) & (table["occasion"] == 1)
    rows = table[keep.to_numpy()].reset_index(drop=True)
    if rows.empty:
        raise BadPlan(f"The plan holds no trial on {chosen.name!r}: there is nothing to simulate.")
    raters, rater = np.unique(number(rows["rater"], plan.raters), return_inverse=True)
    items, item = np.unique(number(rows["item"], study.items), return_inverse=True)
    system = number(rows["system"], study.systems)
    outputs = len(np.unique(item * len(study.systems) + system))
    comparative = chosen.scale.comparative
    page = number_pages(rows)[0].astype(np.int32) if comparative else None
    return Layout(
        rater.astype(np.int32),
        item.astype(np.int32),
        system.astype(np.int32),
        len(raters),
        len(items),
        tuple(study.systems),
        round(len(rows) / outputs, 2),
        page,
        _TOLD.get(getattr(chosen.scale, "type", ""), "best"),
    )


def declared_analysis(study: "Study", criterion: str | None = None) -> dict[str, str | float]:
    """Return how a study analyses a criterion: model, link, formula, alpha and adjustment."""
    from panelist.scales.base import MODEL_OF_LEVEL

    chosen = study.criteria[0] if criterion is None else study.criterion(criterion)
    plan = study.file.analysis
    usual = "bradley_terry" if chosen.scale.comparative else MODEL_OF_LEVEL.get(chosen.scale.level, "clmm")
    return {
        "model": usual if plan.model == "auto" or chosen.scale.comparative else plan.model,
        "link": plan.link,
        "formula": plan.formula,
        "alpha": plan.alpha,
        "adjust": plan.adjust,
    }


def check_sizable(study: "Study", criterion: str | None = None) -> None:
    """Raise BadDesign where a size is asked for a criterion that compares outputs: ratings are sized."""
    chosen = [study.criterion(criterion)] if criterion is not None else study.criteria
    if all(one.scale.comparative for one in chosen):
        raise BadDesign(
            f"Sizes are searched for ratings, and {chosen[0].name!r} compares outputs. The power of the "
            "study's own plan is simulated: panelist power --study STUDY --criterion "
            f"{chosen[0].name}; change the plan until it is enough."
        )


def find_cuts(study: "Study", criterion: str | None = None) -> Cuts:
    """Return how the scale of a criterion (the first unless it is named) cuts the latent judgement."""
    from panelist.scales.points import PointScale

    chosen = study.criteria[0] if criterion is None else study.criterion(criterion)
    if isinstance(chosen.scale, PointScale):
        return DrawnCuts(int(chosen.scale.size()))
    if chosen.scale.level == "interval" or chosen.scale.comparative:
        return Slider()
    raise BadDesign(
        f"Answers on {chosen.name!r} ({chosen.scale.title}) cannot be simulated for power. Name a criterion "
        "with points, a line or a comparison."
    )
