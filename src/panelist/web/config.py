"""The configuration of the web application: the study, the database, and its public address."""

from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from panelist.collection.addresses import BadAddress
from panelist.core.prose import list_words
from panelist.study.study import Study
from panelist.web.dashboard.passwords import PasswordHash, hash_password, make_password

ID_PARAMETERS = list_words("PROLIFIC_PID participantId participant_id workerId survey_code response_id id")
"""What panels call a person in their links: Prolific, CloudResearch Connect, SONA, Besample and others."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, kw_only=True)
class WebConfig:
    """What every process of the server knows. It can be pickled, so that new processes get the same."""

    study: Path | Study
    """The study itself, so that every process has the same whatever happens to its file; or the file."""
    database: str | None = None
    """A URL or a file; None is study.db beside the study."""
    password: PasswordHash = field(default_factory=lambda: hash_password(make_password()), repr=False)
    """What the password of the dashboard is compared with."""
    url: str = "http://127.0.0.1:8000"
    """The address under which raters and researchers reach the server."""
    hosts: tuple[str, ...] = LOOPBACK
    """The host names that requests may be meant for; none means any."""
    id_parameters: tuple[str, ...] = ID_PARAMETERS
    """The parameters of the open link that may hold a person's outside id; the first that exists counts."""
    group_parameter: str = "group"
    """The parameter of the open link that names the group."""
    joins_a_minute: int = 10
    """How many places one address may take by the open link in a minute, after four times as many at once;
    0 means any number."""
    sweep_seconds: float = 30.0
    """How often to look for places that are held too long."""
    patience_seconds: float = 30.0
    """How long an answer waits for an unavailable database before the page is asked to try again."""
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
        """Whether the server is reached over https: cookies are then sent over https only."""
        return self.url.startswith("https://")


def check_proxy(proxy: str) -> str:
    """Return the address or the network of a proxy, or raise BadAddress.

    >>> check_proxy("172.16.0.0/12")
    '172.16.0.0/12'
    """
    try:
        network = ip_network(proxy)
    except ValueError:
        raise BadAddress(
            f"{proxy!r} is not the address of a proxy. Give an IP address or a network, such as 10.0.0.7 or "
            "172.16.0.0/12."
        ) from None
    if network.prefixlen == 0:
        raise BadAddress(
            f"{proxy} covers everybody: then raters could give themselves any address. Name only the proxy."
        )
    return proxy


def find_hosts(bound: str, url: str | None) -> tuple[str, ...]:
    """Return the host names to answer to: any, where the server is open to a network under no known name."""
    if url is not None:
        return (*LOOPBACK, urlsplit(url).hostname or "")
    if f"[{bound}]" in LOOPBACK or bound in LOOPBACK:
        return LOOPBACK
    return () if bound in ("0.0.0.0", "::", "") else (*LOOPBACK, bound)
