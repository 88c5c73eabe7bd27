"""How long a page takes, measured in a pilot: the ``seconds`` of its ratings."""

from dataclasses import dataclass

from panelist.core.errors import BadRatings
from panelist.core.tables.ratings import Ratings


@dataclass(frozen=True)
class PilotTime:
    """Minutes per page, and the data behind them."""

    minutes: float
    n_raters: int
    n_pages: int

    def sentence(self) -> str:
        """Return where the minutes come from."""
        return (
            f"{self.minutes:.2f} minutes per page, measured in the pilot: {self.n_pages:,} pages by "
            f"{self.n_raters:,} raters (the median rater's mean)."
        )


def measure_minutes(ratings: Ratings) -> PilotTime:
    """Return the time per page in a pilot.

    Answers given on one page share its time, so a page counts once, with the longest of their seconds. Each
    rater has a mean over pages; the median of these is taken, so that one who left the page open for an hour
    does not set the pay of all.
    """
    frame = ratings.frame
    if "seconds" not in frame or "rater" not in frame:
        missing = next(name for name in ("seconds", "rater") if name not in frame)
        raise BadRatings(
            f"The pilot {ratings.source} has no column {missing}, so the time of a page cannot be measured. "
            "Export it with panelist export, or write minutes_per_trial into the study file."
        )
    import pandas as pd

    page = "order" if "order" in frame else "trial" if "trial" in frame else "item"
    keys = [name for name in ("rater", "occasion", page) if name in frame]
    seconds = pd.to_numeric(frame["seconds"], errors="coerce")
    pages = seconds.groupby([frame[key] for key in keys], observed=True).max().dropna()
    pages = pages[pages > 0]
    if pages.empty:
        raise BadRatings(f"The pilot {ratings.source} has no time above 0 in its column seconds.")
    means = pages.groupby(level="rater", observed=True).mean()
    return PilotTime(float(means.median()) / 60, len(means), len(pages))
