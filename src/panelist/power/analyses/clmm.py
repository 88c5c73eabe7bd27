"""The ordinal mixed model."""

from panelist.power.analyses.base import analysis
from panelist.power.analyses.batch_models import BatchModel


@analysis("clmm")
class Clmm(BatchModel):
    """Ordered categories with random effects of raters and items: t tests, as compare makes them."""

    title = "ordinal mixed model"
    model = "clmm"
    reads = ("points",)
