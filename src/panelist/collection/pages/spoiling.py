"""Degraded copies of outputs, for the checks: the same words in the wrong order, twice, or in part."""

import re
from collections.abc import Callable

import numpy as np

from panelist.core.seeds import stream
from panelist.formats import Stimulus
from panelist.study.study import Study


def spoil_output(study: Study, text: str, how: str, item: str, system: str) -> str:
    """Return a degraded copy of an output, whatever its format: of a dialogue, the turns that are judged."""
    outputs = study.outputs
    seed = study.file.design.seed
    return outputs.format("output").rewrite(
        Stimulus(text), outputs.options, lambda words: spoil_text(words, how, seed, item, system)
    )


def spoil_text(text: str, how: str, seed: int, *names: str) -> str:
    """Return a degraded copy of a text: always the same one for this seed and these names.

    Lines and indentation stay, so that a degraded program or list still looks like one. Texts of one word,
    which cannot be reordered, come back with the word doubled.

    >>> print(spoil_text("def f(x):\\n    return x", "shuffle words", 1))
    f(x): return
        def x
    """
    words = text.split()
    gaps = re.split(r"\S+", text)  # before, between and after the words
    rng = stream(seed, "spoil", how, *names)
    if len(set(words)) < 2:
        return _join([" ".join(words * 2)], [gaps[0], gaps[-1]]) if words else text
    return _WAYS[how](words, gaps, rng)


def _shuffle(words: list[str], gaps: list[str], rng: np.random.Generator) -> str:
    mixed = words
    while mixed == words:  # there are two different words, so this ends
        mixed = [words[place] for place in rng.permutation(len(words))]
    return _join(mixed, gaps)


def _repeat(words: list[str], gaps: list[str], rng: np.random.Generator) -> str:
    doubled = rng.random(len(words)) < 1 / 3
    doubled[rng.integers(len(words))] = True
    pairs = zip(words, doubled.tolist(), strict=True)
    return _join([f"{word} {word}" if twice else word for word, twice in pairs], gaps)


def _drop(words: list[str], gaps: list[str], rng: np.random.Generator) -> str:
    kept = rng.random(len(words)) >= 1 / 3
    gone, stays = rng.permutation(len(words))[:2]
    kept[gone], kept[stays] = False, True
    left, between = [], [gaps[0]]
    for place, (word, after) in enumerate(zip(words, gaps[1:], strict=True), start=1):
        if kept[place - 1]:
            left.append(word)
            between.append(after)
        elif left and ("\n" in after or place == len(words)):
            between[-1] = after  # of the two gaps around a word the end of a line stays, or of the text
    return _join(left, between)


def _join(words: list[str], gaps: list[str]) -> str:
    pairs = zip(words, gaps[1:], strict=True)
    return gaps[0] + "".join(word + gap for word, gap in pairs)


_WAYS: dict[str, Callable[[list[str], list[str], np.random.Generator], str]] = {
    "shuffle words": _shuffle,
    "repeat words": _repeat,
    "drop words": _drop,
}
