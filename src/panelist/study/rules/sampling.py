"""Samples of items: what can be drawn, and what to know about it."""

from collections.abc import Iterator

from panelist.core.prose import count
from panelist.study.problems import Problem
from panelist.study.rules.base import Facts, rule
from panelist.study.sections.sampling import FEW


@rule("sample", "outputs", "design.seed")
def a_sample_can_be_drawn(facts: Facts) -> Iterator[Problem]:
    """Items are drawn complete, and with probabilities that the analysis can allow for."""
    sample, draw = facts.file.sample, facts.draw
    if sample is None or facts.outputs is None:
        return
    if facts.file.hit is not None:
        yield facts.problem(
            ("sample",), "an old HIT is run as it is: leave sample out, or shorten its input."
        )
    elif facts.outputs.lacking:
        missing = count(len(facts.outputs.lacking), "output is", "outputs are")
        yield facts.problem(
            ("sample",), f"items are drawn complete, and {missing} missing. Leave those items out, or sample."
        )
    elif sample.strata is not None and sample.strata.column not in ("", *facts.outputs.frame):
        return  # said with the problems of the outputs file
    elif isinstance(draw, str):
        yield facts.problem(("sample",), draw)
    elif draw is not None:
        if not draw.equal and any(one.scale.comparative for _, one in facts.criteria):
            yield facts.problem(
                ("sample", "strata"),
                "comparisons are corrected only where every item has the same probability; here items are "
                f"drawn {draw.say_probability()}. Leave strata out.",
            )
        if draw.n < FEW:
            yield facts.note(
                ("sample",),
                f"people rate {count(draw.n, 'item')}; judges are worth something from about {FEW} on.",
            )
        if sample.strata is not None and sample.strata.rates:
            yield facts.note(
                ("sample", "strata", "rates"),
                "strata are drawn at different rates, which compare allows for with --judge. Analyses of "
                "people's ratings alone (report, compare without a judge) are about the items "
                "rated, not about all.",
            )
