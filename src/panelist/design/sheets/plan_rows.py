"""Pages into rows: one row for each output on a page and each question about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.design.dealing.allocate import Allocation
from panelist.design.sheets.pages_of_rater import RaterPages
from panelist.numerics.arrays import Longs


@dataclass(frozen=True)
class RowCodes:
    """The codes of words that rows refer to: specials and criteria, and how many outputs a special shows."""

    special_items: Longs
    special_shown: Longs
    questions: Sequence[tuple[int, ...]]
    """The sets of criteria that pages refer to."""
    no_system: int


def expand_rows(
    pages: RaterPages, lists: Allocation, shown: Longs, codes: RowCodes
) -> dict[str, NDArray[Any]]:
    """Return the columns of a part's table as codes; ``rater`` numbers the raters of the part from 0."""
    n_raters, n_pages = pages.order.shape
    sizes = np.array([len(one) for one in codes.questions])
    questions = np.full((len(sizes), max(1, sizes.max())), -1, dtype=np.int32)
    for number, one in enumerate(codes.questions):
        questions[number, : len(one)] = one
    special, cell, asked = pages.special.reshape(-1), pages.cell.reshape(-1), pages.criteria.reshape(-1)
    rater = np.repeat(np.arange(n_raters, dtype=np.int32), n_pages)
    copied = cell >= 0
    output = pages.output.reshape(-1)
    page_item = np.where(copied, lists.items[rater, cell], codes.special_items[special]).astype(np.int32)
    n_shown = (shown >= 0).sum(axis=-1)  # a place that shows nothing is -1
    outputs = np.where(copied, n_shown[rater, cell], codes.special_shown[special])
    outputs = np.where(output >= 0, 1, outputs)
    n_rows = (outputs * sizes[asked]).astype(np.int32)
    if n_rows.size and (n_rows == 1).all():  # one output and one question per page: rows are pages
        system = np.where(copied, shown[rater, cell, np.maximum(output, 0)], codes.no_system).astype(np.int32)
        position = np.ones(len(rater), dtype=np.int32)
        columns = {
            "item": page_item,
            "system": system,
            "position": position,
            "criterion": questions[asked, 0],
        }
        return columns | _page_columns(pages, rater, None)
    page = np.repeat(np.arange(len(rater), dtype=np.int64), n_rows)
    within = np.arange(len(page)) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
    place, question = np.divmod(within, sizes[asked][page])
    on_page = np.where(output[page] >= 0, output[page], np.minimum(place, shown.shape[-1] - 1))
    system = np.where(copied[page], shown[rater[page], cell[page], on_page], codes.no_system)
    columns = {
        "item": page_item[page],
        "system": system.astype(np.int32),
        "position": (place + 1).astype(np.int32),
        "criterion": questions[asked[page], question],
    }
    return columns | _page_columns(pages, rater, page)


def _page_columns(pages: RaterPages, rater: NDArray[np.int32], page: Longs | None) -> dict[str, NDArray[Any]]:
    """Return the columns that are the same for all rows of a page."""
    columns: dict[str, NDArray[Any]] = {"rater": rater}
    for name in ("order", "phase", "occasion"):
        columns[name] = getattr(pages, name).reshape(-1)
    columns["check"] = pages.check.reshape(-1) + np.int32(1)  # 0 is no check
    return columns if page is None else {name: column[page] for name, column in columns.items()}
