"""The linear model without random effects."""

from panelist.power.analyses.base import analysis
from panelist.power.analyses.batch_models import BatchModel


@analysis("lm")
class Lm(BatchModel):
    """Ratings as numbers, every rating taken as independent."""

    title = "linear model, no random effects"
    model = "lm"
    ignores = ("raters", "items")
