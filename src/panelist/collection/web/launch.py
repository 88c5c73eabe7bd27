"""Starting the server: the study checked, planned and opened, the port taken, then the processes started."""

import errno
import hashlib
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from panelist.collection.links import Link, keep_links, open_link
from panelist.collection.store.errors import BadStore
from panelist.collection.store.plans import find_moved
from panelist.collection.store.store import Store, open_store
from panelist.collection.study_changes import Change, find_changes, find_gaps, list_changes, refuse_names
from panelist.collection.web.app import make_app
from panelist.collection.web.config import BadAddress, WebConfig, check_proxy, check_url, find_hosts
from panelist.collection.web.connections import Connection
from panelist.collection.web.extension import MakeExtension
from panelist.collection.web.passwords import (
    FEWEST_DIFFERENT,
    SHORTEST,
    find_weakness,
    hash_password,
    make_password,
)
from panelist.core.errors import BadDesign, BadPlan
from panelist.design.files import TABLE, read_plan, write_plan
from panelist.design.make import deal_plan, plan_study
from panelist.design.plan import Plan
from panelist.study.load import load_study
from panelist.study.study import Study

PASSWORD_VARIABLE = "PANELIST_PASSWORD"
LOOPBACK_ADDRESSES = ("127.0.0.1", "::1")
BACKLOG = 2048
MOST_OPEN = 65_536
PORT_TRIES, PORT_PAUSE = 10, 0.3
END_SECONDS = 10
"""How long an end may take in all, and less than that for requests to be answered."""
ANSWERING_SECONDS = 6


