"""How a mixed model of choices reads: spreads of preferences, slopes, style, the other model beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from panelist.analysis.choices.models.choice_model import Strengths
from panelist.analysis.choices.models.mixed_part import ChoiceSlope, MixedPart, PreferenceSpread
from panelist.analysis.systems.comparison import SystemEstimate
from panelist.core.display.formats import P_VALUE, TEXT, Cell, decimals, interval
from panelist.core.display.result import Part, Sentence, Table
from panelist.core.prose import listing
from panelist.models.choices.free_pairs import FreePairs
from panelist.models.choices.pairs import POSITION

WORDS = {
    "cumulative": "mixed Bradley-Terry model",
    "davidson": "mixed Bradley-Terry model with Davidson's ties",
    "plackett-luce": "mixed Plackett-Luce model",
}
AVERAGED = "averaged over raters and items"
MOST_WINS = 12  # systems whose chances a sentence names


def name_model(part: MixedPart) -> str:
    """Return the model in words: of two answers, with ties, or graded."""
    if part.family == "cumulative" and part.points == 3:
        return f"{WORDS[part.family]} with Rao and Kupper's ties"
    name = WORDS[part.family]
    return f"{name} of {part.points} grades" if part.points > 3 else name


def name_random(part: MixedPart) -> str:
    """Return what is random, in words."""
    groups = dict.fromkeys(f"{one.group}s" for one in part.spreads if not one.of_position)
    return f"random preferences of {listing(list(groups))}" if groups else "no random preferences"


def average_wins(strengths: Strengths) -> list[float]:
    """Return how probable it is that each system is preferred to another one drawn at random."""
    from scipy.special import expit

    apart = strengths.theta[:, None] - strengths.theta[None, :]
    part = strengths.mixed
    chances = expit(apart) if part is None else part.find_chances(apart, averaged=True)
    np.fill_diagonal(chances, 0.0)
    return [float(one) for one in chances.sum(axis=1) / max(len(apart) - 1, 1)]


def tell_wins(strengths: Strengths) -> Sentence:
    """Return the systems by their chance against another one drawn at random, the highest first."""
    wins = average_wins(strengths)
    order = sorted(range(len(wins)), key=lambda at: -wins[at])
    told = ", ".join(f"{strengths.systems[at]} {100 * wins[at]:.0f} %" for at in order[:MOST_WINS])
    return Sentence(
        f"Preferred to another system drawn at random, {AVERAGED}, ties left aside: {told}"
        f"{', …' if len(order) > MOST_WINS else ''}."
    )


def list_mixed_parts(criterion: str, strengths: Strengths, confidence: float) -> list[Part]:
    """Return the tables of spreads and slopes, and what they mean."""
    part = strengths.mixed
    assert part is not None
    level = f"{confidence * 100:g} % interval"
    rows: list[tuple[Cell, ...]] = [(_name_spread(one), one.term, one.sd, one.levels) for one in part.spreads]
    parts: list[Part] = [
        Table(
            f"Random preferences on {criterion}",
            ("what", "term", "SD", "levels"),
            rows,
            {"what": TEXT, "term": TEXT, "SD": decimals(2)},
            note="SD: how far a rater's, or an item's, own preference for a system lies from the average, in "
            "log-strengths."
            + (" Each system has its own, and they are correlated." if part.apart is not None else ""),
            name="preferences",
        )
    ]
    if part.slopes:
        slopes = [one.term for one in part.slopes]
        found: list[tuple[Cell, ...]] = [
            (one.term, one.estimate, one.se, interval(one.low, one.high), one.p) for one in part.slopes
        ]
        parts.append(
            Table(
                f"Slopes on {criterion}",
                ("what", "estimate", "SE", level, "p"),
                found,
                {"what": TEXT, "estimate": decimals(2), "SE": decimals(2), "p": P_VALUE},
                note="In log-strengths, for one unit more"
                + ("; position: of the output that stands first." if POSITION in slopes else "."),
                name="slopes",
            )
        )
        parts += [Sentence(text) for one in part.slopes if (text := tell_slope(part, one))]
    if part.plain:
        parts.append(_tabulate_style(criterion, strengths, part))
    if part.free is not None:
        parts.append(Sentence(part.free.sentence()))
    return parts


def _name_spread(one: PreferenceSpread) -> str:
    if one.of_position:
        return f"favour for what stands first, by {one.group}"
    return f"preferences of {one.group}s" + (f" for {one.system}" if one.system else "")


def tell_slope(part: MixedPart, slope: ChoiceSlope) -> str:
    """Return what a slope means in odds, ties left aside; empty where its unit says it."""
    aside = ", ties left aside" if part.points % 2 else ""
    if slope.term == POSITION:
        once, low, high = (_find_odds(part, one) for one in (slope.estimate, slope.low, slope.high))
        return (
            f"Of two equal outputs the one that stands first is preferred with odds of {once:.2f} to 1 "
            f"({low:.2f} to {high:.2f}; {_say_p(slope.p)}){aside}."
        )
    if slope.term.startswith("log("):
        what = slope.term[4:].rstrip(")").removesuffix(" + 1")
        once, low, high = (
            _find_odds(part, float(np.log(2.0)) * one) for one in (slope.estimate, slope.low, slope.high)
        )
        return (
            f"Twice the {what} is worth odds of {once:.2f} to 1 ({low:.2f} to {high:.2f}; "
            f"{_say_p(slope.p)}), the systems being equal{aside}."
        )
    return ""


def _find_odds(part: MixedPart, difference: float) -> float:
    """Return the odds to be preferred at a difference, ties left aside."""
    chance = float(part.find_chances(np.array([difference]), averaged=False)[0])
    return chance / (1 - chance)


def _tabulate_style(criterion: str, strengths: Strengths, part: MixedPart) -> Table:
    plain = {name: (value, low, high) for name, value, low, high in part.plain}
    theta = dict(zip(strengths.systems, strengths.theta.tolist(), strict=True))
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            plain[name][0],
            interval(plain[name][1], plain[name][2]),
            theta[name],
            theta[name] - plain[name][0],
        )
        for name in sorted(theta, key=lambda one: -theta[one])
    ]
    names = listing(part.style)
    return Table(
        f"Systems on {criterion}, with and without style",
        ("system", "as they are", "interval", f"at equal {names}", "change"),
        rows,
        {"system": TEXT, "as they are": decimals(2), f"at equal {names}": decimals(2), "change": decimals(2)},
        note="If style is part of what a system does, the first column is its worth; the second answers "
        "another question.",
        name="style",
    )


def tabulate_beside(
    criterion: str,
    lead: Sequence[SystemEstimate],
    other: Sequence[SystemEstimate],
    heads: tuple[str, str],
    points: int,
    style: Sequence[str] = (),
) -> Table:
    """Return the systems by both models; ``points`` are those of the answers in the mixed one, and
    ``style`` what it controls for."""
    beside = {one.system: one for one in other}
    rows: list[tuple[Cell, ...]] = []
    for one in lead:
        two = beside[one.system]
        rows.append(
            (
                one.system,
                one.estimate,
                interval(one.low, one.high),
                two.estimate,
                interval(two.low, two.high),
                f"{two.rank_low} to {two.rank_high}" if two.rank_low < two.rank_high else str(two.rank_low),
            )
        )
    lasts = (f"{heads[1]} interval", f"{heads[1]} rank")
    header = ("system", heads[0], "interval", heads[1], *lasts)
    return Table(
        f"Both models on {criterion}",
        header,
        rows,
        {"system": TEXT, heads[0]: decimals(2), heads[1]: decimals(2), lasts[1]: TEXT},
        note="The mixed model speaks of a given rater and item; the clustered one averages over them"
        + (
            ", takes the direction of an answer alone, and has Davidson's ties: compare order and certainty, "
            "not sizes."
            if points > 2
            else ", and its differences are smaller where preferences differ."
        )
        + (f" The clustered one does not control for {listing(style)}." if style else ""),
        name="beside",
    )


def list_mixed(strengths: Strengths) -> dict[str, Any]:
    """Return the random part by name, for JSON."""
    part = strengths.mixed
    assert part is not None
    wins = average_wins(strengths)
    return {
        "family": part.family,
        "points": part.points,
        "formula": part.formula,
        "random": [
            {"group": one.group, "term": one.term, "sd": one.sd, "system": one.system or None}
            for one in part.spreads
        ],
        "slopes": [vars(one) for one in part.slopes],
        "thresholds": list(part.thresholds),
        "without_style": [
            {"system": name, "estimate": value, "low": low, "high": high}
            for name, value, low, high in part.plain
        ],
        "wins": dict(zip(strengths.systems, wins, strict=True)),
        "free_pairs": None if part.free is None else list_free(part.free),
    }


def list_free(free: FreePairs) -> dict[str, Any]:
    """Return the test of one dimension by name, for JSON."""
    found = zip(free.pairs, free.estimate.tolist(), free.se.tolist(), strict=True)
    return {
        "statistic": free.statistic,
        "df": free.df,
        "p": free.p,
        "pairs": [
            {"a": a, "b": b, "difference": one, "se": se, "preferred": a if one > 0 else b}
            for (a, b), one, se in found
        ],
        "cycles": [vars(one) for one in free.cycles],
    }


def _say_p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
