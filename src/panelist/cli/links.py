"""``panelist links``: one link for each rater."""

from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.export import DatabaseUrl, StudyPlace
from panelist.cli.terminal import say, tell


def links(
    study: StudyPlace,
    count: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="How many; without it, one for each free place.", show_default=False
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only places of this group.", show_default=False)
    ] = None,
    unused: Annotated[
        bool, typer.Option("--unused", help="Make none: show those that nobody has used so far.")
    ] = False,
    url: Annotated[
        str, typer.Option(metavar="URL", help="How raters reach the server.")
    ] = "http://127.0.0.1:8000",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write them to a CSV file.", show_default=False),
    ] = None,
    db: DatabaseUrl = None,
) -> None:
    """Make links for raters, one a person."""
    from panelist.collection.links import find_links, make_links, write_links
    from panelist.collection.web.config import check_url
    from panelist.collection.web.launch import Wishes, open_checked
    from panelist.study.load import load_study

    notes: list[str] = []
    address = check_url(url)
    with open_checked(load_study(study), Wishes(study=study, database=db), notes) as store:
        made = find_links(store, address, group) if unused else make_links(store, address, count, group)
    for note in notes:
        tell(f"note: {note}")
    if output is not None:
        write_links(made, output)
        say(f"{len(made)} links in {output}. Whoever has a link is that rater: send each to one person only.")
        return
    for link in made:
        say("  ".join(part for part in (link.place, link.group, link.link) if part))
