"""How results show themselves: numbers, tables, LaTeX and Markdown."""
