"""A preregistration as a file: Markdown, HTML, LaTeX or JSON, by the end of its name."""

import json
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

from panelist.core.display.latex import latex
from panelist.core.display.markdown import markdown
from panelist.core.errors import BadFile
from panelist.core.files import check_target, replace_file
from panelist.reports.preregistration.declare import (
    Entry,
    FilledForm,
    Preregistration,
    show_answer,
    tell_where,
)

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;"
    "background:#fff}h3{margin:1.2em 0 .2em}p{margin:.2em 0}.open{color:#8a3b00}code{overflow-wrap:anywhere}"
    "@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}.open{color:#ffb27a}}"
)


def draw_markdown(made: Preregistration) -> str:
    """Return it as Markdown."""
    lines = [f"# {markdown(made.title())}", ""]
    lines += [
        f"- {name}: `{text}`" if name != "reason" else f"- {name}: {markdown(text)}"
        for name, text in made.facts()
    ]
    for form in made.forms:
        lines += ["", f"## {form.title}", "", f"<{form.source}>"]
        for section, entry in _walk(form):
            lines += ["", f"### {section}"] if section else []
            lines += ["", f"#### {markdown(entry.heading)}", "", markdown(show_answer(entry))]
    if made.open_topics:
        lines += ["", "## Open", ""]
        lines += [f"- {topic}: {markdown(tell_where(topic))}" for topic in made.open_topics]
    return "\n".join(lines) + "\n"


def draw_html(made: Preregistration) -> str:
    """Return it as one page that needs no other file."""
    title = escape(made.title())
    lines = ["<!doctype html>", '<html lang="en">', '<head><meta charset="utf-8">']
    lines += ['<meta name="viewport" content="width=device-width, initial-scale=1">']
    lines += [
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style></head>",
        "<body><main>",
        f"<h1>{title}</h1>",
    ]
    lines += [
        "<ul>",
        *(f"<li>{name}: <code>{escape(text)}</code></li>" for name, text in made.facts()),
        "</ul>",
    ]
    for form in made.forms:
        lines += [f"<h2>{escape(form.title)}</h2>"]
        lines += [f'<p><a href="{escape(form.source)}">{escape(form.source)}</a></p>']
        for section, entry in _walk(form):
            lines += [f"<h3>{escape(section)}</h3>"] if section else []
            tone = "" if entry.answer or entry.optional else ' class="open"'
            lines += [f"<h4>{escape(entry.heading)}</h4>", f"<p{tone}>{escape(show_answer(entry))}</p>"]
    if made.open_topics:
        lines += ["<h2>Open</h2>", "<ul>"]
        lines += [f"<li>{escape(topic)}: {escape(tell_where(topic))}</li>" for topic in made.open_topics]
        lines += ["</ul>"]
    return "\n".join([*lines, "</main></body>", "</html>"]) + "\n"


def draw_latex(made: Preregistration) -> str:
    """Return it as LaTeX for an appendix: sections, and no preamble."""
    lines = [rf"\section{{{latex(made.title())}}}", r"\begin{description}"]
    lines += [rf"\item[{latex(name)}] {latex(text)}" for name, text in made.facts()]
    lines += [r"\end{description}"]
    for form in made.forms:
        lines += [rf"\subsection{{{latex(form.title)}}}", rf"\texttt{{{latex(form.source)}}}"]
        for section, entry in _walk(form):
            lines += [rf"\subsubsection{{{latex(section)}}}"] if section else []
            lines += [rf"\paragraph{{{latex(entry.heading)}}} {latex(show_answer(entry))}"]
    return "\n".join(lines) + "\n"


def draw_json(made: Preregistration) -> str:
    """Return it as JSON."""
    return json.dumps(made.to_dict(), ensure_ascii=False, indent=2) + "\n"


WRITERS: dict[str, Callable[[Preregistration], str]] = {
    ".md": draw_markdown,
    ".html": draw_html,
    ".htm": draw_html,
    ".tex": draw_latex,
    ".json": draw_json,
}


def find_writer(path: Path) -> Callable[[Preregistration], str]:
    """Return what draws a file of this name, or say which endings there are."""
    check_target(path, "preregistration", WRITERS)
    if path.name == "preregistration.json":
        raise BadFile(
            "preregistration.json is where declarations are kept; choose another name for the file."
        )
    return WRITERS[path.suffix.casefold()]


def write_preregistration(made: Preregistration, path: Path) -> None:
    """Write it into a file whose ending determines the format."""
    replace_file(path, find_writer(path)(made))


def _walk(form: FilledForm) -> Iterator[tuple[str, Entry]]:
    """Yield each entry with the name of its section where a new one begins."""
    last = ""
    for entry in form.entries:
        yield (entry.section if entry.section != last else ""), entry
        last = entry.section
