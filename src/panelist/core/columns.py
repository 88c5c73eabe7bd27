"""The column names of a ratings table: which are ours, which are accepted for them, which the user maps."""

from collections.abc import Iterable, Mapping, Sequence

from panelist.core.errors import BadRatings, did_you_mean

IDENTIFIERS = ("rater", "item", "system", "criterion", "occasion", "group", "list", "trial")
CANONICAL = (*IDENTIFIERS, "rating", "position", "seconds", "check", "excluded", "text_type", "choice")
SYNONYMS = {
    "participant": "rater",
    "worker": "rater",
    "annotator": "rater",
    "judge": "rater",
    "evaluator": "rater",
    "model": "system",
    "score": "rating",
    "value": "rating",
    "response": "rating",
}


def name_columns(present: Sequence[str], columns: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the new name of each column that gets one.

    What ``columns`` says comes first, then a column that has the name already, then one that has it in other
    capitals, then a synonym. A column whose name somebody else was given steps aside as ``NAME_original``.

    >>> name_columns(["Participant", "item", "response", "rating"])
    {'Participant': 'rater'}
    >>> name_columns(["judge", "response", "rating"], {"rating": "response"})
    {'rating': 'rating_original', 'response': 'rating', 'judge': 'rater'}
    """
    chosen = _check_mapping(present, columns or {})
    renamed = {}
    for target, source in chosen.items():
        if source != target and target in present and target not in chosen.values():
            renamed[target] = _free_name(f"{target}_original", present)
    renamed |= {source: target for target, source in chosen.items() if source != target}

    free = [name for name in present if name not in chosen.values()]
    for target in CANONICAL:
        if target in chosen or target in free:
            continue
        same = [name for name in free if _plain(name) == target]
        rivals = same or [name for name in free if SYNONYMS.get(_plain(name)) == target]
        if len(rivals) > 1:
            listed = ", ".join(repr(name) for name in rivals)
            raise BadRatings(
                f"Several columns could be the {target}: {listed}. Say which one it is: "
                f"--columns {target}={rivals[0]} (in Python: columns={{{target!r}: {rivals[0]!r}}})."
            )
        renamed |= dict.fromkeys(rivals, target)
    return renamed


def parse_columns(text: str | None) -> dict[str, str]:
    """Return the mapping that ``--columns rater=WorkerId,item=input_id`` stands for.

    >>> parse_columns("rater=WorkerId, item=input_id")
    {'rater': 'WorkerId', 'item': 'input_id'}
    """
    pairs = [part for part in (text or "").split(",") if part.strip()]
    mapping: dict[str, str] = {}
    for name, column in (_split_pair(pair, "--columns rater=WorkerId,item=input_id") for pair in pairs):
        if name in mapping:
            raise BadRatings(
                f"--columns says twice which column is the {name}: {mapping[name]!r} and {column!r}."
            )
        mapping[name] = column
    return mapping


def parse_where(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the values asked for by ``--where setup=setup2``, by column; one named twice takes either value.

    >>> parse_where(["setup=setup2", "system=a", "system=b"])
    {'setup': ('setup2',), 'system': ('a', 'b')}
    """
    wanted: dict[str, tuple[str, ...]] = {}
    for name, value in (_split_pair(text, "--where setup=setup2") for text in texts):
        wanted[name] = (*wanted.get(name, ()), value)
    return wanted


def _split_pair(pair: str, example: str) -> tuple[str, str]:
    name, sign, value = (part.strip() for part in pair.partition("="))
    if not (name and sign and value):
        option = example.split()[0]
        raise BadRatings(
            f"{option} takes pairs NAME=VALUE. Got {pair.strip()!r}. Write for example: {example}"
        )
    return name, value


def _check_mapping(present: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the user's mapping by canonical name, once every word in it is known."""
    chosen: dict[str, str] = {}
    for word, source in columns.items():
        target = SYNONYMS.get(_plain(word), _plain(word))
        if target not in CANONICAL:
            raise BadRatings(
                f"A ratings table has no column {word!r} to map to. {did_you_mean(word, CANONICAL)}"
            )
        if source not in present:
            raise BadRatings(
                f"No column is called {source!r}, which should be the {target}. "
                f"{did_you_mean(source, present)}"
            )
        if target in chosen:
            raise BadRatings(
                f"Two columns are mapped to {target}: {chosen[target]!r} and {source!r}. Name one."
            )
        if source in chosen.values():
            raise BadRatings(f"Column {source!r} is mapped to two names; copy the column, or name it once.")
        chosen[target] = source
    return chosen


def _plain(name: str) -> str:
    return str(name).strip().casefold()


def _free_name(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
