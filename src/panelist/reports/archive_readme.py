"""The README of an archive: what each file is, and how to repeat the study from them."""

from collections.abc import Mapping, Sequence
from typing import Any

_FILES = {
    "README.md": "this text",
    "manifest.json": "every other file with its size and SHA-256, and the hashes of study and plan",
    "study.yaml": "the study: criteria, questions, scales, design, raters, pay, planned analysis",
    "study.schema.json": "lets editors complete study.yaml and mark mistakes",
    "plan.csv": "the plan: who saw what, in which order, a row a rating to be given",
    "plan.json": "the plan's hash, seed, balance and history",
    "ratings.csv": "the ratings, a row a rating; practice, checks and exclusions are marked and left in",
    "preregistration.json": "what was declared beforehand, each version with its time and hashes",
    "power.json": "the power analysis",
    "heds.json": "the human evaluation datasheet (HEDS), as its form loads it",
    "heds.html": "the same datasheet to read",
    "environment.json": "the versions of Python, panelist and all that it needs",
    "requirements.txt": "the same versions as pip reads them",
    "report/report.html": "the report, one page that needs no other file",
    "report/report_files/": "figures, tables, paragraphs, references; analysis.json has every number",
}


def write_readme(about: Mapping[str, Any], names: Sequence[str], notes: Sequence[str]) -> str:
    """Return the text for the files that an archive holds."""
    lines = [f"# {_plain(str(about['title']))}", ""]
    lines += ["Everything that is needed to repeat this human evaluation, packed by panelist"]
    lines[-1] += f" {about['panelist']}."
    lines += [""]
    lines += ["| file | what it is |", "|---|---|"]
    lines += [f"| `{_cell(name)}` | {words} |" for name, words in _list_files(names)]
    lines += ["", "## Repeat it", "", "```bash", "pip install -r requirements.txt"]
    lines += ["panelist verify study.zip       # checksums, hashes, and the analysis computed again"]
    if about["ratings"]:
        lines += ["panelist report study.zip       # the report from these ratings"]
    lines += ["panelist init repeat --repeat study.zip   # a new study that repeats this one"]
    lines += ["```", ""]
    lines += _tell_people(about)
    if notes:
        lines += ["", "## Notes", "", *(f"- {_plain(note)}" for note in notes)]
    return "\n".join(lines) + "\n"


def _list_files(names: Sequence[str]) -> list[tuple[str, str]]:
    found = []
    for name in names:
        if name.startswith("report/report_files/"):
            continue
        found.append((name, _FILES.get(name, "a file that the study names: outputs or a picture")))
    if any(name.startswith("report/report_files/") for name in names):
        found.append(("report/report_files/", _FILES["report/report_files/"]))
    return found


def _tell_people(about: Mapping[str, Any]) -> list[str]:
    if not about["ratings"]:
        return ["There are no ratings in this archive."]
    if about["ids"]:
        return [
            "**This archive says who the raters are.** It was asked for; keep it apart from what you share."
        ]
    return [
        "Raters have pseudonyms. Ids, links, addresses and the key of the pseudonyms are not in this archive."
    ]


def _plain(text: str) -> str:
    """Return a text on one line that Markdown does not obey."""
    for sign in "\\`*_[]<>#|":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def _cell(name: str) -> str:
    return name.replace("|", "\\|").replace("`", "'")
