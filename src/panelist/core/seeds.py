"""Named random streams from one seed: each part of a study draws from its own.

A stream depends on the seed and on its names, and on nothing else: not on how many streams there are, nor on
the order in which they are made. So adding a new stream never changes an existing one.
"""

from functools import lru_cache
from hashlib import blake2b
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.core.errors import PanelistError

WORDS_A_NAME = 4  # 128 bits: two names never collide by chance
POOL_WORDS = 4  # of numpy's SeedSequence: a shorter seed is filled up with zeros before a spawn key


def stream(seed: int | np.integer[Any], *names: str | int | np.integer[Any]) -> np.random.Generator:
    """Return the random generator of this seed and these names.

    The names are hashed into the spawn key of numpy's SeedSequence, so the bits are the same in every process
    and on every version of Python. ``1`` and ``"1"`` are different names; so are ``"a", "b"`` and ``"ab"``.

    >>> stream(7, "raters").random() == stream(7, "raters").random()
    True
    >>> stream(7, "raters").random() == stream(7, "items").random()
    False
    """
    whole = _whole(seed)
    entropy: int | NDArray[np.uint32] = whole
    if names:
        # What a spawn key amounts to: the seed's own words, at least this many, and the key after them. A
        # plan of many raters draws tens of thousands of streams, and reading a key word by word costs most
        # of that.
        own = whole.to_bytes(4 * max(POOL_WORDS, -(-whole.bit_length() // 32)), "little")
        key = b"".join(map(_digest, names))
        entropy = np.frombuffer(own + key, dtype="<u4").astype(np.uint32)
    # The generator is named because numpy may change its default.
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))


def _whole(seed: int | np.integer[Any]) -> int:
    """Return the seed as a Python integer, or say what a seed must be."""
    try:
        whole = index(seed)
    except TypeError:
        whole = -1
    if whole < 0:
        raise PanelistError(f"A seed must be a whole number from 0 upwards. Got {seed!r} instead.")
    return whole


def _digest(name: str | int | np.integer[Any]) -> bytes:
    """Return the 32-bit words that stand for one name in a spawn key."""
    return _hash("text", name) if isinstance(name, str) else _hash("number", str(index(name)))


@lru_cache(maxsize=1024)
def _hash(kind: str, text: str) -> bytes:
    return blake2b(f"{kind}:{text}".encode(), digest_size=4 * WORDS_A_NAME).digest()
