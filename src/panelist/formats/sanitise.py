"""The one list of what may come out of a format that reads markup; all else is dropped after rendering.

Nothing on it acts, fetches, links or styles: no ``style``, ``href``, ``src``, ``id`` or ``on…``. What a page
needs to know of a text (that a column of a table is aligned) is said by classes from a closed list.
"""

import re

import nh3
from markupsafe import Markup

TEXT_TAGS = frozenset(
    (
        *("p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "strong", "em", "s"),
        *("code", "pre", "figure", "figcaption", "table", "thead", "tbody", "tr", "th", "td"),
        *("div", "span", "bdi"),
    )
)
# MathML Core (https://www.w3.org/TR/mathml-core/) without what acts or embeds, and menclose, which style
# sheets draw.
MATH_TAGS = frozenset(
    (
        *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot"),
        *("msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts"),
        *("mtable", "mtr", "mtd", "mpadded", "mphantom", "mstyle", "menclose"),
    )
)
TAGS = TEXT_TAGS | MATH_TAGS

CLASSES: dict[str, frozenset[str]] = {
    "div": frozenset(("prose", "scroller", "formula")),
    "span": frozenset(("scroller", "formula", "k", "c")),
    "figure": frozenset(("code-block",)),
    "ol": frozenset(f"digits-{n}" for n in range(2, 10)),
    "th": frozenset(("start", "middle", "end")),
    "td": frozenset(("start", "middle", "end")),
    "mtd": frozenset(
        ("left", "right", "tight-left", "tight-right", "gap", "rule-left", "rule-right", "rule-top")
    ),
}
_TRUTH = frozenset(("true", "false"))
VALUES: dict[str, dict[str, frozenset[str]]] = {
    **{tag: {"dir": frozenset(("auto", "ltr"))} for tag in TEXT_TAGS - {"br"}},
    "div": {"dir": frozenset(("auto", "ltr")), "role": frozenset(("region",)), "tabindex": frozenset("0")},
    "span": {"role": frozenset(("region",)), "tabindex": frozenset("0")},
    "pre": {"dir": frozenset(("ltr",)), "role": frozenset(("region",)), "tabindex": frozenset("0")},
    "th": {"dir": frozenset(("auto",)), "scope": frozenset(("col",))},
    "math": {"display": frozenset(("block",)), "dir": frozenset(("ltr",))},
    "mi": {"mathvariant": frozenset(("normal",))},
    "mo": {
        "form": frozenset(("prefix", "infix", "postfix")),
        **dict.fromkeys(("stretchy", "symmetric", "largeop", "movablelimits", "fence", "separator"), _TRUTH),
    },
    "mover": {"accent": _TRUTH},
    "munder": {"accentunder": _TRUTH},
    "munderover": {"accent": _TRUTH, "accentunder": _TRUTH},
    "mfrac": {"displaystyle": _TRUTH, "linethickness": frozenset(("0",))},
    "mtable": {"displaystyle": _TRUTH, "scriptlevel": frozenset("012")},
    "mstyle": {"displaystyle": _TRUTH, "scriptlevel": frozenset("012")},
    "mrow": {"displaystyle": _TRUTH, "scriptlevel": frozenset("012")},
    "menclose": {
        "notation": frozenset(
            ("box", "updiagonalstrike", "downdiagonalstrike", "updiagonalstrike downdiagonalstrike")
        )
    },
}
ATTRIBUTES: dict[str, frozenset[str]] = {
    "ol": frozenset(("start",)),
    "div": frozenset(("aria-label",)),
    "span": frozenset(("aria-label",)),
    "pre": frozenset(("aria-label",)),
    "mo": frozenset(("lspace", "rspace", "minsize", "maxsize")),
    "mspace": frozenset(("width", "height", "depth")),
    "mpadded": frozenset(("width", "height", "depth")),
}
_CLOSED: dict[str, re.Pattern[str]] = {
    "start": re.compile(r"\d{1,9}"),
    "length": re.compile(r"-?(?:\d?\.\d{1,9}|\d)(?:em|rem|ex)?"),  # less than ten letters wide
}
_LINK = {"href": re.compile(r"(?:https?://|mailto:)", re.IGNORECASE), "target": re.compile("_blank")}


def _filter(tag: str, name: str, value: str) -> str | None:
    """Return the value of an attribute, None where it is not one that we write."""
    if name in ("aria-label", "class", "dir", "role", "tabindex", "rel"):
        return value
    if tag == "a":
        closed = _LINK.get(name)
        return value if closed is None or closed.match(value) else None
    if (tag, name) == ("ol", "start"):
        return value if _CLOSED["start"].fullmatch(value) else None
    if name in ATTRIBUTES.get(tag, ()):
        return value if _CLOSED["length"].fullmatch(value) else None
    return value


def _make_cleaner(links: bool) -> nh3.Cleaner:
    more = {"a": {"href", "target"}} if links else {}
    return nh3.Cleaner(
        tags=set(TAGS | more.keys()),
        clean_content_tags=set(),
        attributes={"*": set()} | {tag: set(names) for tag, names in ATTRIBUTES.items()} | more,
        tag_attribute_values={
            tag: {name: set(words) for name, words in values.items()} for tag, values in VALUES.items()
        },
        allowed_classes={tag: set(words) for tag, words in CLASSES.items()},
        attribute_filter=_filter,
        generic_attribute_prefixes=set(),
        url_schemes={"http", "https", "mailto"} if links else set(),
        link_rel="noopener noreferrer" if links else None,
    )


_OUTPUTS, _RESEARCHERS = _make_cleaner(links=False), _make_cleaner(links=True)


def sanitise(html: str, *, links: bool = False) -> Markup:
    """Return HTML with nothing but what is on the list; ``links`` keeps those of researchers.

    >>> sanitise('<p style="position:fixed" onclick="x()">a<script>b</script></p>')
    Markup('<p>ab</p>')
    """
    return Markup((_RESEARCHERS if links else _OUTPUTS).clean(html))


REGION = 'role="region" tabindex="0" aria-label="'
"""How every region that scrolls by itself begins, after its tag and class."""
_REGIONS = tuple(
    f"<{start} {REGION}"
    for start in (
        'pre dir="ltr"',
        'div class="scroller"',
        'div class="scroller formula"',
        'span class="scroller formula"',
    )
)


def name_regions(html: Markup, name: str) -> Markup:
    """Return a rendered text whose regions also bear a name (of the output, of the turn), so that no two on a
    page are called the same.

    >>> name_regions(Markup('<pre dir="ltr" role="region" tabindex="0" aria-label="Code 1">x</pre>'), "B")
    Markup('<pre dir="ltr" role="region" tabindex="0" aria-label="B: Code 1">x</pre>')
    """
    if not name or REGION not in html:
        return html
    named, prefix = str(html), f"{Markup.escape(name)}: "
    for start in _REGIONS:  # in texts "<" is always escaped, so these are tags
        named = named.replace(start, start + prefix)
    return Markup(named)
