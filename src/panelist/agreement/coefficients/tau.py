"""Kendall's tau-b: how alike two raters order the outputs, corrected for ties."""

from panelist.agreement.coefficient import coefficient
from panelist.agreement.statistics.rater_pairs import PairTables


@coefficient(
    "kendall_tau_b",
    spoken="Kendall's tau-b",
    read_by=("rosenthal",),
    levels=("ordinal", "interval", "ratio"),
    kind="correlation",
    statistics=PairTables,
    needs="pairs",
    remark=lambda pairs: pairs.say_undefined("tau"),
)
def kendall_tau_b(pairs: PairTables) -> float:
    """Kendall's tau-b: concordant less discordant pairs of outputs, corrected for ties.

    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251.
    """
    return pairs.mean("tau")