@dataclass(frozen=True, kw_only=True)
class Wishes:
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
    """Addresses or networks of proxies that are believed about the sender, besides one on this machine."""
    extensions: tuple[MakeExtension, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A server that only needs to be run: its port is taken, and its database holds the plan."""

    config: WebConfig
    wishes: Wishes
    bound: socket.socket = field(repr=False)
    title: str
    places: int
    database: str
    password: str | None = field(repr=False)
    """The password of the dashboard; None where it comes from the environment."""
    links: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Return what a person wants to know now."""
        yield f"{self.title}: {self.places} places, collected in {self.database}"
        for note in self.notes:
            yield f"note: {note}"
        yield ""
        yield f"  for raters   {open_link(self.config.url)}"
        yield f"  dashboard    {self.config.url}/dashboard"
        yield f"  password     {self.password or f'as in {PASSWORD_VARIABLE}'}"
        if self.links:
            yield ""
            yield "Links for one rater each, not used so far:"
            yield from (f"  {link.place}  {link.link}" for link in self.links)
        yield ""
        yield "Ctrl+C ends the server. Whatever raters have been told is saved is on disk."


def prepare(wishes: Wishes) -> Ready:
    """Return the server, ready to run, or raise an error that says what is in the way."""
    study = load_study(wishes.study)
    url = check_url(wishes.url) if wishes.url else None
    for proxy in wishes.trusted_proxies:
        check_proxy(proxy)
    password, given = _find_password()
    notes: list[str] = []
    with open_checked(study, wishes, notes) as store:
        bound = take_port(wishes.host, wishes.port)
        try:
            config = _make_config(study, wishes, url, bound.getsockname()[1])
            salt = hashlib.sha256(f"password {store.study.secret}".encode()).digest()
            config = replace(config, password=hash_password(password, salt))
            links = keep_links(store, config.url, wishes.links) if wishes.links else ()
        except BaseException:
            bound.close()
            raise
        if not config.hosts:
            notes.append("everybody who reaches this machine reaches the server; --url says how links begin")
        return Ready(
            config=config,
            wishes=wishes,
            bound=bound,
            title=study.title,
            places=len(store.places().groups),
            database=store.database.name,
            password=None if given else password,
            links=links,
            notes=tuple(notes),
        )


def _make_config(study: Study, wishes: Wishes, url: str | None, port: int) -> WebConfig:
    config = WebConfig(
        study=replace(study, path=study.path.resolve()) if study.path else study,
        database=_absolute(wishes.database),
        url=url or _write_url(wishes.host, port),
        hosts=find_hosts(wishes.host, url),
        joins_a_minute=wishes.joins_a_minute,
        extensions=wishes.extensions,
    )
    return replace(config, id_parameters=(wishes.id_parameter,)) if wishes.id_parameter else config


def run(ready: Ready) -> int:
    """Serve until told to end; return the exit code."""
    several = ready.wishes.workers > 1
    config = replace(ready.config, parent=os.getpid()) if several else ready.config
    settings = uvicorn.Config(
        partial(make_app, config),  # a factory that can be pickled
        factory=True,
        http=Connection,
        workers=ready.wishes.workers,
        lifespan="on",
        log_level="info" if ready.wishes.access_log else "warning",
        access_log=ready.wishes.access_log,
        server_header=False,
        # Whom to believe about the sender: a proxy on this machine, where one was announced, and those named.
        proxy_headers=ready.wishes.url is not None or bool(ready.wishes.trusted_proxies),
        forwarded_allow_ips=[*LOOPBACK_ADDRESSES, *ready.wishes.trusted_proxies],
        backlog=BACKLOG,
        timeout_graceful_shutdown=ANSWERING_SECONDS,
        timeout_worker_healthcheck=60,
    )
    allow_connections()
    # uvicorn sends itself, at its end, the signal that ended it: that shall not count as a failure.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    try:
        if several:
            supervisor = Multiprocess(settings, [ready.bound])
            supervisor.run()
            return int(any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes))
        server = uvicorn.Server(settings)
        server.run([ready.bound])
        return int(not server.started)
    finally:
        ready.bound.close()


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
    """Return a listening socket, or raise BadAddress; a server that is just ending is waited for."""
    if not 0 <= port <= 65535:
        raise BadAddress(f"There is no port {port}. Ports go from 1 to 65535; 0 takes any that is free.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for tries_left in reversed(range(PORT_TRIES)):
        bound = socket.socket(family, socket.SOCK_STREAM)
        try:
            if sys.platform != "win32":  # there it would share the port with others
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
        return f"Port {port} is not allowed to you: those below 1024 seldom are. Give another with --port."
    what = error.strerror or str(error)
    return f"The server cannot listen on {host}, port {port}: {what}. Give --host an address of this machine."


def _find_password() -> tuple[str, bool]:
    """Return the password of the dashboard, and whether it was given in the environment."""
    given = os.environ.get(PASSWORD_VARIABLE, "").strip()
    if given and (weakness := find_weakness(given)):
        raise BadAddress(
            f"The password in {PASSWORD_VARIABLE} is easy to guess: {weakness}. Accepted are at least "
            f"{SHORTEST} characters, {FEWEST_DIFFERENT} of them different, neither digits only nor a word "
            "that everybody tries: four random words will do. Or set none: then one is drawn."
        )
    return (given, True) if given else (make_password(), False)


def open_checked(study: Study, wishes: Wishes, notes: list[str]) -> Store:
    """Return the open store, with the plan in it that goes with the study; raise where they do not."""
    known = _look_inside(study, wishes)
    changed = known is not None and known.hash != study.hash
    if known is not None and known.plan is not None:
        _refuse_gaps(study, known, known.plan)
    if known is not None and changed and known.visits:
        changes = find_changes(known.declared, study)
        if refused := refuse_names(changes, wishes.study_changed):
            raise BadStore(_say_changed(known, refused))
        notes.append(
            "the study changed while people were taking part; that is on record now:\n"
            + list_changes(changes)
        )
    plan = _find_plan(study, known, notes)
    return open_store(wishes.database, study, plan, allowed=wishes.study_changed)


@dataclass(frozen=True)
class _Known:
    database: str
    title: str
    hash: str
    visits: int
    plan: Plan | None
    declared: Mapping[str, Any]


def _look_inside(study: Study, wishes: Wishes) -> _Known | None:
    """Return what the database has of a study already, None where there is nothing."""
    try:
        store = open_store(wishes.database, study, create=False)
    except BadStore:
        return None  # nothing there; what is really wrong is found when it is opened to write
    with store:
        try:
            plan = store.plan()
        except BadStore:
            plan = None
        versions = store.study_versions()
        return _Known(
            store.database.name,
            store.study.title,
            store.study.hash,
            len(store.visits()),
            plan,
            versions[-1].declared if versions else {},
        )


def _refuse_gaps(study: Study, known: _Known, plan: Plan) -> None:
    """Raise BadStore where the database asks raters to judge what the study does not have.

    Before anybody came, the plan of the same study is simply made again.
    """
    if not known.visits and known.title == study.title:
        return
    if gaps := find_gaps(plan, study):
        raise BadStore(
            f"{known.database} collects {known.title!r} (visits so far: {known.visits}) by a plan that asks "
            f"for what this study does not have:\n{list_changes(gaps)}\nPut the old study file and outputs "
            "back, or collect into another database (--db). Nothing can allow this: raters would see empty "
            "pages."
        )


def _say_changed(known: _Known, refused: list[Change]) -> str:
    names = ",".join(dict.fromkeys(one.name for one in refused))
    return (
        f"The study file or its outputs changed after collecting began (visits so far: {known.visits}):\n"
        f"{list_changes(refused)}\nPut the old files back, or collect into another database (--db). Where "
        f"you mean it, allow by name what changed: --study-changed {names}. It is then recorded for ever."
    )


def _find_plan(study: Study, known: _Known | None, notes: list[str]) -> Plan | None:
    """Return the plan to enter; None where the one in the database is in force."""
    in_force = known.plan if known is not None else None
    fresh = known is None or not known.visits
    if not (study.folder / TABLE).exists():
        if in_force is not None and not (fresh and not _still_fits(in_force, study)):
            return None
        plan = plan_study(study)
        write_plan(plan, study.folder)
        notes.append(
            f"there was no plan, so one was made: {len(plan.raters)} raters, {TABLE} beside the study"
        )
        return plan
    plan = read_plan(study.folder)
    stale = plan.study_hash != study.hash and not _still_fits(plan, study)
    if in_force is not None and not (fresh and stale) and not find_moved(plan, in_force):
        return None  # the same, or it has grown since
    if stale and (fresh or find_gaps(plan, study)):
        raise BadPlan(
            f"{study.folder / TABLE} belongs to another study, or to this one before it was changed. Make it "
            f"again: panelist plan {study.folder}"
        )
    return plan


def _still_fits(plan: Plan, study: Study) -> bool:
    """Return whether the study would be planned so today: then whatever changed does not concern the plan."""
    if plan.study_hash == study.hash:
        return True
    try:
        today = deal_plan(study, len(plan.places), plan.seed, plan.trials)
    except BadDesign:
        return False
    return not find_moved(today, plan)


def _write_url(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def _absolute(database: str | None) -> str | None:
    """Return the database so that another process finds it, wherever that one stands."""
    return database if database is None or "://" in database else str(Path(database).resolve())
