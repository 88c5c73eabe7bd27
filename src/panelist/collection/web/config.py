"""What the web application is told when it starts: the study, the database, and how the world reaches it."""

import re
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from panelist.collection.web.extension import MakeExtension
from panelist.collection.web.passwords import PasswordHash, hash_password, make_password
from panelist.core.errors import PanelistError
from panelist.study.study import Study

ID_PARAMETERS = (
    "PROLIFIC_PID",
    "participantId",
    "participant_id",
    "workerId",
    "survey_code",
    "response_id",
    "id",
)
"""What panels call a person in their links: Prolific, CloudResearch Connect, SONA, Besample and others."""
PREFIX = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class BadAddress(PanelistError):
    """An address that the server cannot have, or that raters cannot open."""


@dataclass(frozen=True, kw_only=True)
class WebConfig:
    """What every process of the server knows. It can be pickled, so that new processes are told the same."""

    study: Path | Study
    """The study itself, so that every process has the same whatever becomes of its file; or the file."""
    database: str | None = None
    """A URL or a file; None is study.db beside the study."""
    password: PasswordHash = field(default_factory=lambda: hash_password(make_password()), repr=False)
    """What the password of the dashboard is compared with."""
    url: str = "http://127.0.0.1:8000"
    """The address under which raters and researchers reach the server."""
    hosts: tuple[str, ...] = LOOPBACK
    """The host names that requests may be meant for; none means any."""
    id_parameters: tuple[str, ...] = ID_PARAMETERS
    """The parameters of the open link that may hold a person's outside id; the first that is there counts."""
    group_parameter: str = "group"
    """The parameter of the open link that names the group."""
    joins_a_minute: int = 10
    """How many places one address may take by the open link in a minute, after four times as many at once;
    0 means any number."""
    sweep_seconds: float = 30.0
    """How often places that are held too long are looked for."""
    patience_seconds: float = 30.0
    """How long an answer waits for a database that is away before the page is told to try again."""
    extensions: tuple[MakeExtension, ...] = ()
    """What makes the pages that are added to the dashboard."""
    parent: int | None = None
    """The process that started this one; when it is gone, so is this one."""

    @property
    def host(self) -> str:
        """The host name of the public address, with its port."""
        return urlsplit(self.url).netloc.casefold()

    @property
    def prefix(self) -> str:
        """The path under which the pages are, such as ``/study``; empty at the root of their host."""
        return urlsplit(self.url).path.rstrip("/")

    @property
    def https(self) -> bool:
        """Whether the world reaches the server by https: cookies then travel by nothing else."""
        return self.url.startswith("https://")


def check_url(url: str) -> str:
    """Return the public address without a last slash, or raise BadAddress.

    >>> check_url("https://rate.example.org/")
    'https://rate.example.org'
    >>> check_url("https://example.org/rating/")
    'https://example.org/rating'
    """
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
    except ValueError:  # such as a bracket that does not close
        whole = False
    if not whole or PREFIX.fullmatch(parts.path.rstrip("/")) is None or parts.username is not None:
        raise BadAddress(
            f"{url!r} is no address for the pages. Give scheme and host, such as https://rate.example.org, "
            "and the path under which the pages are, if it is not the root of the host: "
            "https://example.org/rating."
        )
    return url.rstrip("/")


def check_proxy(proxy: str) -> str:
    """Return the address or the network of a proxy, or raise BadAddress.

    >>> check_proxy("172.16.0.0/12")
    '172.16.0.0/12'
    """
    try:
        network = ip_network(proxy)
    except ValueError:
        raise BadAddress(
            f"{proxy!r} is no address of a proxy. Give an IP address or a network, such as 10.0.0.7 or "
            "172.16.0.0/12."
        ) from None
    if network.prefixlen == 0:
        raise BadAddress(
            f"{proxy} is everybody: then raters could give themselves any address. Name the proxy alone."
        )
    return proxy


def find_hosts(bound: str, url: str | None) -> tuple[str, ...]:
    """Return the host names to answer to: any, where the server is open to a network under no known name."""
    if url is not None:
        return (*LOOPBACK, urlsplit(url).hostname or "")
    if f"[{bound}]" in LOOPBACK or bound in LOOPBACK:
        return LOOPBACK
    return () if bound in ("0.0.0.0", "::", "") else (*LOOPBACK, bound)
