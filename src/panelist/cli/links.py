"""``panelist links``: one link for each rater."""

from pathlib import Path
from typing import Annotated

import typer

from panelist.cli.export import DatabaseUrl, StudyPlace
from panelist.cli.options import option
from panelist.cli.terminal import say, tell


def links(
    study: StudyPlace,
    count: Annotated[int | None, option("N", "How many. Default: one for each free place.", min=1)] = None,
    group: Annotated[str | None, option("NAME", "Only places of this group.")] = None,
    ids: Annotated[
        Path | None,
        option(
            "FILE",
            "Signed open links instead, one for each id in this file (one per line): for a class or a "
            "list of your own. A place is taken when the person agrees to take part.",
        ),
    ] = None,
    unused: Annotated[
        bool, typer.Option("--unused", help="Make none; show those that nobody has used so far.")
    ] = False,
    url: Annotated[str, option("URL", "How raters reach the server.")] = "http://127.0.0.1:8000",
    output: Annotated[Path | None, option("FILE", "Write them to a CSV file.", "-o", "--output")] = None,
    db: DatabaseUrl = None,
) -> None:
    """Make links for raters, one per person."""
    from panelist.collection.addresses import check_url
    from panelist.collection.checked_store import open_checked
    from panelist.collection.links import find_links, make_links, read_ids, sign_links, write_links
    from panelist.collection.recruiting.panel import find_id_parameters
    from panelist.study.reading.load import load_study

    notes: list[str] = []
    address = check_url(url)
    loaded = load_study(study)
    people = read_ids(ids) if ids is not None else ()
    with open_checked(loaded, db, notes) as store:
        if people:
            name = find_id_parameters(loaded, ("id",))[0]
            made = sign_links(store.study.secret, address, name, people)
        else:
            made = find_links(store, address, group) if unused else make_links(store, address, count, group)
    for note in notes:
        tell(f"note: {note}")
    if output is not None:
        write_links(made, output, "id" if people else "place")
        say(
            f"{len(made)} links in {output}. Anyone who has a link is that rater: send each to one person "
            "only."
        )
        return
    for link in made:
        say("  ".join(part for part in (link.place, link.group, link.link) if part))
