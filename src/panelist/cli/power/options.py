"""What ``panelist power`` and ``panelist size`` share: options, and how they are parsed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panelist.core.errors import PanelistError

if TYPE_CHECKING:
    from panelist.power.truth.base import Truth
    from panelist.power.truth.spread import Spread

Preset = Annotated[
    str,
    typer.Option(
        metavar="NAME,…", help="How much raters and items differ: extra-low, low, general, high, extra-high."
    ),
]
Items = Annotated[str, typer.Option(metavar="N,…", help="Numbers of items.")]
RatingsPerItem = Annotated[str, typer.Option(metavar="K,…", help="Numbers of ratings of each output.")]
Effects = Annotated[
    str | None,
    typer.Option(
        metavar="D,…",
        help="Differences in threshold distances; 0 gives the type I error. Without it 0.25 to 1, or the "
        "pilot's own.",
        show_default=False,
    ),
]
Sims = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Data sets per cell; without it 200, with --precision at most 5000.",
        show_default=False,
    ),
]
PaperSims = Annotated[int, typer.Option(metavar="N", help="Data sets in each cell.")]
Models = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…|all",
        help="Analyses: clmm, lmm, clm, lm, t_test, mann_whitney, sign_test, chi_square, item_means, "
        "bradley_terry; without it the mixed models that can read the answers.",
        show_default=False,
    ),
]
Raters = Annotated[
    str | None,
    typer.Option(metavar="N,…", help="Numbers of raters, who share the ratings.", show_default=False),
]
Pattern = Annotated[
    str,
    typer.Option(
        metavar="steps|one",
        help="With several systems: each better than the one before, or only the last better.",
    ),
]
StudyPlan = Annotated[
    Path | None,
    typer.Option(
        "--study",
        metavar="STUDY",
        help="Take plan, systems, scale and analysis from a study.",
        show_default=False,
    ),
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
    typer.Option(
        metavar="FORMULA",
        help="For mixed models, exactly this one; maximal is the largest that the ratings support, as in "
        "compare.",
    ),
]
Degrees = Annotated[
    str,
    typer.Option(
        "--df", metavar="t|z", help="Tests of the ordinal mixed model: for few raters and items, or for many."
    ),
]
Precision = Annotated[
    float | None,
    typer.Option(metavar="H", help="Stop a cell when its power is known to ± H (0.02).", show_default=False),
]
JournalFile = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        metavar="FILE",
        help="Write results as they come; a killed run continues from there.",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder for the results.")]
Figure = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Draw the curves into FILE.svg, .pdf or .png.", show_default=False),
]
TableFile = Annotated[
    Path | None,
    typer.Option(
        "--table", metavar="FILE", help="Write the cells into FILE.csv, .tex, …", show_default=False
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="The seed of all random numbers.")]
Systems = Annotated[int, typer.Option(metavar="N", help="The number of systems.")]
OutputsPerRater = Annotated[
    int | None,
    typer.Option(metavar="N", help="Outputs that one rater sees; 25 without it.", show_default=False),
]
Points = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="POINTS|slider",
        help="Points of the scale: 6 without it, 2 is yes or no.",
        show_default=False,
    ),
]
Thresholds = Annotated[
    str | None,
    typer.Option(
        metavar="T,…", help="Fixed thresholds, lowest first, instead of drawn ones.", show_default=False
    ),
]
RaterSd = Annotated[
    str | None,
    typer.Option(
        metavar="I,S[,R]",
        help="Raters' standard deviations: intercept, slope and, if given, their correlation.",
        show_default=False,
    ),
]
ItemSd = Annotated[
    str | None, typer.Option(metavar="I,S[,R]", help="The same for items.", show_default=False)
]
Pilot = Annotated[
    Path | None,
    typer.Option(metavar="RATINGS", help="Simulate from the ordinal model of a pilot.", show_default=False),
]
Uncertain = Annotated[
    bool,
    typer.Option(
        "--uncertain", help="With --pilot: draw new estimates for every data set, as uncertain as they are."
    ),
]
Criterion = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The criterion of the pilot or the study.", show_default=False),
]
Alpha = Annotated[float, typer.Option(metavar="SHARE", help="The level of the tests.")]
Adjust = Annotated[
    str,
    typer.Option(metavar="tukey|holm|bonferroni|bh|none", help="How p-values allow for the number of pairs."),
]
Engine = Annotated[
    str, typer.Option(metavar="local|dask|ADDRESS", help="Where it runs: threads, or a Dask cluster.")
]
Workers = Annotated[
    int | None, typer.Option(metavar="N", help="Threads; without it one per core.", show_default=False)
]
Effect = Annotated[
    float | None,
    typer.Option(
        metavar="D", help="The difference worth finding, in threshold distances.", show_default=False
    ),
]
TargetPower = Annotated[float, typer.Option("--power", metavar="SHARE", help="The target power.")]
OnePreset = Annotated[str, typer.Option(metavar="NAME", help="How much raters and items differ.")]
Model = Annotated[str, typer.Option(metavar="NAME", help="The analysis: clmm, lmm, …")]
RatingsToTry = Annotated[
    str, typer.Option(metavar="K,…", help="Numbers of ratings of each output to consider.")
]
LoadsToTry = Annotated[
    str | None,
    typer.Option(
        "--outputs-per-rater",
        metavar="N,…",
        help="Numbers of outputs per rater to consider; 25 without it.",
        show_default=False,
    ),
]
PayStudy = Annotated[
    Path | None,
    typer.Option(
        metavar="STUDY",
        help="Take systems, scale, analysis, pay and minutes from a study.",
        show_default=False,
    ),
]
PayPerHour = Annotated[
    float | None, typer.Option(metavar="AMOUNT", help="What an hour is paid.", show_default=False)
]
MinutesPerRating = Annotated[
    float | None, typer.Option(metavar="MINUTES", help="How long a rating takes.", show_default=False)
]
Budget = Annotated[
    float | None, typer.Option(metavar="AMOUNT", help="The most that it may cost in all.", show_default=False)
]
MaxItems = Annotated[int, typer.Option(metavar="N", help="The most items to consider.")]
MaxRaters = Annotated[
    int | None, typer.Option(metavar="N", help="The most raters to consider.", show_default=False)
]
Goal = Annotated[
    str | None,
    typer.Option(
        "--smallest",
        metavar="cost|ratings|raters|items",
        help="What to minimise; cost where a wage is known, else ratings.",
        show_default=False,
    ),
]
ConfirmSims = Annotated[int, typer.Option(metavar="N", help="Data sets that confirm the answer.")]


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


def make_truths(
    preset: str,
    points: str | None,
    thresholds: str | None,
    rater_sd: str | None,
    item_sd: str | None,
    pilot: Path | None,
    uncertain: bool,
    criterion: str | None,
    columns: str | None,
) -> list["Truth"]:
    """Return the truths that the options describe."""
    from dataclasses import replace

    from panelist.power.truth.base import Truth

    if uncertain and pilot is None:
        raise PanelistError("--uncertain draws the estimates of a pilot: name its ratings with --pilot.")
    if pilot is not None:
        from panelist.cli.terminal import open_ratings

        return [Truth.from_pilot(open_ratings(pilot, columns, None), criterion, uncertain)]
    cuts = _parse_cuts(points, thresholds)
    names = [name.strip() for name in preset.split(",") if name.strip()] or [preset]
    truths = [Truth.preset(name, cuts) for name in names]
    if rater_sd is not None:
        truths = [replace(truth, raters=parse_spread(rater_sd, "--rater-sd")) for truth in truths]
    if item_sd is not None:
        truths = [replace(truth, items=parse_spread(item_sd, "--item-sd")) for truth in truths]
    if rater_sd is not None and item_sd is not None:
        truths = [replace(truths[0], name="given")]
    return truths


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
