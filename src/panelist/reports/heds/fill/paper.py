"""Section 1: which experiment this is. Names and addresses only a person knows."""

from panelist.analysis.words import count, listing
from panelist.reports.heds.fill.base import filler, write
from panelist.reports.heds.fill.facts import Facts
from panelist.reports.heds.sheet import Answer, Place


@filler(q1_1_2="title, criteria, systems and items (a draft: the section of the paper is missing)")
def identify_experiment(facts: Facts) -> dict[Place, Answer]:
    """Return the title with criteria, systems and items."""
    study = facts.study
    criteria = listing([one.name for one in study.criteria])
    systems = f"{count(len(study.systems), 'system')} ({listing(study.systems)})"
    text = f"{study.title}: {criteria} of the outputs of {systems} for {count(len(study.items), 'item')}."
    return {("1.1.2", ""): write(text, "title, criteria and systems of the study", draft=True)}
