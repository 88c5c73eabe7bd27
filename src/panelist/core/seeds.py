"""Named random streams from one seed: each part of a study draws from its own.

A stream depends on the seed and on its names, and on nothing else: not on how many streams there are, nor on
the order in which they are made. So adding a new stream never changes an existing one.
"""

from hashlib import blake2b
from operator import index
from typing import Any

import numpy as np

from panelist.core.errors import PanelistError

WORDS_A_NAME = 4  # 128 bits: two names never meet by chance


def stream(seed: int | np.integer[Any], *names: str | int | np.integer[Any]) -> np.random.Generator:
    """Return the random generator of this seed and these names.

    The names are hashed into the spawn key of numpy's SeedSequence, so the bits are the same in every process
    and on every version of Python. ``1`` and ``"1"`` are different names; so are ``"a", "b"`` and ``"ab"``.

    >>> stream(7, "raters").random() == stream(7, "raters").random()
    True
    >>> stream(7, "raters").random() == stream(7, "items").random()
    False
    """
    key = [word for name in names for word in _words(name)]
    sequence = np.random.SeedSequence(_whole(seed), spawn_key=key)
    return np.random.Generator(np.random.PCG64(sequence))  # named, as numpy may change its default


def _whole(seed: int | np.integer[Any]) -> int:
    """Return the seed as a Python integer, or say what a seed must be."""
    try:
        whole = index(seed)
    except TypeError:
        whole = -1
    if whole < 0:
        raise PanelistError(f"A seed must be a whole number from 0 upwards. Got {seed!r} instead.")
    return whole


def _words(name: str | int | np.integer[Any]) -> list[int]:
    """Return the 32-bit words that stand for one name in a spawn key."""
    kind, text = ("text", name) if isinstance(name, str) else ("number", str(index(name)))
    digest = blake2b(f"{kind}:{text}".encode(), digest_size=4 * WORDS_A_NAME).digest()
    return [int.from_bytes(digest[start : start + 4], "little") for start in range(0, len(digest), 4)]
