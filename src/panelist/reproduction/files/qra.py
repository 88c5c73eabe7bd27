"""Files for the QRA3 tool: its input table and its configuration, written from what was compared here.

The table has a row for each criterion, system and experiment (O, R1, R2 …). The formats are those of the
tool's published inputs; its corrections are set as in its published results.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from panelist.core.errors import BadFile, BadReproduction
from panelist.core.files import replace_file

if TYPE_CHECKING:
    from panelist.reproduction.measures.common_scale import CommonScale
    from panelist.reproduction.reproduction import Reproduction

HEADER = ("Key", "Study", "Experiment", "System", "Criterion", "Result")
MOST_POINTS = 11
FILES = ("measurements.csv", "config.json")


def make_qra_rows(
    key: str, study: str, criteria: Sequence[tuple[str, Sequence[str], Sequence[Sequence[float]]]]
) -> list[tuple[str, ...]]:
    """Return the rows of the table; ``criteria`` has (name, systems, scores by study) of each."""
    rows: list[tuple[str, ...]] = []
    for name, systems, scores in criteria:
        for place, row in enumerate(scores):
            for system, score in zip(systems, row, strict=True):
                rows.append((key, study, name_experiment(place), system, name, repr(float(score))))
    return rows


def make_qra_config(
    key: str,
    criteria: Mapping[str, float],
    origins: Sequence[str],
    labels: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, Any]:
    """Return the configuration; ``criteria`` gives where each one's scale begins.

    One key of the tool has one start of the scale, so criteria that begin elsewhere get a separate key.
    """
    starts = sorted(set(criteria.values()))
    config: dict[str, Any] = {}
    for start in starts:
        names = [name for name, value in criteria.items() if value == start]
        points = sorted({point for name in names for point in (labels or {}).get(name, ())})
        config[key if len(starts) == 1 else key_for(key, start)] = {
            "scale_starts_at": int(start) if start == int(start) else start,
            "type_iii_agreement_method": "auto",
            "type_iii_krippendorff_alpha_mode": "ordinal",
            "type_iii_ordinal_labels": points,
            "experiments": {name_experiment(place): origin for place, origin in enumerate(origins)},
            "citation": origins[0],
            "criteria": {
                name: {"map": name, "apply_over_correction": False, "normal_data": True} for name in names
            },
        }
    return config


def write_qra(
    folder: Path,
    key: str,
    study: str,
    criteria: Sequence[tuple[str, Sequence[str], Sequence[Sequence[float]], float]],
    origins: Sequence[str],
    labels: Mapping[str, Sequence[int]] | None = None,
) -> list[Path]:
    """Write both files into a folder, made if needed; return them."""
    import csv
    import io

    if not criteria:
        raise BadReproduction("There is no criterion to write for QRA3.")
    starts = {name: start for name, _, _, start in criteria}
    config = make_qra_config(key, starts, origins, labels)
    one = len(set(starts.values())) == 1
    rows = []
    for name, systems, scores, start in criteria:
        rows += make_qra_rows(key if one else key_for(key, start), study, [(name, systems, scores)])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(rows)
    contents = (text.getvalue(), json.dumps(config, ensure_ascii=False, indent=2) + "\n")
    paths = [folder / name for name in FILES]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(
            f"The files for QRA3 cannot be written to {folder}: {error.strerror or error}."
        ) from error
    for path, content in zip(paths, contents, strict=True):
        replace_file(path, content)
    return paths


def export_qra(found: Reproduction, folder: Path) -> list[Path]:
    """Write the files for a reproduction; criteria that not every study has are left to the tool's other
    keys."""
    whole = [one for one in found.criteria if len(one.studies) == len(found.origins)]
    if not whole:
        raise BadReproduction("No criterion is in all studies, so there is nothing to write for QRA3.")
    criteria = [
        (
            one.criterion,
            one.systems,
            [[row.scores[place] for row in one.precision] for place in range(len(one.studies))],
            one.scale.low,
        )
        for one in whole
    ]
    title = Path(found.origins[0]).stem
    labels = {one.criterion: _list_points(one.scale) for one in whole}
    return write_qra(folder, make_key(title), title, criteria, found.origins, labels)


def _list_points(scale: CommonScale) -> list[int]:
    """Return the points of a scale that is known to have a few."""
    low, high = scale.low, scale.high
    if high is None or low != int(low) or high != int(high) or high - low > MOST_POINTS:
        return []
    return list(range(int(low), int(high) + 1))


def name_experiment(place: int) -> str:
    """Return O for the original, R1, R2 … for the repeats."""
    return f"R{place}" if place else "O"


def key_for(key: str, start: float) -> str:
    """Return a key for criteria whose scale begins at ``start``."""
    return f"{key}-from-{start:g}"


def make_key(title: str) -> str:
    """Return a short key from a title or a file's name.

    >>> make_key("Idiom study, original.csv")
    'idiom-study-original-csv'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-") or "study"
