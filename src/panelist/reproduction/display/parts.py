"""The tables of a reproduction report: precision, correlations and labels, the joint model."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf, isnan, nan

from panelist.core.display.formats import P_VALUE, TEXT, Cell, Format, decimals, interval, number, say_p
from panelist.core.display.result import NamedValues, Part, Sentence, Table
from panelist.core.prose import count
from panelist.reproduction.measures.common_scale import CommonScale
from panelist.reproduction.measures.joint import JointModel
from panelist.reproduction.measures.label_changes import LabelAgreement
from panelist.reproduction.measures.precision import Precision
from panelist.reproduction.measures.system_correlation import Correlations
from panelist.reproduction.measures.upheld_findings import Evidence, FindingCheck
from panelist.reproduction.recompute import Recomputation

MOST_ROWS = 28  # findings shown: all pairs of eight systems
RIGHT = Format(str, "right")


def draw_precision(
    criterion: str, studies: Sequence[str], rows: Sequence[Precision], scale: CommonScale, confidence: float
) -> Table:
    """Return the scores of every study with CV* by both formulas and its intervals, exact and Belz's."""
    exact, usual = f"CV, {confidence * 100:g} %", "Belz's, of s*"
    header = ("system", *studies, "CV*", "CV* QRA3", exact, "s*", usual)
    body: list[tuple[Cell, ...]] = [
        (
            one.system,
            *one.scores,
            one.value,
            one.qra3,
            interval(one.cv_exact_low, one.cv_exact_high, 1),
            one.s_star,
            interval(one.low, one.high),
        )
        for one in rows
    ]
    formats: dict[str, Format] = {
        "system": TEXT,
        "CV*": decimals(2),
        "CV* QRA3": decimals(2),
        "s*": decimals(3),
    }
    formats |= dict.fromkeys(studies, decimals(2)) | {exact: RIGHT, usual: RIGHT}
    undefined = [f"{one.system}: {one.note}." for one in rows if one.note]
    return Table(
        f"Scores on {criterion} and how precisely they were reproduced (type I)",
        header,
        body,
        formats,
        note=" ".join(
            [
                f"CV* by the formula of 2022 and by QRA3's; {scale.sentence()}. "
                f"{_say_spread(rows, confidence)}",
                *undefined,
            ]
        ),
    )


def _say_spread(rows: Sequence[Precision], confidence: float) -> str:
    """Return what the two intervals are."""
    said = "Interval of CV: exact for normal scores, in percent"
    if any(isinf(one.cv_exact_high) for one in rows):
        said += "; ∞ where so few scores set no upper limit"
    if any(one.sd == 0 for one in rows):
        said += "; none where all scores are equal, which does not show that others would be"
    return said + ". Belz's: s* ± t · SE(s*), as published; it may reach below 0 and covers too little."


def draw_measures(found: Correlations, labels: LabelAgreement | None) -> NamedValues:
    """Return the correlations with their number of systems, and the agreement on labels."""
    k = count(found.n_systems, "system")
    many = "" if found.n_studies == 2 else f", mean of {len(found.pairs)} pairs of studies"
    p = f", {say_p(found.pairs[0].pearson_p)}" if found.n_studies == 2 and found.n_systems > 2 else ""
    corrected = ""
    if not isnan(found.w_ties) and abs(found.w_ties - found.w) > 1e-9:
        corrected = f"; corrected for ties {found.w_ties:.3f}"
    rows = [
        ("Pearson's r", f"{number(found.pearson)} ({k}{many}{p})"),
        ("Spearman's ρ", f"{number(found.spearman)} ({k}{many})"),
        ("Kendall's τ-b, W", f"{number(found.tau)}, {number(found.w)} (W: {say_p(found.w_p)}{corrected})"),
        ("RMSE", f"{number(found.rmse, 2)}, in units of the scores{many}"),
    ]
    if labels is not None:
        rows += [
            ("labels differ", f"{labels.difference_rate:.1f} % of {labels.n_units:,}; unit: {labels.unit}"),
            (
                "alpha, kappa",
                f"Krippendorff's alpha ({labels.measurement}) {number(labels.alpha)}, Fleiss' kappa "
                f"{number(labels.kappa)}, the studies being the raters",
            ),
        ]
    return NamedValues(rows)


def draw_joint(criterion: str, joint: JointModel) -> list[Part]:
    """Return the joint model's sentence, and how far each difference moved."""
    several = len({one.repeat for one in joint.changes}) > 1
    header = ("difference", *(("repeat",) if several else ()), "original", "again", "change")
    inner = f"{(2 * joint.confidence - 1) * 100:g} % interval"
    rows: list[tuple[Cell, ...]] = [
        (
            f"{one.a} − {one.b}",
            *((one.repeat,) if several else ()),
            *((one.original, one.again, one.change) if one.tested else (nan, nan, nan)),
            interval(one.low, one.high),
            one.p,
            one.p_equivalent,
            say_answer(one.equivalent if one.tested else None),
        )
        for one in joint.changes
    ]
    untested = sum(not one.tested for one in joint.changes)
    declared = "" if joint.margin_points is None else f", {joint.margin_points:g} points"
    formats = {"difference": TEXT, inner: RIGHT, "p, change": P_VALUE, "p, TOST": P_VALUE}
    formats |= dict.fromkeys(("original", "again", "change"), decimals(2))
    table = Table(
        f"Differences on {criterion} in one model of all studies",
        (*header, inner, "p, change", "p, TOST", "equivalent"),
        rows[:MOST_ROWS],
        formats,
        note=f"{joint.model} {joint.formula}; in {joint.units}. Equivalent: the change lies within "
        f"±{joint.margin:.2g} residual SDs{declared} (two one-sided tests). Not adjusted for the number of "
        f"pairs.{' –: without limit or without an error, so nothing can be said.' if untested else ''}",
    )
    return [Sentence(joint.sentence()), table]


def draw_recomputed(again: Recomputation) -> list[Part]:
    """Return the recomputed scores with the printed ones."""
    header = ("system", "printed", *again.rules)
    rows: list[tuple[Cell, ...]] = [(one.system, one.printed, *one.scores) for one in again.systems]
    table = Table(
        f"The original on {again.criterion}: printed, and recomputed from its raw data",
        header,
        rows,
        {"system": TEXT, **dict.fromkeys(header[1:], decimals(max(again.decimals, 1)))},
    )
    notes: list[Part] = [NamedValues([("note", note) for note in again.notes])] if again.notes else []
    return [Sentence(again.sentence()), table, *notes]


def say_answer(answer: bool | None) -> str:
    """Return yes, no, or a dash where there is no answer."""
    return "–" if answer is None else "yes" if answer else "no"


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
