"""A PostgreSQL server of the tests' own, in a temporary folder and reached by a socket there."""

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
from sqlalchemy.engine import make_url

from tests.patience import PATIENCE

ASKED_FOR = "PANELIST_TEST_DB"
PLACES = ("/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin")


def find_programs() -> Path | None:
    """Return the folder of initdb and pg_ctl, if PostgreSQL is installed."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    for pattern in PLACES:
        for folder in sorted(Path("/").glob(pattern.lstrip("/")), reverse=True):
            if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
                return folder
    return None


class Server:
    """A server that can be stopped and started again; ``url(name)`` leads to one of its databases."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="panelist-pg-"))  # short: it holds a socket
        self.data = self.folder / "data"
        self._as: list[str] = []
        if os.geteuid() == 0:  # initdb refuses to run as root
            owner = pwd.getpwnam("postgres")
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            self._as = ["runuser", "-u", "postgres", "--"]
        self._run("initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "--no-sync")
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = f"-c listen_addresses='' -k {self.folder} -c fsync=off -c max_connections=60"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.data), "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        """Stop the server at once: whoever is connected is cut off."""
        self._run("pg_ctl", "-D", str(self.data), "-w", "-m", "immediate", "stop")

    def url(self, name: str = "postgres") -> str:
        """Return the address of a database."""
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def remove(self) -> None:
        """Stop the server and remove its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as, str(self.programs / program), *arguments]
        subprocess.run(command, check=True, cwd=self.folder, stdout=subprocess.DEVNULL, timeout=PATIENCE)


def make_database(url: str) -> str:
    """Return the address of a new, empty database beside the one at ``url``."""
    name = f"panelist_{secrets.token_hex(6)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def drop_database(url: str) -> None:
    """Remove a database that ``make_database`` made."""
    whole = make_url(url)
    beside = whole.set(database="postgres").render_as_string(hide_password=False)
    with psycopg.connect(beside, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {whole.database} WITH (FORCE)".encode())
