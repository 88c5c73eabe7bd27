"""Repeated Latin squares: every rater judges every item once, and each system equally often."""

from panelist.design.base import Design, Kinds, Task, design


class OneOutput(Design):
    """Designs whose pages show one output: a kind is a system."""

    def make_kinds(self, task: Task) -> Kinds:
        """Return one kind per system."""
        systems = task.draw_systems()
        there = None if task.there is None else task.there[:, systems]
        return Kinds(systems[:, None], task.n_systems, there)


@design("latin-square")
class LatinSquare(OneOutput):
    """As many raters as systems make a square: each rater a row, each item with each system once in it.

    Every further square is drawn at random. Belz, A. & Kow, E. (2011). Discrete vs. continuous rating scales
    for language evaluation in NLP. ACL 2011. https://aclanthology.org/P11-2040
    """

    title = "repeated Latin squares"
    summary = "every rater judges every item once, each system equally often"
    assigned = "in a Latin square: each item once for each rater, each system equally often"
    whole = True
