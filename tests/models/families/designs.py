"""Designs with scale and nominal effects."""

import pandas as pd

from panelist.core.tables.ratings import read_ratings
from panelist.models.formulas.formula import add_sides, parse_formula
from panelist.models.formulas.matrices import ModelMatrices, build_design


def build(
    formula: str, data: pd.DataFrame, scale: str | None = None, nominal: str | None = None
) -> ModelMatrices:
    """Return the design of an ordinal model."""
    return build_design(add_sides(parse_formula(formula), nominal, scale), read_ratings(data), ordinal=True)
