"""What ``panelist power`` and ``panelist size`` share: options, and how they are parsed."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panelist.cli.options import option
from panelist.core.errors import PanelistError

if TYPE_CHECKING:
    from panelist.analysis.spec import AnalysisSpec
    from panelist.power.judged import PlannedJudge
    from panelist.power.truth.base import Truth
    from panelist.power.truth.spread import Spread

Preset = Annotated[
    str, option("NAME,…", "How much raters and items differ: extra-low, low, general, high, extra-high.")
]
Items = Annotated[str, option("N,…", "Numbers of items.")]
RatingsPerItem = Annotated[str, option("K,…", "Numbers of ratings of each output.")]
Effects = Annotated[
    str | None,
    option(
        "D,…",
        "Differences in threshold distances; 0 gives the type I error. Default: 0.25 to 1, or the "
        "pilot's own.",
    ),
]
Sims = Annotated[int | None, option("N", "Data sets per cell. Default: 200; with --precision, at most 5000.")]
PaperSims = Annotated[int, option("N", "Data sets in each cell.")]
Models = Annotated[
    str | None,
    option(
        "NAME,…|all",
        "Analyses: clmm, lmm, clmm_scale, clmm_nominal, clmm_rater_scale, clmm_sequential, clmm_adjacent, "
        "clm, lm, t_test, mann_whitney, sign_test, chi_square, item_means, bradley_terry, pairs_mixed, "
        "pairs_graded. Default: the usual ones for this kind of answers.",
    ),
]
Raters = Annotated[str | None, option("N,…", "Numbers of raters, who share the ratings.")]
Pattern = Annotated[
    str,
    option("steps|one", "With several systems: each better than the one before, or only the last better."),
]
StudyPlan = Annotated[
    Path | None, option("STUDY", "Take plan, systems, scale and analysis from a study.", "--study")
]
AsReleased = Annotated[
    bool,
    typer.Option(
        "--as-released",
        help="The paper's released script: its lists of 20 outputs per rater, ML, z and the largest model.",
    ),
]
Formula = Annotated[
    str,
    option(
        "FORMULA",
        "For mixed models, exactly this one; maximal is the largest that the ratings support, as in compare.",
    ),
]
Test = Annotated[
    str, option("t|z", "Tests of the ordinal mixed model: for few raters and items, or for many.", "--test")
]
Claim = Annotated[
    str | None,
    option(
        "equivalence|non-inferiority",
        "The power to show this within --margin, at no true difference and at a third of the margin; without "
        "it, to find a difference.",
    ),
]
ClaimedMargin = Annotated[
    str | None,
    option(
        "SIZE",
        "With --claim: the largest difference that does not matter, in points of the scale (0.5) or in "
        "residual SDs ('0.3 latent').",
        "--margin",
    ),
]
Looks = Annotated[
    str | None,
    option("N,…", "Numbers of raters after which the study is looked at, the last all: 12,24. Two systems."),
]
Spending = Annotated[str, option("obrien-fleming|pocock", "How much of alpha the early looks may spend.")]
Precision = Annotated[float | None, option("H", "Stop a cell when its power is known to ± H (0.02).")]
JournalFile = Annotated[
    Path | None, option("FILE", "Write results as they come; a killed run continues from there.", "--journal")
]
Out = Annotated[Path, option("DIR", "The folder for the results.", "--output", "-o")]
Figure = Annotated[Path | None, option("FILE", "Draw the curves into FILE.svg, .pdf or .png.")]
TableFile = Annotated[Path | None, option("FILE", "Write the cells into FILE.csv, .tex, …", "--table")]
Seed = Annotated[int, option("N", "The seed of all random numbers.")]
Systems = Annotated[int, option("N", "The number of systems.")]
OutputsPerRater = Annotated[int | None, option("N", "Outputs that one rater sees. Default: 25.")]
Points = Annotated[
    str | None, option("POINTS|slider", "Points of the scale; 2 is yes or no. Default: 6.", "--scale")
]
Thresholds = Annotated[str | None, option("T,…", "Fixed thresholds, lowest first, instead of drawn ones.")]
RaterSd = Annotated[
    str | None,
    option("I,S[,R]", "Raters' standard deviations: intercept, slope and, if given, their correlation."),
]
ItemSd = Annotated[str | None, option("I,S[,R]", "The same for items.")]
SystemScale = Annotated[
    str | None, option("1,S,…", "How many times the residual SD of the first system each system has: 1,1.3.")
]
RaterScale = Annotated[
    float | None, option("SD", "How much raters differ in spread: the SD of their log residual SDs, 0.25.")
]
CategoryEffects = Annotated[
    str | None,
    option("D,…", "How much more the last system gains at each threshold, in threshold distances."),
]
Pilot = Annotated[Path | None, option("RATINGS", "Simulate from the ordinal model of a pilot.")]
Uncertain = Annotated[
    bool,
    typer.Option(
        "--uncertain", help="With --pilot: draw new estimates for every data set, as uncertain as they are."
    ),
]
Criterion = Annotated[str | None, option("NAME", "The criterion of the pilot or the study.")]
Alpha = Annotated[float, option("SHARE", "The level of the tests.")]
Adjust = Annotated[
    str, option("tukey|holm|bonferroni|bh|none", "How p-values allow for the number of pairs.")
]
Engine = Annotated[str, option("local|dask|ADDRESS", "Where it runs: threads, or a Dask cluster.")]
Workers = Annotated[int | None, option("N", "Threads. Default: one per core.")]
Effect = Annotated[float | None, option("D", "The difference worth finding, in threshold distances.")]
TargetPower = Annotated[float, option("SHARE", "The target power.", "--power")]
OnePreset = Annotated[str, option("NAME", "How much raters and items differ.")]
Model = Annotated[str, option("NAME", "The analysis: clmm, lmm, …")]
RatingsToTry = Annotated[str, option("K,…", "Numbers of ratings of each output to consider.")]
LoadsToTry = Annotated[
    str | None, option("N,…", "Numbers of outputs per rater to consider. Default: 25.", "--outputs-per-rater")
]
PayStudy = Annotated[
    Path | None, option("STUDY", "Take systems, scale, analysis, pay and minutes from a study.")
]
PayPerHour = Annotated[float | None, option("AMOUNT", "What an hour is paid.")]
MinutesPerRating = Annotated[float | None, option("MINUTES", "How long a rating takes.")]
Budget = Annotated[float | None, option("AMOUNT", "The most that it may cost in all.")]
MaxItems = Annotated[int, option("N", "The most items to consider.")]
MaxRaters = Annotated[int | None, option("N", "The most raters to consider.")]
Goal = Annotated[
    str | None,
    option(
        "cost|ratings|raters|items",
        "What to minimise. Default: cost if a wage is known, otherwise ratings.",
        "--smallest",
    ),
]
JudgeR = Annotated[
    str | None,
    option(
        "R[,LOW]",
        "Plan with a judge: its correlation with people on differences between systems (r_true of judges "
        "worth) and, if known, the lower end of its interval.",
    ),
]
JudgeItems = Annotated[
    int | None,
    option("N", "How many items the judge scores. Default, with --judge: those that it scored in the pilot."),
]
JudgeOfPilot = Annotated[
    Path | None,
    option(
        "JUDGES",
        "With --pilot: one judge's scores of its outputs, which give its correlation and interval.",
        "--judge",
    ),
]
ConfirmSims = Annotated[int, option("N", "Data sets that confirm the answer.")]


def parse_numbers(text: str, option: str) -> list[float]:
    """Return the numbers of an option, separated by commas.

    >>> parse_numbers("0.25, 0.5", "--effects")
    [0.25, 0.5]
    """
    try:
        numbers = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise PanelistError(f"{option} wants numbers separated by commas. Got {text!r}.") from None
    if not numbers:
        raise PanelistError(f"{option} wants at least one number.")
    return numbers


def parse_wholes(text: str, option: str) -> list[int]:
    """Return the whole numbers of an option, separated by commas.

    >>> parse_wholes("50,100", "--items")
    [50, 100]
    """
    numbers = parse_numbers(text, option)
    if any(number != int(number) for number in numbers):
        raise PanelistError(f"{option} wants whole numbers. Got {text!r}.")
    return [int(number) for number in numbers]


def make_truths(context: typer.Context) -> list["Truth"]:
    """Return the truths that the options of a command describe."""
    from dataclasses import replace

    from panelist.power.truth.base import Truth

    given = context.params
    pilot, rater_sd, item_sd = given["pilot"], given["rater_sd"], given["item_sd"]
    if given["uncertain"] and pilot is None:
        raise PanelistError("--uncertain draws the estimates of a pilot: name its ratings with --pilot.")
    if pilot is not None:
        from panelist.cli.terminal import open_ratings

        ratings = open_ratings(pilot, given["columns"], None)
        return [_spread_out(Truth.from_pilot(ratings, given["criterion"], given["uncertain"]), given)]
    cuts = _parse_cuts(given["points"], given["thresholds"])
    names = [name.strip() for name in given["preset"].split(",") if name.strip()] or [given["preset"]]
    truths = [Truth.preset(name, cuts) for name in names]
    if rater_sd is not None:
        truths = [replace(truth, raters=parse_spread(rater_sd, "--rater-sd")) for truth in truths]
    if item_sd is not None:
        truths = [replace(truth, items=parse_spread(item_sd, "--item-sd")) for truth in truths]
    if rater_sd is not None and item_sd is not None:
        truths = [replace(truths[0], name="given")]
    return [_spread_out(truth, given) for truth in truths]


def _spread_out(truth: "Truth", given: Mapping[str, Any]) -> "Truth":
    """Return the truth with what options say about spread and about single thresholds."""
    from dataclasses import replace

    if given["system_scale"] is not None:
        scale = tuple(parse_numbers(given["system_scale"], "--system-scale"))
        truth = replace(truth, system_scale=scale)
    if given["rater_scale"] is not None:
        truth = replace(truth, rater_scale=given["rater_scale"])
    if given["category_effects"] is not None:
        gains = parse_numbers(given["category_effects"], "--category-effects")
        truth = replace(truth, category_effects=tuple(gain * truth.unit for gain in gains))
    return truth


def claim_by(spec: "AnalysisSpec", claim: str | None, margin: str | None) -> "AnalysisSpec":
    """Return the analysis with the claim and the margin of options; what a study declares stays."""
    from dataclasses import replace

    from panelist.core.margin import read_margin

    if margin is not None and claim is None and spec.claim is None:
        raise PanelistError(
            "A margin is for a claim: add --claim equivalence, or --claim non-inferiority. Without --claim "
            "the power is that of finding a difference."
        )
    return replace(
        spec, claim=claim or spec.claim, margin=spec.margin if margin is None else read_margin(margin)
    )


def plan_judge(context: typer.Context) -> "tuple[PlannedJudge | None, tuple[str, ...]]":
    """Return the judge that is planned for, None where there is none, and what a pilot says of it."""
    given = context.params
    r, items, judge, pilot = (given[name] for name in ("judge_r", "judge_items", "judge", "pilot"))
    if judge is not None:
        if r is not None:
            raise PanelistError("--judge measures in the pilot what --judge-r states: give one of the two.")
        if pilot is None:
            raise PanelistError(
                "--judge takes a judge's scores of a pilot: name people's ratings of it with --pilot, or "
                "state the judge's correlation with --judge-r."
            )
        from panelist.cli.terminal import open_ratings
        from panelist.power.judge_of_pilot import measure_planned

        ratings = open_ratings(pilot, given["columns"], None)
        found, said = measure_planned(ratings, judge, given["criterion"], items)
        return found, (said,)
    if r is None and items is None:
        return None, ()
    if r is None or items is None:
        raise PanelistError("A judge has --judge-r R and --judge-items N: say both.")
    from panelist.power.judged import PlannedJudge

    return PlannedJudge(items, tuple(parse_numbers(r, "--judge-r"))), ()


def refuse_judged_claim(spec: "AnalysisSpec") -> None:
    """Raise PanelistError where a judge is planned for a claim: it is simulated for differences alone."""
    if spec.claim is not None:
        raise PanelistError(
            "--judge-r and --claim do not go together: what a judge saves is simulated for differences."
        )


def parse_spread(text: str, option: str) -> "Spread":
    """Return the spread that an option gives: intercept, slope and, perhaps, their correlation.

    >>> parse_spread("0.5,0.4", "--rater-sd")
    Spread(intercept=0.5, slope=0.4, correlation=0.0, matrix=None)
    """
    from panelist.power.truth.spread import Spread

    numbers = parse_numbers(text, option)
    if len(numbers) not in (2, 3):
        raise PanelistError(
            f"{option} wants two standard deviations, of intercept and slope, and perhaps their correlation. "
            f"Got {text!r}."
        )
    intercept, slope, correlation = (*numbers, 0.0)[:3]
    return Spread(intercept, slope, correlation)


def _parse_cuts(points: str | None, thresholds: str | None) -> Any:
    from panelist.power.truth.cuts import DrawnCuts, FixedCuts, Slider

    if thresholds is not None:
        return FixedCuts(tuple(parse_numbers(thresholds, "--thresholds")))
    if points is None:
        return DrawnCuts()
    if points.strip().lower() == "slider":
        return Slider()
    try:
        return DrawnCuts(int(points))
    except ValueError:
        raise PanelistError(f"--scale wants a number of points, or slider. Got {points!r}.") from None
