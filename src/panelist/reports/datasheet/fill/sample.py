"""Section 3.1: how many outputs, and the power of the sample."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from panelist.core.display.formats import number
from panelist.core.prose import count
from panelist.reports.datasheet.fill.facts import SheetFacts, filler, write
from panelist.reports.datasheet.sheet import Place, SheetAnswer
from panelist.reports.provenance import list_versions

MOST_CELLS = 6
POWER_SOURCE = "https://aclanthology.org/2021.emnlp-main.703"


@filler(q3_1_1="the ratings that count, else the plan, else the outputs file")
def count_outputs(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return the number of items judged for each system."""
    frame, source = _find_rows(facts)
    if frame is None:
        rows = facts.study.outputs.frame
        owners = rows["system"][rows["item"].isin(facts.study.items)].value_counts()
        counts = {name: int(owners.get(name, 0)) for name in facts.study.systems}
    else:
        sizes = frame.groupby("system", observed=True)["item"].nunique()
        counts = {str(name): int(n) for name, n in sizes.items() if str(name)}
    if not counts:
        return {}
    if len(set(counts.values())) == 1:
        return {("3.1.1", ""): write(str(next(iter(counts.values()))), source)}
    each = ", ".join(f"{name} {n:,}" for name, n in counts.items())
    return {("3.1.1", ""): write(f"The number differs between systems: {each}.", source)}


def _find_rows(facts: SheetFacts) -> tuple[pd.DataFrame | None, str]:
    if facts.cleaned is not None and {"item", "system"} <= set(facts.cleaned.kept.frame):
        return facts.cleaned.kept.frame, "the ratings"
    if facts.plan is not None:
        return facts.plan.table[facts.plan.table["phase"] == "trial"], "the plan"
    return None, "the outputs file"


@filler(
    q3_1_3_1="`power.json` beside the study (`panelist power` or `size … --json`)",
    q3_1_3_2="`power.json`: the cells with this study's items, else all",
    q3_1_3_3="`power.json`: the seed",
)
def tell_power(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return the power analysis, where there is one."""
    power = facts.power
    if power is None:
        return {}
    source = facts.power_name
    cells = list(power["cells"])
    fitting = [one for one in cells if one["items"] == len(facts.study.items)]
    told = (fitting or cells)[:MOST_CELLS]
    more = len(fitting or cells) - len(told)
    models = ", ".join(sorted({str(one["model"]) for one in cells}))
    tool = f"panelist {list_versions().get('panelist', '')}".strip()
    alpha = f", alpha {power['alpha']:g}" if "alpha" in power else ""
    method = (
        f"Simulation with {tool}: ratings drawn from an ordinal mixed model and analysed by {models}, "
        f"{cells[0]['sims']:,} data sets per design{alpha}; after Howcroft & Rieser (2021), {POWER_SOURCE}"
    )
    value = "; ".join(map(_say_cell, told)) + (f"; and {count(more, 'other')}" if more > 0 else "")
    if not fitting:
        value += f". None of these designs has the {len(facts.study.items):,} items of this study"
    command = "size" if "best" in power else "power"
    script = f"panelist {command} (seed {power.get('seed', 'not recorded')}), its result in {source}"
    texts = {"3.1.3.1": method, "3.1.3.2": value, "3.1.3.3": script}
    return {(place, ""): write(text, source, draft=not fitting) for place, text in texts.items()}


def _say_cell(cell: Mapping[str, Any]) -> str:
    ends = (
        f" ({number(cell['low'], 2)} to {number(cell['high'], 2)})"
        if "low" in cell and "high" in cell
        else ""
    )
    return (
        f"{number(cell['power'], 2)}{ends} for an effect of {cell['effect']:g} threshold distances with "
        f"{count(cell['items'], 'item')}, {cell['ratings_per_item']:g} ratings per item and "
        f"{count(cell['raters'], 'rater').replace('rater', 'evaluator')}, by {cell['model']}"
    )
