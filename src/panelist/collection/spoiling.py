"""Spoilt copies of outputs, for the checks: the same words in the wrong order, twice, or not all of them."""

from collections.abc import Callable

import numpy as np

from panelist.core.seeds import stream


def spoil_text(text: str, how: str, seed: int, *names: str) -> str:
    """Return a spoilt copy of a text: always the same one for this seed and these names.

    Texts of one word, which no order can spoil, come back with the word doubled.
    """
    words = text.split()
    rng = stream(seed, "spoil", how, *names)
    if len(set(words)) < 2:
        return " ".join(words * 2)
    return " ".join(_WAYS[how](words, rng))


def _shuffle(words: list[str], rng: np.random.Generator) -> list[str]:
    mixed = words
    while mixed == words:  # two different words are there, so that this ends
        mixed = [words[place] for place in rng.permutation(len(words))]
    return mixed


def _repeat(words: list[str], rng: np.random.Generator) -> list[str]:
    doubled = rng.random(len(words)) < 1 / 3
    doubled[rng.integers(len(words))] = True
    return [
        word for word, twice in zip(words, doubled.tolist(), strict=True) for word in [word] * (1 + twice)
    ]


def _drop(words: list[str], rng: np.random.Generator) -> list[str]:
    kept = rng.random(len(words)) >= 1 / 3
    gone, stays = rng.permutation(len(words))[:2]
    kept[gone], kept[stays] = False, True
    return [word for word, keep in zip(words, kept.tolist(), strict=True) if keep]


_WAYS: dict[str, Callable[[list[str], np.random.Generator], list[str]]] = {
    "shuffle words": _shuffle,
    "repeat words": _repeat,
    "drop words": _drop,
}
