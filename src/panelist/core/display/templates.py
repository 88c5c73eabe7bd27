"""How every page of HTML is made from a template: all text escaped, a missing name an error."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def make_environment(folder: Path) -> Environment:
    """Return the templates of a folder; each is compiled when first used, and kept."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
