"""Servers for the load tests: ours in a process of its own, and whatever else answers on a port."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_connection, socket

SERVE = "import typer; from panelist.cli.serve import serve; typer.run(serve)"
START_SECONDS = 120.0


def find_port() -> int:
    """Return a port that is free on the loopback address."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def run_server(command: list[str], port: int, folder: Path) -> Iterator[int]:
    """Run a command until it listens on the port; give its process id, and end it afterwards."""
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, start_new_session=True)
    try:
        _wait(process, port, log)
        yield process.pid
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def find_command(study: Path, port: int) -> list[str]:
    """Return the command that serves a study to as many as come."""
    return [sys.executable, "-c", SERVE, str(study), "--port", str(port), "--join-limit", "0"]


def read_cpu_seconds(process: int) -> float:
    """Return the processor time of a process and its ended children so far; nan where the system hides it."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def _wait(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(
        f"The server did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-2000:]}"
    )
