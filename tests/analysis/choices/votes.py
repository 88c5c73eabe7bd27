"""Votes as arenas publish them, made for the tests."""

import numpy as np
import pandas as pd


def draw_votes(n: int = 300, seed: int = 1, systems: int = 3, taste: float = 0.6) -> pd.DataFrame:
    """Return votes of ten raters on twelve items; later systems are better, and longer."""
    rng = np.random.default_rng(seed)
    a = rng.integers(systems, size=n)
    b = (a + rng.integers(1, systems, size=n)) % systems
    rater, item = rng.integers(10, size=n), rng.integers(12, size=n)
    own = rng.normal(0, taste, (10, systems))
    words = np.exp(rng.normal(4, 0.4, (n, 2))).round()
    latent = 0.6 * (a - b) + own[rater, a] - own[rater, b] + rng.logistic(size=n)
    latent += 0.8 * (np.log(words[:, 0]) - np.log(words[:, 1]))
    names = np.array(["x", "y", "z", "w"])
    return pd.DataFrame(
        {
            "rater": [f"r{one}" for one in rater],
            "item": [f"i{one}" for one in item],
            "model_a": names[a],
            "model_b": names[b],
            "winner": np.where(latent > 0, "model_a", "model_b"),
            "words_a": words[:, 0],
            "words_b": words[:, 1],
            "latent": latent,
        }
    )
