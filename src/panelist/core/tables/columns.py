"""The column names of a ratings table: our own, those accepted in their place, those the user maps."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from panelist.core.errors import BadRatings, did_you_mean
from panelist.core.prose import list_words

IDENTIFIERS = ("rater", "item", "system", "turn", "criterion", "occasion", "group", "wave", "list", "trial")
SIMULATED, SIMULATED_YES = "simulated", "yes"
CANONICAL = (
    *(*IDENTIFIERS, "rating", "position", "seconds", "check", "excluded", "text_type", "choice", "grade"),
    SIMULATED,
)
NONE = "none"
_PEOPLE = list_words("annotator participant worker evaluator judge coder assessor reviewer grader")
_INPUTS = (
    *("item", "doc", "document", "question", "prompt", "input", "instance", "example", "segment", "seg"),
    *("sentence", "sample", "source", "context", "dialog", "dialogue", "article", "passage", "story"),
    *("conversation", "utterance"),
)
SYNONYMS = {
    **dict.fromkeys(_PEOPLE, "rater"),
    **{f"{word}_id": "rater" for word in ("rater", *_PEOPLE, "expert", "subject", "user", "turker")},
    **{f"{word}_id": "item" for word in _INPUTS},
    **dict.fromkeys(("model", "model_name", "model_id", "system_name", "system_id", "method"), "system"),
    **dict.fromkeys(("aspect", "dimension", "criteria"), "criterion"),
    **dict.fromkeys(("score", "value", "response"), "rating"),
}
JUDGE = "judge"
"""A rater in old files; where another column names the people, or there is one, it is a machine."""
LAST_RESORT = {"label": "rating", "grade": "rating"}
"""Names that count only where no other column fits; a ``grade`` beside a ``choice`` is that of the choice."""
RANK = "rank"
"""The choice beside a ``trial``, where nothing else is; never a rating, since ratings run the other way."""


def find_role(name: str) -> str | None:
    """Return the role of a column with this name, if it has one.

    >>> find_role("WorkerId"), find_role("Doc ID"), find_role("label"), find_role("notes")
    ('rater', 'item', 'rating', None)
    """
    plain = _plain(name)
    own = plain in CANONICAL and plain not in LAST_RESORT
    return plain if own else _ROLES.get(_squeeze(name)) or _LAST.get(_squeeze(name))


def name_columns(
    present: Sequence[str],
    columns: Mapping[str, str | None] | None = None,
    *,
    texts: Collection[str] = (),
    unsure: dict[str, tuple[str, ...]] | None = None,
) -> dict[str, str]:
    """Return the new name of each column that gets one.

    What ``columns`` says comes first, then a column that has the name already, then one that has it in other
    capitals, then a synonym. A column whose name another column was given is renamed ``NAME_original``.
    ``texts`` are the columns that hold texts, which no synonym makes ratings. Where several columns could be
    the same thing, they go into ``unsure``, and without it BadRatings is raised.

    >>> name_columns(["Participant", "item", "response", "rating"])
    {'Participant': 'rater'}
    >>> name_columns(["judge", "response", "rating"], {"rating": "response"})
    {'rating': 'rating_original', 'response': 'rating', 'judge': 'rater'}
    >>> name_columns(["worker", "worker_id", "score", "label"])
    {'worker_id': 'rater', 'score': 'rating'}
    """
    chosen = _check_mapping(present, columns or {})
    absent = find_absent(present, columns)
    renamed = {}
    for target in (*absent, *chosen):
        if chosen.get(target) != target and target in present and target not in chosen.values():
            renamed[target] = _free_name(f"{target}_original", present)
    renamed |= {source: target for target, source in chosen.items() if source != target}

    free = [name for name in present if name not in chosen.values()]
    graded = "choice" in chosen or "choice" in map(_plain, free)
    for target in CANONICAL:
        if target in chosen or target in absent or target in free or (target == "grade" and not graded):
            continue
        able = [name for name in free if _plain(name) != "grade"] if graded and target == "rating" else free
        rivals = _find_rivals(target, able, texts)
        if len(rivals) > 1:
            if unsure is None:
                raise BadRatings(say_rivals(target, rivals))
            unsure[target] = tuple(rivals)
            continue
        renamed |= dict.fromkeys(rivals, target)
    here = {*chosen, *map(_plain, free), *renamed.values()}
    if "trial" in here and not here & {"choice", "rating"}:
        renamed |= {name: "choice" for name in free if _plain(name) == RANK}
    return renamed


def find_absent(present: Sequence[str], columns: Mapping[str, str | None] | None) -> tuple[str, ...]:
    """Return what the user says the table does not have: ``--columns item=none``."""
    return tuple(
        target
        for word, source in (columns or {}).items()
        if _is_none(source, present) and (target := _find_target(word)) in CANONICAL
    )


def say_rivals(target: str, rivals: Sequence[str]) -> str:
    """Return the sentence that asks which of several columns is meant."""
    listed = ", ".join(repr(name) for name in rivals)
    return (
        f"Several columns could be the {target}: {listed}. Say which one it is: "
        f"--columns {target}={rivals[0]} (in Python: columns={{{target!r}: {rivals[0]!r}}})."
    )


def _find_rivals(target: str, free: Sequence[str], texts: Collection[str]) -> list[str]:
    """Return the columns that could be the target: one, none, or several that a person must choose from."""
    same = [name for name in free if _plain(name) == target]
    if same:
        return same
    for roles in (_ROLES, _LAST):
        found = [name for name in free if roles.get(_squeeze(name)) == target]
        if target == "rating":
            found = [name for name in found if name not in texts]
        if found:
            break
    people = [name for name in found if _stem(name) != JUDGE]
    if target == "rater" and people:
        found = people  # a judge beside them is a machine, not a second rater
    if len(found) > 1 and len({_stem(name) for name in found}) == 1:
        # worker and worker_id, model_name and model_id: the same thing twice
        ends = ("name", "", "id") if target == "system" else ("id", "", "name")
        best = min(found, key=lambda name: ends.index(_squeeze(name).removeprefix(_stem(name))))
        return [name for name in found if _squeeze(name) == _squeeze(best)]
    return found


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


def _check_mapping(present: Sequence[str], columns: Mapping[str, str | None]) -> dict[str, str]:
    """Return the user's mapping by canonical name, once every name in it is checked."""
    chosen: dict[str, str] = {}
    for word, source in columns.items():
        target = _find_target(word)
        if target not in CANONICAL:
            raise BadRatings(
                f"A ratings table has no column {word!r} to map to. {did_you_mean(word, CANONICAL)}"
            )
        if _is_none(source, present):
            continue
        if source not in present:
            raise BadRatings(
                f"No column is called {source!r}, which should be the {target}. "
                f"{did_you_mean(str(source), present)}"
            )
        if target in chosen:
            raise BadRatings(
                f"Two columns are mapped to {target}: {chosen[target]!r} and {source!r}. Name one."
            )
        if source in chosen.values():
            raise BadRatings(f"Column {source!r} is mapped to two names; copy the column, or name it once.")
        chosen[target] = str(source)
    return chosen


def _find_target(word: str) -> str:
    plain = _plain(word)
    return plain if plain in CANONICAL else find_role(word) or plain


def _is_none(source: str | None, present: Sequence[str]) -> bool:
    return source is None or (source.casefold() == NONE and source not in present)


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    return str(name).strip().casefold()


@lru_cache(maxsize=1024)
def _squeeze(name: str) -> str:
    """Return only the letters of a name: WorkerId, worker id and worker_id are one."""
    return re.sub(r"[\s_.-]+", "", _plain(name))


def _stem(name: str) -> str:
    return re.sub(r"(id|name)$", "", _squeeze(name))


_ROLES = {_squeeze(word): role for word, role in SYNONYMS.items()}
_LAST = {_squeeze(word): role for word, role in LAST_RESORT.items()}


def _free_name(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
