"""Starting the server: the study checked, planned and opened, the port taken, then the processes started."""

import errno
import gc
import hashlib
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import uvicorn
from uvicorn.supervisors import Multiprocess

from panelist.collection.addresses import BadAddress, check_url
from panelist.collection.checked_store import open_checked
from panelist.collection.links import Link, keep_links, open_link
from panelist.collection.pages.translations import load_words
from panelist.core.prose import count
from panelist.study.panels import find_panel
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from panelist.web.app import Application, make_app
from panelist.web.config import WebConfig, check_proxy, find_hosts
from panelist.web.connections import HttpConnection
from panelist.web.dashboard.passwords import (
    FEWEST_DIFFERENT,
    SHORTEST,
    find_weakness,
    hash_password,
    make_password,
)

PASSWORD_VARIABLE = "PANELIST_PASSWORD"
LOOPBACK_ADDRESSES = ("127.0.0.1", "::1")
BACKLOG = 2048
MOST_OPEN = 65_536
PORT_TRIES, PORT_PAUSE = 10, 0.3
STARTUP_FAILURE = 3  # of uvicorn, which keeps it in one module or another
END_SECONDS = 10
"""How long shutting down may take in all, and less than that for requests to be answered."""
ANSWERING_SECONDS = 6


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """What a person asked for; everything else follows from the study."""

    study: Path
    database: str | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    url: str | None = None
    workers: int = 1
    links: int = 0
    id_parameter: str | None = None
    joins_a_minute: int = WebConfig.joins_a_minute
    study_changed: tuple[str, ...] = ()
    """The parts of the study that may have changed since people came, by name."""
    access_log: bool = False
    trusted_proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies that are trusted to report the sender, besides one on this machine."""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A server that only needs to be run: its port is taken, and its database holds the plan."""

    config: WebConfig
    options: ServeOptions
    bound: socket.socket = field(repr=False)
    title: str
    places: int
    database: str
    password: str | None = field(repr=False)
    """The password of the dashboard; None where it comes from the environment."""
    way_in: str
    """The open link, or the command that writes the links where that alone is not enough."""
    links: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Return what the person who started it needs to know."""
        yield f"{self.title}: {count(self.places, 'place')}, collected in {self.database}"
        for note in self.notes:
            yield f"note: {note}"
        yield ""
        yield f"  for raters   {self.way_in}"
        yield f"  dashboard    {self.config.url}/dashboard"
        yield f"  password     {self.password or f'as in {PASSWORD_VARIABLE}'}"
        if self.links:
            yield ""
            yield "Links for one rater each, not used so far:"
            yield from (f"  {link.place}  {link.link}" for link in self.links)
        yield ""
        yield "Ctrl+C ends the server. Whatever raters have been told is saved is on disk."


def prepare(options: ServeOptions) -> Ready:
    """Return the server, ready to run, or raise an error that says what prevents it."""
    study = load_study(options.study)
    load_words(study.file.language)  # before a port is taken and a database made
    url = check_url(options.url) if options.url else None
    for proxy in options.trusted_proxies:
        check_proxy(proxy)
    password, given = _find_password()
    notes: list[str] = []
    with open_checked(study, options.database, notes, options.study_changed) as store:
        bound = take_port(options.host, options.port)
        try:
            config = _make_config(study, options, url, bound.getsockname()[1])
            salt = hashlib.sha256(f"password {store.study.secret}".encode()).digest()
            config = replace(config, password=hash_password(password, salt))
            links = keep_links(store, config.url, options.links) if options.links else ()
        except BaseException:
            bound.close()
            raise
        if not config.hosts:
            notes.append(
                "anyone who can reach this machine can reach the server; --url sets the address in links"
            )
        return Ready(
            config=config,
            options=options,
            bound=bound,
            title=study.title,
            places=len(store.places().groups),
            database=store.database.name,
            password=None if given else password,
            way_in=_say_way_in(study, config.url),
            links=links,
            notes=tuple(notes),
        )


def _say_way_in(study: Study, url: str) -> str:
    recruiting = study.file.recruiting
    ids = find_panel(recruiting).ids if recruiting is not None else ""
    if ids == "keyed":
        return f"by the link that this writes: panelist recruit {study.folder} link --url {url}"
    if ids == "signed":
        return f"by the links that this writes: panelist links {study.folder} --ids FILE --url {url}"
    return open_link(url)


def _make_config(study: Study, options: ServeOptions, url: str | None, port: int) -> WebConfig:
    config = WebConfig(
        study=replace(study, path=study.path.resolve()) if study.path else study,
        database=_absolute(options.database),
        url=url or _write_url(options.host, port),
        hosts=find_hosts(options.host, url),
        joins_a_minute=options.joins_a_minute,
    )
    return replace(config, id_parameters=(options.id_parameter,)) if options.id_parameter else config


def run(ready: Ready) -> int:
    """Serve until told to end; return the exit code."""
    several = ready.options.workers > 1
    config = replace(ready.config, parent=os.getpid()) if several else ready.config
    settings = uvicorn.Config(
        partial(_make_lasting_app, config),  # a factory that can be pickled
        factory=True,
        http=HttpConnection,
        workers=ready.options.workers,
        lifespan="on",
        log_level="info" if ready.options.access_log else "warning",
        access_log=ready.options.access_log,
        server_header=False,
        # Whom to trust about the sender: a proxy on this machine, where one was announced, and those named.
        proxy_headers=ready.options.url is not None or bool(ready.options.trusted_proxies),
        forwarded_allow_ips=[*LOOPBACK_ADDRESSES, *ready.options.trusted_proxies],
        backlog=BACKLOG,
        timeout_graceful_shutdown=ANSWERING_SECONDS,
        timeout_worker_healthcheck=60,
    )
    allow_connections()
    try:
        if several:
            supervisor = Multiprocess(settings, [ready.bound])
            supervisor.run()
            return int(any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes))
        server = uvicorn.Server(settings)

        def end(*_: object) -> None:
            server.should_exit = True

        # A signal that comes before uvicorn listens for it counts. At its end uvicorn sends itself the signal
        # that ended it: that must not count as a failure.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        server.run([ready.bound])
        return int(not server.started)
    finally:
        ready.bound.close()


def _make_lasting_app(config: WebConfig) -> Application:
    """Return the application in a process of its own.

    What is there by now lives as long as the process. While texts are rendered, the garbage collector would
    look through all of it again and again, with no request answered meanwhile: so it leaves it alone.
    """
    gc.collect()
    gc.freeze()
    return make_app(config)


def allow_connections(most: int = MOST_OPEN) -> int | None:
    """Let this process, and those that it starts, hold more connections; return how many, None if unknown.

    Every browser is an open file, and many systems allow 1,024 of them unless asked for more.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return None
    now, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
    if now == resource.RLIM_INFINITY or now >= wanted:
        return now
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, allowed))
    except (OSError, ValueError):  # some systems promise more than they give
        return now
    return wanted


