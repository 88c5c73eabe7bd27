"""The layout of a study's own plan: its trials on one criterion."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import BadDesign, BadPlan
from panelist.power.layouts.base import Layout
from panelist.power.truth.cuts import Cuts, DrawnCuts, Slider

if TYPE_CHECKING:
    from panelist.design.plan import Plan
    from panelist.scales.base import Scale
    from panelist.study.study import Study


def lay_out_plan(plan: "Plan", study: "Study", criterion: str | None = None) -> Layout:
    """Return the trials of a plan on one criterion (the first unless it is named), first occasion only.

    Where each turn of a dialogue is rated there is a row for each; a comparison is made once.
    """
    from panelist.design.assess.showings import number, number_pages
    from panelist.design.simulate import spread_turns
    from panelist.scales.base import ComparativeScale

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
    comparative, turn = chosen.scale.comparative, None
    if study.outputs.in_parts and not comparative:
        again, turn = spread_turns(rows, number_pages(rows)[0], study)
        rows = rows.iloc[again].reset_index(drop=True)
    raters, rater = np.unique(number(rows["rater"], plan.raters), return_inverse=True)
    items, item = np.unique(number(rows["item"], study.items), return_inverse=True)
    system = number(rows["system"], study.systems)
    rated = (item, system) if turn is None else (item, system, turn)
    outputs = len(np.unique(np.column_stack(rated), axis=0))
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
        chosen.scale.told if isinstance(chosen.scale, ComparativeScale) else "best",
        None if turn is None else turn.astype(np.int32),
        count_points(chosen.scale),
    )


def count_points(scale: "Scale") -> int:
    """Return how many answers a scale for two outputs has, 0 for any other scale."""
    from panelist.scales.pairs import PairScale

    return len(scale.options()) if isinstance(scale, PairScale) else 0


def declare_analysis(study: "Study", criterion: str | None = None) -> AnalysisSpec:
    """Return how a study analyses a criterion, with the model that suits its scale."""
    from panelist.scales.base import MODEL_OF_LEVEL

    chosen = study.criteria[0] if criterion is None else study.criterion(criterion)
    spec = AnalysisSpec.from_study(study)
    if chosen.scale.comparative:
        points = count_points(chosen.scale)
        mixed = "pairs_graded" if points > 2 else "pairs_mixed"
        return replace(spec, model=mixed if points else "bradley_terry")
    usual = MODEL_OF_LEVEL.get(chosen.scale.measurement, "clmm")
    model = usual if spec.model == "auto" else spec.model
    own = model == "clmm" and spec.family != "cumulative"
    return replace(spec, model=f"clmm_{spec.family}" if own else model)


def find_cuts(study: "Study", criterion: str | None = None) -> Cuts:
    """Return how the scale of a criterion (the first unless it is named) cuts the latent judgement."""
    from panelist.scales.points import PointScale

    chosen = study.criteria[0] if criterion is None else study.criterion(criterion)
    if isinstance(chosen.scale, PointScale):
        return DrawnCuts(int(chosen.scale.size()))
    if chosen.scale.measurement == "interval" or chosen.scale.comparative:
        return Slider()
    raise BadDesign(
        f"Answers on {chosen.name!r} ({chosen.scale.title}) cannot be simulated for power. Name a criterion "
        "with points, a line or a comparison."
    )
