"""The judges of a study, from judges.csv beside study.yaml, as datasheet and preregistration tell them."""

import hashlib

from panelist.collection.study_files import StudyFiles
from panelist.core.prose import listing
from panelist.judges.card import make_cards
from panelist.judges.table import read_judges
from panelist.study.file_names import JUDGES_FILE
from panelist.study.study import Study


def tell_judges(study: Study) -> str:
    """Return that machines scored the outputs too, and which; empty where no judges table is there."""
    table = StudyFiles(study).beside(JUDGES_FILE)
    if table is None:
        return ""
    cards = [one.phrase() for one in make_cards(read_judges(table), study.families)]
    return (
        "The evaluators are people. Outputs were also scored by machine, as an instrument beside them: "
        f"{listing(cards, 8)}; these scores are no ratings."
    )


def plan_judges(study: Study) -> str:
    """Return the same with what is planned with the scores, and the hash that freezes them."""
    table = StudyFiles(study).beside(JUDGES_FILE)
    if table is None:
        return ""
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    compared = any(one.scale.comparative for one in study.criteria)
    way = "strengths, predicted and debiased" if compared else "mixed-model regression on the judges' scores"
    return (
        f"{tell_judges(study)} With them systems are compared a second time, by {way}, every output "
        f"predicted; people alone stand beside it. The scores are those of {JUDGES_FILE}, SHA-256 {digest}."
    )
