"""What mkdocs needs to know of this repository: pages that lie outside docs/ and are part of the site.

A hook of mkdocs (``hooks:`` in mkdocs.yml). In the repository a page links to ``../examples/…`` and
``../CONTRIBUTING.md``; in the site these are pages too, so that no link leads out of it.
"""

import re
from pathlib import Path
from posixpath import normpath, relpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)\s#]+)")


def find_outside() -> dict[str, str]:
    """Return the pages outside docs/: where they lie in the repository, and where in the site."""
    pages = {"CONTRIBUTING.md": "contributing.md"}
    readmes = sorted((ROOT / "examples").glob("*/README.md"))
    notebooks = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))  # to download
    pages |= {f"examples/notebooks/{path.name}": f"examples/notebooks/{path.name}" for path in notebooks}
    return pages | {
        f"examples/{path.parent.name}/README.md": f"examples/{path.parent.name}.md" for path in readmes
    }


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Return the files of the site, with those from outside docs/."""
    from mkdocs.structure.files import File, InclusionLevel

    for source, target in find_outside().items():
        text = (ROOT / source).read_text("utf-8")
        level = InclusionLevel.INCLUDED if target == "contributing.md" else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, target, content=text, inclusion=level))
    return files


def on_page_markdown(markdown: str, page: "Page", config: "MkDocsConfig", files: "Files") -> str:
    """Return a page with its links as they go in the site."""
    return lead_inside(markdown, page.file.src_uri)


def lead_inside(markdown: str, name: str) -> str:
    """Return the text of a page of the site with links to other pages of the site.

    >>> lead_inside("[a](../CONTRIBUTING.md) [b](power.md#x)", "index.md")
    '[a](contributing.md) [b](power.md#x)'
    """
    inside = find_outside()
    homes = {target: source for source, target in inside.items()}
    here = homes.get(name, f"docs/{name}")  # where the page lies in the repository

    def lead(match: re.Match[str]) -> str:
        place = normpath(f"{Path(here).parent.as_posix()}/{match[1]}")
        target = inside.get(place, place.removeprefix("docs/") if place.startswith("docs/") else None)
        if target is None:
            return match[1]
        return relpath(target, Path(name).parent.as_posix() or ".")

    return LINK.sub(lead, markdown)
