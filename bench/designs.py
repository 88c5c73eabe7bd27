"""The maximal model at the designs of the paper: Panelist, and R on the same data."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from pathlib import Path

import numpy as np

from bench.clock import on_cores, time_call
from bench.report import SAME, Options, Section, say, word
from bench.rival_r import Answers, Measured, ask_r
from bench.simulate import MAXIMAL, Size, simulate
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Sentence, Table
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.models.fit import fit
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import build_design
from panelist.models.results.fitted import Fit

R_NAMES = {"clmm": "clmm", "lmm": "lmer"}
CAPTIONS = {
    "clmm": "Ordinal mixed model, probit: panelist and ordinal::clmm",
    "lmm": "Linear mixed model, ML, with Satterthwaite's df: panelist and lmerTest::lmer",
}
RUNS = 100  # at the most, of about a second in all
QUICK_ROWS = 600  # without --full R fits designs up to this size
R_ENDS = 3000  # clmm did not end in 30 minutes at 10,000 rows


@dataclass(frozen=True)
class Target:
    """What is wanted: so many times faster than R, or so many seconds."""

    ratio: float | None = None
    seconds: float | None = None

    def __str__(self) -> str:
        return f"{self.ratio:,.0f} times" if self.ratio is not None else f"{self.seconds:g} s"


@dataclass(frozen=True)
class Row:
    """One design and model: seconds of the whole call and of the solver, and R's on the first data set."""

    size: Size
    model: str
    whole: float
    solver: float
    others: tuple[float, ...]  # the whole call on every data set
    loglik: float
    converged: bool  # on every data set
    r: Measured | None = None

    @property
    def target(self) -> Target:
        """What is wanted of this design and model."""
        small = self.size.n_rows <= 600
        if self.model == "lmm":
            return Target(ratio=100.0 if small else 50.0)
        if self.size.n_rows > R_ENDS:
            return Target(seconds=2.0)
        return Target(ratio=5000.0 if small else 2000.0)

    @property
    def verdict(self) -> str:
        """Whether the target is met; a fit that is not R's or not converged meets none."""
        if not self.converged:
            return "not met: not converged"
        higher = self.loglik - self.r.loglik if self.r else 0.0
        if higher < -SAME:
            return "not met: lower log-likelihood"
        if self.target.seconds is not None:
            return word(self.whole <= self.target.seconds)
        if self.r is None or self.target.ratio is None:
            return "not measured"
        verdict = word(self.r.seconds / self.whole >= self.target.ratio)
        if verdict == "not met" and self.r.seconds / self.solver >= self.target.ratio:
            verdict += " (the solver alone: met)"
        return verdict + ("; R ends lower" if higher > SAME else "")


@dataclass(frozen=True)
class Designs(Section):
    """The six designs, ordinal and linear."""

    rows: tuple[Row, ...]
    r_versions: str
    notes: tuple[str, ...]

    def title(self) -> str:
        """Return the heading."""
        return f"Maximal model, one core: {MAXIMAL}"

    def parts(self) -> list[Part]:
        """Return one table per model, and what to know about them."""
        return [
            *(self._table(model) for model in CAPTIONS if any(row.model == model for row in self.rows)),
            *(Sentence(note) for note in self.notes),
        ]

    def _table(self, model: str) -> Table:
        rows = [row for row in self.rows if row.model == model]
        header = ["ratings", "items × ratings", "fit, ms", "data sets, ms", "solver, ms"]
        columns: list[list[str | int | float]] = [
            [row.size.n_rows for row in rows],
            [row.size.label for row in rows],
            [1e3 * row.whole for row in rows],
            [f"{1e3 * min(row.others):.1f} to {1e3 * max(row.others):.1f}" for row in rows],
            [1e3 * row.solver for row in rows],
        ]
        formats = {"items × ratings": TEXT, "fit, ms": decimals(1), "solver, ms": decimals(1)}
        if self.r_versions:
            names = ["R, s", "R / fit", "R / solver", "log-lik. − R's"]
            header += names
            columns += [
                [row.r.seconds if row.r else nan for row in rows],
                [row.r.seconds / row.whole if row.r else nan for row in rows],
                [row.r.seconds / row.solver if row.r else nan for row in rows],
                [row.loglik - row.r.loglik if row.r else nan for row in rows],
            ]
            formats |= dict(zip(names, map(decimals, (2, 0, 0, 5)), strict=True))
        header += ["target", "verdict"]
        columns += [[str(row.target) for row in rows], [row.verdict for row in rows]]
        return Table(CAPTIONS[model], tuple(header), list(zip(*columns, strict=True)), formats)


