"""The style sheets of pages that need no other file: the report's, and what a page adds to it."""

from importlib.resources import files

REPORT = ("panelist.web", "static", "tokens.css"), ("panelist.reports", "report", "templates", "report.css")


def read_styles(*more: tuple[str, ...]) -> str:
    """Return the style sheets of the report and ``more`` (package, folders, name), one after the other."""
    return "\n".join(_read(*place) for place in (*REPORT, *more))


def _read(package: str, *names: str) -> str:
    path = files(package)
    for name in names:
        path = path / name
    return path.read_text(encoding="utf-8")
