"""The ordinal model without random effects."""

from panelist.power.analyses.base import analysis
from panelist.power.analyses.batch_models import BatchModel


@analysis("clm")
class Clm(BatchModel):
    """Ordered categories, every rating taken as independent."""

    title = "ordinal model, no random effects"
    model = "clm"
    ignores = ("raters", "items")
    reads = ("points",)
