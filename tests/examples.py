"""How many examples hypothesis tries: as many as a test asks for, but no more than ten in make test-quick."""

from hypothesis import settings

QUICK = 10


def examples(number: int) -> settings:
    """Return settings with this number of examples."""
    quick = settings.get_current_profile_name() == "quick"
    return settings(max_examples=min(number, QUICK) if quick else number)
