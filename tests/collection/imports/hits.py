"""Old HITs for the tests, of our own making."""

import csv
from pathlib import Path

TEMPLATE = """\
<script src="https://s3.amazonaws.com/mturk-public/externalHIT_v1.js"></script>
<p>Which is clearer?</p><div id="a">${text1}</div><div id="b">${text2}</div>
<label><input type="radio" name="best" value="A" required> A</label>
<label><input type="radio" name="best" value="B"> B</label>
<select name="fluency_1" required>
<option value="">-</option><option>1</option><option>2</option><option>3</option></select>
<select name="fluency_2" required>
<option value="">-</option><option>1</option><option>2</option><option>3</option></select>
<textarea name="comment"></textarea>
<script>turkSetAssignmentID();</script>
"""
MAPPING = """\
source: mturk
rater: WorkerId
item: Input.doc
submission: AssignmentId
status: AssignmentStatus
reasons: [RequesterFeedback]
criteria:
  - {name: fluency, answer: "Answer.fluency_{n}", system: "Input.system{n}"}
comparisons:
  - {name: clearer, shows: {A: Input.system1, B: Input.system2}, best: Answer.best}
"""


def make_hits(folder: Path, template: str = TEMPLATE, **hit: str) -> Path:
    """Return the folder of a study with six HITs for two raters each, four a rater; ``hit`` changes its keys.

    A template that ends in .html is the name of a file that is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    keys = {"template": "hit.html", "input": "input.csv", "assignments": "2", "hits_per_rater": "4"} | hit
    if template.endswith(".html"):
        keys["template"], template = template, TEMPLATE
    (folder / "hit.html").write_text(template, encoding="utf-8")
    systems = [("alto", "bass"), ("bass", "canto"), ("canto", "alto")] * 2
    with (folder / "input.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["doc", "system1", "text1", "system2", "text2"])
        for n, (one, other) in enumerate(systems):
            writer.writerow([f"d{n}", one, f"Ä first &amp; <b>bold</b> {n}", other, f"second {n}"])
    (folder / "mapping.yaml").write_text(MAPPING, encoding="utf-8")
    lines = ["title: Clearer?", "hit:", *(f"  {key}: {value}" for key, value in keys.items())]
    (folder / "study.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
