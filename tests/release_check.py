"""``make release-check``: build wheel and source archive, and use the wheel where there is no repository.

``python -m tests.release_check --python python3.13`` does the same with another Python, and ``--lowest`` with
the oldest versions of the dependencies that pyproject.toml allows (uv resolves them).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGED = (
    "panelist/py.typed",
    "panelist/errors.md",
    "panelist/web/static/rate.css",
    "panelist/web/static/stix-two-math-license.txt",
    "panelist/study/templates",
    "dist-info/licenses/LICENSE",
    "dist-info/licenses/src/panelist/web/static/stix-two-math-license.txt",
)
SHIPPED = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "SECURITY.md",
    "src/panelist/py.typed",
)
FORMULA = "rating ~ system + (1 | rater) + (1 | item)"


def main() -> None:
    """Run every step; the first that fails ends the check with what it printed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", default=sys.executable, help="the Python that the wheel is installed for")
    parser.add_argument("--lowest", action="store_true", help="the oldest dependencies allowed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="panelist-release-") as name:
        folder = Path(name)
        wheel = build(folder / "dist")
        bin_folder = install(wheel, folder / "venv", options.python, lowest=options.lowest)
        use(bin_folder, folder / "home")
        uninstall(bin_folder)
    print("The release holds.")


def build(target: Path) -> Path:
    """Build wheel and source archive, look into both, and return the wheel."""
    run([sys.executable, "-m", "hatchling", "build", "--directory", str(target)], ROOT)
    (wheel,), (source,) = target.glob("*.whl"), target.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as opened:
        inside = opened.namelist()
    for part in PACKAGED:
        require(any(part in entry for entry in inside), f"{wheel.name} lacks {part}")
    foreign = {entry.split("/")[0] for entry in inside} - {
        "panelist",
        f"{wheel.name.split('-py3')[0]}.dist-info",
    }
    require(not foreign, f"{wheel.name} holds what is not the package: {sorted(foreign)}")
    with tarfile.open(source) as archive:
        kept = {entry.partition("/")[2] for entry in archive.getnames()}
    for part in SHIPPED:
        require(part in kept, f"{source.name} lacks {part}")
    version = wheel.name.split("-")[1]
    for file, pattern in (("CHANGELOG.md", rf"^## {version}\b"), ("CITATION.cff", rf"^version: {version}$")):
        found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
        require(found is not None, f"{file} does not name version {version}")
    print(f"Built {wheel.name} ({wheel.stat().st_size / 1e6:.1f} MB, {len(inside)} files) and {source.name}")
    return wheel


def install(wheel: Path, venv: Path, python: str, *, lowest: bool) -> Path:
    """Install the wheel into an empty environment; return the folder of its commands."""
    run([python, "-m", "venv", str(venv)], venv.parent)
    commands = venv / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(commands / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    if lowest:
        run([*pip, "uv"], venv.parent)
        uv = [str(commands / "uv"), "pip", "install", "-q", "--python", str(commands / "python")]
        oldest = ["--resolution", "lowest-direct", "--only-binary", ":all:"]
        run([*uv, *oldest, "-r", str(ROOT / "pyproject.toml")], venv.parent)  # of a wheel, none is direct
        run([*uv, "--no-deps", str(wheel)], venv.parent)
    else:
        run([*pip, str(wheel)], venv.parent)
    listed = json.loads(
        run([*pip[:3], "list", "--format", "json", "--disable-pip-version-check"], venv.parent)
    )
    versions = {entry["name"].lower(): entry["version"] for entry in listed}
    shown = ", ".join(
        f"{name} {versions[name]}" for name in ("panelist", "numpy", "scipy", "pandas", "numba")
    )
    print(f"Installed for {run([str(commands / 'python'), '--version'], venv.parent).strip()}: {shown}")
    return commands


def use(commands: Path, home: Path) -> None:
    """Run the demo, a fit of its ratings, a report and a server, from an empty folder."""
    home.mkdir()
    panelist = str(commands / "panelist")
    started = time.monotonic()
    run([panelist, "demo", "--output", "demo"], home)
    require((home / "demo" / "report.html").stat().st_size > 50_000, "the demo wrote no report")
    print(f"panelist demo: {time.monotonic() - started:.0f} s, compiling included")
    fit = [panelist, "fit", "demo/ratings.csv", "--criterion", "fluency", "--formula", FORMULA, "--json"]
    fitted = json.loads(run(fit, home))
    require(fitted["converged"] and len(fitted["coefficients"]) == 2, f"an odd fit: {fitted}")
    print(f"panelist fit: converged, log-likelihood {fitted['loglik']:.4f}")
    page = lead(panelist, home)
    require(Path(page).is_file(), f"an error leads to {page}, which is not installed")
    print("an error leads to errors.md, as installed")
    run([panelist, "init", "mine", "--template", "likert"], home)
    run([panelist, "plan", "mine"], home)
    print(f"panelist serve: {serve([panelist, 'serve', 'mine', '--port', '0'], home)}")


def lead(panelist: str, home: Path) -> str:
    """Return the page to which an error leads."""
    done = subprocess.run(
        [panelist, "fit", "nosuch.csv", "--formula", FORMULA],
        cwd=home, env=clean(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = re.search(r"^More: (.*)#bad-file$", done.stderr, re.MULTILINE)
    require(done.returncode == 2 and found is not None, f"an odd error: {done.returncode} {done.stderr}")
    return found[1] if found else ""


def serve(command: list[str], home: Path) -> str:
    """Start the server, ask for its health and its first page, stop it; return what it answered."""
    log = home / "serve.log"
    environment = clean() | {"PANELIST_PASSWORD": "an-example-of-a-long-password"}
    with log.open("w") as out:
        server = subprocess.Popen(command, cwd=home, env=environment, stdout=out, stderr=subprocess.STDOUT)
        try:
            base = ""
            for _ in range(600):
                found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
                if found:
                    base = found[0]
                    break
                require(server.poll() is None, f"the server ended: {log.read_text()}")
                time.sleep(0.1)
            require(bool(base), f"the server named no address: {log.read_text()}")
            health, page = ask(f"{base}/health"), ask(f"{base}/join")
        finally:
            server.terminate()
            server.wait(30)
    require("<html" in page, f"no page for raters: {page[:200]}")
    return (
        f"healthy ({health.strip()[:60]}), a page of {len(page):,} characters, ended with {server.returncode}"
    )


def ask(address: str) -> str:
    """Return the body of a page on this machine, asked for until the server answers."""
    for attempt in range(50):
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:
                return str(answer.read().decode())
        except OSError:
            if attempt == 49:
                raise
            time.sleep(0.2)
    raise AssertionError


def uninstall(commands: Path) -> None:
    """Uninstall the package, and see that nothing of it stays."""
    run([str(commands / "python"), "-m", "pip", "uninstall", "-qq", "-y", "panelist"], commands)
    left = [str(path) for path in commands.parent.rglob("panelist*") if "pip" not in path.parts]
    require(not left, f"uninstalling leaves {left[:5]}")
    print("pip uninstall: nothing stays")


def run(command: list[str], folder: Path) -> str:
    """Run a command in ``folder`` without this repository on the path; return what it printed."""
    done = subprocess.run(command, cwd=folder, env=clean(), capture_output=True, text=True, check=False)
    require(done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    if Path(command[0]).stem == "panelist":
        require("Warning: " not in done.stderr, f"{' '.join(command)} warns\n{done.stderr[-3000:]}")
    return done.stdout


def clean() -> dict[str, str]:
    """Return the environment without what points to this repository or its compiled code."""
    mine = ("PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if name not in mine}


def require(holds: bool, otherwise: str) -> None:
    """End the check where something does not hold."""
    if not holds:
        sys.exit(f"The release check failed: {otherwise}")


if __name__ == "__main__":
    main()
