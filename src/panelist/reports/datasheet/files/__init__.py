"""Datasheets as files: the form's JSON, HTML, LaTeX, Markdown."""
