"""``panelist serve``: the rating pages and the dashboard."""

from typing import Annotated

import typer

from panelist.cli.export import DatabaseUrl, StudyChanged, StudyPlace, read_allowed
from panelist.cli.options import option
from panelist.cli.terminal import say


def serve(
    study: StudyPlace,
    db: DatabaseUrl = None,
    host: Annotated[
        str, option("ADDRESS", "The address to listen on; 0.0.0.0 is the whole network.")
    ] = "127.0.0.1",
    port: Annotated[int, option("N", "The port; 0 takes any that is free.")] = 8000,
    url: Annotated[
        str | None,
        option(
            "URL",
            "How raters reach the server behind a proxy: https://rate.example.org, or "
            "https://example.org/rating for pages under a path.",
        ),
    ] = None,
    workers: Annotated[int, option("N", "How many processes serve.", min=1, max=64)] = 1,
    links: Annotated[int, option("N", "Print this many personal links, one per rater.", min=0)] = 0,
    id_parameter: Annotated[
        str | None,
        option(
            "NAME", "The parameter of the open link with a person's id; PROLIFIC_PID and others are known."
        ),
    ] = None,
    join_limit: Annotated[
        int,
        option(
            "N",
            "How many places one address may take in a minute, after four times as many at once; 0 is "
            "no limit.",
            min=0,
        ),
    ] = 10,
    trusted_proxy: Annotated[
        list[str] | None,
        option(
            "ADDRESS",
            "A proxy, or a network of proxies, trusted to report client addresses (X-Forwarded-For), "
            "besides one on this machine; may be given more than once.",
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
