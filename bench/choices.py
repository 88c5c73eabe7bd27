"""A million votes over a hundred systems: Panelist beside the packages that people use for arenas."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from bench.report import Options, Section, say
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Table
from panelist.core.seeds import stream
from panelist.numerics.arrays import Floats

PAGE = Path(__file__).resolve().parents[1] / "docs" / "comparisons.md"
VOTES, SYSTEMS, VOTES_A_RATER = 1_000_000, 100, 8
RESAMPLES = 20  # arenas take 100: five times as long


@dataclass(frozen=True)
class Row:
    """One way to the strengths: CPU seconds, what it gives, and how far its strengths lie from Panelist's."""

    way: str
    seconds: float
    intervals: str
    away: float


@dataclass(frozen=True)
class Arena(Section):
    """All ways, on the same votes."""

    votes: int
    systems: int
    rows: tuple[Row, ...]

    def title(self) -> str:
        """Return the heading."""
        return "Choices"

    def parts(self) -> list[Part]:
        """Return the table."""
        header = ("way", "CPU seconds", "intervals", "furthest from Panelist")
        rows = [(one.way, one.seconds, one.intervals, one.away) for one in self.rows]
        note = (
            f"{self.votes:,} votes over {self.systems} systems with ties, one core; Panelist reads the file, "
            "the others are given arrays. The last column is in log-strengths: they count a tie as half "
            "a win each, Panelist has a parameter for it (Davidson 1970)."
        )
        formats = {"way": TEXT, "CPU seconds": decimals(1), "intervals": TEXT, header[3]: decimals(3)}
        return [Table("A million votes", header, rows, formats, note=note)]


def make_votes(votes: int, systems: int) -> pd.DataFrame:
    """Return votes as arenas publish them; raters vote about eight times, questions come once."""
    rng = stream(1, "arena", votes, systems)
    theta = rng.normal(0.0, 0.8, systems)
    first = rng.integers(systems, size=votes)
    second = (first + rng.integers(1, systems, size=votes)) % systems
    half = (theta[first] - theta[second]) / 2
    weights = np.stack([np.exp(half), np.exp(-half), np.full(votes, np.exp(-0.6))], axis=1)
    drawn = (rng.random(votes)[:, None] * weights.sum(axis=1, keepdims=True) > weights.cumsum(axis=1)).sum(
        axis=1
    )
    words = np.array(["model_a", "model_b", "tie", "tie (bothbad)"], dtype=object)
    drawn = np.where((drawn == 2) & (rng.random(votes) < 0.4), 3, drawn)
    names = np.array([f"m{number:03}" for number in range(systems)], dtype=object)
    return pd.DataFrame(
        {
            "question_id": np.arange(votes),
            "model_a": names[first],
            "model_b": names[second],
            "winner": words[drawn],
            "rater": rng.integers(max(votes // VOTES_A_RATER, 2), size=votes),
        }
    )


def measure(options: Options, votes: int = VOTES, systems: int = SYSTEMS) -> Arena:
    """Return the CPU time of every way."""
    frame = make_votes(votes, systems)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        frame.to_csv(path, index=False)
        ours, seconds = _time(lambda: _compare(path))
    rows = [Row("panelist compare, clusters of raters and questions", seconds, "adjusted, ranks", 0.0)]
    for name, intervals, find in (
        ("choix, ILSR from counts", "none", _choix),
        ("evalica, Bradley-Terry", "none", _evalica),
        (f"evalica, {RESAMPLES} bootstrap samples, as arenas do", "percentile", _bootstrap),
    ):
        say(f"  {name} …")
        found, seconds = _time(partial(find, frame))
        rows.append(Row(name, seconds, intervals, float(np.abs(found - ours).max())))
    return Arena(votes, systems, tuple(rows))


def _time(work: Callable[[], Floats]) -> tuple[Floats, float]:
    begun = process_time()
    found = work()
    return found - found.mean(), process_time() - begun


def _compare(path: Path) -> Floats:
    from panelist.analysis.choices.compare_choices import compare_choices

    return compare_choices(path)["choice"].strengths.theta


def _choix(frame: pd.DataFrame) -> Floats:
    import choix

    k, a, b = _code(frame)
    wins = np.zeros((k, k))
    tie = frame["winner"].str.startswith("tie").to_numpy()
    for won, lost, rows, worth in (
        (a, b, (frame["winner"] == "model_a").to_numpy(), 1.0),
        (b, a, (frame["winner"] == "model_b").to_numpy(), 1.0),
        (a, b, tie, 0.5),
        (b, a, tie, 0.5),
    ):
        wins += worth * np.bincount(won[rows] * k + lost[rows], minlength=k * k).reshape(k, k)
    return np.asarray(choix.ilsr_pairwise_dense(wins))


def _evalica(frame: pd.DataFrame) -> Floats:
    import evalica

    found = evalica.bradley_terry(frame["model_a"], frame["model_b"], _winners(frame))
    return np.asarray(np.log(found.scores.sort_index().to_numpy()))


def _bootstrap(frame: pd.DataFrame) -> Floats:
    rng = stream(2, "arena")
    every = [_evalica(frame.iloc[rng.integers(len(frame), size=len(frame))]) for _ in range(RESAMPLES)]
    return np.asarray(np.median([one - one.mean() for one in every], axis=0))


def _code(frame: pd.DataFrame) -> tuple[int, Any, Any]:
    names = sorted(set(frame["model_a"]) | set(frame["model_b"]))
    a, b = (pd.Categorical(frame[side], names).codes.astype(np.int64) for side in ("model_a", "model_b"))
    return len(names), a, b


def _winners(frame: pd.DataFrame) -> list[Any]:
    from evalica import Winner

    words = {"model_a": Winner.X, "model_b": Winner.Y, "tie": Winner.Draw, "tie (bothbad)": Winner.Draw}
    return [words[word] for word in frame["winner"]]
