"""What an archive was made with: the versions of Python, of panelist, and of everything that it needs."""

import platform
import re
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?[^;]*(?:;(.*))?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


def describe_environment() -> dict[str, Any]:
    """Return Python, the kind of machine, and every installed package that panelist needs, with versions."""
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "machine": platform.machine(),
        "packages": list_packages(),
    }


def list_packages(root: str = "panelist") -> dict[str, str]:
    """Return the version of a package and of every package that it needs, and they need, as installed."""
    found: dict[str, str] = {}
    seen = set[tuple[str, frozenset[str]]]()
    waiting: list[tuple[str, frozenset[str] | None]] = [(root, None)]
    while waiting:
        name, extras = waiting.pop()
        key = (_plain(name), extras or frozenset())
        if key in seen:
            continue
        seen.add(key)
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # another system's package, or an extra that nobody installed
        found[_plain(name)] = package.version
        for text in package.requires or ():
            if needed := _read_requirement(text, extras):
                waiting.append(needed)
    return dict(sorted(found.items()))


def write_requirements(packages: dict[str, str]) -> str:
    """Return the versions as pip reads them."""
    return "".join(f"{name}=={version}\n" for name, version in packages.items())


def _read_requirement(text: str, extras: frozenset[str] | None) -> tuple[str, frozenset[str]] | None:
    """Return the package and its extras; None where it belongs to an extra that was not asked for.

    ``extras`` None asks for all: they are ours, and what is installed of them may have been used.
    """
    found = _REQUIREMENT.match(text)
    if found is None:
        return None
    wanted = _EXTRA.findall(found[3] or "")
    if wanted and extras is not None and not {_plain(one) for one in wanted} & extras:
        return None
    return found[1], frozenset(_plain(one.strip()) for one in (found[2] or "").split(",") if one.strip())


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
