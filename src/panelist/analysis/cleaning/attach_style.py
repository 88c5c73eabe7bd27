"""What a study controls for in choices, brought from its outputs to the answers about them."""

from dataclasses import replace

import numpy as np

from panelist.analysis.choices.pair_files import find_sides
from panelist.analysis.choices.style import name_end
from panelist.analysis.cleaning.everything import Everything
from panelist.study.reading.output_features import measure_outputs
from panelist.study.study import Study


def attach_style(everything: Everything, study: Study | None) -> Everything:
    """Return the answers with what a study controls for, from its outputs, in columns of that name.

    A column that the table has already stays.
    """
    if study is None or not study.file.analysis.style:
        return everything
    frame, keys = everything.ratings.frame, study.outputs.frame[["item", "system"]]
    sides = find_sides(frame)
    if "item" not in frame or (sides is None and "system" not in frame):
        return everything
    new = {}
    for name in study.file.analysis.style_columns:
        known = dict(
            zip(zip(*keys.T.to_numpy(), strict=True), measure_outputs(study.outputs, name), strict=True)
        )
        for system, column in [("system", name)] if sides is None else _name_sides(sides, name):
            if column not in frame:
                pairs = zip(frame["item"], frame[system], strict=True)
                new[column] = [known.get(pair, np.nan) for pair in pairs]
    return replace(everything, ratings=replace(everything.ratings, frame=frame.assign(**new)))


def _name_sides(sides: tuple[str, str], name: str) -> list[tuple[str, str]]:
    return [(side, f"{name}_{name_end(side)}") for side in sides]
