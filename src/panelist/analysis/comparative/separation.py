"""Whether the comparisons can say how strong the systems are.

Ford (1957, Solution of a ranking problem from binary comparisons, American Mathematical Monthly 64):
strengths have finite estimates if, however the systems are split in two, some system of each side won over
one of the other. That is, the graph of wins is strongly connected. The same holds for choices and rankings
(Hunter 2004, doi:10.1214/aos/1079120141). With Davidson's ties it suffices; where it fails, a linear
programme decides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from panelist.analysis.comparative.wins import WinTable
from panelist.core.errors import BadModel
from panelist.models.arrays import Bools

MOST_NAMED = 6


class Separation(NamedTuple):
    """Whether maximum likelihood has finite estimates, and the sentence that says why not."""

    finite: bool
    reason: str = ""


def check_connected(table: WinTable, ties: bool) -> None:
    """Raise BadModel where systems fall into groups that were never compared with each other."""
    from scipy.sparse.csgraph import connected_components

    links = (table.wins > 0) | ((table.ties > 0) if ties else False)
    n, group = connected_components(links, directed=False)
    if n == 1:
        return
    groups = [
        [name for name, g in zip(table.systems, group, strict=True) if g == which] for which in range(n)
    ]
    silent = [members[0] for members in groups if len(members) == 1]
    if len(silent) == n or (len(silent) and n - len(silent) == 1):
        raise BadModel(
            f"On {table.criterion!r} no decided comparison involves {list_names(silent)}, so nothing says "
            "where it stands. Leave out the rows, or collect comparisons."
        )
    raise BadModel(
        f"On {table.criterion!r} the systems fall into {n} groups that were never compared with each other: "
        f"{'; '.join(list_names(members) for members in groups)}. Compare within a group "
        f"(--where system=…, in Python: ratings.where(system=[…])), or collect comparisons across groups."
    )


def check_separation(table: WinTable, ties: bool) -> Separation:
    """Return whether the strengths have finite estimates by maximum likelihood."""
    from scipy.sparse.csgraph import connected_components

    n, group = connected_components(table.wins > 0, directed=True, connection="strong")
    if n == 1:
        return Separation(True)
    if not (table.wins > 0).any():
        return Separation(False, "no comparison was decided")
    tied = np.triu(table.ties) > 0
    if ties and tied.any() and not _has_direction(table.wins > 0, tied):
        return Separation(True)
    top, bottom = _ends(table.wins > 0, group, n)
    names = np.array(table.systems, dtype=object)
    said = []
    if top.any():
        said.append(f"{list_names(names[top])} never lost to {_others(names, ~top)}")
    if bottom.any() and not (top | bottom).all():
        said.append(f"{list_names(names[bottom])} never won over {_others(names, ~bottom)}")
    return Separation(False, " and ".join(said))


def list_names(names: object) -> str:
    """Return names in a sentence, and how many more there are."""
    listed = [str(name) for name in np.asarray(names, dtype=object)]
    if len(listed) > MOST_NAMED:
        return f"{', '.join(listed[:MOST_NAMED])} and {len(listed) - MOST_NAMED} more"
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def _others(names: object, which: Bools) -> str:
    found = np.asarray(names, dtype=object)[which]
    return list_names(found) if len(found) <= 2 else "any of the others"


def _ends(wins: Bools, group: object, n: int) -> tuple[Bools, Bools]:
    """Return the systems of groups that nobody beats, and of those that beat nobody."""
    code = np.asarray(group)
    beaten, beats = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for i, j in np.argwhere(wins):
        if code[i] != code[j]:
            beats[code[i]] = beaten[code[j]] = True
    return (~beaten)[code], (~beats)[code]


def _has_direction(wins: Bools, tied: Bools) -> bool:
    """Return whether some direction of (theta, log ν) never lowers the likelihood and is not constant.

    A win of i over j asks d_i − d_j ≥ 2δ and d_i ≥ d_j, a tie |d_i − d_j| ≤ 2δ. The programme looks for the
    direction that gains most within the unit box, for theta and for δ alone.
    """
    from scipy.optimize import linprog

    k = len(wins)
    rows = []
    for i, j in np.argwhere(wins):
        rows.append(_row(k, {j: 1.0, i: -1.0, k: 2.0}))
        rows.append(_row(k, {j: 1.0, i: -1.0}))
    for i, j in np.argwhere(tied):
        rows.append(_row(k, {i: 1.0, j: -1.0, k: -2.0}))
        rows.append(_row(k, {j: 1.0, i: -1.0, k: -2.0}))
    A = np.array(rows)
    found = linprog(A.sum(axis=0), A_ub=A, b_ub=np.zeros(len(A)), bounds=[(-1, 1)] * (k + 1))
    return bool(found.fun is not None and found.fun < -1e-7)


def _row(k: int, cells: dict[int, float]) -> list[float]:
    row = [0.0] * (k + 1)
    for at, value in cells.items():
        row[at] = value
    return row
