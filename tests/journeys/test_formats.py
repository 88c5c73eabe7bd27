"""Markdown, code and formulas in a real browser: all of it is seen, nothing acts, nothing leaves its box."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser

from tests.formats.corpus import HOSTILE
from tests.journeys.riding import WIDE, Rider, find_faults, open_window
from tests.web.servers import Served, make_study, serve_in_thread

NARROW: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
ZOOMED: dict[str, Any] = {"viewport": {"width": 640, "height": 450}, "device_scale_factor": 2}
NIGHT: dict[str, Any] = DESK | {"color_scheme": "dark"}
FORCED: dict[str, Any] = NARROW | {"forced_colors": "active"}

LONG_LINE = "x = " + " + ".join(f"column_{n}" for n in range(20))
ANSWER = f"""## Sorting by date

Parse `reported` first, then **sort**. With $n$ repairs the mean wait is

$$\\bar{{w}} = \\frac{{1}}{{n}} \\sum_{{i=1}}^{{n}} \\left( f - r_i \\right) + \\boxed{{4}} - \\cancel{{x}}$$

- [x] read the file
- [ ] sort it
  1. by date
  2. by name

```python
import pandas as pd  # a comment
{LONG_LINE}
rows = [row for row in pd.read_csv("repairs.csv") if row]
```

| {" | ".join(f"column {n}" for n in range(12))} |
|{"---:|" * 12}
| {" | ".join(str(n * 1000) for n in range(12))} |

> A long formula, \\(f(x) = a_0 + a_1 x + a_2 x^2 + a_3 x^3 + a_4 x^4 + a_5 x^5 + a_6 x^6\\), quoted.

{"Averylongwordwithoutanybreak" * 8}

The last line.
"""
ARABIC = """# الترتيب

استعمل `sorted(rows)` ثم رتّب **الصفوف**.

1. اقرأ الملف
2. رتّب

| الاسم | الأيام |
|---|---|
| ا | 12 |
"""

# What stands outside the box of its text, but for what scrolls by itself.
OUTSIDE = """() => [...document.querySelectorAll(".text")].flatMap((text) => {
  const box = text.getBoundingClientRect();
  return [...text.querySelectorAll("*")].filter((one) => {
    if (one.closest("[role=region]") && !one.matches("[role=region]")) return false;
    const { left, right, width } = one.getBoundingClientRect();
    return width > 0 && (left < box.left - 1 || right > box.right + 1);
  }).map((one) => one.outerHTML.slice(0, 80));
})"""
CUT = """() => [...document.querySelectorAll(".text, .text *")].filter((one) => {
  const style = getComputedStyle(one);
  const down = ["auto", "scroll", "hidden"].includes(style.overflowY) && !one.matches("figure, math, math *");
  return down && one.scrollHeight > one.clientHeight + 1;
}).map((one) => one.outerHTML.slice(0, 80))"""


def write_study(folder: Path, template: str, texts: list[str], outputs: str) -> Path:
    """Return a study of a template whose outputs are these texts, the same of every system."""
    make_study(folder, template, outputs=outputs, trials_per_rater="trials_per_rater: 4")
    systems = [
        str(system["name"]) for system in yaml.safe_load((folder / "study.yaml").read_text())["systems"]
    ]
    with (folder / "outputs.jsonl").open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts, start=1):
            for system in systems:
                row = {"item": f"item {number}", "system": system, "output": text, "context": texts[0]}
                file.write(json.dumps(row) + "\n")
    return folder


MARKDOWN = "outputs: {file: outputs.jsonl, formats: {output: markdown, context: markdown}}"


@pytest.fixture(scope="module", params=["pairs", "likert"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("formats") / request.param
    texts = [ANSWER, ARABIC, *("\n\n".join(HOSTILE[n::6]) for n in range(6))]
    with serve_in_thread(write_study(folder, request.param, texts, MARKDOWN)) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize(
    "device", [DESK, NIGHT, NARROW, ZOOMED, FORCED], ids=["desk", "night", "narrow", "zoomed", "forced"]
)
def test_nothing_acts_leaves_or_is_cut(browser: Browser, served: Served, device: dict[str, Any]) -> None:
    faults: dict[str, list[str]] = {}

    def look(rider: Rider) -> None:
        where = rider.where()
        assert rider.page.evaluate(WIDE) <= 0, f"{where['page']} scrolls sideways"
        assert rider.page.evaluate(OUTSIDE) == []
        assert rider.page.evaluate(CUT) == []
        assert rider.page.locator(".text :is(a, img, input, form, script, style, iframe)").count() == 0
        if where["kind"] == "rate" and len(faults) < 3:
            faults[where["page"]] = find_faults(rider.page)

    with open_window(browser, served, **device) as rider:
        rider.join().ride(look)
        assert {kind: found for kind, found in faults.items() if found} == {}
        assert (rider.errors, rider.strangers) == ([], [])
        assert rider.visit().state == "finished"
