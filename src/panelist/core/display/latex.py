"""Text made safe for LaTeX."""

import re

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
