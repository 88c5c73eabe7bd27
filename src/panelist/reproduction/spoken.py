"""What is said of orders and findings in the sentences of a reproduction."""

from collections import Counter
from collections.abc import Sequence

from panelist.reproduction.findings import FindingCheck
from panelist.reproduction.verdicts import NOT_UPHELD, UNDECIDED, UPHELD


def say_orders(agreements: int, comparisons: int) -> str:
    """Return how many orders of two systems are the same.

    >>> say_orders(1, 3), say_orders(3, 3)
    ('1 of 3 orders of two systems is the same', '3 of 3 orders of two systems are the same')
    """
    return f"{agreements} of {comparisons} orders of two systems {_be(agreements)} the same"


def say_stated(findings: Sequence[FindingCheck]) -> str:
    """Return what became of the stated findings, with a blank before it; "" where none was stated."""
    stated = [one for one in findings if one.stated]
    if not stated:
        return ""
    of = f" Of {len(stated)} stated finding{'' if len(stated) == 1 else 's'}, "
    if not any(one.tested for one in stated):
        return f"{of}{' and '.join(_say_untested(stated))}. Scores alone give no verdict."
    count = Counter(one.verdict for one in stated)
    upheld, failed, open_ = (count[verdict] for verdict in (UPHELD, NOT_UPHELD, UNDECIDED))
    return (
        f"{of}{upheld} {_be(upheld)} upheld, {failed} {_be(failed)} not, and {open_} {_be(open_)} undecided."
    )


def say_shown(findings: Sequence[FindingCheck], level: float) -> str:
    """Return how many of the orders that are the same the repeat's own test bears out, a comma before it.

    "" where there are several repeats, no test, or no order that is the same.
    """
    single = [(one, one.evidence[0]) for one in findings if len(one.evidence) == 1 and one.tested]
    same = [piece for one, piece in single if one.original_scores * piece.scores > 0]
    shown = sum(piece.p < 1 - level and piece.difference * piece.scores > 0 for piece in same)
    return f", {shown} of them shown by a test of the repeat" if same else ""


def _say_untested(stated: Sequence[FindingCheck]) -> list[str]:
    orders = [one for one in stated if one.sign != "="]
    same, equal = sum(one.upheld() is True for one in orders), len(stated) - len(orders)
    said = [f"{same} {_be(same)} in the same order again"] if orders else []
    if equal:
        said.append(
            f"{equal} say{'s' if equal == 1 else ''} that systems are the same, which scores cannot show"
        )
    return said


def _be(n: int) -> str:
    return "is" if n == 1 else "are"
