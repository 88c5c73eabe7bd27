"""``panelist serve``: the rating pages and the dashboard."""

from typing import Annotated

import typer

from panelist.cli.export import DatabaseUrl, StudyChanged, StudyPlace, read_allowed
from panelist.cli.terminal import say


def serve(
    study: StudyPlace,
    db: DatabaseUrl = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen on; 0.0.0.0 is the whole network.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", help="The port; 0 takes any that is free.")] = 8000,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="How raters reach the server behind a proxy: https://rate.example.org, or "
            "https://example.org/rating for pages under a path.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="How many processes serve.")] = 1,
    links: Annotated[
        int, typer.Option(metavar="N", min=0, help="Print this many personal links, one per rater.")
    ] = 0,
    id_parameter: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The parameter of the open link with a person's id; PROLIFIC_PID and others are known.",
            show_default=False,
        ),
    ] = None,
    join_limit: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="How many places one address may take in a minute, after four times as many at once; 0 is "
            "no limit.",
        ),
    ] = 10,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="A proxy, or a network of proxies, trusted to report client addresses (X-Forwarded-For), "
            "besides one on this machine; may be given more than once.",
            show_default=False,
        ),
    ] = None,
    study_changed: StudyChanged = "",
    access_log: Annotated[bool, typer.Option("--access-log", help="Print a line for each request.")] = False,
) -> None:
    """Serve the rating pages and the dashboard of a study."""
    from panelist.web.server import ServeOptions, prepare, run

    ready = prepare(
        ServeOptions(
            study=study,
            database=db,
            host=host,
            port=port,
            url=url,
            workers=workers,
            links=links,
            id_parameter=id_parameter,
            joins_a_minute=join_limit,
            trusted_proxies=tuple(trusted_proxy or ()),
            study_changed=read_allowed(study_changed),
            access_log=access_log,
        )
    )
    for line in ready.lines():
        say(line)
    if code := run(ready):
        raise typer.Exit(code)
