"""Many responses to one design: what depends on the design alone is done once, and the sets run in threads.

    batch = prepare_batch(design, "clmm")
    fits = fit_batch(batch, codes)             # codes (n_sets, n_rows)
    (fits.p[:, 0] < 0.05).mean()

Each set gets the numbers that ``fit`` gives for it alone, by the same solvers, and the same bits whatever the
number of threads and the order of the sets.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from panelist.core.errors import BadModel, BadRatings, UnknownName, did_you_mean
from panelist.core.numbers import check_count
from panelist.models.diagnose import refuse_confounded
from panelist.models.family_words import FAMILIES
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.inference.small_sample import make_linear_design
from panelist.models.likelihoods.link_functions import LINKS
from panelist.models.likelihoods.thresholds import make_thresholds
from panelist.models.prior_words import parse_prior
from panelist.models.priors import make_penalty
from panelist.models.results.batch_results import BatchFits, SmallSamples, gather
from panelist.models.solvers import clmm, lmm
from panelist.models.solvers.fitters import (
    FittedResponse,
    Fitter,
    LinearFixed,
    LinearMixed,
    OrdinalFixed,
    OrdinalMixed,
)
from panelist.numerics.arrays import Longs
from panelist.numerics.blas_threads import single_threaded_blas
from panelist.numerics.compile_ahead import count_cores

MODELS = ("clmm", "clm", "lmm", "lm")
METHODS = ("REML", "ML")
TESTS = ("t", "z")
_CHUNK = 32  # sets that a thread takes at once, at most


@dataclass(frozen=True, eq=False)
class Batch:
    """A model of one design, ready for any number of responses."""

    model: str
    link: str | None
    method: str
    design: ModelMatrices
    make_fitter: Callable[[], Fitter]  # a workspace for each thread
    analogues: "tuple[Batch, ...]" = ()  # of clmm tested by t: the linear one by REML, and by ML

    @property
    def ordinal(self) -> bool:
        """Whether the responses are categories."""
        return self.model in ("clmm", "clm")

    @property
    def n_rows(self) -> int:
        """The number of ratings in each response."""
        return len(self.design.rows)


def prepare_batch(
    design: ModelMatrices,
    model: str = "clmm",
    link: str = "probit",
    method: str = "REML",
    test: str = "t",
    measured: bool = False,
    prior: str | None = None,
    family: str = "cumulative",
) -> Batch:
    """Return the model of this design, ready for ``fit_batch``; the design's own response is not used.

    ``design`` comes from ``build_design``, with ``ordinal=True`` for ``clmm`` and ``clm``; nominal and scale
    effects are its own. ``link``, ``family`` and ``prior`` belong to these two, whose thresholds are
    flexible, ``method`` to ``lmm``, and ``test`` (t or z) to ``clmm``. With ``measured`` the error of
    Laplace is measured in each fit of a ``clmm``, which takes about as long as the fit.
    """
    for what, word, known in (
        ("model", model, MODELS),
        ("link", link, LINKS),
        ("method", method, METHODS),
        ("test", test, TESTS),
        ("family", family, FAMILIES),
    ):
        if word not in known:
            raise UnknownName(f"No {what} of a batch is called {word!r}. {did_you_mean(word, known)}")
    ordinal, mixed = model in ("clmm", "clm"), model in ("clmm", "lmm")
    if ordinal != (design.codes is not None):
        raise BadModel(
            f"A {model} needs a design built with ordinal={ordinal}, and this one was built with "
            f"ordinal={not ordinal}. Build it again, or choose another model."
        )
    if mixed != bool(design.factors):
        has = f"{len(design.factors)} grouping factors" if design.factors else "no random term"
        raise BadModel(
            f"A {model} {'needs a random term' if mixed else 'takes no random term'}, and the design has "
            f"{has}. Change the formula, or the model."
        )
    if design.stretch is not None:
        raise BadModel(
            f"Random spreads are fitted one set at a time. Leave (1 | {design.stretch.name}) out of scale, "
            "or fit each set with fit()."
        )
    refuse_confounded(design)
    penalty = make_penalty(parse_prior(prior) if ordinal else None, design, link)
    if model == "clmm":
        base = clmm.make_model(design, link, make_thresholds("flexible", design.categories, family))
        base = base._replace(penalty=penalty)
        numbers = make_linear_design(design)
        measured = measured and design.scale is None and family != "adjacent"  # no measure for these
        analogues = [prepare_batch(numbers, "lmm", method=one) for one in METHODS] if test == "t" else []
        make = lambda: OrdinalMixed(design, link, base, measured, family)  # noqa: E731
        return Batch(model, link, "Laplace", design, make, tuple(analogues))
    if model == "lmm":
        linear = lmm.make_linear(design, method == "REML")
        return Batch(model, None, method, design, lambda: LinearMixed(design, linear))
    if model == "clm":
        return Batch(model, link, "ML", design, lambda: OrdinalFixed(design, link, family, penalty))
    return Batch(model, None, "least squares", design, lambda: LinearFixed(design))


def fit_batch(batch: Batch, responses: Any, threads: int | None = None, *, tested: bool = True) -> BatchFits:
    """Return the fits of ``responses`` (n_sets, n_rows), in their order.

    A response has the order of the design's rows: codes 0, 1, … for ordinal models, where a category may be
    missing altogether, or numbers for linear ones. ``threads`` is the number of cores unless given. Where it
    is not known yet which fits are wanted, ``tested=False`` leaves out what t needs: ``add_tests`` adds it.
    """
    sets = _check_responses(batch, responses)
    workers = _count_threads(threads)
    size = max(1, min(_CHUNK, -(-len(sets) // (4 * workers))))
    chunks = [sets[first : first + size] for first in range(0, len(sets), size)]

    def fit_chunk(chunk: Any) -> list[FittedResponse | None]:
        return batch.make_fitter().fit(chunk)

    with single_threaded_blas():
        if workers == 1 or len(chunks) < 2:
            found = [fit_chunk(chunk) for chunk in chunks]
        else:
            with ThreadPoolExecutor(workers) as pool:
                found = list(pool.map(fit_chunk, chunks))
    highest = int(sets.max()) if batch.ordinal and sets.size else 0
    fits = gather(batch.model, batch.design, [one for chunk in found for one in chunk], highest)
    return add_tests(batch, fits, sets, threads) if tested else fits


def add_tests(batch: Batch, fits: BatchFits, responses: Any, threads: int | None = None) -> BatchFits:
    """Return the fits of ``responses`` with the tests by t that the batch was prepared for."""
    if not batch.analogues:
        return fits
    sets = _check_responses(batch, responses)
    numbers = np.array([leave_gaps_out(one) for one in sets], dtype=np.float64).reshape(sets.shape)
    reml, ml = (fit_batch(one, numbers, threads) for one in batch.analogues)
    fewest = float(max(min(len(factor.levels) for factor in batch.design.factors) - 1, 1))
    return fits.with_small(SmallSamples(reml, ml, fewest))


def leave_gaps_out(codes: Longs) -> Longs:
    """Return the index of each rating among the categories that occur, as a single fit counts them."""
    places: Longs = np.cumsum(np.bincount(codes) > 0) - 1
    return places[codes]


def _check_responses(batch: Batch, responses: Any) -> Any:
    """Return the responses as an array of codes or of floats, (n_sets, n_rows)."""
    given = np.asarray(responses)
    if given.ndim != 2 or given.shape[1] != batch.n_rows:
        raise BadRatings(
            f"The responses must be (n_sets, {batch.n_rows}), one row per data set, as the design has "
            f"{batch.n_rows} rows. Got {given.shape}."
        )
    if not batch.ordinal:
        if given.dtype.kind not in "iufb" or not np.isfinite(given).all():
            raise BadRatings("The responses of a linear model must be finite numbers. Leave such sets out.")
        return np.ascontiguousarray(given, dtype=np.float64)
    whole = given.dtype.kind in "iu"
    if not whole or (given.size and (given.min() < 0 or given.max() > 1000)):
        found = f"{given.dtype} from {given.min()} to {given.max()}" if given.size else str(given.dtype)
        raise BadRatings(
            f"The responses of an ordinal model must be whole numbers 0, 1, …, the places of the ratings on "
            f"their scale. Got {found}."
        )
    codes: Longs = np.ascontiguousarray(given, dtype=np.int64)
    return codes


def _count_threads(threads: int | None) -> int:
    if threads is None:
        return count_cores()
    return check_count("threads", threads)
