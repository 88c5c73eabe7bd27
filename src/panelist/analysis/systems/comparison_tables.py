"""The tables of a comparison: systems with means, estimates and ranks; all pairs as a matrix."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from panelist.analysis.systems.letters import MANY, find_letters, make_matrix
from panelist.core.display.formats import P_VALUE, TEXT, Cell, decimals, interval
from panelist.core.display.result import Table
from panelist.models.inference.adjust import find_adjustment
from panelist.models.results.fitted import MODEL_WORDS

if TYPE_CHECKING:
    from panelist.analysis.systems.comparison import CriterionComparison


MARK = " *prior*"
WIDEST_LABEL = 20  # letters of an adjustment that still head a column


def describe_adjustment(comparison: CriterionComparison) -> str:
    """Return how p-values allow for the number of pairs, and of criteria where they do."""
    label, across = find_adjustment(comparison.adjust).label, comparison.across_criteria
    return label if across == "none" else f"{label}, {across.capitalize()} across criteria"


def name_model(comparison: CriterionComparison) -> str:
    """Return the model in words, with its family and its prior."""
    family = find_family(comparison)
    own = f" of {family} categories" if family in ("sequential", "adjacent") else ""
    return f"{MODEL_WORDS[comparison.model]}{own} {comparison.prior_phrase}".rstrip()


def find_family(comparison: CriterionComparison) -> str | None:
    """Return the family of an ordinal model; a linear one has none."""
    return getattr(comparison.fit, "family", None)


def tell_prior(comparison: CriterionComparison) -> str:
    """Return what a table adds where there is a prior: its name, and what the mark means."""
    if not comparison.prior_phrase:
        return ""
    phrase = comparison.prior_phrase
    said = f" {phrase[0].upper()}{phrase[1:]}."
    if any(pair.prior for pair in comparison.pairs):
        said += " *prior*: by likelihood alone there is no limit, so size and interval are the prior's."
    return said


def make_systems_table(comparison: CriterionComparison) -> Table:
    """Return one row per system, the best first; columns that say nothing are left out."""
    systems, letters = comparison.systems, name_letters(comparison)
    columns: dict[str, list[Cell]] = {
        "system": [one.system for one in systems],
        "mean rating": [one.mean for one in systems],
        "estimate": [one.estimate for one in systems],
        f"{comparison.confidence * 100:g} % interval": [
            interval(one.low, one.high) + MARK * one.prior for one in systems
        ],
        "rank": [say_rank(one.rank_low, one.rank_high) for one in systems],
        "group": [str(one.group) for one in systems],
        "letters": [letters.get(one.system, "") for one in systems],
        "ratings": [one.n for one in systems],
    }
    best = "highest" if comparison.better == "higher" else "lowest"
    note = f"Estimates are on the {comparison.units}. Rank 1 is the {best} estimate."
    if not any(isfinite(one.mean) for one in systems):
        del columns["mean rating"]
    if len({one.group for one in systems}) == 1:
        del columns["group"]
    else:
        note += " Ranks are within groups, which share neither items nor raters."
    if letters:
        note += " Systems that share a letter cannot be told apart."
    else:
        del columns["letters"]
    note += tell_prior(comparison)
    formats = {"system": TEXT, "estimate": decimals(2), "mean rating": decimals(2), "rank": TEXT}
    return Table(
        f"Systems on {comparison.criterion}",
        tuple(columns),
        list(zip(*columns.values(), strict=True)),
        {name: form for name, form in formats.items() if name in columns},
        note=note,
        name="systems",
    )


def make_pairs_table(comparison: CriterionComparison, adjusted: str) -> Table:
    """Return one row per pair; ``adjusted`` says how p-values allow for their number."""
    p = f"p, {adjusted}" if len(adjusted) <= WIDEST_LABEL else "p, adjusted"
    header = ("pair", "difference", "SE", f"{comparison.confidence * 100:g} % interval", p, "effect")
    rows = [
        (
            f"{d.a} − {d.b}",
            d.difference,
            d.se,
            interval(d.low, d.high) + MARK * d.prior,
            "none" if d.prior else d.p_adjusted,
            d.effect,
        )
        for d in comparison.pairs
    ]
    formats = {"pair": TEXT, "difference": decimals(2), "SE": decimals(2), "effect": decimals(2)}
    note = f"Effects are in {comparison.effect_units}." + ("" if adjusted in p else f" p: {adjusted}.")
    return Table(
        f"Differences on {comparison.criterion}",
        header,
        rows,
        {**formats, p: P_VALUE},
        note=note + tell_prior(comparison),
        name="pairs",
    )


def name_letters(comparison: CriterionComparison) -> dict[str, str]:
    """Return the letters of many systems; nothing for few, or where only a reference's pairs are known."""
    if len(comparison.systems) < MANY or comparison.reference:
        return {}
    alpha = 1 - comparison.confidence
    differ = [(pair.a, pair.b) for pair in comparison.pairs if pair.p_adjusted < alpha]
    return find_letters([one.system for one in comparison.systems], differ)


def make_pairs_matrix(comparison: CriterionComparison) -> Table:
    """Return all pairs as a matrix, systems in their order."""
    cells = {(pair.a, pair.b): (pair.difference, pair.p_adjusted) for pair in comparison.pairs}
    names = [one.system for one in comparison.systems]
    title, alpha = f"Differences on {comparison.criterion}", 1 - comparison.confidence
    return make_matrix(title, names, cells, alpha, f"units of the {comparison.units}")


def say_rank(low: int, high: int) -> str:
    """Return a range of ranks in words."""
    return str(low) if low == high else f"{low} to {high}"
