"""``panelist import``: results of closed platforms and other tools, as a ratings table."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from panelist.cli.options import Json, argument, option
from panelist.cli.terminal import say, show, tell
from panelist.study.file_names import RATINGS_FILE

if TYPE_CHECKING:
    from panelist.collection.imports.imported import Imported


Files = Annotated[
    list[Path],
    argument(
        "FILE…",
        "Anybody's table: CSV, TSV, Excel, JSON, JSON lines, Parquet; batch results of Mechanical "
        "Turk; exports of Potato, Label Studio, Prolific, Qualtrics.",
    ),
]
Output = Annotated[Path, option("FILE", "FILE.csv, .tsv, .jsonl, .parquet or .xlsx.", "--output", "-o")]
MappingFile = Annotated[
    Path | None,
    option("YAML", "Which column is what; with --draft, the file to write (mapping.yaml).", "--mapping"),
]
DraftOnly = Annotated[
    bool, typer.Option("--draft", help="Write the mapping that the columns suggest, and import nothing.")
]
Source = Annotated[
    str | None,
    option(
        "mturk|potato|label-studio|prolific|wide|table",
        "What wrote the files, where they do not say it themselves.",
        "--from",
    ),
]
ReadingNumber = Annotated[
    int | None, option("N", "Where files can be read in several ways: which is right.", "--reading")
]
Header = Annotated[
    str | None, option("NAMES", "The columns of a file without a header line: rater,item,system,fluency.")
]
Background = Annotated[
    Path | None, option("FILE", "Where to write what is known of the raters (OUTPUT-background).")
]
KeepIds = Annotated[bool, typer.Option("--keep-ids", help="Keep the raters' ids. Without it, pseudonyms.")]
Salt = Annotated[
    Path | None,
    option("FILE", "The secret of the pseudonyms (import.salt beside the output; made if missing)."),
]


def import_(
    files: Files,
    output: Output = Path(RATINGS_FILE),
    mapping: MappingFile = None,
    draft: DraftOnly = False,
    source: Source = None,
    reading: ReadingNumber = None,
    header: Header = None,
    background: Background = None,
    keep_ids: KeepIds = False,
    salt: Salt = None,
    json: Json = False,
) -> None:
    """Import ratings from published tables, closed platforms and other tools."""
    names = [name.strip() for name in (header or "").split(",") if name.strip()]
    if draft:
        _write_draft(files, source, mapping or Path("mapping.yaml"), reading, names)
        return
    from panelist.collection.imports.imported import write_imported
    from panelist.collection.imports.salts import keep_salt, read_salt
    from panelist.core.tables.readers import find_ending

    find_ending(output)  # before the work, not after it
    place = salt or output.parent / "import.salt"
    known = None if keep_ids else read_salt(place)
    found = _import(files, mapping, source, keep_ids, known, reading, names)
    kept = _keep_mapping(found, output)
    written = [*write_imported(found, output, background), *kept]
    if found.salt is not None and known is None:
        keep_salt(found.salt, place)
        tell(
            f"The secret of the pseudonyms is in {place}: keep it to yourself, so that further files get the "
            "same names; delete it, and nobody can trace a rater."
        )
    if keep_ids:
        tell("Note: these files say who the raters are. Keep them apart from what you share.")
    show(found, json)
    for path in written:
        tell(f"Written to {path}.") if json else say(f"Written to {path}.")


def _import(
    files: list[Path],
    mapping: Path | None,
    source: str | None,
    keep_ids: bool,
    salt: str | None,
    reading: int | None,
    header: list[str],
) -> "Imported":
    """Return what was imported; where several readings are possible, a person at a terminal is asked."""
    from panelist.collection.imports.importer import import_results
    from panelist.collection.imports.recognising import Ambiguous, describe_readings

    def take(number: int | None) -> "Imported":
        return import_results(
            files, mapping, source=source, keep_ids=keep_ids, salt=salt, reading=number, header=header
        )

    try:
        return take(reading)
    except Ambiguous as error:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        tell(describe_readings(error.readings, " ".join(map(str, files[:2]))))
        number = typer.prompt("Which is right", type=int, err=True)
    return take(int(number))


def _keep_mapping(found: "Imported", output: Path) -> list[Path]:
    """Write the mapping that was found beside the output, to be read, edited and used again."""
    from panelist.core.errors import BadFile

    if found.draft is None:
        return []
    path = output.with_name(f"{output.stem}-mapping.yaml")
    text = found.draft.write(path.name)
    try:
        if path.exists() and path.read_text(encoding="utf-8") != text:
            raise BadFile(
                f"{path} is there already and is not the mapping that these files suggest. Use it with "
                f"--mapping {path}, or delete it."
            )
        if output.parent.is_dir():
            path.write_text(text, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path} cannot be written: {error}.") from None
    return [path]


def _write_draft(
    files: list[Path], source: str | None, path: Path, reading: int | None, header: list[str]
) -> None:
    from panelist.collection.imports.importer import draft_for
    from panelist.core.errors import BadFile

    if path.exists():
        raise BadFile(
            f"{path} is there already, and a draft would overwrite it. Name another: --mapping FILE."
        )
    found = draft_for(files, source, reading=reading, header=header)
    text = found.write(path.name)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror or error}.") from None
    say(f"Draft written to {path}. Read every line of it; then: panelist import … --mapping {path}")
    for question in found.open:
        say(f"To decide: {question}.")
