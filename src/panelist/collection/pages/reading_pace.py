"""How fast a page can be read at all, from the length of its texts.

Adults read prose silently at 238 words a minute on average, most of them between 175 and 300 (Brysbaert, M.
2019. How many words do we read per minute? A review and meta-analysis of reading rate. Journal of Memory
and Language 109, 104047. https://doi.org/10.1016/j.jml.2019.104047). At 600 a minute a text is scanned for a
word and no longer understood (Carver, R. P. 1992. Reading rate: theory, research, and practical implications.
Journal of Reading 36, 84-95). So a page in less time than 600 words a minute would take was not read. Nor was
one answered within 2 seconds, however short (Huang, J. L. et al. 2012. Detecting and deterring insufficient
effort responding to surveys. Journal of Business and Psychology 27, 99-114).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

WORDS_A_MINUTE, LEAST_SECONDS, LEAST_PAGES = 600, 2.0, 3
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_SIGN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class Pace:
    """How fast a rater went through the pages that count."""

    ratio: float
    """The median, over pages, of the time taken to the least in which the page can be read."""
    seconds: float
    """The median time on these pages."""
    words: int
    """The median number of words to read there."""


def count_words(text: str) -> int:
    """Return how many words a text has; two characters of Chinese or Japanese are counted as one.

    >>> count_words("Nobody reads this, or that."), count_words("这个句子不长")
    (5, 3)
    """
    found = _WORD.findall(text)
    signs = sum(_SIGN.match(one) is not None for one in found)
    return len(found) - signs + (signs + 1) // 2


def find_least(words: float) -> float:
    """Return the seconds below which nobody can have read a page of ``words`` words.

    >>> find_least(120), find_least(3)
    (12.0, 2.0)
    """
    return max(LEAST_SECONDS, words * 60.0 / WORDS_A_MINUTE)


def measure_pace(pages: Iterable[tuple[float, int]]) -> Pace | None:
    """Return the pace over pages, each with its seconds and words; None while there are too few."""
    known = list(pages)
    if len(known) < LEAST_PAGES:
        return None
    ratio = median(seconds / find_least(words) for seconds, words in known)
    return Pace(ratio, median(seconds for seconds, _ in known), round(median(words for _, words in known)))
