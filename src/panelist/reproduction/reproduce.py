"""The steps of a reproduction: read, match, assess each criterion, then the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import isfinite
from typing import Any

import numpy as np

from panelist.core.errors import BadReproduction
from panelist.core.numbers import check_confidence
from panelist.core.progress import OnProgress, Progress, ignore
from panelist.power.run import Run
from panelist.reproduction.aggregate import find_named, list_suitable
from panelist.reproduction.assess import Options, assess
from panelist.reproduction.display.conventions import state_conventions
from panelist.reproduction.match import MatchedCriterion, find_permutation, match_sources
from panelist.reproduction.measures.common_scale import parse_scale_maps
from panelist.reproduction.recompute import Recomputation, recompute
from panelist.reproduction.reproduction import CriterionReproduction, Reproduction
from panelist.reproduction.size.replication import ReplicationSize, size_repeat
from panelist.reproduction.sources import Source, read_source, share_columns


def reproduce(
    original: Any,
    *repeats: Any,
    scale_min: float | Mapping[str, float] | None = None,
    scale_map: Sequence[str] | str = (),
    systems: Mapping[str, str] | None = None,
    criteria: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, Any] | None = None,
    aggregation: str | None = None,
    yes: Sequence[float] = (1,),
    unit: str = "output",
    printed: Any = None,
    findings: Sequence[str] | str = (),
    confidence: float = 0.95,
    margin: float | None = None,
    fit_models: bool = True,
    size: bool = False,
    original_n: int | None = None,
    original_p: float | None = None,
    design: str | None = None,
    sims: int = 200,
    seed: int = 1,
    on_progress: OnProgress | None = None,
) -> Reproduction:
    """Return the reproduction report of an original and one repeat or more.

    Each is raw ratings, choices, a study, a scores table ``criterion, system, score``, a printed table, or a
    mapping {criterion: {system: score}}. ``scale_min`` says where the scale begins (one number, or one for
    each criterion), ``scale_map`` how scales that differ correspond (``fluency=1-5:0-100``,
    original:repeat). ``systems`` and ``criteria`` say what a name of the original is called in the repeats.
    ``aggregation`` is how single answers become scores, ``printed`` what the original's paper printed.
    ``margin`` is the smallest difference that matters, in points of the scale. ``fit_models`` False leaves
    out all model fits; ``size`` adds how large a repeat must be.

    >>> first, again = {"A": 56, "B": 68, "C": 48, "D": 80}, {"A": 76, "B": 92, "C": 68, "D": 68}
    >>> found = reproduce(first, again, scale_min=0)["rating"]
    >>> round(found.cv_star, 2), found.agreements, found.comparisons
    (27.67, 3, 6)
    """
    _check_call(repeats, confidence, margin)
    sources = _read_all((original, *repeats), columns, where)
    stated = (findings,) if isinstance(findings, str) else tuple(findings)
    options = Options(
        scale_min=scale_min,
        maps=parse_scale_maps([scale_map] if isinstance(scale_map, str) else list(scale_map)),
        aggregation=aggregation,
        yes=tuple(yes),
        unit=unit,
        findings=stated or _find_stated(sources),
        named=next((one.study.file.analysis.aggregation for one in sources if one.study is not None), ""),
        confidence=confidence,
        margin=margin,
        fit_models=fit_models,
    )
    matched, notes = match_sources(sources, systems or {}, criteria or {})
    _check_names(options, [one.criterion for one in matched])
    recomputed = _recompute_all(sources[0], printed, options)  # before the models: it may raise
    sizing = partial(size_repeat, n=original_n, p=original_p, design=design, run=Run(sims, seed=seed))
    done, sizes = _assess_all(matched, options, on_progress or ignore, sizing if size else None)
    return Reproduction(
        sources=tuple(one.sentence() for one in sources),
        origins=tuple(one.origin for one in sources),
        criteria=tuple(done),
        conventions=state_conventions(done, confidence),
        recomputed=recomputed,
        sizes=tuple(sizes),
        warnings=(*_find_same(sources, done), *_find_permutations(done)),
        notes=(*notes, *(f"{one.label}: {note}" for one in sources for note in one.notes)),
    )


def _check_call(repeats: Sequence[Any], confidence: float, margin: float | None) -> None:
    """Raise where there is nothing to compare, or a number is impossible."""
    if not repeats:
        raise BadReproduction(
            "A reproduction compares an original with one repeat or more, and only the original was given."
        )
    check_confidence(confidence)
    if margin is not None and not (isfinite(margin) and margin > 0):
        raise BadReproduction(
            "The margin is the smallest difference that matters, above 0, in points of the scale. Got "
            f"{margin:g}."
        )


def _assess_all(
    matched: Sequence[MatchedCriterion],
    options: Options,
    tell: OnProgress,
    sizing: Callable[..., ReplicationSize] | None,
) -> tuple[list[CriterionReproduction], list[ReplicationSize]]:
    """Return every criterion compared and, where asked for, how large its repeat must be."""
    done, sizes = [], []
    for place, one in enumerate(matched):
        tell(Progress(place, len(matched), one.criterion))
        found, tests = assess(one, options)
        done.append(found)
        if sizing is not None:
            tell(Progress(place, len(matched), f"size of a repeat, {one.criterion}"))
            pairs = {f"{a} – {b}": test.p for (a, b), test in tests.pairs.items()}
            sizes.append(sizing(one.given[0], pairs=pairs))
    return done, sizes


def _read_all(
    given: Sequence[Any], columns: Mapping[str, str] | None, where: Mapping[str, Any] | None
) -> list[Source]:
    several = len(given) > 2
    labels = ["original", *(f"repeat {place}" if several else "repeat" for place in range(1, len(given)))]
    mappings = share_columns(given, columns)
    return [
        read_source(one, label, mapping, where)
        for one, label, mapping in zip(given, labels, mappings, strict=True)
    ]


def _find_stated(sources: Sequence[Source]) -> tuple[str, ...]:
    """Return the findings that the first study file states."""
    stated = (one.study.file.analysis.findings for one in sources if one.study is not None)
    return next((tuple(texts) for texts in stated if texts), ())


def _check_names(options: Options, criteria: Sequence[str]) -> None:
    """Raise where an option names a criterion that is not compared."""
    named = set(options.scale_min) - {""} if isinstance(options.scale_min, Mapping) else set()
    named |= {one.criterion for one in options.maps if one.criterion is not None}
    if unknown := sorted(named - set(criteria)):
        raise BadReproduction(
            f"No criterion that the studies share is called {unknown[0]!r}; there are "
            f"{', '.join(map(repr, criteria))}."
        )


def _find_same(sources: Sequence[Source], done: Sequence[CriterionReproduction]) -> list[str]:
    """Return a warning where two studies are one: the same file, or the same scores everywhere."""
    warnings = []
    for a, b in combinations(range(len(sources)), 2):
        first, second = sources[a], sources[b]
        both = [one for one in done if {first.label, second.label} <= set(one.studies)]
        places = [(one.studies.index(first.label), one.studies.index(second.label)) for one in both]
        same = all(
            row.scores[i] == row.scores[j]
            for one, (i, j) in zip(both, places, strict=True)
            for row in one.precision
        )
        if both and same:
            warnings.append(
                f"All scores of {first.label} and {second.label} are the same. Is it one study, given twice?"
            )
    return warnings


def _find_permutations(done: Sequence[CriterionReproduction]) -> list[str]:
    """Return a warning for each repeat whose scores fit far better under other names of the systems."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[CriterionReproduction]] = {}
    for one in done:
        groups.setdefault((one.studies, one.systems), []).append(one)
    warnings = []
    for (studies, systems), members in groups.items():
        cells = np.array(
            [[row.scores for row in one.precision] for one in members]
        )  # criterion, system, study
        for place, label in enumerate(studies[1:], start=1):
            found = find_permutation(cells[:, :, 0], cells[:, :, place], systems, label)
            if found is not None:
                warnings.append(found.sentence())
    return warnings


