"""``panelist import``: results of closed platforms and other tools, as a table of ratings or of outputs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from panelist.cli.options import Json, argument, option
from panelist.cli.terminal import say, show, tell
from panelist.study.file_names import RATINGS_FILE

if TYPE_CHECKING:
    from panelist.collection.imports.guessing.headers import NoHeader
    from panelist.collection.imports.imported import Imported
    from panelist.collection.imports.outputs.base import ReadOptions


Files = Annotated[
    list[Path],
    argument(
        "FILE…",
        "Anybody's table: CSV, TSV, Excel, JSON, JSON lines, Parquet; batch results of Mechanical "
        "Turk; exports of Potato, Label Studio, Prolific, Qualtrics.",
    ),
]
As = Annotated[str, option("ratings|outputs", "What the files hold: ratings, or what systems wrote.", "--as")]
Output = Annotated[
    Path | None,
    option(
        "FILE", "FILE.csv, .tsv, .jsonl, .parquet or .xlsx (ratings.csv, outputs.jsonl).", "--output", "-o"
    ),
]
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
        "PROGRAM",
        "What wrote the files, where they do not say it themselves. Ratings: mturk, potato, label-studio, "
        "prolific, wide, table. Outputs: inspect, lm-evaluation-harness, conversations, preferences, "
        "batch-results, batch-requests, mt-bench, mt-bench-questions, table.",
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
KeepIds = Annotated[bool, typer.Option("--keep-ids", help="Keep the raters' ids instead of pseudonyms.")]
Salt = Annotated[
    Path | None,
    option("FILE", "The secret of the pseudonyms (import.salt beside the output; made if missing)."),
]
_OF_OUTPUTS = {"rich_help_panel": "With --as outputs"}
SystemName = Annotated[str, option("NAME", "The system whose outputs they are.", **_OF_OUTPUTS)]
SystemColumns = Annotated[
    str, option("NAMES", "The columns with outputs, one per system.", "--systems", **_OF_OUTPUTS)
]
Columns = Annotated[
    str | None,
    option("NAME=COLUMN", "Which column is what: item=id,context=prompt,output=text.", **_OF_OUTPUTS),
]
Repeats = Annotated[
    str,
    option(
        "first|all",
        "Several outputs of a system for an item: the first, or all as items of their own.",
        **_OF_OUTPUTS,
    ),
]
Filter = Annotated[str, option("NAME", "The filter of lm-evaluation-harness to keep.", **_OF_OUTPUTS)]
Reasoning = Annotated[
    bool, typer.Option("--reasoning", help="Keep reasoning as part of the outputs.", **_OF_OUTPUTS)
]


def import_(
    files: Files,
    kind: As = "ratings",
    output: Output = None,
    mapping: MappingFile = None,
    draft: DraftOnly = False,
    source: Source = None,
    reading: ReadingNumber = None,
    header: Header = None,
    background: Background = None,
    keep_ids: KeepIds = False,
    salt: Salt = None,
    system: SystemName = "",
    systems: SystemColumns = "",
    columns: Columns = None,
    repeats: Repeats = "first",
    filter: Filter = "",
    reasoning: Reasoning = False,
    json: Json = False,
) -> None:
    """Import ratings or outputs from other tools, platforms and published tables."""
    from panelist.core.errors import BadFile, did_you_mean

    of_ratings: dict[str, object] = {
        "--mapping": mapping,
        "--draft": draft,
        "--reading": reading,
        "--header": header,
    }
    of_ratings |= {"--background": background, "--keep-ids": keep_ids, "--salt": salt}
    of_outputs: dict[str, object] = {
        "--system": system,
        "--systems": systems,
        "--columns": columns,
        "--filter": filter,
    }
    of_outputs |= {"--reasoning": reasoning, "--repeats": repeats != "first"}
    if kind not in ("ratings", "outputs"):
        raise BadFile(f"--as says what the files hold. {did_you_mean(kind, ('ratings', 'outputs'))}")
    others = of_ratings if kind == "outputs" else of_outputs
    if strange := next((name for name, given in others.items() if given), None):
        raise BadFile(f"{strange} does not go with --as {kind}.")
    if kind == "outputs":
        from panelist.collection.imports.outputs.base import ReadOptions
        from panelist.core.tables.columns import parse_columns

        said = ReadOptions(system, parse_columns(columns) or {}, _split(systems), filter, reasoning)
        _import_outputs(files, output or Path("outputs.jsonl"), said, source or "", repeats, json)
        return
    output = output or Path(RATINGS_FILE)
    names = list(_split(header or ""))
    if mapping is not None and not draft and (names or reading is not None):
        raise BadFile(
            f"{'--header' if names else '--reading'} does not go with --mapping: the mapping says it itself "
            "(layout: {header: […]}, or the lines of that reading)."
        )
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


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",") if name.strip())


def _import_outputs(
    files: list[Path], output: Path, options: "ReadOptions", source: str, repeats: str, json: bool
) -> None:
    from panelist.collection.imports.outputs.collect import import_outputs
    from panelist.collection.imports.outputs.imported_outputs import write_outputs_table
    from panelist.core.tables.readers import find_ending

    find_ending(output)  # before the work, not after it
    found = import_outputs(files, options, source, repeats)
    written = write_outputs_table(found, output)
    show(found, json)
    for path in written[:1]:
        tell(f"Written to {path}.") if json else say(f"Written to {path}.")
    if len(written) > 1:
        tell(f"Pictures written to {written[1].parent}: {len(written) - 1}.")


def _import(
    files: list[Path],
    mapping: Path | None,
    source: str | None,
    keep_ids: bool,
    salt: str | None,
    reading: int | None,
    header: list[str],
) -> "Imported":
    """Return what was imported; what only a person can decide, a person at a terminal is asked."""
    from panelist.collection.imports.guessing.headers import NoHeader
    from panelist.collection.imports.importer import import_results
    from panelist.collection.imports.recognising import Ambiguous, describe_readings

    while True:
        try:
            return import_results(
                files, mapping, source=source, keep_ids=keep_ids, salt=salt, reading=reading, header=header
            )
        except (Ambiguous, NoHeader) as error:
            if not is_asked():
                raise
            if isinstance(error, NoHeader):
                header = _ask_header(error)
            else:
                tell(describe_readings(error.readings, " ".join(map(str, files[:2]))))
                reading = _ask_number(len(error.readings))


def is_asked() -> bool:
    """Return whether somebody at a terminal can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask_number(last: int) -> int:
    """Return the number of the reading that a person chooses."""
    while True:
        said = typer.prompt(f"Which is right (1 to {last})", err=True).strip()
        if said.isdecimal() and 1 <= int(said) <= last:
            return int(said)
        tell(f"{said!r} is not a number from 1 to {last}.")


def _ask_header(error: "NoHeader") -> list[str]:
    """Return the names that a person gives the columns: the number of those suggested, or others."""
    tell(error.described)
    tell("Name the columns, those of the ratings by their criteria. It could be")
    for number, names in enumerate(error.headers, start=1):
        tell(f"  {number}. {names}")
    said = typer.prompt("A number, or all names with commas between them", err=True).strip()
    known = {str(number): names for number, names in enumerate(error.headers, start=1)}
    return list(_split(known.get(said, said)))


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
