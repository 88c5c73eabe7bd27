"""Section 5: who approved the study. Only a person can answer the rest."""

from panelist.reports.datasheet.fill.facts import SheetFacts, filler, write
from panelist.reports.datasheet.sheet import Place, SheetAnswer


@filler(q5_1="`information.ethics`")
def tell_approval(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return who approved the study, where its information sheet says so."""
    ethics = facts.study.file.information.ethics
    return {("5.1", ""): write(ethics, "information.ethics")} if ethics.strip() else {}
