"""Small studies as files, and answers as the pages would send them."""

from pathlib import Path

from panelist.collection.store.operations.ops import MoveVisit, SaveAnswers
from panelist.collection.store.operations.saving import Answer, Move, PageDone
from panelist.collection.store.records import Visit
from panelist.collection.store.store import Store
from panelist.study.reading.load import load_study
from panelist.study.study import Study

RATED = """\
title: A rated study
criteria:
  - name: fluency
    question: How fluent is it?
    scale: {type: likert, points: 5}
  - name: remarks
    question: What do you say?
    scale: {type: text}
design: {type: latin-square}
raters: {count: 6}
checks:
  items:
    - {kind: instructed, text: Choose 2 and write yes, answers: {fluency: "2", remarks: "yes"}}
collecting: {hold_minutes: 30, reasons: true}
"""

COMPARED = """\
title: A compared study
criteria:
  - name: preference
    question: Which is better?
    scale: {type: pairs, ties: true}
design: {type: pairs, ratings_per_output: 2}
raters: {count: 4}
"""

GROUPED = """\
title: A study with groups
criteria:
  - name: fluency
    question: How fluent is it?
    scale: {type: likert, points: 5}
raters:
  groups:
    - {name: native, raters: 2}
    - {name: learner, raters: 2}
"""


def write_study(folder: Path, text: str, n_items: int = 4, systems: str = "ab") -> Study:
    """Return a study that lies in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"i{item},{system},{item} by {system}" for item in range(1, n_items + 1) for system in systems]
    (folder / "outputs.csv").write_text("\n".join(["item,system,output", *rows, ""]), encoding="utf-8")
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return load_study(folder)


def answer(value: str = "4", key: str = "k1", name: str = "c1p1", criterion: str = "fluency") -> Answer:
    """Return an answer on item i1 by system a."""
    return Answer(name=name, criterion=criterion, item="i1", system="a", value=value, key=key, seconds=1.5)


def rate(store: Store, visit: Visit, value: str = "4", words: str = "good", key: str = "k") -> None:
    """Answer every page of the visit's place, checks included."""
    table = store.plan().table
    for order, page in table[table["rater"] == visit.place].groupby("order"):
        answers = tuple(
            Answer(
                name=f"c{1 if row.criterion == 'fluency' else 2}p1",
                criterion=str(row.criterion),
                item=str(row.item),
                system=str(row.system),
                value=value if row.criterion == "fluency" else words,
                key=key,
                phase=str(row.phase),
                check=str(row.check),
                seconds_first=0.5,
                seconds=2.0,
                width=800,
            )
            for row in page.itertuples()
        )
        store.do(SaveAnswers(visit.id, 1, int(str(order)), answers, PageDone(1.0, 2.0)))


def finish(store: Store, visit: Visit) -> None:
    store.do(MoveVisit(visit.id, Move("finished", 1, 1, code="SECRET-CODE")))
