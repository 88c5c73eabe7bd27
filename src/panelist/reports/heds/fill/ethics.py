"""Section 5: who approved the study. The rest only a person can answer for."""

from panelist.reports.heds.fill.base import filler, write
from panelist.reports.heds.fill.facts import Facts
from panelist.reports.heds.sheet import Answer, Place


@filler(q5_1="`information.ethics`")
def tell_approval(facts: Facts) -> dict[Place, Answer]:
    """Return who approved the study, where its information sheet says so."""
    ethics = facts.study.file.information.ethics
    return {("5.1", ""): write(ethics, "information.ethics")} if ethics.strip() else {}