def measure(options: Options) -> Designs:
    """Return the times of both models at every size, beside R's where R is there."""
    with on_cores(1), tempfile.TemporaryDirectory() as folder:
        files = {
            size: Path(folder) / f"{size.items}-items-{size.ratings}-ratings.csv" for size in options.sizes
        }
        rows = [
            measure_design(size, model, options.seeds, files[size])
            for size in options.sizes
            for model in CAPTIONS
        ]
        jobs = [(files[row.size], R_NAMES[row.model]) for row in rows if _asks_r(row, options)]
        answers = ask_r(jobs) if options.use_r else Answers(trouble="R was left out (--no-r).")
    known = {(row.size, row.model): answers.times.get((files[row.size], R_NAMES[row.model])) for row in rows}
    rows = [_with_r(row, known[row.size, row.model]) for row in rows]
    return Designs(tuple(rows), answers.versions, _notes(answers, options))


def measure_design(
    size: Size, model: str, seeds: tuple[int, ...], file: Path | None = None, seconds: float = 1.0
) -> Row:
    """Return our times at one size; the first seed's ratings are written into ``file`` for R."""
    whole, solver, fits = [], [], []
    for seed in seeds:
        frame = simulate(size, seed)
        if file is not None and seed == seeds[0]:
            frame.to_csv(file, index=False)
        ratings = read_ratings(frame)
        call = fit_whole(ratings, model)
        call()  # compiles, where that has not been done
        timing, fitted = time_call(call, seconds, at_most=RUNS)
        whole.append(timing.best)
        fits.append(fitted)
        if seed == seeds[0]:
            solver.append(time_call(solve_only(ratings, model), seconds, at_most=RUNS)[0].best)
    say(f"  {model}, {size.n_rows} ratings: {1e3 * whole[0]:.1f} ms, solver {1e3 * solver[0]:.1f} ms")
    converged = all(fitted.converged for fitted in fits)
    return Row(size, model, whole[0], solver[0], tuple(whole), fits[0].loglik, converged)


def fit_whole(ratings: Ratings, model: str, formula: str = MAXIMAL) -> Callable[[], Fit]:
    """Return the call that a user makes, given a ratings table: the fit and its table of coefficients."""

    def call() -> Fit:
        fitted = fit(formula, ratings, model=model, method="ML")
        assert np.isfinite(fitted.coefficients["p"]).all()
        return fitted

    return call


def solve_only(ratings: Ratings, model: str, formula: str = MAXIMAL) -> Callable[[], float]:
    """Return the call of the solver alone, given the matrices; it gives the log-likelihood."""
    design = build_design(parse_formula(formula), ratings, ordinal=model == "clmm")
    if model == "clmm":
        from panelist.models.likelihoods.thresholds import make_thresholds
        from panelist.models.solvers.clmm import solve_clmm

        thresholds = make_thresholds("flexible", design.categories)
        return lambda: solve_clmm(design, "probit", thresholds).loglik
    from panelist.models.solvers.lmm import solve_lmm

    return lambda: solve_lmm(design, False)[0].loglik


def _asks_r(row: Row, options: Options) -> bool:
    if not options.full:
        return row.size.n_rows <= QUICK_ROWS
    return row.model == "lmm" or row.size.n_rows <= R_ENDS


def _with_r(row: Row, r: Measured | None) -> Row:
    return Row(row.size, row.model, row.whole, row.solver, row.others, row.loglik, row.converged, r)


def _notes(answers: Answers, options: Options) -> tuple[str, ...]:
    notes = [
        "“fit” is the whole of panelist.fit on a ratings table, with the table of coefficients: best of 3 to "
        f"{RUNS} runs on the first data set, and “data sets” the same over {len(options.seeds)} simulated "
        "ones. “solver” has the matrices already. The target is for “fit”."
    ]
    if answers.versions:
        notes.append(
            f"{answers.versions}, on the first data set: one run of clmm, the best of up to ten of lmer with "
            "coef(summary())."
        )
        if not options.full:
            notes.append(f"R was asked up to {QUICK_ROWS} ratings; --full asks it for the rest (minutes).")
        else:
            notes.append("clmm is left out at 10,000 ratings, where it did not end in 30 minutes.")
    if answers.trouble:
        notes.append(answers.trouble)
    return tuple(notes)
