"""Plain words for coefficients, by scales that have a name; and what agreement and correlation say together.

A word is never given without the name of its scale: the cut-offs are conventions, and they differ.
Krippendorff (1980), Landis & Koch (1977) and Rosenthal (1996) are as Amidei, Piwek & Willis (2019) print
them in their Tables 1, 2 and 4 (https://aclanthology.org/W19-8642); Koo & Li (2016) is the guideline for
intraclass correlations (https://doi.org/10.1016/j.jcm.2016.02.012).
"""

from dataclasses import dataclass
from math import inf, isfinite, isnan, nan

from panelist.core.errors import UnknownName, did_you_mean

LEAST_RELIABLE = 0.67  # Krippendorff 1980, as Carletta 1996 and Amidei et al. 2019 quote it
LEAST_LARGE = 0.5  # Rosenthal 1996
MOSTLY_EQUAL = 0.8  # of pairs of ratings: below chance-corrected agreement, this is not "different ratings"
LEAST_GAP = (
    0.1  # correlation less agreement: with equal means and spreads of the raters they are much the same
)
LEAST_BETWEEN = 0.1  # of the disagreement, from which raters' means are said to differ
SAME_POINT = 1e-9  # a coefficient computed as 0.7999999999999999 is 0.8


@dataclass(frozen=True)
class NamedScale:
    """A published scale: bands from below, each with its top, whether the top belongs to it, and its word."""

    name: str
    bands: tuple[tuple[float, bool, str], ...]
    absolute: bool = False

    def word(self, value: float) -> str:
        """Return the word for a value; empty where the value is nan."""
        if isnan(value):
            return ""
        x = abs(value) if self.absolute else value
        for top, inclusive, word in self.bands:
            at_top = abs(x - top) <= SAME_POINT
            if (x < top and not at_top) or (at_top and inclusive):
                return f"{word}, negative" if self.absolute and value < 0 and word != "negligible" else word
        raise AssertionError("the last band of a scale has no top")


KRIPPENDORFF = NamedScale(
    "Krippendorff 1980",
    ((LEAST_RELIABLE, False, "not reliable"), (0.8, False, "tentative"), (inf, True, "reliable")),
)
LANDIS_KOCH = NamedScale(
    "Landis & Koch 1977",
    (
        (0.0, False, "poor"),
        (0.2, True, "slight"),
        (0.4, True, "fair"),
        (0.6, True, "moderate"),
        (0.8, True, "substantial"),
        (inf, True, "almost perfect"),
    ),
)
ROSENTHAL = NamedScale(
    "Rosenthal 1996",
    (
        (0.1, False, "negligible"),
        (0.3, False, "small"),
        (LEAST_LARGE, False, "medium"),
        (0.7, False, "large"),
        (inf, True, "very large"),
    ),
    absolute=True,
)
KOO_LI = NamedScale(
    "Koo & Li 2016",
    ((0.5, False, "poor"), (0.75, False, "moderate"), (0.9, True, "good"), (inf, True, "excellent")),
)
SCALES = {"krippendorff": KRIPPENDORFF, "landis_koch": LANDIS_KOCH, "rosenthal": ROSENTHAL, "koo_li": KOO_LI}


@dataclass(frozen=True)
class Interpretation:
    """A coefficient in words: the scale's name, the word for the estimate, the words of its interval."""

    scale: str
    word: str
    low: str = ""
    high: str = ""
    of: str = ""  # what was read, where that is not the coefficient itself

    def text(self) -> str:
        """Return the word with its scale, and how far the interval reaches if that is another word.

        >>> Interpretation("Koo & Li 2016", "good", "moderate", "good").text()
        'good (Koo & Li 2016; interval: moderate to good)'
        """
        of = f" of {self.of}" if self.of else ""
        if self.low and self.high and self.low != self.high:
            return f"{self.word}{of} ({self.scale}; interval: {self.low} to {self.high})"
        return f"{self.word}{of} ({self.scale})"


