"""What one client can do to the others: half requests by the thousand, and an answer changed without end."""

import re
import socket
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import httpx

from bench.report import Options, Section, say
from panelist.collection.monitor.actions import Researcher
from panelist.collection.monitor.plan_facts import count_plan
from panelist.collection.store.operations.saving import MOST_REVISIONS
from panelist.collection.store.store import open_store
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Table
from panelist.design.make import plan_study
from panelist.study.reading.load import load_study
from panelist.web.connections import BODY_SECONDS, HEAD_SECONDS
from tests.web.servers import Command, make_study, serve_command
from tests.web.walking import Walker

HEADS, BODIES, BODY_BYTES = 5000, 3000, 200_000
PLACES, MORE_PLACES = 20_000, 60
HALF_A_HEAD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
BEGIN_BODY = "POST /r/{token}/page HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n\r\n"
BIG = """\
title: A study of many
criteria:
  - {{name: fluency, question: How fluent is it, scale: {{type: likert, points: 5}}}}
design: {{type: latin-square, trials_per_rater: 20}}
raters: {{count: {places}}}
practice:
  items:
    - {{output: We opens on nine., right: {{fluency: ["1", "2"]}}, why: It is broken English}}
checks:
  items:
    - {{kind: instructed, text: Choose 2, answers: {{fluency: "2"}}}}
    - {{kind: repeat}}
"""


@dataclass(frozen=True)
class Attack:
    """One kind of abuse: what was opened, what was open after the deadlines, what others met meanwhile."""

    name: str
    opened: int
    kept: int
    memory: float
    """The most that the server took, in MB."""
    memory_before: float
    milliseconds: float


@dataclass(frozen=True)
class Abuse(Section):
    """The attacks, and what takes long by its nature."""

    attacks: tuple[Attack, ...]
    first_save: float
    last_save: float
    more_places: float

    def title(self) -> str:
        """Return the heading."""
        return "Abuse"

    def parts(self) -> list[Part]:
        """Return the table."""
        header = (
            "what",
            "opened",
            "open after the deadline",
            "memory before, MB",
            "most, MB",
            "honest request, ms",
        )
        rows = [
            (one.name, one.opened, one.kept, one.memory_before, one.memory, one.milliseconds)
            for one in self.attacks
        ]
        formats = {name: decimals(0) for name in header[1:5]} | {"what": TEXT, header[5]: decimals(1)}
        note = (
            f"One answer changed {MOST_REVISIONS} times: {1000 * self.first_save:.1f} ms to save at first, "
            f"{1000 * self.last_save:.1f} ms at last. {MORE_PLACES} more places in a plan of {PLACES:,}: "
            f"{self.more_places:.1f} s of one core, until the dashboard has counted the new plan."
        )
        return [Table("One client against one server, loopback", header, rows, formats, note)]


def measure(options: Options) -> Abuse:
    """Return what was measured on a server of its own."""
    with tempfile.TemporaryDirectory(prefix="panelist-bench-") as place:
        folder = make_study(Path(place) / "study")
        with serve_command(folder, "--join-limit", "0") as command:
            say("half requests …")
            attacks = (
                attack(command, "heads that do not end", HEADS, HALF_A_HEAD),
                attack(command, "bodies that do not end", BODIES, _make_body()),
            )
            say("changes of mind …")
            first, last = change_mind(command, folder)
        say("more places …")
        return Abuse(attacks, first, last, add_places(Path(place) / "big"))


def attack(command: Command, name: str, count: int, begin: bytes) -> Attack:
    """Open so many connections that send half a request; return what came of it."""
    process, parts = command.process.pid, urlsplit(command.url)
    before, most, times = read_memory(process), 0.0, []
    opened = []
    with httpx.Client(base_url=command.url, timeout=60) as honest:
        for number in range(count):
            one = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10)
            one.setblocking(False)
            _send_some(one, begin)
            opened.append(one)
            if number % 100 == 99:
                began = time.perf_counter()
                assert honest.get("/health").status_code == 200
                times.append(time.perf_counter() - began)
                most = max(most, read_memory(process))
        most = max(most, read_memory(process))
        time.sleep(1.5 * max(HEAD_SECONDS, BODY_SECONDS) + 5.0)
    kept = sum(_is_open(one) for one in opened)
    for one in opened:
        one.close()
    return Attack(name, count, kept, most, before, 1000 * median(times))


def change_mind(command: Command, folder: Path) -> tuple[float, float]:
    """Change one answer as often as is kept; return the seconds of a save at first and at last."""
    times = []
    with httpx.Client(base_url=command.url, timeout=60) as client:
        walker = Walker(client, load_study(folder)).join()
        for _ in walker.walk(until="1-1"):
            pass
        for number in range(MOST_REVISIONS):
            began = time.perf_counter()
            assert walker.answer("1-1", "c1p1", str(1 + number % 5), f"key-{number:05}").status_code == 200
            times.append(time.perf_counter() - began)
    return median(times[:50]), median(times[-50:])


def add_places(folder: Path) -> float:
    """Return the seconds of one core that more places in a large plan cost, and counting them after that."""
    folder.mkdir()
    rows = [f"i{item},{system},text {item} by {system}" for item in range(1, 201) for system in "abcd"]
    (folder / "outputs.csv").write_text("\n".join(["item,system,output", *rows, ""]), encoding="utf-8")
    (folder / "study.yaml").write_text(BIG.format(places=PLACES), encoding="utf-8")
    study = load_study(folder)
    with open_store(None, study, plan_study(study)) as store:
        began = time.process_time()
        Researcher("a measurement", store, study).open_places(MORE_PLACES)
        assert len(count_plan(store.plan(), study).places) == PLACES + MORE_PLACES
        return time.process_time() - began


def read_memory(process: int) -> float:
    """Return what a process takes, in MB; 0 where the system does not say."""
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found[1]) / 1024 if found else 0.0


def _make_body() -> bytes:
    head = BEGIN_BODY.format(token="A" * 26, length=BODY_BYTES + 1)
    return head.encode() + b"x" * BODY_BYTES


def _send_some(one: socket.socket, data: bytes) -> None:
    """Send what the system takes at once; the rest is not needed."""
    while data:
        try:
            data = data[one.send(data) :]
        except (BlockingIOError, ConnectionError):
            return


def _is_open(one: socket.socket) -> bool:
    try:
        one.recv(4096)  # a reply or the end: either says that it is over
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False
