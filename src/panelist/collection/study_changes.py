"""Whether a study is still the one that collecting began with: the same questions about the same texts.

What raters were asked is kept with the answers: every key of the study file, and a digest of each output. A
later study is compared with that, so that what differs can be named, refused, or allowed by its name.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from panelist.core.prose import listing
from panelist.study.differences import compare_decisions, list_decisions
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.design.plan import Plan

OUTPUTS, WORDING, ALL = "outputs", "wording", "all"
SECTIONS = ("criteria", OUTPUTS, "design", "raters", "practice", "checks")
"""The parts of a study that decide what raters judge, each a name under which a change is allowed."""
NAMES = (*SECTIONS, WORDING, ALL)
JUDGED = ("criteria", OUTPUTS)
"""What an answer means depends on these: a criterion with its question and scale, and the texts."""
MOST_NAMED, LONGEST_VALUE = 5, 60
_PAIR = "\x1f"


@dataclass(frozen=True)
class Change:
    """One thing that differs: under which name it may be allowed, and what it is in words."""

    name: str
    text: str


def declare(study: Study) -> dict[str, Any]:
    """Return what a study asks of raters, for later comparison: its keys, a digest of each output."""
    frame = study.outputs.frame
    columns = [frame[name].tolist() for name in frame.columns]
    pairs = list(zip(frame["item"].tolist(), frame["system"].tolist(), strict=True))
    if (media := study.outputs.media).columns:  # a changed file is a changed output
        columns.append([" ".join(map(media.hash, media.list_pair(pair))) for pair in pairs])
    digests = (
        hashlib.sha256(_PAIR.join(map(str, row)).encode("utf-8", "surrogatepass"))
        for row in zip(*columns, strict=True)
    )
    outputs = {
        f"{item}{_PAIR}{system}": one.hexdigest()[:16]
        for (item, system), one in zip(pairs, digests, strict=True)
    }
    return {"decisions": list_decisions(study), "outputs": outputs}


def find_changes(declared: Mapping[str, Any], study: Study) -> list[Change]:
    """Return what a study asks differently from what was declared; one change where it is not known what."""
    if not declared:
        return [Change(ALL, "the study has changed; what differs was not recorded at that time")]
    now = declare(study)
    found = _compare_outputs(declared["outputs"], now["outputs"])
    for one in compare_decisions(declared["decisions"], now["decisions"]):
        section = one.key.split(".")[0]
        if section == OUTPUTS:
            continue
        name = section if section in SECTIONS else WORDING
        found.append(Change(name, f"{one.key}: {_shorten(one.first)} before, {_shorten(one.second)} now"))
    return found or [Change(WORDING, "something that says nothing about how the study is run")]


def find_gaps(plan: "Plan", study: Study) -> list[Change]:
    """Return what the plan asks raters to judge that the study does not have. Nothing can allow that."""
    from panelist.design.sheets.practice_and_checks import name_specials

    checks, items = name_specials(study)
    table = plan.table
    found = [
        *_name_missing("items", table["item"].cat.categories, items),
        *_name_missing("systems", (word for word in table["system"].cat.categories if word), study.systems),
        *_name_missing("criteria", table["criterion"].cat.categories, [one.name for one in study.criteria]),
        *_name_missing("checks", (word for word in table["check"].cat.categories if word), checks),
    ]
    if not found and study.file.hit is None:
        shown = table.loc[(table["system"] != "").to_numpy(), ["item", "system"]].drop_duplicates()
        frame = study.outputs.frame
        known = set(zip(frame["item"].tolist(), frame["system"].tolist(), strict=True))
        pairs = zip(shown["item"].astype(str).tolist(), shown["system"].astype(str).tolist(), strict=True)
        lost = [f"{item} by {system}" for item, system in pairs if (item, system) not in known]
        found = _name_missing("outputs", lost, ())
    return found


def refuse_names(changes: Iterable[Change], allowed: Collection[str]) -> list[Change]:
    """Return the changes that no name allows."""
    return [] if ALL in allowed else [one for one in changes if one.name not in allowed]


def list_changes(changes: Sequence[Change]) -> str:
    """Return the changes as lines, the first few of each name."""
    lines = []
    for name in dict.fromkeys(one.name for one in changes):
        own = [one.text for one in changes if one.name == name]
        lines += [f"  {name}: {text}" for text in own[:MOST_NAMED]]
        if len(own) > MOST_NAMED:
            lines.append(f"  {name}: and {len(own) - MOST_NAMED} more")
    return "\n".join(lines)


def _compare_outputs(before: Mapping[str, str], now: Mapping[str, str]) -> list[Change]:
    texts = [key for key in before if key in now and before[key] != now[key]]
    parts = {
        "changed": texts,
        "removed": [key for key in before if key not in now],
        "added": [key for key in now if key not in before],
    }
    return [
        Change(
            OUTPUTS,
            f"{len(keys):,} {what} ({listing((key.replace(_PAIR, ' by ') for key in keys), MOST_NAMED)})",
        )
        for what, keys in parts.items()
        if keys
    ]


def _name_missing(what: str, wanted: Iterable[str], there: Collection[str]) -> list[Change]:
    known = set(there)
    missing = [str(word) for word in wanted if str(word) not in known]
    return [Change(what, f"{len(missing):,} missing ({listing(missing, MOST_NAMED)})")] if missing else []


def _shorten(value: str) -> str:
    plain = " ".join(value.split())
    return (
        repr(plain if len(plain) <= LONGEST_VALUE else plain[: LONGEST_VALUE - 1] + "…")
        if plain
        else "nothing"
    )
