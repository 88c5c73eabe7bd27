"""The linear mixed model."""

from panelist.power.analyses.base import analysis
from panelist.power.analyses.batch_models import BatchModel


@analysis("lmm")
class Lmm(BatchModel):
    """Ratings as numbers, random effects of raters and items: t tests with Satterthwaite's df."""

    title = "linear mixed model"
    model = "lmm"