def interpret(
    name: str,
    estimate: float,
    low: float = nan,
    high: float = nan,
    n_raters: int | None = None,
    scale: str | None = None,
) -> tuple[Interpretation, ...]:
    """Return what the named scales say about a coefficient, the usual one first; empty where none does.

    Percent agreement has no scale: it is not corrected for chance. Kendall's W of ``n_raters`` is read
    through the mean rank correlation that it stands for, since W is above 0 even for orders at random.

    >>> interpret("krippendorff_alpha_ordinal", 0.7)[0].text()
    'tentative (Krippendorff 1980)'
    >>> interpret("spearman", 0.55, 0.45, 0.6)[0].text()
    'large (Rosenthal 1996; interval: medium to large)'
    """
    if isnan(estimate):
        return ()
    scales = (find_scale(scale),) if scale else scales_for(name)
    of = ""
    if name == "kendall_w":
        if n_raters is None or n_raters < 2:
            return ()
        estimate, low, high = (mean_rank_correlation(w, n_raters) for w in (estimate, low, high))
        of = f"the mean rank correlation {estimate:.2f}"
    return tuple(
        Interpretation(one.name, one.word(estimate), one.word(low), one.word(high), of) for one in scales
    )


def scales_for(name: str) -> tuple[NamedScale, ...]:
    """Return the scales by which a coefficient is read, the usual one first."""
    from panelist.agreement.coefficient import COEFFICIENTS  # late: some coefficients use these words

    return tuple(SCALES[scale] for scale in COEFFICIENTS[name].read_by) if name in COEFFICIENTS else ()


def find_scale(name: str) -> NamedScale:
    """Return the scale of this name: krippendorff, landis_koch, rosenthal or koo_li."""
    if name not in SCALES:
        raise UnknownName(f"No scale of interpretation is called {name!r}. {did_you_mean(name, SCALES)}")
    return SCALES[name]


def mean_rank_correlation(w: float, n_raters: int) -> float:
    """Return the mean Spearman correlation over pairs of raters that Kendall's W stands for.

    >>> mean_rank_correlation(0.5, 2)
    0.0
    """
    return (n_raters * w - 1) / (n_raters - 1)


def read_together(
    agreement: float, correlation: float, equal: float = nan, between_raters: float = nan, what: str = "items"
) -> str:
    """Return what an agreement and a correlation say together, as Amidei et al. (2019) read them.

    Agreement is high from 0.67 (Krippendorff 1980); the words for a correlation follow Rosenthal (1996).
    ``equal`` is the share of pairs of ratings that are equal, and ``between_raters`` that of the disagreement
    which lies between the raters' means: without it no difference in level is claimed. ``what`` was rated.

    >>> read_together(0.52, 0.98, between_raters=0.4)
    'raters differ in level but order the items alike'
    >>> read_together(0.28, 0.32)
    'raters do not reliably give the same ratings and order the items somewhat alike'
    """
    if not (isfinite(agreement) and isfinite(correlation)):
        return ""
    order = _say_order(correlation, what)
    if agreement >= LEAST_RELIABLE - SAME_POINT:
        joint = "and" if correlation >= LEAST_LARGE - SAME_POINT else "but"
        return f"raters give much the same ratings {joint} {order}"
    if equal >= MOSTLY_EQUAL:
        return (
            f"raters give equal ratings in {100 * equal:.0f} % of comparisons, but agreement beyond chance "
            f"is not reliable, and they {order}"
        )
    if correlation <= -LEAST_LARGE + SAME_POINT:
        return f"raters {order}: look for a scale that someone read upside down"
    if correlation < LEAST_LARGE - SAME_POINT:
        return f"raters do not reliably give the same ratings and {order}"
    if correlation - agreement < LEAST_GAP:
        return f"raters order the {what} alike, but single ratings differ too much to stand for each other"
    how = "differ in level" if between_raters >= LEAST_BETWEEN else "use the scale differently"
    return f"raters {how} but order the {what} alike"


def _say_order(correlation: float, what: str) -> str:
    """Return how alike raters order them, a phrase for each of Rosenthal's words."""
    if correlation <= -LEAST_LARGE + SAME_POINT:
        return f"order the {what} in opposite ways"
    if ROSENTHAL.word(correlation) == "negligible":
        return f"do not order the {what} alike"
    if correlation < 0:
        return f"tend to order the {what} in opposite ways"
    if correlation >= LEAST_LARGE - SAME_POINT:
        return f"order the {what} alike"
    somewhat = ROSENTHAL.word(correlation) == "medium"
    return f"order the {what} {'somewhat' if somewhat else 'only slightly'} alike"
