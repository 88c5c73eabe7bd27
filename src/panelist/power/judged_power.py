"""Power with a judge, by simulation: ratings and the judge's scores drawn together, analysed as compare does.

A data set has the judge's N items, of which people rate those of the layout. What very many people would say
of an output follows from its latent value and the thresholds; the judge's score is its part within the
item times r, plus noise, so that r is the correlation on differences between systems. The analysis is that of
judges/correct/regression.py by the same solver. All correlations, and people alone, see the same ratings.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import nan
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import ndtr

from panelist.analysis.spec import AnalysisSpec
from panelist.core.progress import Progress
from panelist.core.seeds import stream
from panelist.core.tables.ratings import read_ratings
from panelist.judges.correct.covariates import make_covariates
from panelist.judges.correct.regression import Corrected, choose_terms, write_terms
from panelist.judges.match import JudgedRatings
from panelist.models.blocks.workspaces import lend_workspace
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import build_design
from panelist.models.inference.hypotheses import degrees_satterthwaite
from panelist.models.solvers import lmm
from panelist.numerics.arrays import Floats
from panelist.numerics.blas_threads import single_threaded_blas
from panelist.numerics.compile_ahead import count_cores, prepare
from panelist.power.analyses.base import SimulatedPairTests, make_tests
from panelist.power.cells import Cell, summarise
from panelist.power.judged import JudgedPower, PlannedJudge, check_rated
from panelist.power.responses import draw_responses
from panelist.power.run import Run
from panelist.power.tally import count_tests
from panelist.power.truth.base import Draw, Truth
from panelist.power.truth.cuts import Slider

SETS = 200
ALONE = nan  # in the place of a correlation: people without a judge


def simulate_judged(
    cell: Cell, judge: PlannedJudge, spec: AnalysisSpec, run: Run, *, alone: bool = True
) -> tuple[JudgedPower, ...]:
    """Return the power by people alone, then with the judge at each of its correlations and at none.

    With ``alone=False`` only that of its expected correlation.
    """
    check_rated(cell.layout)
    prepare("linear")
    people, beside = _prepare(cell, ()), _prepare(cell, ("w0", "b0"))
    sims = run.sims or SETS
    levels = (ALONE, *judge.levels) if alone else judge.r[:1]

    def analyse(number: int) -> list[tuple[Floats, ...]]:
        rng = stream(run.seed, "power", "judge", cell.stream_key, number)
        y, scores = _draw(cell, judge, rng)
        return [
            people(y, {}) if np.isnan(r) else beside(y, make_covariates({"judge": scores(r)}).columns)
            for r in levels
        ]

    with single_threaded_blas(), ThreadPoolExecutor(count_cores()) as pool:
        sets = []
        for done, one in enumerate(pool.map(analyse, range(sims)), 1):
            sets.append(one)
            if run.on_progress is not None:
                run.on_progress(Progress(done, sims, f"with the judge, {cell.layout.n_items} items"))
    rows = []
    for at, r in enumerate(levels):
        estimate, se, df = (np.stack([one[at][part] for one in sets]) for part in range(3))
        tests: SimulatedPairTests = make_tests(estimate, se, df)
        found = summarise(cell, "judge", count_tests(tests, spec, cell.differences, 0.0))
        rows.append(
            JudgedPower(
                cell.truth.name,
                cell.layout.n_items,
                cell.layout.ratings_per_item,
                cell.layout.n_raters,
                cell.effect,
                max(judge.items, cell.layout.n_items),
                r,
                found.power,
                found.low,
                found.high,
                found.width,
                sims,
                found.failed,
            )
        )
    return tuple(rows)


def simulate_cells_judged(
    cells: Sequence[Cell], judge: PlannedJudge, spec: AnalysisSpec, run: Run
) -> tuple[JudgedPower, ...]:
    """Return the powers with a judge of every cell of a grid."""
    return tuple(row for cell in cells for row in simulate_judged(cell, judge, spec, run))


def _prepare(cell: Cell, covariates: tuple[str, ...]) -> Callable[[Floats, Any], tuple[Floats, ...]]:
    """Return the analysis of one data set: all that depends on the layout alone is done here, once."""
    layout = cell.layout
    n, S = layout.n_items, layout.n_systems
    empty = JudgedRatings(
        criterion="",
        items=tuple(f"i{k:06d}" for k in range(n)),
        systems=tuple(f"s{k:06d}" for k in range(S)),
        raters=tuple(f"r{k:06d}" for k in range(layout.n_raters)),
        item=layout.item.astype(np.int64),
        system=layout.system.astype(np.int64),
        rater=layout.rater.astype(np.int64),
        y=np.zeros(layout.n_rows),
        scores={},
    )
    frame = empty.frame()
    anything = np.random.default_rng(0)
    for name in ("rating", *covariates):
        frame[name] = anything.standard_normal(len(frame))
    random = write_terms(choose_terms(empty), slopes=False)
    formula = " + ".join(["rating ~ 0", "system", *covariates, *random])
    design = build_design(parse_formula(formula), read_ratings(frame), ordinal=False)
    base = lmm.make_linear(design, reml=True)
    order = base.pattern.order
    rows = np.array([np.eye(S)[b] - np.eye(S)[a] for a, b in layout.pairs])
    place = [empty.systems.index(name[len("system[") : -1]) for name in design.names[:S]]

    def analyse(y: Floats, columns: Any) -> tuple[Floats, ...]:
        X = design.X.copy()
        for at, name in enumerate(covariates, S):
            X[:, at] = columns[name][layout.item, layout.system]
        model, unit = lmm.set_response(base._replace(X=np.ascontiguousarray(X[order])), y)
        with lend_workspace(lmm.make_workspace, model) as space:
            found = lmm.find_estimates(model, design.factors, space)
            moments = lmm.find_moments(lmm.read_settled(model, space.work, found), unit)
        whole, spread = np.zeros((S, X.shape[1])), np.zeros((S, S))
        whole[place, np.arange(S)] = 1.0
        N = n
        if covariates:
            N = len(columns[covariates[0]])
            predicted = sum(moments.beta[at] * columns[name] for at, name in enumerate(covariates, S))
            whole[:, S:] = np.stack([columns[name].mean(axis=0) for name in covariates], axis=1)
            spread = np.cov(predicted.T) / N
        unsure = moments.uncertainty
        fit = SimpleNamespace(
            vcov=moments.vcov,
            degrees=lambda L: degrees_satterthwaite(L, moments.vcov, unsure.slopes, unsure.A),
        )
        done = Corrected(empty.systems, whole @ moments.beta, whole, spread, N, n, fit)
        variance, df = done.measure(rows)
        return rows @ done.estimate, np.sqrt(variance), df

    return analyse


def _draw(
    cell: Cell, judge: PlannedJudge, rng: np.random.Generator
) -> tuple[Floats, Callable[[float], Floats]]:
    """Return the ratings of one data set, and the judge's scores of all items for a correlation."""
    layout, S = cell.layout, cell.layout.n_systems
    draw = cell.truth.draw(rng, 1, cell.effects)
    N = max(judge.items, layout.n_items)
    items = rng.standard_normal((N, S)) @ draw.item_root[0].T
    y = draw_responses(cell.truth, layout, draw, rng, items[None, : layout.n_items])[0].astype(np.float64)
    said = _rate(cell.truth, draw, items)
    within = said - said.mean(axis=0) - (said - said.mean(axis=0)).mean(axis=1, keepdims=True)
    size = float(np.sqrt((within**2).sum() / ((N - 1) * (S - 1)))) or 1.0
    noise = rng.standard_normal((N, S))
    return y, lambda r: r * within / size + np.sqrt(1 - r**2) * noise


def _rate(truth: Truth, draw: Draw, items: Floats) -> Floats:
    """Return what very many people would say of each output, on the points of the scale."""
    latent = draw.effects[0] + items
    if isinstance(truth.cuts, Slider):
        return np.asarray(latent)
    root = draw.rater_root[0]
    rest = np.sqrt(np.diag(root @ root.T) + truth.residual**2)
    return np.asarray(ndtr((latent[..., None] - draw.cuts[0]) / rest[:, None]).sum(axis=-1))
