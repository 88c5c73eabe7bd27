"""Lists: every rater judges some of the items, none twice, and each system equally often."""

from panelist.design.base import design
from panelist.design.designs.latin_square import OneOutput


@design("lists")
class Lists(OneOutput):
    """Each rater gets k items and never one of them in two conditions.

    Howcroft, D. M. & Rieser, V. (2021). What happens if you treat ordinal ratings as interval data? Human
    evaluations in NLP are even more under-powered than you think. EMNLP 2021.
    https://aclanthology.org/2021.emnlp-main.703
    """

    title = "lists of items, systems balanced within each rater"
    summary = "every rater judges some of the items, none twice"
    assigned = "in lists: each rater judged some of the items, none twice"
    does_without = True
