"""Names for HITs that say nothing: neither which row of the input, nor whose visit."""

from functools import lru_cache
from hashlib import sha256

from panelist.study.study import Study

LENGTH = 32


def make_key(study: Study, item: str) -> str:
    """Return the key of a HIT; without the study nobody can tell what it stands for."""
    return sha256(f"{study.hash}/{item}".encode()).hexdigest()[:LENGTH]


@lru_cache(8)
def list_keys(study: Study) -> dict[str, str]:
    """Return the HIT behind each key."""
    return {make_key(study, item): item for item in study.items}
