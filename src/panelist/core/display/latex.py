"""Text made safe for LaTeX."""

import re
from collections.abc import Sequence

from panelist.core.display.formats import is_interval

_GREEK = {
    "α": r"$\alpha$", "β": r"$\beta$", "γ": r"$\gamma$", "δ": r"$\delta$", "ε": r"$\varepsilon$",
    "η": r"$\eta$", "θ": r"$\theta$", "κ": r"$\kappa$", "λ": r"$\lambda$", "μ": r"$\mu$", "π": r"$\pi$",
    "ρ": r"$\rho$", "σ": r"$\sigma$", "τ": r"$\tau$", "φ": r"$\varphi$", "χ": r"$\chi$", "ω": r"$\omega$",
    "Δ": r"$\Delta$", "Σ": r"$\Sigma$", "Φ": r"$\Phi$",
}  # fmt: skip
_SIGNS = {
    "−": "$-$", "–": "--", "—": "---", "…": r"\ldots{}", "∞": r"$\infty$", "×": r"$\times$", "±": r"$\pm$",
    "·": r"$\cdot$", "≤": r"$\leq$", "≥": r"$\geq$", "≈": r"$\approx$", "≠": r"$\neq$",
    "²": "$^2$", "→": r"$\to$",
}  # fmt: skip
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$",
    "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # At the start of a row \\ would take these as its own arguments.
    "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
_TABLE = str.maketrans(_GREEK | _SIGNS | _SPECIAL)


LONG_TEXT, SHORT_TEXT = 45, 18
"""A cell with more letters breaks into lines; a column is at least as wide as the other number of them."""


def latex(text: str) -> str:
    r"""Return the text so that LaTeX prints it as it is and executes nothing in it.

    Runs of white space become one space: an empty line inside a table would be an error.

    >>> print(latex(r"50 % of system_a & {\input}"))
    50 \% of system\_a \& \{\textbackslash{}input\}
    """
    blank = re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", " ", text)
    return blank.translate(_TABLE)


def latex_number(text: str) -> str:
    """Return a written number, with a minus sign rather than a hyphen.

    >>> latex_number("-0.25"), latex_number("0.1 to 0.2"), latex_number("< 0.001")
    ('$-$0.25', '0.1 to 0.2', '\\\\textless{} 0.001')
    """
    return latex(re.sub(r"(?<![\w.])-(?=[\d∞.])", "−", text))


def latex_cell(text: str, align: str) -> str:
    """Return a cell of a table: a number or an interval has minus signs, a name keeps its hyphens.

    >>> latex_cell("-1.71 to 1.13 *prior*", "left"), latex_cell("gpt-4", "left")
    ('$-$1.71 to 1.13 {*}prior{*}', 'gpt-4')
    """
    return latex_number(text) if align == "right" or is_interval(text) else latex(text)


def is_wordy(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a table holds texts that a line of a page cannot hold beside each other."""
    return any(len(text) > LONG_TEXT for row in rows for text in row)


def long_table(caption: str, label: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Return a table of texts: lines break in its cells, pages between its rows.

    The preamble must have ``\usepackage{array,booktabs,longtable}``.
    """
    weights = [
        max(SHORT_TEXT, min(LONG_TEXT, max(map(len, cells)))) for cells in zip(header, *rows, strict=True)
    ]
    room = (1 - 0.036 * (len(header) - 1)) / sum(weights)  # of the line; the rest is between columns
    columns = "".join(
        rf">{{\raggedright\arraybackslash}}p{{{room * weight:.3f}\linewidth}}" for weight in weights
    )
    head = [" & ".join(map(latex, header)) + r" \\", r"\midrule"]
    lines = [r"{\small", rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}"]
    lines += [rf"\caption{{{latex(caption)}.}}\label{{{label}}} \\", r"\toprule", *head, r"\endfirsthead"]
    lines += [r"\toprule", *head, r"\endhead", r"\bottomrule", r"\endlastfoot"]
    lines += [" & ".join(map(latex, row)) + r" \\" for row in rows]
    return "\n".join([*lines, r"\end{longtable}", "}", ""])
