"""The password of the dashboard: drawn at the start, kept only as a hash, and slow to guess."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike
GROUPS, GROUP_LENGTH = 4, 4
# scrypt's usual cost for a login: 16 MiB and some 50 ms (RFC 7914, https://www.rfc-editor.org/rfc/rfc7914).
COST, BLOCK, PARALLEL = 2**14, 8, 1


@dataclass(frozen=True)
class PasswordHash:
    """What is kept of a password."""

    salt: bytes = field(repr=False)
    digest: bytes = field(repr=False)


def make_password() -> str:
    """Return a new password: 79 random bits that can be read aloud, such as ``k7qd-m2xw-9rta-hv3e``."""
    groups = ("".join(secrets.choice(LETTERS) for _ in range(GROUP_LENGTH)) for _ in range(GROUPS))
    return "-".join(groups)


def hash_password(password: str, salt: bytes | None = None) -> PasswordHash:
    """Return what to keep of a password; with the same salt, its sessions last over a restart."""
    salt = secrets.token_bytes(16) if salt is None else salt
    return PasswordHash(salt, _derive(password, salt))


def is_password(password: str, known: PasswordHash) -> bool:
    """Return whether this is the password; takes as long for every wrong one."""
    return hmac.compare_digest(_derive(password, known.salt), known.digest)


def _derive(password: str, salt: bytes) -> bytes:
    text = password.strip().encode("utf-8", "surrogatepass")
    # Hashed first: scrypt itself does not see zeros at the end of a password.
    return hashlib.scrypt(hashlib.sha256(text).digest(), salt=salt, n=COST, r=BLOCK, p=PARALLEL, dklen=32)
