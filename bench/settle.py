"""What must stand in the environment before numpy and numba come; processes started later inherit it."""

import os
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "src" / "panelist" / "models"


def settle() -> None:
    """Hold BLAS to one thread, and give numba a cache of the code as it is now, unless told otherwise.

    Numba does not notice an edit in a module that a compiled function imports. A cache named after the
    sources keeps the benchmark from measuring code that is no longer there; the first run fills it.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sources = blake2b(digest_size=8)
    for path in sorted(MODELS.rglob("*.py")):
        sources.update(path.name.encode() + path.read_bytes())
    os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".cache" / "bench" / sources.hexdigest()))
