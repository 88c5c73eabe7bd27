"""What raters download: the pictures, sounds and films of the outputs that the plan shows them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.design.plan import Plan


@dataclass(frozen=True)
class MediaLoad:
    """Megabytes of media: the least and the most for one rater, and those of all files together."""

    least: float
    most: float
    files: float

    def __str__(self) -> str:
        least, most, files = (
            f"{one:,.{2 if one < 1 else 1}f}" for one in (self.least, self.most, self.files)
        )
        each = most if least == most else f"{least} to {most}"
        return f"Each rater downloads {each} MB of media ({files} MB in all files)."


def measure_load(plan: "Plan", study: Study) -> MediaLoad | None:
    """Return what raters download; None where the outputs are text. A file shown twice is loaded once."""
    media = study.outputs.media
    if not media.names:
        return None
    shown = plan.table[["rater", "item", "system"]].astype(str).drop_duplicates()
    pairs = set(zip(shown["item"].tolist(), shown["system"].tolist(), strict=True))
    sizes = {pair: media.measure(pair) for pair in pairs}
    loads: dict[str, int] = {}
    for rater, item, system in shown.itertuples(index=False):
        loads[rater] = loads.get(rater, 0) + sizes[item, system]
    paths = (media.find(name) for name in media.names)
    whole = sum(path.stat().st_size for path in paths if path is not None)
    return MediaLoad(min(loads.values()) / 1e6, max(loads.values()) / 1e6, whole / 1e6)
