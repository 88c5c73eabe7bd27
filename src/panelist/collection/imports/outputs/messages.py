"""Messages of chat programs as turns: their roles under our names, their texts, their pictures as files."""

import base64
import binascii
import hashlib
from collections.abc import Callable
from typing import Any

from panelist.collection.imports.outputs.base import Findings, Turn
from panelist.core.errors import BadFile, did_you_mean

ROLES = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "gpt", "chatgpt", "model", "bot"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "function_call", "function_response", "observation"), "tool"),
}
"""The four roles, by what programs call them."""
PICTURES = {"png": ".png", "jpeg": ".jpg", "jpg": ".jpg", "webp": ".webp", "gif": ".gif"}
REASONING = {
    "reasoning": "reasoning",
    "thinking": "thinking",
    "reasoning_text": "text",
    "redacted_thinking": "",
}
"""The parts of messages that are reasoning, and where their words are."""
CALLS = ("tool_use", "server_tool_use", "function_call", "tool_call")

Resolve = Callable[[str], str]


def read_content(
    content: object, found: Findings, reasoning: bool = False, resolve: Resolve = str
) -> tuple[str, list[str]]:
    """Return the text of a message and the pictures in it: a text, or parts of type text, image and so on.

    ``resolve`` gives what a text or the address of a picture stands for. Parts of other types are counted.

    >>> read_content([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Six."}], Findings())
    ('Six.', [])
    """
    if content is None:
        return "", []
    texts, pictures = [], []
    for part in content if isinstance(content, list) else [content]:
        if not isinstance(part, dict):
            texts.append(resolve(str(part)))
            continue
        kind = str(part.get("type", "text"))
        picture = part.get("image") or part.get("image_url") or (kind == "image" and part.get("source"))
        if kind in REASONING:
            if reasoning:
                texts.append(str(part.get(REASONING[kind]) or ""))
        elif picture:
            pictures.append(keep_picture(resolve(_find_address(picture)), found))
        elif "text" in part or "refusal" in part:
            texts.append(resolve(str(part.get("text") or part.get("refusal") or "")))
        elif kind not in CALLS:
            found.left_out[kind] += 1
    return "\n\n".join(text for text in texts if text), [one for one in pictures if one]


def _find_address(picture: object) -> str:
    """Return the address of a picture, which may be the picture itself, written down."""
    if not isinstance(picture, dict):
        return str(picture)
    if "data" in picture:
        return f"data:{picture.get('media_type', '')};base64,{picture['data']}"
    return str(picture.get("url", ""))


def keep_picture(address: str, found: Findings) -> str:
    """Return the file name under which a picture in a message is written; an address elsewhere as it is."""
    kind, _, content = address.removeprefix("data:image/").partition(";base64,")
    if not address.startswith("data:image/") or kind not in PICTURES:
        found.notes.append(f"a picture in a message is not in the file, and is not fetched: {address[:80]!r}")
        return address
    try:
        data = base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        found.notes.append("a picture in a message is damaged, and is left out")
        return ""
    name = f"media/{hashlib.sha256(data).hexdigest()[:16]}{PICTURES[kind]}"
    found.pictures[name] = data
    return name


def read_turns(
    messages: object, name: str, found: Findings, reasoning: bool = False, resolve: Resolve = str
) -> list[Turn]:
    """Return messages of chat programs as turns: role and text, nothing that names a model.

    An answer that only calls a tool says nothing; what the tool gives is a turn.

    >>> read_turns([{"from": "human", "value": "Hello?"}], "a.jsonl", Findings())
    [{'role': 'user', 'text': 'Hello?'}]
    """
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise BadFile(f"{name}: a conversation must be a list of messages, each with role and content.")
    turns = []
    for one in messages:
        role = _read_role(one, name)
        content = one.get("content", one.get("value", one.get("text")))
        text, pictures = read_content(content, found, reasoning, resolve)
        if role == "assistant" and not (text or pictures) and _calls(one, content):
            continue
        turn: Turn = {"role": role, "text": text}
        if pictures:
            turn["images"] = pictures
        turns.append(turn)
    return turns


def _read_role(message: dict[str, Any], name: str) -> str:
    role = str(message.get("role") or message.get("from") or message.get("type") or "")
    if role.casefold() in ROLES:
        return ROLES[role.casefold()]
    found = f"has the role {role!r}" if role else "has no role"
    raise BadFile(f"{name}: a message of a conversation {found}. {did_you_mean(role, ROLES)}")


def _calls(message: dict[str, Any], content: object) -> bool:
    """Return whether a message calls a tool."""
    parts = content if isinstance(content, list) else []
    asked = message.get("tool_calls") or message.get("function_call")
    return bool(asked) or any(isinstance(part, dict) and part.get("type") in CALLS for part in parts)


def split_last(turns: list[Turn]) -> tuple[str | list[Turn], str | None]:
    """Return what came before the last answer, and the answer: None where nobody answered what came last.

    >>> split_last([{"role": "user", "text": "Six?"}, {"role": "assistant", "text": "Yes."}])
    ('Six?', 'Yes.')
    """
    if turns and turns[-1]["role"] == "assistant":
        return shorten(turns[:-1]), str(turns[-1]["text"])
    return shorten(turns), None


def shorten(turns: list[Turn]) -> str | list[Turn]:
    """Return a lone question without pictures as its text."""
    if not turns:
        return ""
    alone = len(turns) == 1 and turns[0]["role"] == "user" and "images" not in turns[0]
    return str(turns[0]["text"]) if alone else turns
