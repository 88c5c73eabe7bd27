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
        orders = [one for one in stated if one.sign != "="]
        same = sum(one.upheld() is True for one in orders)
        said = f"{same} {_be(same)} in the same order again"
        if equal := len(stated) - len(orders):
            said += f" and {equal} that systems are the same cannot be judged"
        return f"{of}{said}: scores alone say no more."
    count = Counter(one.verdict for one in stated)
    upheld, failed, open_ = (count[verdict] for verdict in (UPHELD, NOT_UPHELD, UNDECIDED))
    return (
        f"{of}{upheld} {_be(upheld)} upheld, {failed} {_be(failed)} not, and {open_} {_be(open_)} undecided."
    )


def _be(n: int) -> str:
    return "is" if n == 1 else "are"
