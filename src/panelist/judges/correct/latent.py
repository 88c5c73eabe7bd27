"""The ordinal model beside a correction: differences given the judge, on the latent scale.

Scores are centred by system over all judged items, so that a difference is that of two outputs at their
systems' own mean scores. It is given the judge, not averaged over scores: a check of the direction and the
rough size of what was found, not another estimate of the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.comparison import PairDifference, list_pairs
from panelist.judges.correct.covariates import make_covariates
from panelist.judges.correct.regression import choose_terms, write_terms
from panelist.judges.match import JudgedRatings
from panelist.models.inference.contrasts import contrast_pairs
from panelist.numerics.arrays import Floats


def compare_latent(
    beside: JudgedRatings, scores: Mapping[str, Floats], spec: AnalysisSpec
) -> tuple[PairDifference, ...]:
    """Return every pair's difference by a probit model of the ratings, the judges' scores as covariates."""
    from panelist.models.fit import fit  # imported late: it loads the compiled kernels

    made = make_covariates(scores, beside.counts)
    frame = beside.frame()
    for name, values in made.columns.items():
        centred = values - values.mean(axis=0)  # at each system's own mean score: a favour changes nothing
        frame[name] = centred[beside.item, beside.system]
    random = write_terms(choose_terms(beside), slopes=False)
    formula = " + ".join(["rating ~ system", *made.columns, *random])
    fitted = fit(formula, frame, model="clmm" if random else "clm")
    pairs = contrast_pairs(fitted, "system", spec.adjust, spec.confidence, reference=spec.reference)
    return list_pairs(pairs, np.full(len(pairs.estimate), np.nan))
