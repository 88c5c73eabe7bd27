"""``panelist import``: results of closed platforms and other tools, as a ratings table."""

from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.options import Json
from panelist.cli.terminal import say, show, tell


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="Batch results of Mechanical Turk; exports of Potato, Label Studio, Prolific; wide tables.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="FILE.csv, .tsv, .jsonl, .parquet or .xlsx."),
    ] = Path("ratings.csv"),
    mapping: Annotated[
        Path | None,
        typer.Option(
            metavar="YAML",
            help="Which column is what; with --draft, the file to write (mapping.yaml).",
            show_default=False,
        ),
    ] = None,
    draft: Annotated[
        bool, typer.Option("--draft", help="Write the mapping that the columns suggest, and import nothing.")
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="mturk|potato|label-studio|prolific|wide",
            help="What wrote the files, where they do not say it themselves.",
            show_default=False,
        ),
    ] = None,
    background: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to write what is known of the raters (OUTPUT-background).",
            show_default=False,
        ),
    ] = None,
    keep_ids: Annotated[
        bool, typer.Option("--keep-ids", help="Keep the raters' ids. Without it, pseudonyms.")
    ] = False,
    salt: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The secret of the pseudonyms (import.salt beside the output; made if missing).",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Import results of closed platforms and other tools."""
    if draft:
        _write_draft(files, source, mapping or Path("mapping.yaml"))
        return
    from panelist.collection.legacy.imported import write_imported
    from panelist.collection.legacy.importing import import_results
    from panelist.collection.legacy.salts import keep_salt, read_salt
    from panelist.core.readers import find_ending

    find_ending(output)  # before the work, not after it
    place = salt or output.parent / "import.salt"
    known = None if keep_ids else read_salt(place)
    found = import_results(files, mapping, source=source, keep_ids=keep_ids, salt=known)
    written = write_imported(found, output, background)
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


def _write_draft(files: list[Path], source: str | None, path: Path) -> None:
    from panelist.collection.legacy.importing import draft_for
    from panelist.core.errors import BadFile

    if path.exists():
        raise BadFile(
            f"{path} is there already, and a draft would overwrite it. Name another: --mapping FILE."
        )
    found = draft_for(files, source)
    text = found.write(path.name)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror or error}.") from None
    say(f"Draft written to {path}. Read every line of it; then: panelist import … --mapping {path}")
    for question in found.open:
        say(f"To decide: {question}.")
