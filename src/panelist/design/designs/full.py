"""Fully crossed: every rater judges every output."""

from panelist.design.base import design
from panelist.design.designs.latin_square import OneOutput


@design("full")
class Full(OneOutput):
    """All outputs of all items for every rater."""

    title = "fully crossed"
    summary = "every rater judges every output"
    assigned = "fully: each rater judged every output"
    whole = True
    everything = True
