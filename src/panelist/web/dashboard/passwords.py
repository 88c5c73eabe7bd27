"""The password of the dashboard: drawn at the start, kept only as a hash, and slow to guess."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

from panelist.core.prose import count

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike
GROUPS, GROUP_LENGTH = 4, 4
# scrypt's usual cost for a login: 16 MiB and some 50 ms (RFC 7914, https://www.rfc-editor.org/rfc/rfc7914).
COST, BLOCK, PARALLEL = 2**14, 8, 1
SHORTEST, FEWEST_DIFFERENT, LEAST_LETTERS = 12, 6, 6
TRIED_FIRST = (
    *("password", "passwort", "passw0rd", "panelist", "dashboard", "researcher", "research", "study"),
    *("letmein", "welcome", "changeme", "iloveyou", "administrator", "admin", "secret", "qwertyuiop"),
    *("qwertz", "qwerty", "asdfgh", "1q2w3e4r", "abcdef", "monkey", "dragon", "football", "default", "test"),
)
ROWS = ("abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm", "1234567890" * 3, "1q2w3e4r5t6y7u8i9o0p")


@dataclass(frozen=True)
class PasswordHash:
    """What is kept of a password."""

    salt: bytes = field(repr=False)
    digest: bytes = field(repr=False)


def make_password() -> str:
    """Return a new password: 79 random bits that can be read aloud, such as ``k7qd-m2xw-9rta-hv3e``."""
    groups = ("".join(secrets.choice(LETTERS) for _ in range(GROUP_LENGTH)) for _ in range(GROUPS))
    return "-".join(groups)


def find_weakness(password: str) -> str:
    """Return what makes a password easy to guess; nothing where it is strong enough.

    >>> find_weakness("password-2026!")
    'it is a common password'
    >>> find_weakness("correct horse battery staple")
    ''
    """
    text = password.strip().casefold()
    if len(text) < SHORTEST:
        return f"it has {count(len(text), 'character')}"
    if len(set(text)) < FEWEST_DIFFERENT:
        return f"it has {count(len(set(text)), 'different character')}"
    if any(text == text[:n] * (len(text) // n) for n in range(1, len(text) // 2 + 1) if len(text) % n == 0):
        return "it repeats the same characters"
    rest = text
    for word in TRIED_FIRST:
        rest = rest.replace(word, "")
    if len(re.sub(r"[\W\d_]", "", rest)) < LEAST_LETTERS and rest != text:
        return "it is a common password"
    if text.isdecimal():
        return "it is digits only"
    if any(text in row or text in row[::-1] for row in ROWS):
        return "it is a row of keys on the keyboard"
    return ""


def hash_password(password: str, salt: bytes | None = None) -> PasswordHash:
    """Return what to keep of a password; with the same salt, its sessions last over a restart."""
    salt = secrets.token_bytes(16) if salt is None else salt
    return PasswordHash(salt, _derive(password, salt))


def is_password(password: str, known: PasswordHash) -> bool:
    """Return whether this is the password; takes equally long for every wrong one."""
    return hmac.compare_digest(_derive(password, known.salt), known.digest)


def _derive(password: str, salt: bytes) -> bytes:
    text = password.strip().encode("utf-8", "surrogatepass")
    # Hashed first: scrypt itself ignores zero bytes at the end of a password.
    return hashlib.scrypt(hashlib.sha256(text).digest(), salt=salt, n=COST, r=BLOCK, p=PARALLEL, dklen=32)
