"""The families of ordinal models by name: ours, and what other packages call them."""

from panelist.core.errors import UnknownName, did_you_mean

FAMILIES = ("cumulative", "sequential", "adjacent")
ELSEWHERE = {
    **dict.fromkeys(("cumulative logit", "po", "polr", "proportional odds", "clm", "ordered"), "cumulative"),
    **dict.fromkeys(
        ("sratio", "stopping", "stopping ratio", "cratio", "continuation", "continuation ratio"), "sequential"
    ),
    **dict.fromkeys(("acat", "adjacent category", "partial credit", "pcm"), "adjacent"),
}
"""What the families are called in VGAM, brms and elsewhere."""


def name_family(word: str) -> str:
    """Return what a family of another package is called here, in a sentence; empty where it is unknown.

    >>> name_family("acat")
    "That is family='adjacent', with link='logit'."
    """
    family = ELSEWHERE.get(word.strip().lower().replace("_", " ").replace("-", " "), "")
    also = ", with link='logit'" if family == "adjacent" else ""
    turned = word.lower().startswith("c") and family == "sequential"
    loglog = "; its cloglog is link='loglog' here" if turned else ""
    return f"That is family={family!r}{also}{loglog}." if family else ""


def check_family(word: str) -> None:
    """Raise UnknownName for a family that there is not."""
    if word not in FAMILIES:
        raise UnknownName(
            f"No family is called {word!r}. {name_family(word) or did_you_mean(word, FAMILIES)}"
        )
