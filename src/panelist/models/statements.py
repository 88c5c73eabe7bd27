"""What a fit answers about its own certainty; the work is done in the modules that each method names."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, cast

from panelist.core.result import Result

if TYPE_CHECKING:
    from panelist.models.fitted import Fit
    from panelist.models.inference.intervals import Intervals
    from panelist.models.inference.term_tests import TermTests


class Inference(Result):
    """The part of ``Fit`` that asks other modules for intervals and tests."""

    def intervals(
        self,
        method: str = "wald",
        level: float = 0.95,
        terms: Iterable[str] | str | None = None,
        n: int = 500,
        seed: int = 0,
        threads: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> "Intervals":
        """Return intervals of the parameters by "wald", "profile" or "bootstrap": inference/intervals.py."""
        from panelist.models.inference.intervals import find_intervals

        return find_intervals(cast("Fit", self), method, level, terms, n, seed, threads, progress)

    def test_terms(self, kind: int = 3, ddf: str | None = None) -> "TermTests":
        """Return tests of the fixed terms, type III or I: F, or χ² for ordinal models tested by z."""
        from panelist.models.inference.term_tests import tabulate_term_tests

        return tabulate_term_tests(cast("Fit", self), kind, ddf)

    def with_degrees(self, ddf: str) -> "Fit":
        """Return the fit with other degrees of freedom for standard errors, t, F and contrasts.

        "kenward-roger" in place of Satterthwaite's for a linear mixed model, "z" or "t" for an ordinal one.
        """
        from panelist.models.inference.term_tests import with_degrees

        return with_degrees(cast("Fit", self), ddf)
