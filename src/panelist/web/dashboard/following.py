"""Raters who follow a judge, while collecting continues: asked where judges.csv lies beside the study."""

import logging
from collections.abc import Sequence

from panelist.collection.monitor.given_ratings import GivenRatings
from panelist.collection.study_files import StudyFiles
from panelist.core.errors import PanelistError
from panelist.core.tables.ratings import Ratings
from panelist.study.file_names import JUDGES_FILE
from panelist.study.study import Study

log = logging.getLogger("panelist.web")


def follow_so_far(given: Sequence[GivenRatings], study: Study) -> dict[int, str]:
    """Return, by visit, the judge whose scores the answers follow beyond what the other raters explain.

    Nothing is found where there is no judges table, or where it cannot be read, which goes into the log:
    the dashboard goes on without it. It takes a while: not for the event loop.
    """
    table = StudyFiles(study).beside(JUDGES_FILE)
    if table is None:
        return {}
    from panelist.judges.guard import adjust_together, follow_judges
    from panelist.judges.match import match_criterion
    from panelist.judges.scale import find_ends_of
    from panelist.judges.table import read_judges

    found = []
    try:
        scores = read_judges(table)
        for one in given:
            if one.compared or one.judged.empty or one.measurement == "nominal" or scores.kind == "pairs":
                continue
            if scores.criteria and one.criterion not in scores.criteria:
                continue
            points = find_ends_of(study)
            found += follow_judges(match_criterion(_name_outputs(one), scores, one.criterion, points=points))
    except PanelistError as error:
        log.warning("%s cannot be held against the ratings: %s", JUDGES_FILE, error)
        return {}
    return {int(one.rater): one.judge for one in reversed(adjust_together(found).flagged)}


def _name_outputs(given: GivenRatings) -> Ratings:
    """Return the ratings with item and system apart; raters are the numbers of their visits."""
    frame = given.judged.reset_index(drop=True)
    names = frame["item"].str.split("\x1f", n=1, expand=True)
    return Ratings(frame.assign(item=names[0], system=names[1], rater=frame["rater"].astype(str)))
