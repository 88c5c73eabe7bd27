"""What holds for every template: nothing moves by itself, and a study's own words run in their direction."""

import re
from pathlib import Path

import panelist

PACKAGE = Path(panelist.__file__).parent
MOVING = r"\btransition\b|\banimation\b|@keyframes|\bsmooth\b|<marquee|<blink|\.animate\("
STYLED = (".css", ".js", ".html")


def test_no_style_script_or_template_animates_anything() -> None:
    files = [
        path
        for path in PACKAGE.rglob("*")
        if path.suffix in STYLED and "study/templates" not in path.as_posix()
    ]
    assert len(files) > 60
    assert not [path.name for path in files if re.search(MOVING, path.read_text(encoding="utf-8"))]


def test_what_a_study_says_in_a_list_of_facts_runs_in_its_own_direction() -> None:
    pages = [
        path.read_text(encoding="utf-8") for path in (PACKAGE / "web" / "templates" / "rater").glob("*.html")
    ]
    cells = [cell for text in pages for cell in re.findall(r"<d[td]\b.*?</d[td]>", text)]
    assert len(cells) > 8
    ours = re.compile(r"<d[td]>\{\{ say\([^}]*\) \}\}</d[td]>")  # the interface's own words
    assert not [cell for cell in cells if 'dir="auto"' not in cell and not ours.fullmatch(cell)]
