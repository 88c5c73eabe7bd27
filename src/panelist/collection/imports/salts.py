"""The secret that pseudonyms of imported raters are made with, kept in a file of its own."""

import os
from pathlib import Path

from panelist.core.errors import BadFile


def read_salt(path: Path) -> str | None:
    """Return the salt in a file, or None where there is no such file yet."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}, the secret of the pseudonyms, cannot be read: {error}.") from None


def keep_salt(salt: str, path: Path) -> None:
    """Write the salt where only its owner can read it."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise BadFile(f"{path}, the secret of the pseudonyms, cannot be written: {error}.") from None
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(salt + "\n")
