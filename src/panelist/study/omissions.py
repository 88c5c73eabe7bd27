"""What a study may do without, and its raters hardly: consent, somebody to ask, pay.

``panelist check`` points it out. It stands in no study's way: not every study is paid, or has raters at all.
"""

from collections.abc import Iterator

from panelist.study.problems import Problem
from panelist.study.study import Study
from panelist.study.wages import find_wage

NOBODY = ("@example.org", "@example.com", "@example.net")  # reserved for examples (RFC 2606)


def find_omissions(study: Study) -> tuple[Problem, ...]:
    """Return what raters will miss on the first page; an old HIT has a first page of its own."""
    if study.file.hit is not None:
        return ()
    name = study.path.name if study.path is not None else "study.yaml"
    return tuple(
        Problem(name, None, key, message, grave=False)
        for key, message in (*_check_information(study), *_check_pay(study))
    )


def _check_information(study: Study) -> Iterator[tuple[str, str]]:
    information, contact = study.file.information, study.file.information.contact.strip()
    if not information.consent:
        yield (
            "information.consent",
            "is missing: raters are not asked to agree to anything. Add what they agree to, one line each.",
        )
    if not contact:
        yield "information.contact", "is missing: raters do not learn whom to ask. Add an address."
    elif contact.casefold().endswith(NOBODY):
        yield "information.contact", f"{contact} belongs to nobody: put your own address here."


def _check_pay(study: Study) -> Iterator[tuple[str, str]]:
    if study.file.raters.paid != "money":
        return
    pay = study.file.pay
    if pay is None:
        yield (
            "pay",
            "is missing, so neither pay nor cost can be told. Add it, or set raters.paid to other or no.",
        )
    elif not find_wage(pay):
        yield (
            "pay",
            "gives no wage: add hourly, minimum_wage or living_wage, or set raters.paid to other or no.",
        )
