"""Section 1: which experiment this is. Only a person knows names and addresses."""

from panelist.core.prose import count, listing
from panelist.reports.datasheet.fill.facts import SheetFacts, filler, write
from panelist.reports.datasheet.sheet import Place, SheetAnswer


@filler(q1_1_2="title, criteria, systems and items (a draft: the section of the paper is missing)")
def identify_experiment(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return the title with criteria, systems and items."""
    study = facts.study
    criteria = listing([one.name for one in study.criteria], 8)
    systems = f"{count(len(study.systems), 'system')} ({listing(study.systems, 8)})"
    text = f"{study.title}: {criteria} of the outputs of {systems} for {count(len(study.items), 'item')}."
    return {("1.1.2", ""): write(text, "title, criteria and systems of the study", draft=True)}
