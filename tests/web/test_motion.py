"""Nothing on a page moves by itself, so that there is nothing to reduce for those who ask for less motion."""

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