def _recompute_named(source: Source, options: Options) -> tuple[Recomputation, ...]:
    """Return the original under every rule that its study names, where it names several."""
    found = []
    for given in source.given if source.raw and source.study is not None else ():
        named = list_suitable(given, options.named)
        if sum(name in named for name in find_named(options.named)) > 1:
            found.append(recompute(given, {}, options.named, options.yes))
    return tuple(found)


def _recompute_all(source: Source, printed: Any, options: Options) -> tuple[Recomputation, ...]:
    if printed is None:
        return _recompute_named(source, options)
    if not source.raw:
        raise BadReproduction(
            "--printed compares what was printed with the original's raw data, and only scores of the "
            "original were given. Give its raw ratings as ORIGINAL."
        )
    table = {
        given.name: given.scores for given in read_source(printed, "printed").given if given.rows is None
    }
    if not table:
        raise BadReproduction(
            "--printed takes a scores table or a printed table, and this one holds raw answers."
        )
    if len(table) == 1 and len(source.given) == 1:
        table = {source.given[0].name: next(iter(table.values()))}
    found = [
        recompute(given, table[given.name], options.named, options.yes)
        for given in source.given
        if given.name in table
    ]
    if not found:
        raise BadReproduction(
            f"The printed table has no criterion of the original: it has {', '.join(map(repr, table))}; the "
            f"original has {', '.join(repr(given.name) for given in source.given)}."
        )
    return tuple(found)
