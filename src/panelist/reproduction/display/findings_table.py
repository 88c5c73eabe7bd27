"""The table of findings: the differences of original and repeat by one analysis each, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

from panelist.core.display.formats import P_VALUE, TEXT, Cell, Format, decimals, interval
from panelist.core.display.result import Table
from panelist.reproduction.display.parts import MOST_ROWS, RIGHT, say_answer
from panelist.reproduction.measures.upheld_findings import Evidence, FindingCheck


def draw_findings(
    criterion: str,
    findings: Sequence[FindingCheck],
    analyses: Sequence[str],
    confidence: float,
    margin: float | None,
) -> Table:
    """Return one row per finding and repeat; ``margin`` is the one declared, if any."""
    tested = any(one.tested for one in findings)
    shown = list(findings)
    note = _explain(findings, analyses, margin) if tested else _explain_scores(findings, analyses)
    if any(one.stated for one in findings):
        note += " †: stated by the study."
    if len(shown) * len(findings[0].evidence) > MOST_ROWS:
        shown = [one for one in findings if one.stated or not one.upheld()]
        note += f" Shown: {len(shown)} of {len(findings)} findings, stated or not upheld."
    reach = f"{confidence * 100:g} % interval"
    left_out = set[str]() if any(len(one.evidence) > 1 for one in findings) else {"repeat"}
    if not tested:
        left_out |= {reach, "p", "p, TOST", "verdict", "inside"}
    elif all(one.sign != "=" for one in findings):
        left_out.add("p, TOST")
    cells = [_list_cells(one, piece, reach) for one in shown for piece in one.evidence]
    header = tuple(
        name for name in _list_cells(findings[0], findings[0].evidence[0], reach) if name not in left_out
    )
    formats: dict[str, Format] = {"finding": TEXT, "original": decimals(2), "again": decimals(2)}
    formats |= {
        name: form for name, form in ((reach, RIGHT), ("p", P_VALUE), ("p, TOST", P_VALUE)) if name in header
    }
    rows: list[tuple[Cell, ...]] = [tuple(row[name] for name in header) for row in cells]
    return Table(f"Findings on {criterion}: upheld? (type IV)", header, rows, formats, note=note)


def _list_cells(one: FindingCheck, piece: Evidence, reach: str) -> dict[str, Cell]:
    """Return all cells of a row by the names of their columns."""
    return {
        "finding": one.finding + (" †" if one.stated else ""),
        "repeat": piece.repeat,
        "original": one.original,
        "again": piece.difference,
        reach: interval(piece.low, piece.high),
        "p": piece.p,
        "p, TOST": piece.p_equivalent if one.sign == "=" else nan,
        "order": say_answer(None if one.sign == "=" else piece.direction),
        "verdict": piece.verdict,
        "inside": say_answer(piece.interval),
    }


def _explain(findings: Sequence[FindingCheck], analyses: Sequence[str], margin: float | None) -> str:
    """Return by which analysis and margin findings were judged; the conventions say how."""
    used = "; ".join(dict.fromkeys(analysis for analysis in analyses if analysis))
    return (
        f"Original, again, interval and p: each study's difference by its own analysis ({used}), in units of "
        f"the scores, not adjusted for the number of pairs. {_say_margin(findings, margin)}"
    )


def _say_margin(findings: Sequence[FindingCheck], declared: float | None) -> str:
    if declared is not None:
        return f"Margin: ±{declared:g}, as declared."
    known = sorted(one.margin for one in findings if not isnan(one.margin))
    if not known:
        return "Margin: none, because the original has no test to derive one from; declare it with --margin."
    ends = f"±{known[0]:.2f}" + (f" to ±{known[-1]:.2f}" if known[-1] - known[0] >= 0.005 else "")
    return f"Margin: {ends}, what the original had a power of one third to find; --margin declares another."


def _explain_scores(findings: Sequence[FindingCheck], analyses: Sequence[str]) -> str:
    note = "Differences of the scores. Order: the same in the repeat."
    if not any(analyses[1:]):
        note += " Tests and verdicts take the repeat's raw data, and models."
    if any(one.sign == "=" for one in findings):
        note += " Without a test nothing shows that two systems are the same."
    return note
