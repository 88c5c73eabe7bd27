"""How large a repeat must be, for every criterion of an original that has not been repeated yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from typing import Any

from panelist.core.display.result import Part, Result, Sentence
from panelist.power.run import Run
from panelist.reproduction.aggregate import aggregate, choose_aggregation
from panelist.reproduction.measures.pair_tests import check_pairs
from panelist.reproduction.size.replication import ReplicationSize, size_repeat
from panelist.reproduction.sources import read_source


@dataclass(frozen=True, kw_only=True)
class ReplicationSizes(Result):
    """The sizes for each criterion of an original."""

    source: str
    sizes: tuple[ReplicationSize, ...]

    def title(self) -> str:
        """Return the heading."""
        return "How large a repeat must be"

    def parts(self) -> list[Part]:
        """Return what was given, and each criterion's parts."""
        found: list[Part] = [Sentence(self.source)] if self.source else []
        for one in self.sizes:
            if one.criterion:
                found.append(Sentence(f"\nOn {one.criterion}"))
            found += one.parts()
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the sizes by criterion."""
        return {"source": self.source, "sizes": [one.to_dict() for one in self.sizes]}


def size_original(
    original: Any = None,
    *,
    n: int | None = None,
    p: float | None = None,
    design: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    sims: int = 200,
    seed: int = 1,
) -> ReplicationSizes:
    """Return how large a repeat of an original must be, from its raw data or from its printed n and p."""
    if original is None:
        return ReplicationSizes(source="", sizes=(size_repeat(n=n, p=p, design=design),))
    source = read_source(original, "original", columns, where)
    sizes = []
    for given in source.given:
        pairs: dict[str, float] = {}
        if p is None and given.rows is not None:
            rule, _ = choose_aggregation([given], None, "")
            scores, _ = aggregate(given, rule)
            systems = sorted(scores)
            tests = check_pairs(given, scores, systems, rule, confidence=confidence)
            found = {(a, b): tests.of(a, b).p for a, b in combinations(systems, 2)}
            pairs = {f"{a} – {b}": value for (a, b), value in found.items() if isfinite(value)}
        sizes.append(size_repeat(given, n=n, p=p, pairs=pairs, design=design, run=Run(sims, seed=seed)))
    return ReplicationSizes(source=source.sentence(), sizes=tuple(sizes))