def take_port(host: str, port: int) -> socket.socket:
    """Return a listening socket, or raise BadAddress; wait for a server that is just ending."""
    if not 0 <= port <= 65535:
        raise BadAddress(f"There is no port {port}. Ports go from 1 to 65535; 0 takes any that is free.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for tries_left in reversed(range(PORT_TRIES)):
        bound = socket.socket(family, socket.SOCK_STREAM)
        try:
            if sys.platform != "win32":  # there it would share the port with other processes
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((host, port))
            bound.listen(BACKLOG)
            bound.set_inheritable(True)
            return bound
        except OSError as error:
            bound.close()
            if error.errno != errno.EADDRINUSE or not tries_left:
                raise BadAddress(_explain(error, host, port)) from None
        time.sleep(PORT_PAUSE)
    raise AssertionError("the last try returns or raises")


def _explain(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use. Give another with --port, or end the server that has it."
    if error.errno == errno.EACCES:
        return (
            f"You are not allowed to use port {port}: ports below 1024 usually need special rights. "
            "Give another with --port."
        )
    what = error.strerror or str(error)
    return f"The server cannot listen on {host}, port {port}: {what}. Give --host an address of this machine."


def _find_password() -> tuple[str, bool]:
    """Return the password of the dashboard, and whether it was given in the environment."""
    given = os.environ.get(PASSWORD_VARIABLE, "").strip()
    if given and (weakness := find_weakness(given)):
        raise BadAddress(
            f"The password in {PASSWORD_VARIABLE} is easy to guess: {weakness}. Accepted are at least "
            f"{SHORTEST} characters, {FEWEST_DIFFERENT} of them different, neither digits only nor a common "
            "password: four random words will do. Or set none: then one is generated."
        )
    return (given, True) if given else (make_password(), False)


def _write_url(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def _absolute(database: str | None) -> str | None:
    """Return the database so that another process finds it, whatever its working directory."""
    return database if database is None or "://" in database else str(Path(database).resolve())
