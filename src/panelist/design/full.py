"""Fully crossed: every rater judges every output."""

from panelist.design.base import Kinds, design
from panelist.design.latin_square import OneOutput


@design("full")
class Full(OneOutput):
    """All outputs of all items for every rater."""

    title = "fully crossed"
    whole = True

    def find_trials(self, n_items: int, kinds: Kinds) -> int:
        """Return the number of outputs."""
        return n_items * kinds.n

    def find_most_trials(self, n_items: int, kinds: Kinds, items_may_return: bool) -> int:
        """Return the number of outputs."""
        return n_items * kinds.n
